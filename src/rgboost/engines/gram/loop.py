"""Algorithm 2 on statistics: an iteration costs O(K), whatever the number of rows.

The left side of a split is a sum of disjoint slots (`slots`; of plain numbers, it is one), so a
step is

    d = base + jump * sum of share_i over the slots i of the step

For the squared loss it changes the sum of residuals in slot j, and the one over all rows, by

    S_j -= base W_j + jump * sum of share_i N_ij,      T -= base W + jump * sum of share_i W_i

with W_j the weight in slot j and N_ij the weight in both i and j (a row of the Gram matrix of the
slots). What all rows get, the sum C of all bases, is kept as one number and subtracted as C W_j
where a sum is read: a third less memory is moved in each iteration. The loss changes by
-<d, r> + <d, d>/2. So the iterates are those of the direct engine up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.team import wait_for_all
from ...learners.kernels import note_set
from ...learners.stumps.splits import pick_split
from ..direct.loop import first_of_the_best, note_nothing
from .search import (
    Level,
    most_chosen,
    note_loss,
    parts_of_step,
    search_mine,
    share_of_columns,
)


class GramState(NamedTuple):
    """Sums of a set of rows under the current model, and the Gram rows made so far.

    The sum in slot j is ``left_sums[j] - constant[0] * left_weight[j]``. ``constant``, ``total``
    and ``loss`` are single numbers in arrays. ``row_start[g]`` is the first row of feature g in
    ``rows``, -1 if it has none yet.

    The rows may be some of those that ``rows`` are of. Then their Gram rows are ``rows - less``,
    if there are such; or they are taken to have the same ``share`` of everything.
    """

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    constant: NDArray[np.float64]
    total: NDArray[np.float64]
    loss: NDArray[np.float64]
    rows: NDArray
    row_start: NDArray[np.int64]
    less: NDArray
    share: float


def make_state(
    left_sums: NDArray[np.float64],
    left_weight: NDArray[np.float64],
    total_weight: float,
    total: float,
    loss: float,
    rows: NDArray,
    row_start: NDArray[np.int64],
    less: NDArray | None = None,
    share: float = 1.0,
) -> GramState:
    """The state of some rows, before anything was added to all of them."""
    single = np.zeros(1), np.array([total]), np.array([loss])
    less = rows[:0] if less is None else less
    return GramState(left_sums, left_weight, total_weight, *single, rows, row_start, less, share)


class Pending(NamedTuple):
    """The step that was chosen but not yet applied: learner (-1 for none), and left, right."""

    learner: NDArray[np.int64]
    values: NDArray[np.float64]


class GramWork(NamedTuple):
    """What searches find: for each column of J, or for each thread if J holds some splits of its
    columns, the best score, the split and the sum on its left."""

    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]


def make_work(n_columns: int, n_threads: int) -> GramWork:
    """Room for subsets J of at most so many columns, and for so many threads."""
    n = max(n_columns, n_threads)
    return GramWork(np.empty(n), np.empty(n, np.int64), np.empty(n))


@kernel()
def run_gram_block(learners, state, held, rho, subsets, record, begin, pending, work, seat):
    """Run iterations from ``begin`` until the record is full or a feature lacks its Gram rows.

    Returns the iteration to go on with. A pending step is applied first, so a feature is asked for
    by leaving it pending. Between two barriers all threads read what was found; then each of them
    applies the step to its slots and searches its columns, which writes to them.
    """
    splits, first_slot = learners.splits, learners.slots.start
    n_iter = record.learner.shape[0]
    total, loss, constant = state.total[0], state.loss[0], state.constant[0]
    held_total, held_loss, held_constant = held.total[0], held.loss[0], held.constant[0]
    with_held = held.row_start.shape[0] > 0
    mine = share_of_columns(first_slot, seat)
    a, b = first_slot[mine.first], first_slot[mine.last]
    scratch = np.empty(max(2 * splits.most_bins, most_chosen(subsets)))
    slot, share = np.empty(splits.most_bins, np.int64), np.empty(splits.most_bins)
    learner, left, right = pending.learner[0], pending.values[0], pending.values[1]
    column, n, base, jump = 0, 0, 0.0, 0.0
    goal = 0
    if learner >= 0:
        column = np.searchsorted(splits.offsets, learner, side="right") - 1
        n, base, jump = parts_of_step(learners, column, learner, left, right, slot, share)
        goal = wait_for_all(seat, goal)
    m = begin
    while True:
        if learner >= 0:
            if state.row_start[column] < 0:
                break
            row = state.row_start[column] - first_slot[column]
            for i in range(n):
                apply_step(state, row + slot[i], jump * share[i], a, b)
                if with_held:
                    apply_step(held, row + slot[i], jump * share[i], a, b)
            constant += base
            held_constant += base
            learner = -1
        if m == n_iter:
            break
        note_loss(learners, loss)
        level = Level(total, constant, total + constant * state.total_weight)
        n_found = search_mine(learners, state.left_sums, level, subsets, m, mine, scratch, work)
        goal = wait_for_all(seat, goal)
        if seat.rank == 0:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
        k = first_of_the_best(work.score, n_found)
        if k >= 0 and splits.gain[work.learner[k]] == 0.0:
            k = -1  # all splits of J have an empty side, in one of several folds
        if k < 0:
            if seat.rank == 0:
                note_nothing(record, m)
                record.sets[m] = 0
        else:
            learner = work.learner[k]
            column = np.searchsorted(splits.offsets, learner, side="right") - 1
            pick = pick_split(splits, column, learner, work.inner[k], total)
            step = rho * pick.gradient
            left, right = step * pick.left, step * pick.right
            if seat.rank == 0:
                record.learner[m] = learner
                record.left[m] = left
                record.right[m] = right
                record.gradient[m] = pick.gradient
                if record.sets.shape[1] > 0:
                    note_set(learners, pick, record.sets[m])
            n, base, jump = parts_of_step(learners, column, learner, left, right, slot, share)
            change, moved = changes(state, constant, slot, share, n, base, jump, total)
            loss += change
            total -= moved
            if with_held:
                change, moved = changes(held, held_constant, slot, share, n, base, jump, held_total)
                held_loss += change
                held_total -= moved
        goal = wait_for_all(seat, goal)
        m += 1
    goal = wait_for_all(seat, goal)
    if seat.rank == 0:
        state.constant[0], state.total[0], state.loss[0] = constant, total, loss
        held.constant[0], held.total[0], held.loss[0] = held_constant, held_total, held_loss
        pending.learner[0] = learner
        pending.values[0], pending.values[1] = left, right
    return m


@scalar()
def changes(state, constant, slot, share, n, base, jump, total):
    """(-<d, r> + <d, d>/2, sum of d) of a step d in n parts, which are disjoint."""
    linear = base * total
    moved = base * state.total_weight
    square = base * moved
    for i in range(n):
        more, weight = jump * share[i], state.left_weight[slot[i]]
        linear += more * (state.left_sums[slot[i]] - constant * weight)
        moved += more * weight
        square += (2.0 * base + more) * more * weight
    return 0.5 * square - linear, moved


@scalar()
def apply_step(state, row, jump, start, stop):
    """Sums of the slots start..stop after ``jump`` was added to the rows of the slot that has this
    Gram row."""
    sums, both = state.left_sums[start:stop], state.rows[row, start:stop]
    if state.less.shape[0] > 0:
        subtract_rest(sums, both, state.less[row, start:stop], jump * state.share)
    else:
        subtract_row(sums, both, jump * state.share)


@kernel()
def subtract_row(sums, both, jump):
    for j in range(sums.shape[0]):
        sums[j] -= jump * both[j]


@kernel()
def subtract_rest(sums, both, less, jump):
    for j in range(sums.shape[0]):
        sums[j] -= jump * (float(both[j]) - float(less[j]))
