"""The Tweedie loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._core.math import EXPONENT_MIN, exp
from .._core.validation import check_real
from .kernels import evaluate
from .log_link import EXPONENT_MAX, LogLinkLoss


class TweedieTerms(NamedTuple):
    power: float
    exponent_max: float = EXPONENT_MAX


@evaluate.register(TweedieTerms)
def _evaluate(terms, y, f):
    up, down = 2.0 - terms.power, terms.power - 1.0
    rising = exp(min(max(up * f, EXPONENT_MIN), terms.exponent_max))
    falling = y * exp(min(max(-down * f, EXPONENT_MIN), terms.exponent_max))
    return rising / up + falling / down, falling - rising, down * falling + up * rising


class Tweedie(LogLinkLoss):
    """l(y, f) = exp((2-p) f) / (2-p) + y exp(-(p-1) f) / (p-1) for y >= 0, 1 < p < 2.

    Half the deviance of the Tweedie distribution with power p, up to a constant: many zeros, and a
    long tail of positive values. The mean is exp(f). p = 1 would be `Poisson`, p = 2 `Gamma`.

    The curvature (p-1) y exp(-(p-1) f) + (2-p) exp((2-p) f) has no bound for all scores; for
    scores in [a, b] and labels in [u, v] each of its two terms is largest at one end, which gives
    the constants of `convexity_on`. So the step is Newton's, a search, or a constant of your own.
    Exponents are cut at 300.

    Parameters
    ----------
    power : float
        p, between 1 (counts) and 2 (positive amounts).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Tweedie
    >>> loss = Tweedie(power=1.5)
    >>> score = loss.best_constant(np.array([0.0, 0.0, 6.0]))
    >>> round(float(loss.inverse_link(score)), 6)
    2.0
    """

    def __init__(self, power: float = 1.5) -> None:
        self.power = check_real(power, "power")
        if not 1.0 < self.power < 2.0:
            raise ValueError(
                f"power={power} must be greater than 1 and less than 2; use Squared for 0, "
                "Poisson for 1, Gamma for 2."
            )

    @property
    def terms(self) -> TweedieTerms:
        return TweedieTerms(self.power)

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        up, down = 2.0 - self.power, self.power - 1.0
        least = down * y_min * math.exp(-down * high) + up * math.exp(up * low)
        most = down * y_max * math.exp(-down * low) + up * math.exp(up * high)
        return least, most

    def __repr__(self) -> str:
        return f"Tweedie(power={self.power:g})"
