"""Newton leaf values: sum of residuals over sum of curvatures, on each side of the split."""

from __future__ import annotations

from typing import NamedTuple

from ..._core.jit import kernel
from ..._core.math import blocked_sum
from ..._core.team import wait_for_all
from ...learners.kernels import Pick, direction, trust
from ...losses import Loss
from ...losses.kernels import evaluate
from ...statistics.rows import TILE
from ...steps import NewtonStep, make_rule
from .step_length import step_values


class NewtonRule(NamedTuple):
    """learning_rate * S / (H + l2), cut at +-limit before the learning rate."""

    learning_rate: float
    l2: float
    limit: float


@make_rule.register
def _(step: NewtonStep, loss: Loss, learning_rate: float, n_rows: int) -> NewtonRule:
    return NewtonRule(learning_rate, float(step.l2), step.limit(loss))


@step_values.register(NewtonRule)
def _newton(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    left, left_h, right, right_h, goal = side_sums(
        terms, learners, pick, rows, sums, scratch, seat, goal
    )
    share = trust(learners, pick)
    left, right = newton_value(rule, left, left_h), newton_value(rule, right, right_h)
    return share * left, share * right, goal


@kernel()
def newton_value(rule, residual, curvature):
    """The value of a leaf; nothing where there is no curvature at all."""
    below = curvature + rule.l2
    if below <= 0.0:
        return 0.0
    return rule.learning_rate * min(max(residual / below, -rule.limit), rule.limit)


@kernel()
def side_sums(terms, learners, pick, rows, sums, scratch, seat, goal):
    """(S_L, H_L, S_R, H_R, goal): weighted residuals and curvatures summed over the two sides."""
    side = Pick(pick.learner, pick.column, 0.0, 1.0, 0.0)  # b is the indicator of the left side
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        for k in range(2):
            sums[k, 0, chunk] = 0.0
            sums[k, 1, chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            residual = rows.residual[lo:hi]
            direction(learners, side, lo, hi, scratch.delta)
            split_values(residual, scratch.delta, scratch.values, sums[:, 0], chunk)
            direction(learners, side, lo, hi, scratch.delta)
            scratch.values[: hi - lo] = 1.0
            curvatures(terms, rows, lo, hi, scratch.values)
            split_values(
                scratch.values[: hi - lo], scratch.delta, scratch.values, sums[:, 1], chunk
            )
    goal = wait_for_all(seat, goal)
    return sums[0, 0].sum(), sums[0, 1].sum(), sums[1, 0].sum(), sums[1, 1].sum(), goal


@kernel()
def split_values(values, inside, scratch, sums, chunk):
    """Add the values of each side, of which ``inside`` is the left; both are written over."""
    for i in range(values.shape[0]):
        inside[i] *= values[i]
        scratch[i] = values[i] - inside[i]
    sums[0, chunk] += blocked_sum(inside, values.shape[0])
    sums[1, chunk] += blocked_sum(scratch, values.shape[0])


@kernel()
def curvatures(terms, rows, lo, hi, values):
    """Multiply by the weighted curvatures of rows lo..hi."""
    y = rows.y[lo:hi]
    score = rows.score[lo:hi]
    for i in range(y.shape[0]):
        _, _, curvature = evaluate(terms, y[i], score[i])
        values[i] *= curvature
    if rows.weighted:
        weight = rows.weight[lo:hi]
        for i in range(weight.shape[0]):
            values[i] *= weight[i]
