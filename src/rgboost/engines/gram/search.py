"""The parts of the Gram loop that depend on what slots are: the search for the best split, and the
slots of a step.

On plain numbers (`NumberSplits`) slots are splits. With missing values and categories
(`SlotSplits`), left sums of a column are made of its slots, and categories are sorted
anew in each search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._core.jit import by_type, kernel, scalar
from ..._core.math import largest
from ...learners.kernels import TIE, note_set
from ...learners.stumps.mixed_splits import sort_categories, write_set
from ...learners.stumps.mixed_stumps import best_of_column
from ...learners.stumps.splits import (
    expected_sum,
    first_of_ties,
    score_splits,
    shared_score,
)
from ...statistics.slots import NumberSplits, SlotSplits, slots_to_left
from ..direct.loop import subset_columns, subset_of


class Level(NamedTuple):
    """Beside the sums of slots: the sum over all rows, what all rows got, and the sum over all rows
    without that."""

    total: float
    constant: float
    raw_total: float


class Share(NamedTuple):
    """The columns ``first`` to ``last`` are those of a thread, one of ``n_threads``."""

    first: int
    last: int
    rank: int
    n_threads: int


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


@kernel()
def most_chosen(subsets):
    """The most splits that a subset holds, if it holds some of its columns' only."""
    most = 0
    if subsets.restricted:
        for m in range(subsets.start.shape[0] - 1):
            start, stop = subsets.start[m], subsets.start[m + 1]
            most = max(most, subsets.first[stop] - subsets.first[start])
    return most


def _nothing_to_note(learners, loss):
    return


@by_type(otherwise=_nothing_to_note)
def note_loss(learners, loss):
    """Before a search: what sums of the residuals have by chance, which follows from the loss."""


@by_type(inline=True)
def search_mine(learners, sums, level, subsets, m, mine, scratch, work):
    """The best splits of J among this thread's; returns how many threads or columns have one."""


@by_type(inline=True)
def parts_of_step(learners, column, learner, left, right, slot_out, share_out):
    """A step as base + jump * sum of share_i [row in slot i], over disjoint slots.

    Returns how many slots there are, base and jump.
    """


@parts_of_step.register(NumberSplits)
def _one_part(learners, column, learner, left, right, slot_out, share_out):
    slot_out[0], share_out[0] = learner, 1.0
    return 1, right, left - right


@search_mine.register(NumberSplits)
def _search_numbers(learners, sums, level, subsets, m, mine, scratch, work):
    columns = subset_columns(subsets, m)
    if subsets.restricted:
        position = subsets.start[m % (subsets.start.shape[0] - 1)]
        a = subsets.first[position + np.searchsorted(columns, mine.first)]
        b = subsets.first[position + np.searchsorted(columns, mine.last)]
        search_chosen(learners.splits, sums, level, subsets.learners[a:b], mine.rank, scratch, work)
        return mine.n_threads
    search_columns(learners.splits, sums, level, columns, mine, scratch, work)
    return columns.shape[0]


@kernel()
def search_columns(splits, sums, level, columns, mine, scratch, work):
    """The best score of each column of J that is this thread's, and the splits that may win."""
    start, stop = np.searchsorted(columns, mine.first), np.searchsorted(columns, mine.last)
    base = shared_score(splits, level.total)
    # Arrays by themselves: a call that is given a tuple counts references to all it holds.
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    slope, shift = expected_now(splits, level)
    score = work.score
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
            work.learner[k], work.inner[k] = j, sums[j] - level.constant * left_weight[j]


@kernel()
def search_chosen(splits, sums, level, chosen, rank, scratch, work):
    """As `search_columns`, if J holds some splits of its columns: the best of all that are this
    thread's, as one list (columns would be short loops)."""
    left_weight, gain = splits.left_weight, splits.gain
    slope, shift = expected_now(splits, level)
    for i in range(chosen.shape[0]):
        j = chosen[i]
        off = sums[j] - (slope * left_weight[j] + shift)
        scratch[i] = off * off * gain[j]
    top, base = largest(scratch, chosen.shape[0]), shared_score(splits, level.total)
    work.score[rank] = -1.0
    if top >= 0.0:
        work.score[rank] = top + base
        j = chosen[first_of_ties(scratch, top, base)]
        work.learner[rank], work.inner[rank] = j, sums[j] - level.constant * left_weight[j]


@scalar()
def expected_now(splits, level):
    """`expected_sum`, of sums that have what all rows got: it is in the slope."""
    slope, shift = expected_sum(splits, level.total)
    return slope + level.constant, shift


@note_loss.register(SlotSplits)
def _note_loss(learners, loss):
    noise = learners.columns.noise
    noise[0] = noise[1] + noise[2] * loss  # all threads write the same


