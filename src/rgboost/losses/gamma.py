"""The gamma loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._core.math import EXPONENT_MIN, exp
from .kernels import evaluate
from .log_link import EXPONENT_MAX, LogLinkLoss


class GammaTerms(NamedTuple):
    exponent_max: float = EXPONENT_MAX


@evaluate.register(GammaTerms)
def _evaluate(terms, y, f):
    ratio = y * exp(min(max(-f, EXPONENT_MIN), terms.exponent_max))
    return f + ratio, ratio - 1.0, ratio


class Gamma(LogLinkLoss):
    """l(y, f) = f + y exp(-f) for y > 0: half the gamma deviance, up to a constant.

    The mean is exp(f). The curvature is y exp(-f): for scores in [a, b] and labels in [u, v] the
    loss is v exp(-a)-smooth and u exp(-b)-strongly convex, and there is no such constant for all
    scores. So the step is Newton's, a search, or a constant of your own. The exponent is cut at
    300.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Gamma
    >>> loss = Gamma()
    >>> score = loss.best_constant(np.array([1.0, 2.0, 6.0]))
    >>> round(float(loss.inverse_link(score)), 6)
    3.0
    """

    terms = GammaTerms()
    zero_allowed = False

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        return y_min * math.exp(-high), y_max * math.exp(-low)
