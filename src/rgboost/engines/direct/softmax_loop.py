"""Algorithm 2 for several classes, as compiled code.

A weak-learner is a stump whose two leaves hold a value for each class: a block of 2C orthogonal
columns 1_left e_c / sqrt(W_L), 1_right e_c / sqrt(W_R) that move together. Its best unit vector has

    <b, r>^2 = sum_c S_c^2 / W_L + (T_c - S_c)^2 / W_R
             = sum_c T_c^2 / W + sum_c (S_c - T_c W_L / W)^2 W / (W_L W_R)

and the constant step 1/sigma adds S_c / (sigma W_L) on the left, (T_c - S_c) / (sigma W_R) on the
right. Sets of categories: see `rgboost.learners.stumps.class_sums`. Threads and chunks of rows are
those of `loop`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import close_turn, take_ticket, wait_for_all
from ...learners.kernels import (
    TIE,
    Pick,
    Scratch,
    accumulate,
    direction,
    note_noise,
    note_set,
    scratch_size,
)
from ...learners.stumps.class_sums import class_left_sums, least_weight, needs_all_bins, split_sum
from ...learners.stumps.splits import best_allowed
from ...learners.stumps.stump_statistics import bar_light_sides, gather_column
from ...statistics.class_rows import ClassScratch, add_values, clear_sums, evaluate_classes
from .loop import first_of_the_best, subset_columns, subset_of
from .softmax_step import class_values


class ClassWork(NamedTuple):
    """Memory that the threads of a team share: sums ``partial[chunk, class, k]`` of column k of J
    over a chunk of rows (empty if columns are searched whole), and the best of each column with
    its left sums ``inner[k, class]``; ``sums`` is for the step.

    If ``by_split``, ``partial[chunk, class, i, 0]`` is the left sum of weak-learner i of J, and
    columns of categories are searched whole.
    """

    partial: NDArray[np.float64]
    by_split: bool
    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]
    sums: NDArray[np.float64]


@kernel()
def make_scratch(learners, n_classes, tile):
    most_bins = learners.splits.most_bins
    return ClassScratch(
        Scratch(np.empty(scratch_size(learners)), np.empty(tile), np.empty(tile)),
        np.empty(tile),
        np.empty(tile),
        np.empty((n_classes, most_bins)),
        np.empty(most_bins),
    )


@kernel()
def run_softmax_block(
    learners, terms, rule, subsets, rows, held_learners, held, record, work, tile, seat
):
    """Run as many iterations as the record has room for."""
    n_classes = rows.score.shape[0]
    scratch = make_scratch(learners, n_classes, tile)
    splits = learners.splits
    n_iter = record.learner.shape[0]
    learner, column = -1, 0
    left, right, totals = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    goal = 0
    for m in range(n_iter + 1):
        # (5) of the iteration before, and (1): f += step b, and the pseudo-residual r
        last = m == n_iter
        side = Pick(learner, column, 0.0, 1.0, 0.0)
        sweep(learners, terms, side, left, right, subsets, m, last, rows, work, scratch, seat)
        if learner >= 0:
            sweep_held(held_learners, terms, side, left, right, held, scratch, seat)
        goal = wait_for_all(seat, goal)
        if last:
            break
        # (2), (3): the best weak-learner in the random subset J
        for c in range(n_classes):
            totals[c] = rows.residual_sums[:, c].sum()
        loss, held_loss = rows.loss_sums.sum(), held.loss_sums.sum()
        note_noise(learners, rows.residual, rows.weight, rows.weighted)
        k, goal = search(learners, subsets, m, rows.residual, totals, work, scratch, seat, goal)
        # (4): the step
        gradient = 0.0
        learner = -1
        if k >= 0:
            learner, column = work.learner[k], subset_columns(subsets, m)[k]
            below = splits.left_weight[learner]
            above = splits.total_weight - below
            for c in range(n_classes):
                outer = totals[c] - work.inner[k, c]
                gradient += work.inner[k, c] ** 2 / below + outer * outer / above
            side = Pick(learner, column, 0.0, 1.0, 0.0)
            goal = class_values(
                rule, terms, learners, side, work.inner[k], totals, rows, work.sums, scratch, seat,
                goal, left, right,
            )  # fmt: skip
        if seat.rank == 0:
            record.loss[m] = loss
            record.held_loss[m] = held_loss
            record.learner[m] = learner
            record.gradient[m] = math.sqrt(gradient)
            note_set(learners, Pick(learner, column, 0.0, 1.0, 0.0), record.sets[m])
            for c in range(n_classes):
                record.left[m, c] = left[c] if learner >= 0 else 0.0
                record.right[m, c] = right[c] if learner >= 0 else 0.0


@kernel()
def sweep(learners, terms, side, left, right, subsets, m, last, rows, work, scratch, seat):
    """One pass over this thread's rows: apply the pending step, then sum the columns of J."""
    columns = subset_columns(subsets, m)
    by_rows = work.partial.shape[0] > 0 and not last
    tile = scratch.top.shape[0]
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        if side.learner >= 0:
            clear_sums(rows, chunk)
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], tile):
            hi = min(lo + tile, rows.chunks[chunk + 1])
            if side.learner >= 0:
                direction(learners, side, lo, hi, scratch.one.delta)
                add_values(rows, lo, hi, scratch.one.delta, left, right)
                evaluate_classes(terms, rows, chunk, lo, hi, scratch)
            first = lo == rows.chunks[chunk]
            if by_rows and work.by_split:
                subset = subset_of(subsets, m)
                add_splits(learners, subset, rows, lo, hi, first, work.partial[chunk])
            elif by_rows:
                for c in range(rows.residual.shape[0]):
                    residual, partial = rows.residual[c], work.partial[chunk, c]
                    accumulate(learners, columns, residual, lo, hi, scratch.one, first, partial)