@note_set.register(SlotSplits)
def _note_set(learners, pick, bits_out):
    write_set(learners.columns, learners.splits, pick, bits_out)


@search_mine.register(SlotSplits)
def _search_mixed(learners, sums, level, subsets, m, mine, scratch, work):
    subset = subset_of(subsets, m)
    search_mixed(learners, sums, level, subset, mine, scratch, work)
    return subset.columns.shape[0]


@kernel()
def search_mixed(learners, sums, level, subset, mine, bins, work):
    """The best split of each column of J that is this thread's."""
    splits, columns, slots = learners.splits, learners.columns, learners.slots
    score, learner, inner = work.score, work.learner, work.inner
    start = np.searchsorted(subset.columns, mine.first)
    stop = np.searchsorted(subset.columns, mine.last)
    base = shared_score(splits, level.total)
    slope, shift = expected_sum(splits, level.total)
    for k in range(start, stop):
        c, constant = subset.columns[k], level.constant
        if columns.categorical[c]:
            at, cells = slots.start[c], columns.bin_start[c]
            for b in range(columns.n_bins[c]):
                bins[b] = sums[at + b] - constant * columns.bin_weight[cells + b]
            sort_categories(columns, splits, c, bins, level.total)
            constant = 0.0
        elif subset.restricted:
            score[k], learner[k], inner[k] = best_chosen(
                columns, splits, slots, subset, k, sums, level, bins, slope, shift, base
            )
            continue
        else:
            slots_to_left(columns, slots, c, sums, level.raw_total, bins)
        score[k], j, left = best_of_column(
            columns, splits, subset, k, bins, slope + constant, shift, base
        )
        learner[k], inner[k] = j, left - constant * splits.left_weight[j]


@scalar()
def best_chosen(columns, splits, slots, subset, k, sums, level, bins, slope, shift, base):
    """`best_of_column` for a numeric column k of a J that holds only some of its splits."""
    column = subset.columns[k]
    m, first, at = columns.n_values[column], splits.offsets[column], slots.start[column]
    chosen = subset.learners[subset.first[k] : subset.first[k + 1]]
    n = chosen.shape[0]
    scores = bins[n : 2 * n]
    for i in range(n):
        j, split = chosen[i], chosen[i] - first
        if split < m - 1:
            left = sums[at + split]
        else:  # missing values on the right, then on the left
            missing = sums[at + m - 1]
            left = level.raw_total - missing if split == m - 1 else sums[at + split - m] + missing
        weight = splits.left_weight[j]
        bins[i] = left - level.constant * weight
        off = bins[i] - (slope * weight + shift)
        scores[i] = off * off * splits.gain[j]
        if min(weight, splits.total_weight - weight) < columns.lightest:
            scores[i] = -np.inf
    best = largest(scores, n)
    if best < 0.0:
        return -1.0, -1, 0.0
    i = first_of_ties(scores, best, base)
    return scores[i] + base, chosen[i], bins[i]


@parts_of_step.register(SlotSplits)
def _parts_of_mixed(learners, column, learner, left, right, slot_out, share_out):
    return parts_of_mixed(learners, column, learner, left, right, slot_out, share_out)


@kernel()
def parts_of_mixed(learners, column, learner, left, right, slot_out, share_out):
    """A set of categories is given by the smaller of its sides. Missing values of a feature that
    had none at fit time take the mean over the training rows: they are on the left by the share of
    the left side."""
    splits, columns, slots = learners.splits, learners.columns, learners.slots
    m, n_bins = columns.n_values[column], columns.n_bins[column]
    first, bins = slots.start[column], columns.bin_start[column]
    split = learner - splits.offsets[column]
    share = splits.left_weight[learner] / splits.total_weight
    base, jump = right, left - right
    n = 0
    if columns.categorical[column]:
        begin, end = 0, split + 1
        if 2 * end > n_bins:
            begin, end = split + 1, n_bins
            base, jump = left, right - left
            share = 1.0 - share
        for k in range(begin, end):
            slot_out[n] = first + columns.order[bins + k]
            share_out[n] = 1.0
            n += 1
    elif split == m - 1:  # values on the left, missing ones on the right
        base, jump = left, right - left
    else:
        slot_out[n] = first + (split - m if split >= m else split)
        share_out[n] = 1.0
        n += 1
    if n_bins == m and slots.missing[column]:
        slot_out[n] = slots.start[column + 1] - 1
        share_out[n] = share
        n += 1
    elif n_bins > m and split >= m - 1 and not columns.categorical[column]:
        slot_out[n] = slots.start[column + 1] - 1
        share_out[n] = 1.0
        n += 1
    return n, base, jump
