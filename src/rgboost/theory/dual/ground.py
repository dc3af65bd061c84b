r"""Lower bounds of the best loss, from vectors that are orthogonal to all weak-learners.

Let :math:`\langle a, b\rangle = \sum_i w_i a_i b_i` and V = Range(B). For scores f in f_0 + V and
any v, the Fenchel-Young inequality, summed over the rows, says for every other f' in f_0 + V

.. math:: L(f') \ge \langle v, f' \rangle - \sum_i w_i l^*(y_i, v_i)
          = L(f) - \sum_i w_i e(y_i, f_i, v_i) + \langle v, f' - f \rangle,

with the excess e of `rgboost.losses.conjugates`. f' - f lies in V, so the last term is 0 if v is
orthogonal to V: then no combination of weak-learners has a loss below L(f) less the sum of
excesses. v comes from Newton's step at f (`theory.dual.projection`), and the excesses are of the
order of its decrement: the bound is as good as f is close to the optimum. Any f serves, so the
search goes on from one f to the next until the bound is good enough.

**Inexact v.** There are two ways, and a certificate says which one it went.

*For all*: v is orthogonal to V up to rounding. The normal equations are solved by a factor of the
Gram matrix and refined, or by conjugate gradients that are run that far; either way the inner
products of the v that is used with all columns are computed afterwards: no feature explains more
than 1e-13 of the gradient's length. The bound holds for every combination of weak-learners up to
rounding: by the inequality below, what this leaves open against functions that differ by R in all
is a mean loss of 1e-13 R times the root mean square of the gradient.

*Within a radius*: conjugate gradients that end earlier leave sums s_g = A_g' W v. For
f' - f* = sum_g h_g, h_g the change of feature g's function from the model f*, Cauchy-Schwarz within
each feature (whose columns are orthogonal) gives

.. math:: |\langle v, f' - f^* \rangle| = \Big|\sum_g \langle v, h_g\rangle\Big|
   \le \max_g \|P_g v\| \sum_g \|h_g\|, \qquad
   \|P_g v\|^2 = \sum_k \frac{s_{gk}^2}{\sum_i w_i A_{i,gk}^2},

P_g the projection onto feature g. So against all f' whose functions differ from the model's by at
most R in all, :math:`\sum_g \|h_g\| \le R \sqrt W`, the bound holds after
:math:`R \sqrt W \max_g \|P_g v\|` is taken off (and the known :math:`\langle v, f - f^*\rangle`).
Nothing cheaper holds for all f': a few products with B say nothing about combinations of
weak-learners that almost cancel, and along those an arbitrarily small s_g can be worth any amount.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...losses import Loss
from ...losses.kernels import evaluate_rows
from .ends import square_outside
from .projection import Factor
from .span import Span, Vector

_ROUNDING = 1e-14
"""Values outside of the domain by this share of the largest one are there by rounding."""


@dataclass
class Ground:
    """The rows, the loss, and what weak-learners can add: all but the model."""

    span: Span
    y: Vector
    weight: Vector
    loss: Loss
    exact: bool
    kept_factor: Factor | None = None

    def __post_init__(self) -> None:
        self.conjugate = self.loss.conjugate()
        self.total_weight = float(self.weight.sum())
        self.root = math.sqrt(self.total_weight)
        self.squares = self.span.squares(self.weight)
        self.domain = self.conjugate.domain(self.y)

    def evaluate(self, f: Vector) -> tuple[Vector, Vector, Vector]:
        """Losses, residuals and curvatures of the rows."""
        return evaluate_rows(self.loss.terms, self.y, f)

    def value(self, f: Vector) -> float:
        return float((self.weight * self.evaluate(f)[0]).sum())

    def excess(self, f: Vector, v: Vector) -> float:
        return float((self.weight * self.conjugate.excess(self.y, f, v)).sum())

    def factor(self, curvature: Vector) -> Factor:
        if not self.loss.quadratic:
            return Factor(self.span, self.span.gram(self.weight * curvature))
        if self.kept_factor is None:  # the curvature is 1 for every model
            self.kept_factor = Factor(self.span, self.span.gram(self.weight))
        return self.kept_factor

    def largest_group(self, sums: Vector) -> float:
        """max_g ||P_g v|| from A' W v."""
        terms = np.divide(sums * sums, self.squares, out=np.zeros_like(sums), where=sums != 0)
        return math.sqrt(np.add.reduceat(terms, self.span.starts).max(initial=0.0))

    def strain(self, v: Vector, ends: tuple[Vector, Vector]) -> float:
        """What it costs that v goes beyond the ends of `Conjugate.soft_domain`."""
        if math.isinf(self.conjugate.stiffness):
            return math.inf if self.outside(v).any() else 0.0
        return 0.5 * self.conjugate.stiffness * square_outside(self.weight, v, *ends)

    def outside(self, v: Vector) -> NDArray[np.bool_]:
        """Rows outside of the conjugate's domain by more than rounding."""
        low, high = self.domain
        rounding = _ROUNDING * float(np.abs(v).max())
        return (v < low - rounding) | (v > high + rounding)


@dataclass(frozen=True)
class Effort:
    """When to stop looking for a better bound. Gaps here are means over the rows.

    Attributes
    ----------
    tightness : the bound of the gap is at most this multiple of a decrease that was found. 1 asks
        for the optimum itself.
    enough : the gap at the best scores that were found is at most this share of their loss.
    tolerance : the gap is known to be below this; if it is not, it has to be known to be above.
    steps : Newton's steps at most.
    products : products with A and its transpose (in pairs) at most, unless the ground is exact.
    """

    tightness: float = 3.0
    enough: float = 1e-9
    tolerance: float | None = None
    steps: int = 20
    products: float = 20.0


@dataclass
class Search:
    """What is known so far. Losses are sums.

    ``reference - excess`` is the best lower bound; the loss falls from ``start_loss`` to ``loss``
    at ``score`` (the start plus ``constant`` plus the rows of ``t``).
    """

    start: Vector
    start_loss: float
    score: Vector
    loss: float
    t: Vector
    reference: float
    excess: float
    constant: float = 0.0
    radius: float = math.inf
    projection_error: float = 0.0
    steps: int = 0
    products: float = 0.0

    @property
    def gap(self) -> float:
        gap = max((self.start_loss - self.reference) + self.excess, 0.0)
        return min(gap, self.start_loss)  # no loss is negative

    @property
    def final_gap(self) -> float:
        return max((self.loss - self.reference) + self.excess, 0.0)

    @property
    def decrease(self) -> float:
        return max(self.start_loss - self.loss, 0.0)
