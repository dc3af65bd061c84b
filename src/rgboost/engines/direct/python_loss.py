"""Algorithm 2 with a loss that is written in Python.

The search for the best weak-learner is compiled as always; the loss is called once per iteration
on whole arrays. Same arguments as `loop.run_block`, with the loss in place of its terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Seat
from ...learners.kernels import Pick, Scratch, direction, note_noise, note_set, scratch_size, trust
from ...losses import Loss
from ...selection import Subsets
from ...statistics.rows import TILE, Rows
from ...steps import ConstantRule, LineSearch
from ..base import Record
from .leaf_search import LeafRule
from .loop import Work, search
from .newton_leaves import NewtonRule, newton_value


def run_block_with_python_loss(
    learners: Any,
    loss: Loss,
    rule: Any,
    subsets: Subsets,
    rows: Rows,
    held_learners: Any,
    held: Rows,
    record: Record,
    work: Work,
    seat: Seat,
) -> None:
    """Run as many iterations as the record has room for."""
    for m in range(len(record.learner)):
        record.loss[m] = _sum_losses(loss, rows)
        record.held_loss[m] = _sum_losses(loss, held)
        rows.residual[:] = _weighted(rows, loss.residual(rows.y, rows.score))
        note_noise(learners, rows.residual[None], rows.weight, rows.weighted)
        pick = search_alone(learners, subsets, m, rows.residual, work, seat)
        left = right = 0.0
        if pick.learner >= 0 and pick.gradient > 0.0:
            left, right = _step_values(rule, loss, learners, pick, rows)
            move = pick._replace(left=left, right=right)
            rows.score[:] += whole_direction(learners, move, len(rows.y))
            held.score[:] += whole_direction(held_learners, move, len(held.y))
        record.learner[m] = pick.learner
        record.left[m] = left
        record.right[m] = right
        record.gradient[m] = pick.gradient
        note_set(learners, pick, record.sets[m])
    for data in (rows, held):
        data.loss_sums[:] = 0.0
        data.loss_sums[:1] = _sum_losses(loss, data)


def _step_values(
    rule: Any, loss: Loss, learners: Any, pick: Pick, rows: Rows
) -> tuple[float, float]:
    """What to add on the two sides of the pick, as `step_length.step_values`."""
    if isinstance(rule, ConstantRule):
        step = rule.learning_rate * (rule.rho * pick.gradient)
        return step * pick.left, step * pick.right
    share = trust(learners, pick)
    if isinstance(rule, NewtonRule):
        curvature = _weighted(rows, loss.curvature(rows.y, rows.score))
        sides = _sides(learners, pick, rows)
        values = [newton_value(rule, b @ rows.residual, b @ curvature) for b in sides]
        return share * values[0], share * values[1]
    weight = rows.weight if rows.weighted else None

    def best(b: NDArray[np.float64]) -> float:
        return share * rule.learning_rate * LineSearch().find(loss, rows.y, rows.score, b, weight)

    if isinstance(rule, LeafRule):
        left, right = _sides(learners, pick, rows)
        return best(left), best(right)
    step = best(whole_direction(learners, pick, len(rows.y)))
    return step * pick.left, step * pick.right


def _sides(
    learners: Any, pick: Pick, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Indicators of the rows left and right of the split."""
    left = whole_direction(learners, pick._replace(left=1.0, right=0.0), len(rows.y))
    return left, 1.0 - left


def _sum_losses(loss: Loss, rows: Rows) -> float:
    if not len(rows.y):
        return 0.0
    return float(_weighted(rows, loss.value(rows.y, rows.score)).sum())


def _weighted(rows: Rows, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows.weight * values if rows.weighted else values


@kernel()
def search_alone(learners, subsets, m, residual, work, seat):
    scratch = Scratch(np.empty(scratch_size(learners)), np.empty(TILE), np.empty(TILE))
    pick, _ = search(learners, subsets, m, residual, residual.sum(), work, scratch, seat, 0)
    return pick


@kernel()
def whole_direction(learners, pick, n_rows):
    """b on all rows. ``pick`` comes from Python as a tuple of Python numbers."""
    out = np.empty(n_rows)
    direction(learners, Pick(*pick), 0, n_rows, out)
    return out
