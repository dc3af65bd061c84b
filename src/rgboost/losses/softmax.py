"""The softmax (multinomial logistic) loss of several classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from .._core.jit import scalar
from .._core.math import EXPONENT_MIN, exp
from .._core.validation import check_count, check_not_negative
from .base import Link, Loss

Matrix = NDArray[np.float64]


class SoftmaxTerms(NamedTuple):
    ridge: float
    limit: float


@scalar()
def curvature_of_row(terms, total, squares, below, n_classes):
    """`Softmax.model_curvature` of one row: ``total`` and ``squares`` are the sums of exp(f_c - max
    f) and of its square, and ``below`` is f of its own class less max f."""
    most = 1.0 / total
    mean = (1.0 - squares * most * most) / (n_classes - 1)
    largest = most if most <= 0.5 else 2.0 * most * (1.0 - most)
    off = 1.0 - exp(max(below, EXPONENT_MIN)) * most  # of its own class
    off = off if below == 0.0 else max(off, most)
    return max(0.5 * (largest + mean) + terms.ridge, off / terms.limit)


class Softmax(Loss):
    """l(y, f) = log(sum_c exp(f_c)) - f_y + ridge/2 sum_c f_c^2 for classes y = 0, ..., C-1.

    A row has a score for every class: f is (n, C), and so are residuals. With p the probabilities
    of the classes, r_c = [y = c] - p_c - ridge f_c, and the Hessian is diag(p) - p p' + ridge. The
    eigenvalues of diag(p) - p p' lie between 0 (the vector of ones) and 1/2: its quadratic form at
    v is the variance of v under p, at most (max v - min v)^2 / 4 <= |v|^2 / 2. So the loss is
    (1/2 + ridge)-smooth, and ridge-strongly convex.

    Quadratic models have one curvature h for all classes of a row (`model_curvature`).

    Newton leaf values take twice the diagonal of the Hessian, 2 (p_c (1 - p_c) + ridge), which lies
    above the Hessian.

    Parameters
    ----------
    n_classes : int
        C, two or more.
    ridge : float
        Makes the loss strongly convex; 0 for none.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Softmax
    >>> loss = Softmax(3, ridge=0.0)
    >>> loss.residual(np.array([0.0]), np.zeros((1, 3))).round(3)
    array([[ 0.667, -0.333, -0.333]])
    """

    labels_are_classes = True
    exported_link = Link("softmax")
    newton_limit = 2.0
    model_limit = 8.0
    """The longest step of a row on a quadratic model. It is the mean of many that a leaf takes."""

    def __init__(self, n_classes: int, ridge: float = 1e-4) -> None:
        self.n_classes = check_count(n_classes, "n_classes", at_least=2)
        self.ridge = check_not_negative(ridge, "ridge")

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return 0.5 + self.ridge

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        return self.ridge

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.n_classes

    @property
    def terms(self) -> SoftmaxTerms:
        return SoftmaxTerms(self.ridge, self.model_limit)

    def value(self, y: Matrix, f: Matrix) -> Matrix:
        own = np.take_along_axis(f, y.astype(np.intp)[:, None], axis=1)[:, 0]
        return logsumexp(f, axis=1) - own + 0.5 * self.ridge * (f * f).sum(axis=1)

    def residual(self, y: Matrix, f: Matrix) -> Matrix:
        return (y[:, None] == np.arange(self.n_classes)) - softmax(f, axis=1) - self.ridge * f

    def model_curvature(self, y: Matrix, f: Matrix) -> Matrix:
        """h of the quadratic model l(y, f + d) ~ l(y, f) - <r, d> + h/2 |d|^2, for each row.

        Between the eigenvalues of diag(p) - p p' on steps that sum to 0 over the classes: half of
        their mean, (1 - |p|^2) / (C - 1), and half of a bound of the largest, which is max(p) (that
        of diag(p)), or 2 p (1 - p) if p = max(p) > 1/2 (Gershgorin's circles). So h is the
        eigenvalue where all are the same: at equal probabilities, and of two classes. Elsewhere the
        minimum of the quadratic model is less than twice as far as that of the loss, along any
        direction.

        But it is so large that no step r_c/h is beyond the ``model_limit``. It is at most sigma,
        with which the quadratic model lies above the loss (Böhning 1992).
        """
        p = softmax(f, axis=1)
        most = p.max(axis=1)
        largest = np.where(most <= 0.5, most, 2.0 * most * (1.0 - most))
        mean = (1.0 - (p * p).sum(axis=1)) / (self.n_classes - 1)
        off = np.abs((y[:, None] == np.arange(self.n_classes)) - p).max(axis=1)
        return np.asarray(np.maximum(0.5 * (largest + mean) + self.ridge, off / self.model_limit))

    def best_constant(
        self, y: Matrix, weight: Matrix | None = None, offset: Matrix | None = None
    ) -> Any:
        """The constant scores with the smallest loss, beside the ``offset`` (n, C); they sum to 0.

        Logarithms of the shares of the classes without a ridge and an offset; else Newton's method.
        """
        share = np.bincount(y.astype(np.intp), weight, self.n_classes) / (
            len(y) if weight is None else weight.sum()
        )
        if not share.all():
            raise ValueError(
                f"{self!r} has no best constant: no row has the class {np.argmin(share)}; "
                "number only the classes that are there."
            )
        if offset is not None:
            w = np.ones(len(y)) if weight is None else weight
            return self._minimum(y, w / w.sum(), offset)
        if self.ridge == 0.0:
            return np.log(share) - np.log(share).mean()
        none = np.zeros((self.n_classes, self.n_classes))  # a class is a row with the weight of all
        return self._minimum(np.arange(float(self.n_classes)), share, none)

    def _minimum(self, y: Matrix, share: Matrix, offset: Matrix) -> Matrix:
        """The best constant by Newton's method; ``share`` are weights that sum to 1."""
        classes = np.arange(self.n_classes)
        is_class = (y[:, None] == classes).astype(np.float64)
        # Without a ridge the loss does not change along the vector of ones: stay where it is 0.
        fixed = self.ridge * np.eye(self.n_classes) + (
            1.0 / self.n_classes if not self.ridge else 0
        )
        f = np.zeros(self.n_classes)

        def loss_at(scores: Matrix) -> float:
            return float((share * self.value(y, scores + offset)).sum())

        for _ in range(100):
            p = softmax(f + offset, axis=1)
            slope = (share[:, None] * (p - is_class + self.ridge * (f + offset))).sum(axis=0)
            if np.abs(slope).max() < 1e-15:
                break
            weighted = share[:, None] * p
            hessian = np.diag(weighted.sum(axis=0)) - weighted.T @ p + fixed
            move = np.linalg.solve(hessian, slope)
            if np.abs(move).max() < 1e-14:
                break
            while loss_at(f - move) > loss_at(f) + 1e-15 and np.abs(move).max() > 1e-12:
                move *= 0.5
            f = f - move
        return f - f.mean()

    def link(self, mean: Matrix) -> Matrix:
        scores = np.log(mean)
        return scores - scores.mean(axis=-1, keepdims=True)

    def inverse_link(self, f: Matrix) -> Matrix:
        """The probabilities of the classes."""
        return np.asarray(softmax(f, axis=-1))

    def check_labels(self, y: Matrix) -> None:
        wrong = y[(y < 0) | (y >= self.n_classes) | (y != np.floor(y))]
        if len(wrong):
            raise ValueError(
                f"{self!r} expects labels 0 to {self.n_classes - 1}, got {wrong[0]:g}; "
                "encode the classes as numbers, or use RGBMClassifier, which does it."
            )

    def for_classes(self, n_classes: int) -> Softmax:
        return self

    def __repr__(self) -> str:
        return f"Softmax({self.n_classes}, ridge={self.ridge:g})"
