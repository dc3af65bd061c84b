"""Any loss plus a ridge."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._core.validation import check_positive
from .base import CompiledLoss, Link, Vector
from .conjugates.ridged import RidgedConjugate
from .kernels import evaluate


class RidgedTerms(NamedTuple):
    inner: Any
    ridge: float


@evaluate.register(RidgedTerms)
def _evaluate(terms, y, f):
    value, residual, curvature = evaluate(terms.inner, y, f)
    ridge = terms.ridge
    return value + 0.5 * ridge * f * f, residual - ridge * f, curvature + ridge


class Ridged(CompiledLoss):
    """l(y, f) = inner(y, f) + ridge/2 f^2: smoother by ridge, strongly convex by ridge.

    A ridge makes Theorem strong apply to losses that are not strongly convex, such as Huber's.

    Parameters
    ----------
    inner : Loss
        A loss of `rgboost.losses`.
    ridge : float
        A positive number.

    Examples
    --------
    >>> from rgboost.losses import Huber, Ridged
    >>> loss = Ridged(Huber(), 0.01)
    >>> loss.smoothness, loss.strong_convexity
    (1.01, 0.01)
    """

    def __init__(self, inner: CompiledLoss, ridge: float) -> None:
        self.inner = inner
        self.ridge = check_positive(ridge, "ridge")

    @property
    def smoothness(self) -> float | None:  # type: ignore[override]
        return None if self.inner.smoothness is None else self.inner.smoothness + self.ridge

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        return self.inner.strong_convexity + self.ridge

    @property
    def newton_limit(self) -> float | None:  # type: ignore[override]
        return self.inner.newton_limit

    @property
    def labels_are_classes(self) -> bool:  # type: ignore[override]
        return self.inner.labels_are_classes

    @property
    def score_name(self) -> str:  # type: ignore[override]
        return self.inner.score_name

    @property
    def exported_link(self) -> Link | None:  # type: ignore[override]
        return self.inner.exported_link

    def convexity_on(
        self, low: float, high: float, y_min: float, y_max: float
    ) -> tuple[float, float]:
        mu, sigma = self.inner.convexity_on(low, high, y_min, y_max)
        return mu + self.ridge, sigma + self.ridge

    @property
    def terms(self) -> RidgedTerms:
        return RidgedTerms(self.inner.terms, self.ridge)

    def link(self, mean: Vector) -> Vector:
        return self.inner.link(mean)

    def inverse_link(self, f: Vector) -> Vector:
        return self.inner.inverse_link(f)

    def check_labels(self, y: Vector) -> None:
        self.inner.check_labels(y)

    def conjugate(self) -> RidgedConjugate:
        return RidgedConjugate(self, self.inner.conjugate(), self.ridge)

    def __repr__(self) -> str:
        return f"Ridged({self.inner!r}, ridge={self.ridge:g})"
