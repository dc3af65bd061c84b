"""The exponential loss (AdaBoost's)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from .._core.math import EXPONENT_MIN, exp
from .base import BinaryLoss, Link, Vector
from .conjugates.closed_forms import ExponentialConjugate
from .kernels import evaluate

EXPONENT_MAX = 300.0
"""exp(300) is about 1e130: sums over rows and squares of such sums stay finite."""


class ExponentialTerms(NamedTuple):
    exponent_max: float = EXPONENT_MAX


@evaluate.register(ExponentialTerms)
def _evaluate(terms, y, f):
    e = exp(min(max(-y * f, EXPONENT_MIN), terms.exponent_max))
    return e, y * e, e


class Exponential(BinaryLoss):
    """l(y, f) = exp(-y f) for labels -1 and +1: neither smooth nor strongly convex.

    The exponent is cut at 300, so that nothing overflows. Without a smoothness constant there is
    no constant step to go with it: use line search. For scores in [-b, b] it is exp(b)-smooth and
    exp(-b)-strongly convex.

    Examples
    --------
    >>> from rgboost.losses import Exponential
    >>> Exponential().value([1.0, -1.0], [2.0, 2.0]).round(3)
    array([0.135, 7.389])
    """

    terms = ExponentialTerms()
    newton_limit = 1.0
    score_name = "half the log-odds"
    exported_link = Link("logistic", 2.0)

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        """e^-b and e^b for scores in [-b, b]."""
        far = max(abs(low), abs(high))
        return math.exp(-far), math.exp(far)

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        if offset is not None:
            return super().best_constant(y, weight, offset)
        positive = float(np.average(y > 0, weights=weight))
        return 0.5 * float(logit(positive))

    def link(self, mean: Vector) -> Vector:
        return np.asarray(0.5 * logit(mean))

    def inverse_link(self, f: Vector) -> Vector:
        """P(y = +1), from the minimiser of the expected loss, half the log-odds."""
        return np.asarray(expit(2.0 * np.asarray(f)))

    def conjugate(self) -> ExponentialConjugate:
        return ExponentialConjugate(self)
