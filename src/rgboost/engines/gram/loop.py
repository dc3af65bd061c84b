"""Algorithm 2 on statistics: an iteration costs O(K), whatever the number of rows.

For the squared loss, adding D_L left and D_R right of split u of feature q changes the left sums by

    S_j -= D_R W_j + (D_L - D_R) N_uj,      T -= D_L W_u + D_R (W - W_u)

with W_j the weight left of split j and N_uj the weight left of both u and j (a row of the Gram
matrix of left indicators). What all rows get, the sum C of all D_R, is kept as one number and
subtracted as C W_j where a sum is read: a third less memory is moved in each iteration. The loss
changes by -<d, r> + <d, d>/2, d the step. So the iterates are those of the direct engine up to
rounding. With sigma in front of the changes, the same loop minimises the majoriser
L(f) - <r, d> + sigma/2 <d, d> of any sigma-smooth loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import by_type, kernel, scalar
from ..._core.math import largest
from ..._core.team import wait_for_all
from ...learners.kernels import TIE
from ...learners.splits import expected_sum, first_of_ties, pick_split, score_splits, shared_score
from ..direct.loop import first_of_the_best, note_nothing, subset_columns


class GramState(NamedTuple):
    """Sums of a set of rows under the current model, and the Gram rows made so far.

    Of features with missing values or categories, sums and weights are those of slots
    (`mixed_slots`), not of left sides.

    The sum left of split j is ``left_sums[j] - constant[0] * left_weight[j]``.
    ``row_start[g]`` is the first row of feature g in ``rows``, -1 if it has none yet.
    ``constant``, ``total`` and ``loss`` are single numbers in arrays.
    """

    left_sums: NDArray[np.float64]
    left_weight: NDArray[np.float64]
    total_weight: float
    constant: NDArray[np.float64]
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
    constant: NDArray[np.float64]
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
    constant: NDArray[np.float64]
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
    """The best of each column of J, or of each thread if J holds some splits of its columns; twice:
    threads write one half while others read the other."""

    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]
    held_inner: NDArray[np.float64]


class Level(NamedTuple):
    """Numbers that a search reads beside the sums: those of `GramState`, by value."""

    total: float
    constant: float
    held_constant: float


class Share(NamedTuple):
    """The columns ``first`` to ``last`` are those of a thread, one of ``n_threads``."""

    first: int
    last: int
    rank: int
    n_threads: int


def make_work(n_columns: int, n_threads: int) -> GramWork:
    """Room for subsets J of at most so many columns, and for so many threads."""
    shape = (2, max(n_columns, n_threads))
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
    constant, held_constant = state.constant[0], held.constant[0]
    learner = pending.learner[0]
    left, right = pending.values[0], pending.values[1]
    mine = share_of_columns(splits.offsets, seat)
    a, b = splits.offsets[mine.first], splits.offsets[mine.last]
    scratch = np.empty(most_chosen(subsets) if subsets.restricted else splits.most_bins)
    goal = 0
    column = np.searchsorted(splits.offsets, learner, side="right") - 1
    m = begin
    while True:
        if learner >= 0:
            if state.row_start[column] < 0:
                break
            row = state.row_start[column] + learner - splits.offsets[column]
            apply_step(state, row, sigma * (left - right), a, b)
            constant += sigma * right
            if held.row_start.shape[0] > 0:
                apply_step(held, row, left - right, a, b)
                held_constant += right
            learner = -1
        if m == n_iter:
            break
        half = m % 2
        level = Level(total, constant, held_constant)
        n_found = search_mine(splits, state, held, level, subsets, m, mine, scratch, work)
        goal = wait_for_all(seat, goal)
        record_now = seat.rank == 0
        if record_now:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
        k = first_of_the_best(work.score[half], n_found)
        if k >= 0 and splits.gain[work.learner[half, k]] == 0.0:
            k = -1  # all splits of J have an empty side, in one of several folds
        if k < 0:
            if record_now:
                note_nothing(record, m)
            m += 1
            continue
        learner = work.learner[half, k]
        inner = work.inner[half, k]
        column = np.searchsorted(splits.offsets, learner, side="right") - 1
        pick = pick_split(splits, column, learner, inner, total)
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
        state.constant[0], state.total[0], state.loss[0] = constant, total, loss
        held.constant[0], held.total[0], held.loss[0] = held_constant, held_total, held_loss
        pending.learner[0] = learner
        pending.values[0], pending.values[1] = left, right
    return m


@kernel()
def change_of_loss(inner, total, below, above, left, right, sigma):
    """-<d, r> + sigma/2 <d, d> for the step d that is ``left`` and ``right`` of a split."""
    linear = left * inner + right * (total - inner)
    return 0.5 * sigma * (left * left * below + right * right * above) - linear


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
    return Share(first, last, seat.rank, seat.size)


@by_type
def apply_step(state, row, jump, start, stop):
    """Left sums after a step that is larger by ``jump`` on the left than on the right, for the
    splits start..stop; but for what all rows get."""


@apply_step.register(GramState)
def _apply_step(state, row, jump, start, stop):
    sums = state.left_sums[start:stop]
    both = state.rows[row, start:stop]
    for j in range(sums.shape[0]):
        sums[j] -= jump * both[j]


@apply_step.register(RestState)
def _apply_step_to_rest(state, row, jump, start, stop):
    sums = state.left_sums[start:stop]
    both = state.rows[row, start:stop]
    less = state.less[row, start:stop]
    for j in range(sums.shape[0]):
        sums[j] -= jump * (float(both[j]) - float(less[j]))


@apply_step.register(ShareState)
def _apply_step_to_share(state, row, jump, start, stop):
    sums = state.left_sums[start:stop]
    both = state.rows[row, start:stop]
    jump *= state.share
    for j in range(sums.shape[0]):
        sums[j] -= jump * both[j]


@scalar()
def search_mine(splits, state, held, level, subsets, m, mine, scratch, work):
    """The best splits of J among this thread's; returns how many threads or columns have one."""
    if subsets.restricted:
        search_chosen(splits, state, held, level, subsets, m, mine, scratch, work)
        return mine.n_threads
    search_columns(splits, state, held, level, subsets, m, mine, scratch, work)
    return subset_columns(subsets, m).shape[0]


