"""The regularised logistic loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from .._core.math import (
    EXPONENT_MIN,
    EXPONENT_MIN_SINGLE,
    MOST_FACTORS,
    blocked_sum,
    exp,
    exp_single,
    log_of_product,
    twice_artanh,
)
from .._core.validation import check_not_negative
from .base import BinaryLoss, Link, Vector
from .conjugates.base import Conjugate
from .conjugates.logistic import LogisticConjugate, RidgedLogisticConjugate
from .kernels import evaluate, evaluate_single, sum_of_losses
from .softmax import Softmax

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class LogisticTerms(NamedTuple):
    ridge: float


@evaluate.register(LogisticTerms)
def _evaluate(terms, y, f):
    margin = y * f
    e = exp(max(-abs(margin), EXPONENT_MIN))  # never overflows: the exponent is not positive
    both = 1.0 / ((1.0 + e) * (2.0 + e))  # one division for 1/(1 + e) and for log(1 + e)
    inverse = (2.0 + e) * both
    below = e * inverse if margin >= 0.0 else inverse  # 1 / (1 + exp(margin))
    value = twice_artanh(e * (1.0 + e) * both) + max(-margin, 0.0) + 0.5 * terms.ridge * f * f
    return value, y * below - terms.ridge * f, e * inverse * inverse + terms.ridge


@evaluate_single.register(LogisticTerms)
def _evaluate_single(terms, y, f, scale):
    label, score, scale, ridge = (
        np.float32(y), np.float32(f), np.float32(scale), np.float32(terms.ridge),
    )  # fmt: skip
    margin = label * score
    e = exp_single(max(-abs(margin), EXPONENT_MIN_SINGLE))
    inverse = _ONE / (_ONE + e)
    below = e * inverse if margin >= _ZERO else inverse
    return scale * (label * below - ridge * score), scale * (e * inverse * inverse + ridge)


@sum_of_losses.register(LogisticTerms)
def _sum_of_losses(terms, y, f, work):
    """log(1 + e) of many rows is the logarithm of a product. Less than 1e-16 of a row gets lost."""
    total = 0.0
    for lo in range(0, y.shape[0], MOST_FACTORS):
        n = min(MOST_FACTORS, y.shape[0] - lo)
        labels, scores = y[lo : lo + n], f[lo : lo + n]
        for i in range(n):
            work[i] = max(-labels[i] * scores[i], 0.0) + 0.5 * terms.ridge * scores[i] * scores[i]
        total += blocked_sum(work, n)
        for i in range(n):
            work[i] = 1.0 + exp(max(-abs(labels[i] * scores[i]), EXPONENT_MIN))
        total += log_of_product(work, n)
    return total


class Logistic(BinaryLoss):
    """l(y, f) = log(1 + exp(-y f)) + ridge/2 f^2 for labels -1 and +1.

    (1/4 + ridge)-smooth and ridge-strongly convex. The paper calls ridge d and uses 0.0001.

    Parameters
    ----------
    ridge : float
        Makes the loss strongly convex; 0 for none.

    Examples
    --------
    >>> from rgboost.losses import Logistic
    >>> loss = Logistic(ridge=0.0)
    >>> loss.value([1.0], [0.0]).round(4), loss.inverse_link(0.0)
    (array([0.6931]), array(0.5))
    """

    newton_limit = 4.0
    score_name = "log-odds"
    exported_link = Link("logistic")

    def __init__(self, ridge: float = 1e-4) -> None:
        self.ridge = check_not_negative(ridge, "ridge")

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return 0.25 + self.ridge

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        return self.ridge

    @property
    def terms(self) -> LogisticTerms:
        return LogisticTerms(self.ridge)

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        if offset is not None:
            return super().best_constant(y, weight, offset)
        # Two labels are two rows with the weights of all.
        w = np.ones_like(y) if weight is None else weight
        weights = np.array([w[y > 0].sum(), w[y <= 0].sum()])
        return super().best_constant(np.array([1.0, -1.0]), weights)

    def link(self, mean: Vector) -> Vector:
        return np.asarray(logit(mean))

    def inverse_link(self, f: Vector) -> Vector:
        """P(y = +1)."""
        return np.asarray(expit(f))

    def conjugate(self) -> Conjugate:
        plain = LogisticConjugate(Logistic(0.0))
        return RidgedLogisticConjugate(self, plain, self.ridge) if self.ridge else plain

    def for_classes(self, n_classes: int) -> Softmax:
        return Softmax(n_classes, self.ridge)

    def __repr__(self) -> str:
        return f"Logistic(ridge={self.ridge:g})"
