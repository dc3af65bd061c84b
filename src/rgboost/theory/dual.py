r"""Lower bounds of the best loss, from vectors that are orthogonal to all weak-learners.

Let :math:`\langle a, b\rangle = \sum_i w_i a_i b_i` and V = Range(B). For scores f in f_0 + V and
any v, the Fenchel-Young inequality, summed over the rows, says for every other f' in f_0 + V

.. math:: L(f') \ge \langle v, f' \rangle - \sum_i w_i l^*(y_i, v_i)
          = L(f) - \sum_i w_i e(y_i, f_i, v_i) + \langle v, f' - f \rangle,

with the excess e of `rgboost.theory.conjugate`. f' - f lies in V, so the last term is 0 if v is
orthogonal to V: then no combination of weak-learners has a loss below L(f) less the sum of
excesses. v comes from Newton's step at f (`rgboost.theory.projection`), and the excesses are of the
order of its decrement: the bound is as good as f is close to the optimum. Any f serves, so the
search goes on from one f to the next until the bound is good enough.

**Inexact v.** There are two ways, and a certificate says which one it went.

*Exact*: the normal equations are solved by a factor of the Gram matrix and refined, so that v is
orthogonal to V up to rounding. The bound holds for every combination of weak-learners.

*Within a radius*: conjugate gradients leave sums s_g = A_g' W v. For f' - f* = sum_g h_g, h_g the
change of feature g's function from the model f*, Cauchy-Schwarz within each feature (whose columns
are orthogonal) gives

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
from dataclasses import dataclass, field

import numpy as np

from ..losses import Loss, Squared
from ..losses.kernels import evaluate_rows
from .conjugate import Conjugate
from .projection import Diagonal, Factor, Step, newton_step
from .span import Span, Vector

_ROUNDING = 1e-14
"""Values outside of the domain by this share of the largest one are there by rounding."""

_REFINED = 1e-26
"""The square of a reduction that refinement of an exact solution may end at."""

_FLAT = 1e-3
"""Where the curvature is 0 (Huber's tails) this share of the largest one is taken at first."""

_SHARE = 0.1
"""Share of the gap that the error of conjugate gradients may have."""

DEFAULT_RADIUS = 1000.0
"""Standard deviations of the model's scores."""


@dataclass
class Ground:
    """The rows, the loss, and what weak-learners can add: all but the model."""

    span: Span
    y: Vector
    weight: Vector
    loss: Loss
    conjugate: Conjugate
    exact: bool
    kept_factor: Factor | None = None
    total_weight: float = field(init=False)
    squares: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.total_weight = float(self.weight.sum())
        self.squares = np.empty(0) if self.exact else self.span.squares(self.weight)

    def value(self, f: Vector) -> float:
        return float((self.weight * evaluate_rows(self.loss.terms, self.y, f)[0]).sum())

    def solver(self, curvature: Vector) -> Diagonal | Factor:
        if not self.exact:
            return Diagonal(self.span, self.weight * curvature)
        if type(self.loss) is not Squared:
            return Factor(self.span, self.weight * curvature)
        if self.kept_factor is None:  # the curvature is 1 for every model
            self.kept_factor = Factor(self.span, self.weight)
        return self.kept_factor

    def largest_group(self, sums: Vector) -> float:
        """max_g ||P_g v|| from A' W v."""
        terms = np.divide(sums * sums, self.squares, out=np.zeros_like(sums), where=sums != 0)
        return math.sqrt(np.add.reduceat(terms, self.span.starts).max(initial=0.0))


@dataclass(frozen=True)
class Effort:
    """When to stop looking for a better bound. Gaps here are means over the rows.

    Attributes
    ----------
    tightness : the bound of the gap is at most this multiple of a decrease that was found.
    enough : the gap is at most this share of the loss.
    tolerance : the gap is known to be below this, or known to be above it.
    steps, products : Newton's steps, and products with A and its transpose (in pairs) at most.
    """

    tightness: float = 2.0
    enough: float = 1e-9
    tolerance: float | None = None
    steps: int = 20
    products: float = 30.0


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
        return max((self.start_loss - self.reference) + self.excess, 0.0)

    @property
    def final_gap(self) -> float:
        return max((self.loss - self.reference) + self.excess, 0.0)

    @property
    def decrease(self) -> float:
        return max(self.start_loss - self.loss, 0.0)


def search(ground: Ground, score: Vector, effort: Effort, radius: float | None = None) -> Search:
    """Newton's method from given scores, with a lower bound of the best loss at every step."""
    loss = ground.value(score)
    found = Search(
        start=score,
        start_loss=loss,
        score=score,
        loss=loss,
        t=np.zeros(ground.span.n_coordinates),
        reference=loss,
        excess=_excess(ground, score, np.zeros_like(score)),  # v = 0: every row at its best
    )
    flat = _FLAT
    while found.steps < effort.steps and not _is_enough(ground, found, effort):
        _, residual, curvature = evaluate_rows(ground.loss.terms, ground.y, found.score)
        metric = np.maximum(curvature, (flat if (curvature == 0).any() else 1e-12) * curvature.max())
        metric = np.maximum(metric, 1e-300)
        step = _solve(ground, found, -residual, metric, effort, radius)
        found.products += step.products
        found.steps += 1
        _update_bound(ground, found, step, _radius(found, step, radius))
        length = _fall(ground, found, step)
        flat = max(0.1 * flat, 1e-9) if length == 1.0 else min(4.0 * flat, 1.0)
        if length == 0.0 or found.products + 2.5 > effort.products:
            break
    return found


def _is_enough(ground: Ground, found: Search, effort: Effort) -> bool:
    if found.steps == 0:
        return ground.span.n_coordinates == 0
    if effort.tolerance is not None:
        tolerance = effort.tolerance * ground.total_weight
        if found.gap <= tolerance or found.decrease > tolerance:
            return True
    small = effort.enough * abs(found.loss)
    return found.gap <= max(effort.tightness * found.decrease, small)


def _solve(
    ground: Ground,
    found: Search,
    gradient: Vector,
    metric: Vector,
    effort: Effort,
    radius: float | None,
) -> Step:
    """Newton's step, as exact as it has to be."""

    def refined(step: Step) -> bool:
        return step.error <= _REFINED * step.first_error or step.products >= 3.0

    def close(step: Step) -> bool:
        reach = _radius(found, step, radius) * math.sqrt(ground.total_weight)
        aim = _SHARE * max(step.decrease, 0.5 * effort.enough * abs(found.loss))
        return step.error <= aim and reach * ground.largest_group(step.sums) <= aim

    left = effort.products - found.products
    return newton_step(
        ground.span,
        ground.weight,
        gradient,
        metric,
        ground.solver(metric),
        refined if ground.exact else close,
        math.inf if ground.exact else left,
    )


def _radius(found: Search, step: Step, radius: float | None) -> float:
    if radius is not None:
        return radius
    spread = float(np.std(found.start)) + float(np.sqrt(np.mean(step.change**2)))
    return DEFAULT_RADIUS * spread


def _update_bound(ground: Ground, found: Search, step: Step, radius: float) -> None:
    """Keep the bound of v = step.dual if it is better; v is scaled into the conjugate's domain."""
    v, sums = step.dual, step.sums
    low, high = ground.conjugate.domain(ground.y)
    rounding = _ROUNDING * float(np.abs(v).max())
    near = np.clip(v, low - rounding, high + rounding)
    v = np.where(near == v, np.clip(v, low, high), v)
    most = _largest_scale(v, low, high)
    if not ground.exact and most < 0.5:  # not orthogonal any more, which is accounted for
        v, most = np.clip(v, low, high), 1.0
        sums = ground.span.sums(ground.weight * v)
        found.products += 0.5
    per_scale = 0.0
    if not ground.exact:
        moved = float((ground.weight * v * (found.score - found.start)).sum())
        reach = radius * math.sqrt(ground.total_weight)
        per_scale = moved + reach * ground.largest_group(sums)

    def excess(scale: float) -> float:
        return _excess(ground, found.score, scale * v) + scale * per_scale

    scale, value = _best_scale(excess, most, found)
    if found.loss - value >= found.reference - found.excess:
        found.reference, found.excess = found.loss, value
        found.radius = math.inf if ground.exact or scale == 0.0 else radius
        if ground.exact:
            length = np.sqrt(ground.span.squares(ground.weight))
            size = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
            error = float(np.abs(size).max(initial=0.0))
        else:
            error = ground.largest_group(sums)
        found.projection_error = scale * error / math.sqrt(ground.total_weight)


def _excess(ground: Ground, f: Vector, v: Vector) -> float:
    return float((ground.weight * ground.conjugate.excess(ground.y, f, v)).sum())


def _largest_scale(v: Vector, low: Vector, high: Vector) -> float:
    """The largest scale <= 1 with low <= scale v <= high; 0 always is in the domain."""
    above, below = v > high, v < low
    scales = np.concatenate([high[above] / v[above], low[below] / v[below]])
    most = float(scales.min(initial=1.0))
    return most * (1.0 - 1e-15) if 0.0 < most < 1.0 else most


def _best_scale(excess, most: float, found: Search) -> tuple[float, float]:
    """The scale in [0, most] with the smallest (convex) excess, unless the largest is good."""
    if most == 0.0:
        return 0.0, math.inf
    value = excess(most)
    if most == 1.0 and value < 0.5 * (found.loss - found.reference + found.excess):
        return most, value
    low, high = 0.0, most
    best = most
    for _ in range(12):
        a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
        at_a, at_b = excess(a), excess(b)
        low, high = (low, b) if at_a < at_b else (a, high)
        for point, at_point in ((a, at_a), (b, at_b)):
            if at_point < value:
                best, value = point, at_point
    return best, value


def _fall(ground: Ground, found: Search, step: Step) -> float:
    """Take the longest of the steps 1, 1/2, 1/4, ... that lowers the loss; its length, or 0."""
    length = 1.0
    while length > 1e-9:
        score = found.score + length * step.change
        loss = ground.value(score)
        if loss < found.loss:
            found.score, found.loss = score, loss
            found.t = found.t + length * step.t
            found.constant += length * step.constant
            return length
        length *= 0.5
    return 0.0