@kernel()
def search_columns(splits, state, held, level, subsets, m, mine, scratch, work):
    """The best score of each column of J that is this thread's, and the splits that may win."""
    columns = subset_columns(subsets, m)
    start, stop = np.searchsorted(columns, mine.first), np.searchsorted(columns, mine.last)
    base = shared_score(splits, level.total)
    # Arrays by themselves: a call that is given a tuple counts references to all it holds.
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    slope, shift = expected_now(splits, level)
    sums, score = state.left_sums, work.score[m % 2]
    best = -1.0
    for k in range(start, stop):
        a, b = offsets[columns[k]], offsets[columns[k] + 1]
        if b - a == 1:  # an indicator
            off = sums[a] - (slope * left_weight[a] + shift)
            top = off * off * gain[a]
        else:
            score_splits(sums[a:b], left_weight[a:b], gain[a:b], slope, shift, scratch)
            top = largest(scratch, b - a)
        score[k] = top + base
        best = max(best, top + base)
    for k in range(start, stop):
        if score[k] >= best * (1.0 - TIE):
            a, b = offsets[columns[k]], offsets[columns[k] + 1]
            score_splits(sums[a:b], left_weight[a:b], gain[a:b], slope, shift, scratch)
            j = a + first_of_ties(scratch, largest(scratch, b - a), base)
            note_found(state, held, level, j, m % 2, k, work)


@kernel()
def search_chosen(splits, state, held, level, subsets, m, mine, scratch, work):
    """As `search_columns`, if J holds some splits of its columns: the best of all that are this
    thread's, as one list (columns would be short loops)."""
    columns = subset_columns(subsets, m)
    position = subsets.start[m % (subsets.start.shape[0] - 1)]
    a = subsets.first[position + np.searchsorted(columns, mine.first)]
    b = subsets.first[position + np.searchsorted(columns, mine.last)]
    chosen = subsets.learners[a:b]
    sums, left_weight, gain = state.left_sums, splits.left_weight, splits.gain
    slope, shift = expected_now(splits, level)
    for i in range(chosen.shape[0]):
        j = chosen[i]
        off = sums[j] - (slope * left_weight[j] + shift)
        scratch[i] = off * off * gain[j]
    top, base = largest(scratch, chosen.shape[0]), shared_score(splits, level.total)
    work.score[m % 2, mine.rank] = -1.0
    if top >= 0.0:
        work.score[m % 2, mine.rank] = top + base
        j = chosen[first_of_ties(scratch, top, base)]
        note_found(state, held, level, j, m % 2, mine.rank, work)


@scalar()
def expected_now(splits, level):
    """`expected_sum`, of sums that do not have what all rows got: it is in the slope."""
    slope, shift = expected_sum(splits, level.total)
    return slope + level.constant, shift


@scalar()
def note_found(state, held, level, j, half, k, work):
    """Write down a split and its sums, before other threads apply a step to them."""
    work.learner[half, k] = j
    work.inner[half, k] = state.left_sums[j] - level.constant * state.left_weight[j]
    if held.row_start.shape[0] > 0:
        work.held_inner[half, k] = held.left_sums[j] - level.held_constant * held.left_weight[j]


@kernel()
def most_chosen(subsets):
    """The most splits that a subset holds."""
    most = 0
    for m in range(subsets.start.shape[0] - 1):
        start, stop = subsets.start[m], subsets.start[m + 1]
        most = max(most, subsets.first[stop] - subsets.first[start])
    return most
