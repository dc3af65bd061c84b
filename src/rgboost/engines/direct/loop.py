"""Algorithm 2, Randomized Gradient Boosting Machine, as compiled code.

Every thread of a team runs `run_block`; see `rgboost._core.team`. Algorithm 1 is the same with
`AllLearners`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.math import largest
from ..._core.team import close_turn, take_ticket, wait_for_all
from ...learners.kernels import (
    TIE,
    Best,
    Pick,
    Scratch,
    Subset,
    accumulate,
    make_pick,
    note_noise,
    note_set,
    scratch_size,
    search_columns,
)
from ...statistics.rows import TILE, advance
from .step_length import step_values


class Work(NamedTuple):
    """Memory that the threads of a team share.

    ``partial[chunk, k]`` holds the sums of column k of J over a chunk of rows (empty if columns
    are searched whole); ``score``, ``learner`` and ``inner`` the best of each column;
    ``search`` the sums of a line search.
    """

    partial: NDArray[np.float64]
    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]
    search: NDArray[np.float64]


@kernel()
def run_block(learners, terms, rule, subsets, rows, held_learners, held, record, work, seat):
    """Run as many iterations as the record has room for."""
    scratch = Scratch(np.empty(scratch_size(learners)), np.empty(TILE), np.empty(TILE))
    n_iter = record.learner.shape[0]
    move = Pick(-1, 0, 0.0, 0.0, 0.0)
    goal = 0
    for m in range(n_iter + 1):
        # (5) of the iteration before, and (1): f += step b, and the pseudo-residual r
        last = m == n_iter
        sweep(learners, terms, move, subsets, m, last, rows, work, scratch, seat)
        sweep_held(held_learners, terms, move, held, scratch, seat)
        goal = wait_for_all(seat, goal)
        if last:
            break
        # (2), (3): the best weak-learner in the random subset J
        total = rows.residual_sums.sum()
        loss = rows.loss_sums.sum()
        held_loss = held.loss_sums.sum()
        residual = rows.residual.reshape(1, rows.residual.shape[0])
        note_noise(learners, residual, rows.weight, rows.weighted)
        pick, goal = search(learners, subsets, m, rows.residual, total, work, scratch, seat, goal)
        # (4): the step
        if pick.learner < 0 or pick.gradient == 0.0:
            left, right = 0.0, 0.0
        else:
            left, right, goal = step_values(
                rule, terms, learners, pick, rows, work.search, scratch, seat, goal
            )
        move = Pick(pick.learner, pick.column, pick.gradient, left, right)
        if seat.rank == 0:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
            record.learner[m] = pick.learner
            record.left[m] = left
            record.right[m] = right
            record.gradient[m] = pick.gradient
            note_set(learners, pick, record.sets[m])


@kernel()
def sweep(learners, terms, move, subsets, m, last, rows, work, scratch, seat):
    """One pass over this thread's rows: apply the pending step, then sum the columns of J."""
    columns = subset_columns(subsets, m)
    by_rows = work.partial.shape[0] > 0 and not last
    pending = move.learner >= 0
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        if pending:
            rows.loss_sums[chunk] = 0.0
            rows.residual_sums[chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            if pending:
                advance(learners, terms, move, rows, chunk, lo, hi, scratch)
            if by_rows:
                partial, first = work.partial[chunk], lo == rows.chunks[chunk]
                accumulate(learners, columns, rows.residual, lo, hi, scratch, first, partial)


@kernel()
def sweep_held(learners, terms, move, held, scratch, seat):
    """Apply the pending step to this thread's rows of the validation set."""
    if move.learner < 0:
        return
    for chunk in range(seat.rank, held.chunks.shape[0] - 1, seat.size):
        held.loss_sums[chunk] = 0.0
        held.residual_sums[chunk] = 0.0
        for lo in range(held.chunks[chunk], held.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, held.chunks[chunk + 1])
            advance(learners, terms, move, held, chunk, lo, hi, scratch)


@kernel()
def search(learners, subsets, m, residual, total, work, scratch, seat, goal):
    """The best weak-learner in J: threads take columns in turn, then all compare."""
    subset = subset_of(subsets, m)
    n_columns = subset.columns.shape[0]
    best = Best(work.score, work.learner, work.inner)
    batch = n_columns if seat.size == 1 else max(1, n_columns // (8 * seat.size))
    k = 0 if seat.size == 1 else batch * take_ticket(seat, m)
    while k < n_columns:
        stop = min(k + batch, n_columns)
        search_columns(learners, subset, k, stop, residual, total, scratch, work.partial, best)
        k = stop if seat.size == 1 else batch * take_ticket(seat, m)
    goal = wait_for_all(seat, goal)
    close_turn(seat, m)
    k = first_of_the_best(work.score, n_columns)
    if k < 0:
        return Pick(-1, 0, 0.0, 0.0, 0.0), goal
    pick = make_pick(learners, subset.columns[k], work.learner[k], work.inner[k], total)
    return pick, goal


@kernel()
def first_of_the_best(scores, n):
    """The first column whose score ties with the largest; -1 if there is none. Columns ascend, so
    ties go to the smallest index."""
    top = largest(scores, n)
    if top < 0.0:
        return -1
    k = 0
    while scores[k] < top * (1.0 - TIE):
        k += 1
    return k


@kernel()
def subset_of(subsets, m):
    """The subset J of iteration m."""
    row = m % (subsets.start.shape[0] - 1)
    start, stop = subsets.start[row], subsets.start[row + 1]
    first = subsets.first[start : stop + 1]
    return Subset(subsets.columns[start:stop], subsets.restricted, first, subsets.learners)


@scalar()
def subset_columns(subsets, m):
    """The columns of J in iteration m."""
    row = m % (subsets.start.shape[0] - 1)
    return subsets.columns[subsets.start[row] : subsets.start[row + 1]]


@kernel()
def note_nothing(record, m):
    """J held no weak-learner."""
    record.learner[m] = -1
    record.left[m] = 0.0
    record.right[m] = 0.0
    record.gradient[m] = 0.0
