"""The Poisson loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._core.math import EXPONENT_MIN, exp
from .kernels import evaluate
from .log_link import EXPONENT_MAX, LogLinkLoss


class PoissonTerms(NamedTuple):
    exponent_max: float = EXPONENT_MAX


@evaluate.register(PoissonTerms)
def _evaluate(terms, y, f):
    mean = exp(min(max(f, EXPONENT_MIN), terms.exponent_max))
    return mean - y * f, y - mean, mean


class Poisson(LogLinkLoss):
    """l(y, f) = exp(f) - y f for counts y >= 0: half the Poisson deviance, up to a constant.

    The mean is exp(f). The curvature is exp(f): for scores in [a, b] the loss is exp(b)-smooth and
    exp(a)-strongly convex, and there is no such constant for all scores. So the step is Newton's,
    a search, or a constant of your own. The exponent is cut at 300.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Poisson
    >>> loss = Poisson()
    >>> score = loss.best_constant(np.array([0.0, 1.0, 5.0]))
    >>> round(float(loss.inverse_link(score)), 6)
    2.0
    """

    terms = PoissonTerms()

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        return math.exp(low), math.exp(high)
