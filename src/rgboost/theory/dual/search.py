"""The search for a good lower bound of the best loss; `theory.dual.ground` says why it is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .ends import put_at_ends
from .ground import Effort, Ground, Search
from .projection import Diagonal, Factor, Step, System, newton_step
from .span import Vector

_EXACT = 1e-13
"""v is orthogonal up to rounding if no feature explains more than this share of its length."""

_FLAT = 1e-3
"""Where the curvature is 0 (Huber's tails) this share of the largest one is taken at first."""

_FAR = 0.01
"""A step that gains more than this share of the loss is taken before a bound is worth its cost:
v is a linear extrapolation, and on a long way it leaves the domain of the conjugate loss."""

_FAR_AFTER = 0.3
_FAR_AT_MOST = 0.06
"""Once a step was taken: the same as a share of what the bound may be off by, and still of the
loss."""

_ROUGH = 0.25
"""Share of its gain that the error of such a step may have."""

_SHARE = 0.1
"""Share of the gap that the error of conjugate gradients may have."""

_LOOSE = 1e-3
"""Share of the gain that the error may have while rows are still being put at the end."""

_STRAIN = 0.1
"""Share of the gap that rows outside of the domain may cost, where that is possible at all."""

_ROUNDS = 12
"""How often rows outside of the conjugate's domain are put at its end, and the rest solved anew."""

_MOST_EXACT = 15.0
"""Products that the refinement of one exact solution may take."""

_MOST_PRODUCTS = 1000.0
"""Products that one solution by conjugate gradients may take, whatever the budget."""

_POOR = 0.9
"""A bound below this share of the best loss found may be worse than the one of v = 0."""

_SCALES = 6
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
"""Sections of the search for the best scale of v, and the share that each one keeps."""

DEFAULT_RADIUS = 1000.0
"""Standard deviations of the model's scores."""


class Searcher:
    """Newton's method from given scores, with lower bounds of the best loss on the way."""

    def __init__(
        self, ground: Ground, score: Vector, effort: Effort, radius: float | None = None
    ) -> None:
        self.ground, self.effort, self.wanted_radius = ground, effort, radius
        losses, *self.now = ground.evaluate(score)
        loss = float((ground.weight * losses).sum())
        n = ground.span.n_coordinates
        self.found = Search(score, loss, score, loss, np.zeros(n), loss, excess=math.inf)
        self.optimise = effort.tightness == 1.0
        self.far = effort.enough if self.optimise else _FAR
        if ground.loss.quadratic or (self.optimise and ground.exact):
            self.far = math.inf  # v is no extrapolation, or there is time for every bound
        self.spread = float(np.std(score))
        self.flat = _FLAT
        self.length = 0.0
        self.begun = 0.0  # products of the present step that are in `found` already
        self.go_on: bool | None = None
        self.last = np.zeros_like(score), score, loss, 0.0
        self.last_radius, self.last_error = math.inf, 0.0

    def run(self) -> Search:
        found = self.found
        if len(found.t) == 0:  # nothing can be added
            found.excess = 0.0
            return found
        while found.steps < self.effort.steps and self._left() >= 2.0 and not self._is_enough():
            length = self._advance()
            self.flat = max(0.1 * self.flat, 1e-9) if length == 1.0 else min(4.0 * self.flat, 1.0)
            if length == 0.0:
                break
        if not self._is_enough():
            self._scale_last()
        if found.reference - found.excess < _POOR * found.loss:
            nothing = np.zeros_like(found.score)  # every row at the smallest loss it can have
            self._keep(found.loss, self.ground.excess(found.score, nothing), 0.0)
        return found

    def _left(self) -> float:
        return math.inf if self.ground.exact else self.effort.products - self.found.products

    def _is_enough(self) -> bool:
        found, effort = self.found, self.effort
        aim = effort.enough * abs(found.loss)
        decided = True
        if effort.tolerance is not None:
            tolerance = effort.tolerance * self.ground.total_weight
            if found.gap <= tolerance:
                return True
            decided = found.decrease > tolerance
        if decided:
            aim = max(aim, self._room())
        return found.final_gap <= max(aim, self._rounding())

    def _rounding(self) -> float:
        return float(np.finfo(float).eps) * abs(self.found.start_loss)

    def _radius(self, step: Step) -> float:
        if self.wanted_radius is not None:
            return self.wanted_radius
        length = math.sqrt(float(np.square(step.change).mean()))
        return DEFAULT_RADIUS * (self.spread + length)

    def _rough(self, step: Step) -> bool:
        """Good enough to see whether the optimum is far, and to take the step if it is."""
        share = 0.01 if self.optimise else _ROUGH
        return step.first_error <= self._far() or step.error <= share * step.decrease

    def _far(self) -> float:
        """A gain that is too large for a good bound."""
        loss = abs(self.found.loss)
        after = min(_FAR_AFTER * self._room(), _FAR_AT_MOST * loss)
        return max(self.far * loss, after, self._rounding())

    def _about(self, step: Step) -> float:
        """About the largest bound of the gap after a step that is as tight as it should be."""
        return step.decrease + self._room()

    def _room(self) -> float:
        """How much larger than the gap at the best scores found a bound may be."""
        return (self.effort.tightness - 1.0) * self.found.decrease

    def _loose(self, step: Step) -> bool:
        """Good enough to see which rows are outside of the conjugate's domain."""
        return step.error <= _LOOSE * step.decrease

    def _precise(self, step: Step) -> bool:
        """Whether what is left of A' W v is rounding, or worth little and not rounding soon."""
        ground = self.ground
        error = ground.largest_group(step.sums)
        if error <= 0.5 * _EXACT * self.length:
            return True
        aim = 0.5 * _SHARE * max(self._about(step), self.effort.enough * abs(self.found.loss))
        if ground.exact or step.error > aim or self._radius(step) * ground.root * error > aim:
            return False
        if self.go_on is None:
            left = self._left() - (step.products - self.begun)
            self.go_on = self.wanted_radius is None and self._to_rounding(step, error) <= left
        return not self.go_on

    def _to_rounding(self, step: Step, error: float) -> float:
        """Products that are left until v is exact, at the rate so far."""
        done = step.products - 0.5
        rate = 0.5 * math.log(step.first_error / step.error) / done if done > 0.0 else 0.0
        rate = max(rate, step.rate)
        if rate <= 0.0:
            return math.inf
        return 0.5 + math.log(error / (0.5 * _EXACT * self.length)) / rate

    def _advance(self) -> float:
        """One step of Newton's method: a bound at the present scores, then lower scores."""
        ground, found = self.ground, self.found
        residual, curvature = self.now
        gradient = -residual
        self.length = math.sqrt(float((ground.weight * gradient * gradient).sum()))
        least = self.flat if (curvature == 0).any() else 1e-12
        metric = np.maximum(curvature, least * (float(curvature.max()) or 1.0))
        found.steps += 1
        self.go_on = None
        squares = (
            ground.squares if ground.loss.quadratic else ground.span.squares(ground.weight * metric)
        )
        system = System(ground.span, ground.weight, Diagonal(squares))
        step = self._solve(system, gradient, metric, self._rough)
        if step.decrease > self._far() and self._left() > 6.0:
            return self._fall(step)
        if ground.exact:
            system = replace(system, solver=ground.factor(metric))
        step = self._solve(system, gradient, metric, self._loose, step, same=True)
        self._bound(self._project(system, step, gradient, metric))
        return self._fall(step)

    def _solve(
        self,
        system: System,
        gradient: Vector,
        metric: Vector,
        stop: Callable[[Step], bool],
        near: Step | None = None,
        same: bool = False,
    ) -> Step:
        self.begun = near.products if same and near is not None else 0.0
        most = min(self._left() - 0.5, _MOST_EXACT if self.ground.exact else _MOST_PRODUCTS)
        step = newton_step(system, gradient, metric, stop, self.begun + most, near, same)
        self.found.products += step.products - self.begun
        return step

    def _project(self, system: System, step: Step, gradient: Vector, metric: Vector) -> Step:
        """The step to the end, or a similar one whose dual is in the domain of the conjugate.

        Rows that are outside, or came close to it, are put at the end of the domain, and the
        others make up for it, until what is left outside is worth little. Where a ridge goes on
        beyond the end, its curvature is all that such rows have left.
        """
        ground = self.ground
        ends = ground.conjugate.soft_domain(ground.y, self.found.score)
        beyond = 1.0 / ground.conjugate.stiffness
        gradient, metric, leaving = gradient.copy(), metric.copy(), np.empty_like(metric)
        fixed = np.zeros(len(gradient), bool)
        for _ in range(_ROUNDS):
            allowed = _STRAIN * self._about(step)
            if self._left() < 2.0 or ground.strain(step.dual, ends) <= allowed:
                break
            put_at_ends(step.dual, *ends, beyond, gradient, metric, fixed, leaving)
            system = replace(system, solver=system.solver.without(ground.weight * leaving))
            step = self._solve(system, gradient, metric, self._loose, step)
        step = self._solve(system, gradient, metric, self._precise, step, same=True)
        if ground.exact and not self._precise(step):  # the factor was still the one of all rows
            gram = ground.span.gram(ground.weight * metric)
            system = replace(system, solver=Factor(ground.span, gram))
            step = self._solve(system, gradient, metric, self._precise, step)
        return step

    def _bound(self, step: Step) -> None:
        """The bound of v = step.dual, which is kept if it is the best."""
        ground, found = self.ground, self.found
        v = np.clip(step.dual, *ground.domain)
        for_all = ground.exact or self.wanted_radius == math.inf
        if for_all and ground.outside(step.dual).any():
            v = step.dual  # orthogonal, and a multiple may be inside
        # Of the v that is used: clipping is seen here, and no error of a recursion is.
        sums = ground.span.sums(ground.weight * v)
        found.products += 0.5
        error, radius = ground.largest_group(sums), self._radius(step)
        moved = float((ground.weight * v * (found.score - found.start)).sum())
        exact = error <= _EXACT * self.length
        per_scale = moved + (0.0 if exact else radius * ground.root * error)
        self.last = v, found.score, found.loss, per_scale
        self.last_radius, self.last_error = math.inf if exact else radius, error / ground.root
        self._keep(found.loss, ground.excess(found.score, v) + per_scale, 1.0)

    def _keep(self, reference: float, excess: float, scale: float) -> None:
        found = self.found
        if reference - excess > found.reference - found.excess:
            found.reference, found.excess = reference, excess
            found.radius = self.last_radius if scale > 0.0 else math.inf
            found.projection_error = scale * self.last_error

    def _scale_last(self) -> None:
        """The best multiple of the last v."""
        v, score, loss, per_scale = self.last
        if not math.isfinite(per_scale):
            return
        low, high = 0.0, _largest_scale(v, *self.ground.domain)
        if high == 0.0:
            return

        def tried(scale: float) -> float:
            value = self.ground.excess(score, scale * v) + scale * per_scale
            self._keep(loss, value, scale)
            return value

        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_a, at_b = tried(a), tried(b)
        for _ in range(_SCALES):
            if at_a < at_b:
                high, b, at_b = b, a, at_a
                a = high - _GOLDEN * (high - low)
                at_a = tried(a)
            else:
                low, a, at_a = a, b, at_b
                b = low + _GOLDEN * (high - low)
                at_b = tried(b)

    def _fall(self, step: Step) -> float:
        """Take the longest of the steps 1, 1/2, 1/4, ... that lowers the loss; its length, or 0."""
        found = self.found
        length = 1.0
        while length > 1e-9:
            score = found.score + length * step.change
            losses, *now = self.ground.evaluate(score)
            loss = float((self.ground.weight * losses).sum())
            if loss < found.loss:
                found.score, found.loss, self.now = score, loss, now
                found.t = found.t + length * step.t
                found.constant += length * step.constant
                return length
            length *= 0.5
        return 0.0


def _largest_scale(v: Vector, low: Vector, high: Vector) -> float:
    """The largest scale <= 1 with low <= scale v <= high; 0 always is in the domain."""
    above, below = v > high, v < low
    scales = np.concatenate([high[above] / v[above], low[below] / v[below]])
    most = float(scales.min(initial=1.0))
    return most * (1.0 - 1e-15) if 0.0 < most < 1.0 else most
