"""Algorithm 2 on statistics of rows with missing values and categories; see `gram_loop`.

The left side of a split is a sum of disjoint slots (`mixed_slots`), so a step is

    d = base + jump * sum of share_i over the slots i of the step

and changes the sum of residuals in slot j by S_j -= base W_j + jump * sum of share_i N_ij, with N
the Gram matrix of the slots. For the loss, <d, r> and <d, d> follow from S_i and W_i alike. What a
search needs beside that is the order of the categories: each column of J is sorted anew.
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import by_type, kernel
from ..._core.team import wait_for_all
from ...learners.mixed_splits import write_set
from ...learners.mixed_stumps import best_of_column
from ...learners.splits import expected_sum, pick_split, shared_score
from ...statistics.slots import best_chosen, parts_of_step, slot_left_sums
from ..direct.loop import first_of_the_best, note_nothing, subset_of
from .loop import GramState, RestState, ShareState, share_of_columns


@kernel()
def run_mixed_block(learners, state, held, rho, subsets, record, begin, pending, work, seat):
    """`run_gram_block` for mixed features.

    Between two barriers all threads read the order of categories and the sums of the chosen
    column. After the second one, each thread applies the step to its slots and searches its
    columns, which writes to them.
    """
    splits, columns = learners.splits, learners.columns
    n_iter = record.learner.shape[0]
    total, loss = state.total[0], state.loss[0]
    held_total, held_loss = held.total[0], held.loss[0]
    with_held = held.row_start.shape[0] > 0
    learner = pending.learner[0]
    left, right = pending.values[0], pending.values[1]
    mine = share_of_columns(learners.slots.start, seat)
    bins = np.empty(2 * splits.most_bins)
    slot, share = np.empty(splits.most_bins, np.int64), np.empty(splits.most_bins)
    a, b = learners.slots.start[mine.first], learners.slots.start[mine.last]
    both = np.empty(b - a)
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
            row = state.row_start[column] - learners.slots.start[column]
            apply_parts(state, row, slot[:n], share, base, jump, a, b, both)
            if with_held:
                apply_parts(held, row, slot[:n], share, base, jump, a, b, both)
            learner = -1
        if m == n_iter:
            break
        half = m % 2
        subset = subset_of(subsets, m)
        columns.noise[0] = columns.noise[1] + columns.noise[2] * loss  # all threads write the same
        search_slots(learners, state, subset, mine, total, half, bins, work)
        goal = wait_for_all(seat, goal)
        record_now = seat.rank == 0
        if record_now:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
        k = first_of_the_best(work.score[half], subset.columns.shape[0])
        if k < 0:
            if record_now:
                note_nothing(record, m)
                record.sets[m] = 0
            m += 1
            continue
        learner, column = work.learner[half, k], subset.columns[k]
        pick = pick_split(splits, column, learner, work.inner[half, k], total)
        step = rho * pick.gradient
        left, right = step * pick.left, step * pick.right
        if record_now:
            record.learner[m] = learner
            record.left[m] = left
            record.right[m] = right
            record.gradient[m] = pick.gradient
            write_set(columns, splits, pick, record.sets[m])
        n, base, jump = parts_of_step(learners, column, learner, left, right, slot, share)
        change, moved = changes(state, slot[:n], share, base, jump, total)
        loss += change
        total -= moved
        if with_held:
            change, moved = changes(held, slot[:n], share, base, jump, held_total)
            held_loss += change
            held_total -= moved
        goal = wait_for_all(seat, goal)
        m += 1
    goal = wait_for_all(seat, goal)
    if seat.rank == 0:
        state.total[0], state.loss[0] = total, loss
        held.total[0], held.loss[0] = held_total, held_loss
        pending.learner[0] = learner
        pending.values[0], pending.values[1] = left, right
    return m


@kernel()
def changes(state, slot, share, base, jump, total):
    """(-<d, r> + <d, d>/2, sum of d) of a step d in parts, which are disjoint."""
    linear = base * total
    moved = base * state.total_weight
    square = base * moved
    for i in range(slot.shape[0]):
        more = jump * share[i]
        weight = state.left_weight[slot[i]]
        linear += more * state.left_sums[slot[i]]
        moved += more * weight
        square += (2.0 * base + more) * more * weight
    return 0.5 * square - linear, moved


@kernel()
def apply_parts(state, row, slot, share, base, jump, start, stop, both):
    """Sums of the slots start..stop after a step; slot i has the Gram row ``row + i``."""
    sums, weights = state.left_sums[start:stop], state.left_weight[start:stop]
    rows_of_parts(state, row, slot, share, start, both)
    for j in range(sums.shape[0]):
        sums[j] -= base * weights[j] + jump * both[j]


@by_type
def rows_of_parts(state, row, slot, share, start, out):
    """The sum of shares of Gram rows of some slots."""


@rows_of_parts.register(GramState)
def _rows(state, row, slot, share, start, out):
    out[:] = 0.0
    for i in range(slot.shape[0]):
        add_row(state.rows[row + slot[i]], share[i], start, out)


@rows_of_parts.register(RestState)
def _rows_of_rest(state, row, slot, share, start, out):
    out[:] = 0.0
    for i in range(slot.shape[0]):
        add_row(state.rows[row + slot[i]], share[i], start, out)
        add_row(state.less[row + slot[i]], -share[i], start, out)


@rows_of_parts.register(ShareState)
def _rows_of_share(state, row, slot, share, start, out):
    out[:] = 0.0
    for i in range(slot.shape[0]):
        add_row(state.rows[row + slot[i]], share[i] * state.share, start, out)


@kernel()
def add_row(one, share, start, out):
    for j in range(out.shape[0]):
        out[j] += share * one[start + j]


@kernel()
def search_slots(learners, state, subset, mine, total, half, bins, work):
    """The best split of each column of J that is this thread's."""
    splits, columns, slots = learners.splits, learners.columns, learners.slots
    sums = state.left_sums
    score, learner, inner = work.score[half], work.learner[half], work.inner[half]
    start = np.searchsorted(subset.columns, mine.first)
    stop = np.searchsorted(subset.columns, mine.last)
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    for k in range(start, stop):
        if subset.restricted and not columns.categorical[subset.columns[k]]:
            score[k], learner[k], inner[k] = best_chosen(
                columns, splits, slots, subset, k, sums, total, bins, slope, shift, base
            )
        else:
            slot_left_sums(columns, splits, slots, subset.columns[k], sums, total, bins)
            score[k], learner[k], inner[k] = best_of_column(
                columns, splits, subset, k, bins, slope, shift, base
            )
