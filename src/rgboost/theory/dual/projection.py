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

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .span import Span, Vector

_RANK = 4.0
"""Pivots below this many units of rounding, times the size of the matrix, count as zero."""

_SPREAD = 1e4
"""Sums of rare bins are differences of sums over all rows, whose rounding they have: units grow
with the ratio of the largest to the smallest, up to this."""

_STRAIGHT = 1e-13
"""Curvature along a direction, relative to what the preconditioner expects, that is none."""


class Diagonal:
    """Solve with the diagonal of A' diag(x) A: exact within a feature."""

    def __init__(self, squares: Vector) -> None:
        self.inverse = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)

    def solve(self, s: Vector) -> Vector:
        return self.inverse * s

    def without(self, x: Vector) -> Diagonal:
        """Itself: close enough without some rows, too."""
        return self


class Factor:
    """Solve with A' diag(x) A itself, by a Cholesky factor with pivots.

    Columns that depend on others within rounding are left out: 0 for them is one of the solutions.
    """

    def __init__(self, span: Span, gram: NDArray[np.float64]) -> None:
        """``gram`` is that of ``span.gram``; it is overwritten if ``span`` would not say what a few
        rows contribute to it."""
        self.span = span
        self.gram = gram.copy() if span.gram_by_rows else None
        squares = np.maximum(np.diag(gram), 0.0)
        norm = np.sqrt(squares)
        scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        gram *= scale
        gram *= scale[:, None]
        self.n_columns = len(gram)
        smallest = float(squares.min(where=squares > 0.0, initial=np.inf))
        spread = min(float(squares.max(initial=0.0)) / smallest, _SPREAD)
        noise = _RANK * len(gram) * np.finfo(float).eps * max(spread, 1.0)
        upper, pivots, rank, _ = lapack.dpstrf(gram.T, tol=noise, overwrite_a=1)
        self.upper: NDArray[np.float64] = np.asfortranarray(upper[:rank, :rank])
        self.kept = pivots[:rank] - 1
        self.scale = scale[self.kept]

    def without(self, x: Vector) -> Factor:
        """The same without some rows: those where x, their weight until now, is not 0.

        Where the Gram matrix of few rows costs as much as that of all, all are kept: the factor is
        still close enough for conjugate gradients.
        """
        if self.gram is None:
            return self
        return Factor(self.span, self.gram - self.span.gram(x))

    @property
    def rank(self) -> int:
        return len(self.kept)

    def solve(self, s: Vector) -> Vector:
        z = np.zeros(self.n_columns)
        if self.rank:
            sums = self.scale * self.span.to_columns(s)[self.kept]
            z[self.kept] = self.scale * lapack.dpotrs(self.upper, sums)[0]
        return self.span.from_columns(z)


@dataclass
class Step:
    """Newton's step so far.

    Attributes
    ----------
    t : the step in coordinates (without ``constant``).
    constant : a constant that is part of the step.
    change : the step on the rows, delta.
    dual : v = g + h delta.
    sums : A' W v as the recursion has it, zero if v were orthogonal to everything.
    decrease : what the step gains on the quadratic model, with what the step gained that it
        started from.
    error : sums' M sums with the preconditioner M: how far from the exact step, squared.
    first_error : the same at the start.
    rate : by how many powers of e the last product reduced the root of the error.
    products : products with A and A' that it took, in pairs.
    direction : of the next product.
    solver : the preconditioner that the direction is made with.
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
    rate: float = 0.0
    direction: Vector | None = None
    solver: Diagonal | Factor | None = None


Stop = Callable[[Step], bool]


@dataclass(frozen=True)
class System:
    """The equations of a step: everything but the right-hand side's gradient."""

    span: Span
    weight: Vector
    solver: Diagonal | Factor


def newton_step(
    system: System,
    gradient: Vector,
    curvature: Vector,
    stop: Stop,
    most_products: float,
    near: Step | None = None,
    same: bool = False,
) -> Step:
    """Conjugate gradients for the step, preconditioned, until ``stop`` says so.

    They start at ``near``, the step of similar equations, or at zero. Where constants are in the
    range, the best one is added first. From there on every direction is orthogonal to the
    constants, whose large eigenvalue (one for each feature) is out of the way. If ``near`` is a
    step of the ``same`` equations, it is the one that goes on, with its sums.
    """
    span = system.span
    heavy = system.weight * curvature
    step = near if same and near is not None else _begin(system, gradient, heavy, near)
    if step.solver is not system.solver:
        _aim(step, system.solver)
    if not same:
        step.first_error = step.error
    direction = step.direction
    assert direction is not None
    while step.error > 0.0 and not stop(step) and step.products + 1.0 <= most_products:
        along, curve = span.normal(direction, heavy)
        bend = float((direction * curve).sum())
        if not bend > _STRAIGHT * step.error:  # nothing to hold the step: no solution
            break
        length = step.error / bend
        step.t += length * direction
        along *= length
        step.change += along
        step.sums += length * curve
        step.decrease += 0.5 * length * step.error
        step.products += 1.0
        z = system.solver.solve(step.sums)
        before, step.error = step.error, float((step.sums * z).sum())
        step.rate = 0.5 * math.log(before / step.error) if step.error > 0.0 else math.inf
        direction *= step.error / before
        direction -= z
    step.dual = gradient + curvature * step.change
    return step


def _aim(step: Step, solver: Diagonal | Factor) -> None:
    """The first direction with a preconditioner."""
    z = solver.solve(step.sums)
    step.error = float((step.sums * z).sum())
    step.direction, step.solver = -z, solver


def _begin(system: System, gradient: Vector, heavy: Vector, near: Step | None) -> Step:
    span = system.span
    change = np.zeros(span.n_rows) if near is None else near.change.copy()
    slope = system.weight * gradient + heavy * change
    constant, total = 0.0, float(heavy.sum())
    if span.holds_constants and total > 0.0:
        constant = -float(slope.sum()) / total
        change += constant
        slope += constant * heavy
    return Step(
        t=np.zeros(span.n_coordinates) if near is None else near.t.copy(),
        constant=constant + (0.0 if near is None else near.constant),
        change=change,
        dual=gradient,
        sums=span.sums(slope),
        decrease=0.5 * constant * constant * total + (0.0 if near is None else near.decrease),
        error=0.0,
        first_error=0.0,
        products=0.5,
    )
