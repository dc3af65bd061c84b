"""Algorithm 2 on statistics: an iteration costs O(K), whatever the number of rows.

For the squared loss, adding D_L left and D_R right of split u of feature q changes the left sums by

    S_j -= D_R W_j + (D_L - D_R) N_uj,      T -= D_L W_u + D_R (W - W_u)

with W_j the weight left of split j and N_uj the weight left of both u and j (a row of the Gram
matrix of left indicators). The loss changes by -<d, r> + <d, d>/2, d the step. So the iterates are
those of the direct engine up to rounding. With sigma in front of the changes, the same loop
minimises the majoriser L(f) - <r, d> + sigma/2 <d, d> of any sigma-smooth loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import by_type, kernel
from .._math import largest
from .._team import wait_for_all
from ..learners.kernels import TIE
from ..learners.splits import (
    expected_sum,
    first_of_ties,
    pick_split,
    score_splits,
    shared_score,
)
from .loop import first_of_the_best, subset_columns


class GramState(NamedTuple):
    """Sums of a set of rows under the current model, and the Gram rows made so far.

    Of features with missing values or categories, sums and weights are those of slots
    (`mixed_slots`), not of left sides.

    ``row_start[g]`` is the first row of feature g in ``rows``, -1 if it has none yet.
    ``total`` and ``loss`` are single numbers in arrays.
    """

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    total: NDArray[np.float64]
    loss: NDArray[np.float64]
    rows: NDArray
    row_start: NDArray[np.int64]


class RestState(NamedTuple):
    """As `GramState`, of all rows but those of a fold: the Gram rows are ``rows - less``.

    A class of its own, so that single runs do not compile it.
    """

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    total: NDArray[np.float64]
    loss: NDArray[np.float64]
    rows: NDArray
    row_start: NDArray[np.int64]
    less: NDArray


class ShareState(NamedTuple):
    """As `GramState`, of some of the rows that the Gram rows are of: of everything that these
    weigh, they are taken to have the same ``share``."""

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    total: NDArray[np.float64]
    loss: NDArray[np.float64]
    rows: NDArray
    row_start: NDArray[np.int64]
    share: float


class Pending(NamedTuple):
    """The step that was chosen but not yet applied: learner (-1 for none), and left, right."""

    learner: NDArray[np.int64]
    values: NDArray[np.float64]


class GramWork(NamedTuple):
    """The best of each column of J, twice: threads write one half while others read the other."""

    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]
    held_inner: NDArray[np.float64]


def make_work(n_columns: int) -> GramWork:
    """Room for subsets J of at most so many columns."""
    shape = (2, n_columns)
    return GramWork(np.empty(shape), np.empty(shape, np.int64), np.empty(shape), np.empty(shape))


@kernel()
def run_gram_block(splits, state, held, sigma, rho, subsets, record, begin, pending, work, seat):
    """Run iterations from ``begin`` until the record is full or a feature lacks its Gram rows.

    Returns the iteration to go on with. A pending step is applied first, so a feature is asked for
    by leaving it pending.
    """
    n_iter = record.learner.shape[0]
    total, loss = state.total[0], state.loss[0]
    held_total, held_loss = held.total[0], held.loss[0]
    learner = pending.learner[0]
    left, right = pending.values[0], pending.values[1]
    first_column, last_column = share_of_columns(splits.offsets, seat)
    scratch = np.empty(splits.most_bins)
    goal = 0
    m = begin
    while True:
        if learner >= 0:
            column = np.searchsorted(splits.offsets, learner, side="right") - 1
            if state.row_start[column] < 0:
                break
            row = state.row_start[column] + learner - splits.offsets[column]
            a, b = splits.offsets[first_column], splits.offsets[last_column]
            apply_step(state, row, sigma * left, sigma * right, a, b)
            if held.row_start.shape[0] > 0:
                apply_step(held, row, left, right, a, b)
            learner = -1
        if m == n_iter:
            break
        columns = subset_columns(subsets, m)
        half = m % 2
        search_mine(
            splits, state, held, subsets, m, first_column, last_column, total, half, scratch, work
        )
        goal = wait_for_all(seat, goal)
        record_now = seat.rank == 0
        if record_now:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
        k = first_of_the_best(work.score[half], columns.shape[0])
        if k >= 0 and splits.gain[work.learner[half, k]] == 0.0:
            k = -1  # all splits of J have an empty side, in one of several folds
        if k < 0:
            if record_now:
                note_nothing(record, m)
            m += 1
            continue
        learner = work.learner[half, k]
        inner = work.inner[half, k]
        pick = pick_split(splits, columns[k], learner, inner, total)
        step = rho * pick.gradient
        left, right = step * pick.left, step * pick.right
        if record_now:
            record.learner[m] = learner
            record.left[m] = left
            record.right[m] = right
            record.gradient[m] = pick.gradient
        below = state.left_weight[learner]
        above = state.total_weight - below
        loss += change_of_loss(inner, total, below, above, left, right, sigma)
        total -= sigma * (left * below + right * above)
        if held.row_start.shape[0] > 0:
            below = held.left_weight[learner]
            above = held.total_weight - below
            inner = work.held_inner[half, k]
            held_loss += change_of_loss(inner, held_total, below, above, left, right, 1.0)
            held_total -= left * below + right * above
        m += 1
    goal = wait_for_all(seat, goal)
    if seat.rank == 0:
        state.total[0], state.loss[0] = total, loss
        held.total[0], held.loss[0] = held_total, held_loss
        pending.learner[0] = learner
        pending.values[0], pending.values[1] = left, right
    return m


@kernel()
def change_of_loss(inner, total, below, above, left, right, sigma):
    """-<d, r> + sigma/2 <d, d> for the step d that is ``left`` and ``right`` of a split."""
    linear = left * inner + right * (total - inner)
    return 0.5 * sigma * (left * left * below + right * right * above) - linear


@kernel()
def note_nothing(record, m):
    """J held no weak-learner."""
    record.learner[m] = -1
    record.left[m] = 0.0
    record.right[m] = 0.0
    record.gradient[m] = 0.0


@kernel()
def share_of_columns(offsets, seat):
    """Consecutive columns for each thread, with about equally many sums."""
    n_columns = offsets.shape[0] - 1
    n_sums = offsets[n_columns]
    first = np.searchsorted(offsets, n_sums * seat.rank // seat.size)
    last = np.searchsorted(offsets, n_sums * (seat.rank + 1) // seat.size)
    if seat.rank == 0:
        first = 0
    if seat.rank == seat.size - 1:
        last = n_columns
    return first, last


@by_type
def apply_step(state, row, left, right, start, stop):
    """Left sums after a step, for the splits start..stop."""


@apply_step.register(GramState)
def _apply_step(state, row, left, right, start, stop):
    sums = state.left_sums[start:stop]
    weights = state.left_weight[start:stop]
    both = state.rows[row, start:stop]
    jump = left - right
    for j in range(sums.shape[0]):
        sums[j] -= right * weights[j] + jump * both[j]


@apply_step.register(RestState)
def _apply_step_to_rest(state, row, left, right, start, stop):
    sums = state.left_sums[start:stop]
    weights = state.left_weight[start:stop]
    both = state.rows[row, start:stop]
    less = state.less[row, start:stop]
    jump = left - right
    for j in range(sums.shape[0]):
        sums[j] -= right * weights[j] + jump * (float(both[j]) - float(less[j]))


@apply_step.register(ShareState)
def _apply_step_to_share(state, row, left, right, start, stop):
    sums = state.left_sums[start:stop]
    weights = state.left_weight[start:stop]
    both = state.rows[row, start:stop]
    jump = state.share * (left - right)
    for j in range(sums.shape[0]):
        sums[j] -= right * weights[j] + jump * both[j]


@kernel()
def search_mine(splits, state, held, subsets, m, first, last, total, half, scratch, work):
    """The best score of each column of J that is this thread's, and the splits that may win."""
    columns = subset_columns(subsets, m)
    position = subsets.start[m % (subsets.start.shape[0] - 1)]
    start, stop = np.searchsorted(columns, first), np.searchsorted(columns, last)
    base = shared_score(splits, total)
    # Arrays by themselves: a call that is given a tuple counts references to all it holds.
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    slope, shift = expected_sum(splits, total)
    sums, score = state.left_sums, work.score[half]
    best = -1.0
    for k in range(start, stop):
        a, b = offsets[columns[k]], offsets[columns[k] + 1]
        if b - a == 1:  # an indicator; if it is in J, its only split is
            off = sums[a] - (slope * left_weight[a] + shift)
            top = off * off * gain[a]
        else:
            n = score_column(splits, state, subsets, position + k, columns[k], total, scratch)
            top = largest(scratch, n)
        score[k] = top + base
        best = max(best, top + base)
    for k in range(start, stop):
        if score[k] >= best * (1.0 - TIE):
            n = score_column(splits, state, subsets, position + k, columns[k], total, scratch)
            i = first_of_ties(scratch, largest(scratch, n), base)
            j = offsets[columns[k]] + i
            if subsets.restricted:
                j = subsets.learners[subsets.first[position + k] + i]
            work.learner[half, k] = j
            work.inner[half, k] = sums[j]
            if held.row_start.shape[0] > 0:
                work.held_inner[half, k] = held.left_sums[j]


@kernel()
def score_column(splits, state, subsets, position, column, total, out):
    """Scores (less what all share) of the splits of a column that are in J; returns how many."""
    slope, shift = expected_sum(splits, total)
    sums, left_weight, gain = state.left_sums, splits.left_weight, splits.gain
    if subsets.restricted:
        chosen = subsets.learners[subsets.first[position] : subsets.first[position + 1]]
        for i in range(chosen.shape[0]):
            j = chosen[i]
            off = sums[j] - (slope * left_weight[j] + shift)
            out[i] = off * off * gain[j]
        return chosen.shape[0]
    a, b = splits.offsets[column], splits.offsets[column + 1]
    score_splits(sums[a:b], left_weight[a:b], gain[a:b], slope, shift, out)
    return b - a
