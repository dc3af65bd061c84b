"""Leaf-wise optimal values: each side of the split gets the value with the smallest loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import by_type, kernel
from ..._core.math import blocked_sum
from ..._core.team import wait_for_all
from ...learners.kernels import Pick, direction, trust
from ...losses import Loss
from ...losses.exponential import ExponentialTerms
from ...losses.gamma import GammaTerms
from ...losses.huber import HuberTerms
from ...losses.log_cosh import LogCoshTerms
from ...losses.logistic import LogisticTerms
from ...losses.poisson import PoissonTerms
from ...losses.quantile import PinballTerms
from ...losses.ridged import RidgedTerms
from ...losses.squared import SquaredTerms
from ...losses.tweedie import TweedieTerms
from ...statistics.rows import TILE
from ...steps import LeafSearch, make_rule
from .line_search import newton_step
from .step_length import own_rule, step_values


class LeafRule(NamedTuple):
    """learning_rate times the best value of each leaf; room for the errors of all rows."""

    learning_rate: float
    errors: NDArray[np.float64]
    weights: NDArray[np.float64]


@make_rule.register
def _(step: LeafSearch, loss: Loss, learning_rate: float, n_rows: int) -> LeafRule:
    room = n_rows if loss.quantile_leaves else 0
    return LeafRule(learning_rate, np.empty(room), np.empty(room))


@own_rule.register
def _(rule: LeafRule, n_rows: int) -> LeafRule:
    room = min(n_rows, len(rule.errors))
    return rule._replace(errors=np.empty(room), weights=np.empty(room))


@by_type
def search_leaves(terms, rule, learners, pick, rows, sums, scratch, seat, goal):
    """(left, right, goal): the minimisers of the loss over the two sides."""


@step_values.register(LeafRule)
def _leaves(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    left, right, goal = search_leaves(terms, rule, learners, pick, rows, sums, scratch, seat, goal)
    return rule.learning_rate * left, rule.learning_rate * right, goal


@search_leaves.register(SquaredTerms)
def _squared(terms, rule, learners, pick, rows, sums, scratch, seat, goal):
    return pick.gradient * pick.left, pick.gradient * pick.right, goal  # the mean residuals


@search_leaves.register(HuberTerms)
@search_leaves.register(LogCoshTerms)
@search_leaves.register(LogisticTerms)
@search_leaves.register(ExponentialTerms)
@search_leaves.register(PoissonTerms)
@search_leaves.register(GammaTerms)
@search_leaves.register(TweedieTerms)
@search_leaves.register(RidgedTerms)
def _by_newton(terms, rule, learners, pick, rows, sums, scratch, seat, goal):
    left, right, goal = side_slopes(learners, pick, rows, sums, scratch, seat, goal)
    learner, column = pick.learner, pick.column
    signs = (1.0 if left >= 0.0 else -1.0, 1.0 if right >= 0.0 else -1.0)
    on_left = Pick(learner, column, abs(left), signs[0], 0.0)
    on_right = Pick(learner, column, abs(right), 0.0, signs[1])
    left, goal = search_side(terms, learners, on_left, rows, sums, scratch, seat, goal)
    right, goal = search_side(terms, learners, on_right, rows, sums, scratch, seat, goal)
    share = trust(learners, pick)
    return share * signs[0] * left, share * signs[1] * right, goal


@kernel()
def search_side(terms, learners, side, rows, sums, scratch, seat, goal):
    """A line search along the indicator of one side."""
    if side.gradient == 0.0:
        return 0.0, goal
    goal = wait_for_all(seat, goal)  # nobody reads ``sums`` any more
    return newton_step(terms, learners, side, rows, sums, scratch, seat, goal)


@kernel()
def side_slopes(learners, pick, rows, sums, scratch, seat, goal):
    """(S_L, S_R, goal): weighted residuals summed over the two sides."""
    side = Pick(pick.learner, pick.column, 0.0, 1.0, 0.0)
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums[0, 0, chunk] = 0.0
        sums[0, 1, chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            direction(learners, side, lo, hi, scratch.delta)
            residual = rows.residual[lo:hi]
            for i in range(residual.shape[0]):
                inside = scratch.delta[i]
                scratch.delta[i] = inside * residual[i]
                scratch.values[i] = (1.0 - inside) * residual[i]
            sums[0, 0, chunk] += blocked_sum(scratch.delta, hi - lo)
            sums[0, 1, chunk] += blocked_sum(scratch.values, hi - lo)
    goal = wait_for_all(seat, goal)
    return sums[0, 0].sum(), sums[0, 1].sum(), goal


@search_leaves.register(PinballTerms)
def _by_quantiles(terms, rule, learners, pick, rows, sums, scratch, seat, goal):
    """Weighted quantiles of y - f: one thread for each side, so the order is always the same."""
    level = terms.above / (terms.above + terms.below)
    errors, weights = rule.errors, rule.weights
    if seat.rank == 0:
        n = gather_side(learners, pick, 1.0, rows, scratch, errors, weights)
        sums[0, 0, 0] = weighted_quantile(errors[:n], weights[:n], level)
    if seat.rank == seat.size - 1:  # from the other end of the memory: the sides do not meet
        back, back_weights = errors[::-1], weights[::-1]
        n = gather_side(learners, pick, 0.0, rows, scratch, back, back_weights)
        sums[0, 1, 0] = weighted_quantile(back[:n], back_weights[:n], level)
    goal = wait_for_all(seat, goal)
    share = trust(learners, pick)
    return share * sums[0, 0, 0], share * sums[0, 1, 0], goal


@kernel()
def gather_side(learners, pick, wanted, rows, scratch, errors_out, weights_out):
    """y - f and weights of the rows left (1) or right (0) of the split; returns how many."""
    side = Pick(pick.learner, pick.column, 0.0, 1.0, 0.0)
    n = 0
    for lo in range(0, rows.y.shape[0], TILE):
        hi = min(lo + TILE, rows.y.shape[0])
        direction(learners, side, lo, hi, scratch.delta)
        for i in range(lo, hi):
            if scratch.delta[i - lo] == wanted:
                errors_out[n] = rows.y[i] - rows.score[i]
                weights_out[n] = rows.weight[i] if rows.weighted else 1.0
                n += 1
    return n


@kernel()
def weighted_quantile(values, weights, level):
    """The smallest value whose weight and that of all smaller ones is ``level`` of the whole.

    Quickselect with three parts (smaller, equal, larger than a pivot) and pivots from a fixed
    pseudo-random sequence; O(n). Reorders its arguments.
    """
    target = level * weights.sum()
    start, stop = 0, values.shape[0]
    below = 0.0
    random = 12345
    while stop - start > 1:
        random = (random * 1103515245 + 12345) % 2147483648
        pivot = values[start + random % (stop - start)]
        low, k, high = start, start, stop
        low_weight = equal_weight = 0.0
        while k < high:
            value, weight = values[k], weights[k]
            if value < pivot:
                values[k], weights[k] = values[low], weights[low]
                values[low], weights[low] = value, weight
                low_weight += weight
                low += 1
                k += 1
            elif value > pivot:
                high -= 1
                values[k], weights[k] = values[high], weights[high]
                values[high], weights[high] = value, weight
            else:
                equal_weight += weight
                k += 1
        if low > start and below + low_weight >= target:
            stop = low
        elif high == stop or below + low_weight + equal_weight >= target:
            return pivot
        else:
            below += low_weight + equal_weight
            start = high
    return values[start]
