r"""Newton's step in Range(B), and with it a vector that is orthogonal to all weak-learners.

At scores f let g = l'(y, f) and h > 0 (the curvature, or any other positive numbers). The step
:math:`\delta \in` Range(B) that minimises :math:`\langle g, \delta\rangle + \frac12 \langle h
\delta, \delta\rangle` satisfies

.. math:: \langle v, b \rangle = 0 \quad\text{for all weak-learners } b, \qquad v = g + h \delta.

So v is the projection of the gradient onto the orthogonal complement of Range(B), in the metric
1/h. For the squared loss, h = 1, it is the usual one. For other losses the metric matters: v has
to lie in the domain of the conjugate loss, and where the curvature is small the domain is close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from .span import Span, Vector

_RANK = 4.0
"""Pivots below this many units of rounding, times the size of the matrix, count as zero."""


class Diagonal:
    """Solve with the diagonal of A' diag(x) A: exact within a feature."""

    def __init__(self, span: Span, x: Vector) -> None:
        square = span.squares(x)
        self.inverse = np.divide(1.0, square, out=np.zeros_like(square), where=square > 0)

    def solve(self, s: Vector) -> Vector:
        return self.inverse * s


class Factor:
    """Solve with A' diag(x) A itself, by a Cholesky factor with pivots.

    Columns that depend on others within rounding are left out: coordinates of 0 for them are one
    of the solutions.
    """

    def __init__(self, span: Span, x: Vector) -> None:
        gram = span.gram(x)
        norm = np.sqrt(np.maximum(np.diag(gram), 0.0))
        self.scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        gram *= self.scale
        gram *= self.scale[:, None]
        noise = _RANK * len(gram) * np.finfo(float).eps
        upper, pivots, rank, _ = lapack.dpstrf(gram.T, tol=noise, overwrite_a=1)
        self.upper: NDArray[np.float64] = upper[:rank, :rank]
        self.kept = pivots[:rank] - 1
        self.n_coordinates = len(norm)

    @property
    def rank(self) -> int:
        return len(self.kept)

    def solve(self, s: Vector) -> Vector:
        out = np.zeros(self.n_coordinates)
        scale = self.scale[self.kept]
        if len(scale):
            half = solve_triangular(self.upper, scale * s[self.kept], trans=1, check_finite=False)
            out[self.kept] = scale * solve_triangular(self.upper, half, check_finite=False)
        return out


@dataclass
class Step:
    """Newton's step so far.

    Attributes
    ----------
    t : the step in coordinates (without ``constant``).
    constant : a constant that is part of the step.
    change : the step on the rows, delta.
    dual : v = g + h delta.
    sums : A' W v, zero if v were orthogonal to everything.
    decrease : what the step gains on the quadratic model.
    error : sums' M sums with the preconditioner M: how far from the exact step, squared.
    first_error : the same at the start.
    products : products with A and A' that it took, in pairs.
    """

    t: Vector
    constant: float
    change: Vector
    dual: Vector
    sums: Vector
    decrease: float
    error: float
    first_error: float
    products: float


Stop = Callable[[Step], bool]


def newton_step(
    span: Span,
    weight: Vector,
    gradient: Vector,
    curvature: Vector,
    solver: Diagonal | Factor,
    stop: Stop,
    most_products: float,
) -> Step:
    """Conjugate gradients for the step, preconditioned by ``solver``, until ``stop`` says so.

    Where constants are in the range, the best one is taken first. From there on every direction
    is orthogonal to the constants, whose large eigenvalue (one for each feature) is out of the way.
    """
    heavy = weight * curvature
    step = _begin(span, weight, gradient, heavy)
    z = solver.solve(step.sums)
    step.error = step.first_error = float(step.sums @ z)
    direction = -z
    while step.error > 0.0 and not stop(step) and step.products + 1.5 <= most_products:
        along = span.rows(direction)
        curve = span.sums(heavy * along)
        bend = float(direction @ curve)
        if bend <= 0.0:
            break
        length = step.error / bend
        step.t += length * direction
        step.change += length * along
        step.sums += length * curve
        step.decrease += 0.5 * length * step.error
        step.products += 1.0
        z = solver.solve(step.sums)
        before, step.error = step.error, float(step.sums @ z)
        direction *= step.error / before
        direction -= z
    step.dual = gradient + curvature * step.change
    if step.products > 0.5:
        step.sums = span.sums(weight * step.dual)  # what is left, free of the recursion's error
        step.products += 0.5
    return step


def _begin(span: Span, weight: Vector, gradient: Vector, heavy: Vector) -> Step:
    slope = weight * gradient
    constant = 0.0
    if span.holds_constants:
        constant = -float(slope.sum()) / float(heavy.sum())
    change = np.full(span.n_rows, constant)
    return Step(
        t=np.zeros(span.n_coordinates),
        constant=constant,
        change=change,
        dual=gradient,
        sums=span.sums(slope + heavy * change),
        decrease=-0.5 * constant * float(slope.sum()),
        error=0.0,
        first_error=0.0,
        products=0.5,
    )