@kernel()
def sweep_held(learners, terms, side, left, right, held, scratch, seat):
    """Apply the pending step to this thread's rows of the validation set."""
    tile = scratch.top.shape[0]
    for chunk in range(seat.rank, held.chunks.shape[0] - 1, seat.size):
        clear_sums(held, chunk)
        for lo in range(held.chunks[chunk], held.chunks[chunk + 1], tile):
            hi = min(lo + tile, held.chunks[chunk + 1])
            direction(learners, side, lo, hi, scratch.one.delta)
            add_values(held, lo, hi, scratch.one.delta, left, right)
            evaluate_classes(terms, held, chunk, lo, hi, scratch)


@kernel()
def search(learners, subsets, m, residual, totals, work, scratch, seat, goal):
    """The position in J of the column with the best weak-learner, -1 if there is none."""
    n_columns = subset_columns(subsets, m).shape[0]
    batch = n_columns if seat.size == 1 else max(1, n_columns // (8 * seat.size))
    k = 0 if seat.size == 1 else batch * take_ticket(seat, m)
    while k < n_columns:
        stop = min(k + batch, n_columns)
        for j in range(k, stop):
            search_column(learners, subsets, m, j, residual, totals, work, scratch)
        k = stop if seat.size == 1 else batch * take_ticket(seat, m)
    goal = wait_for_all(seat, goal)
    close_turn(seat, m)
    return first_of_the_best(work.score, n_columns), goal


@kernel()
def search_column(learners, subsets, m, k, residual, totals, work, scratch):
    """The best split of column k of J: its score, its index, and its left sums."""
    subset, splits = subset_of(subsets, m), learners.splits
    column = subset.columns[k]
    first = splits.offsets[column]
    partial = work.partial
    if work.by_split:
        if not needs_all_bins(learners, column):
            least = least_weight(learners)
            search_splits(splits, least, subset, k, totals, work, scratch.left_sums[:, 0])
            return
        partial = partial[:0]
    n = splits.offsets[column + 1] - first
    weight, gain = splits.left_weight[first : first + n], splits.gain[first : first + n]
    bins, scores = scratch.one.bins, scratch.scores[:n]
    n_classes = residual.shape[0]
    left_sums = scratch.left_sums
    for c in range(n_classes):
        gather_column(learners, column, k, residual[c], totals[c], partial[:, c], scratch.one)
        for s in range(n + 1):
            left_sums[c, s] = bins[s]
    class_left_sums(learners, column, left_sums, totals)
    scores[:] = 0.0
    base = 0.0
    for c in range(n_classes):
        slope = totals[c] / splits.total_weight
        base += slope * totals[c]
        for s in range(n):
            off = left_sums[c, s] - slope * weight[s]
            scores[s] += off * off * gain[s]
    for s in range(n):
        if gain[s] == 0.0:  # an empty side, in one of several folds
            scores[s] = -np.inf
    bar_light_sides(learners, column, scores)
    work.score[k], split = best_allowed(scores, n, subset, k, first, base)
    work.learner[k] = first + split
    for c in range(n_classes):
        work.inner[k, c] = left_sums[c, split]


@kernel()
def add_splits(learners, subset, rows, lo, hi, first, partial_out):
    """Left sums of the weak-learners in J over rows lo..hi, added to those of the chunk, or in
    their place if these rows are its first. Those of categories are left out."""
    start, offsets = subset.first[0], learners.splits.offsets
    for c in range(rows.residual.shape[0]):  # outermost: residuals of a class stay in the cache
        residual, out = rows.residual[c, lo:hi], partial_out[c]
        for k in range(subset.columns.shape[0]):
            column = subset.columns[k]
            if needs_all_bins(learners, column):
                continue
            for i in range(subset.first[k], subset.first[k + 1]):
                split = subset.learners[i] - offsets[column]
                before = 0.0 if first else out[i - start, 0]
                out[i - start, 0] = before + split_sum(learners, column, split, residual, lo)


@kernel()
def search_splits(splits, least, subset, k, totals, work, sums):
    """`search_column` from the left sums of the weak-learners in J. A side weighs ``least``."""
    start, n_classes = subset.first[0], totals.shape[0]
    work.score[k], to_beat = -1.0, -1.0
    for i in range(subset.first[k], subset.first[k + 1]):
        j = subset.learners[i]
        if splits.gain[j] == 0.0:  # an empty side, in one of several folds
            continue
        below = splits.left_weight[j]
        above = splits.total_weight - below
        if min(below, above) < least:
            continue
        score = 0.0
        for c in range(n_classes):
            sums[c] = work.partial[:, c, i - start, 0].sum()
            score += sums[c] ** 2 / below + (totals[c] - sums[c]) ** 2 / above
        if score > to_beat:
            to_beat = score * (1.0 + TIE)
            work.score[k], work.learner[k] = score, j
            for c in range(n_classes):
                work.inner[k, c] = sums[c]
