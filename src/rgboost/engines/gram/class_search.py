"""The best weak-learner of J for several classes, from sums of residuals; see `class_loop`.

Numbers have a sum for each split; features with missing values or categories have slots. Functions
are chosen by the class of what a loop reads: a fit on numbers compiles nothing of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import by_type, kernel
from ..._core.math import largest
from ...learners.kernels import TIE
from ...learners.stumps.class_sums import sort_by_direction
from ...learners.stumps.mixed_splits import bar_light
from ...learners.stumps.splits import best_allowed, first_of_ties
from ...statistics.slots import NumberSplits, SlotSplits
from ..direct.loop import first_of_the_best


class ClassRoom(NamedTuple):
    """Memory to work with: scores of splits; left sums of the classes in a column; the best of each
    column of J, with its left sums; the slots of a step, their shares and the sum of their Gram
    rows; what a class is expected to have left of a split, for each unit of weight."""

    scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    left_sums: NDArray[np.float64]
    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    inner: NDArray[np.float64]
    slot: NDArray[np.int64]
    share: NDArray[np.float64]
    both: NDArray[np.float64]
    slope: NDArray[np.float64]


class Parts(NamedTuple):
    """The left side of a split: base + jump * sum of the shares of its first n slots."""

    n: int
    base: float
    jump: float


def make_room(
    n_classes: int, n_sums: int, most_bins: int, most_columns: int, most_chosen: int
) -> ClassRoom:
    """For subsets J of at most so many columns, or of so many splits."""
    n_scores = max(n_sums, most_bins, most_chosen)
    return ClassRoom(
        scores=np.empty(n_scores),
        weights=np.empty(most_chosen),
        left_sums=np.empty((n_classes, most_bins + 1)),
        score=np.empty(most_columns),
        learner=np.empty(most_columns, np.int64),
        inner=np.empty((most_columns, n_classes)),
        slot=np.empty(most_bins + 1, np.int64),
        share=np.empty(most_bins + 1),
        both=np.empty(n_sums),
        slope=np.empty(n_classes),
    )


@by_type
def search(learners, state, subset, room):
    """Write the best weak-learner in J and its left sums to ``room.learner[k]`` and
    ``room.inner[k]``, k the position of its column, which is returned; -1 if there is none."""


# Numbers: a sum for each split.


@search.register(NumberSplits)
def _search_numbers(learners, state, subset, room):
    splits = learners.splits
    base = expect(splits, state, room.slope)
    n = subset.columns.shape[0]
    if subset.restricted:
        chosen = subset.learners[subset.first[0] : subset.first[n]]
        score_chosen(splits, state.left_sums, chosen, room)
        top = largest(room.scores, chosen.shape[0])
        if top < 0.0:
            return -1
        i = first_of_ties(room.scores, top, base)
        j, k = chosen[i], 0
        while subset.first[k + 1] - subset.first[0] <= i:
            k += 1
    else:
        score_columns(splits, state.left_sums, subset.columns, room)
        for k in range(n):
            a, b = splits.offsets[subset.columns[k]], splits.offsets[subset.columns[k] + 1]
            top = largest(room.scores[a:b], b - a)
            room.score[k] = top + base if b > a else -1.0
        k = first_of_the_best(room.score, n)
        if k < 0:
            return -1
        a, b = splits.offsets[subset.columns[k]], splits.offsets[subset.columns[k] + 1]
        scores = room.scores[a:b]
        j = a + first_of_ties(scores, room.score[k] - base, base)
    if splits.gain[j] == 0.0:  # all splits of J have an empty side, in one of several folds
        return -1
    room.learner[k] = j
    for c in range(state.total.shape[0]):
        room.inner[k, c] = state.left_sums[c, j] - state.constant[c] * state.left_weight[j]
    return k


@kernel()
def expect(splits, state, slope_out):
    """The left sum of ``left_sums`` that scores nothing, for each unit of weight and class; returns
    the part of <b, r>^2 that all splits share."""
    base = 0.0
    for c in range(state.total.shape[0]):
        mean = state.total[c] / splits.total_weight
        base += mean * state.total[c]
        slope_out[c] = mean + state.constant[c]
    return base


@kernel()
def score_chosen(splits, left_sums, chosen, room):
    """Scores of some splits, one after the other in ``room.scores``."""
    n = chosen.shape[0]
    scores, weights = room.scores[:n], room.weights[:n]
    for i in range(n):
        scores[i], weights[i] = 0.0, splits.left_weight[chosen[i]]
    for c in range(left_sums.shape[0]):
        sums, slope = left_sums[c], room.slope[c]
        for i in range(n):
            off = sums[chosen[i]] - slope * weights[i]
            scores[i] += off * off
    for i in range(n):
        scores[i] *= splits.gain[chosen[i]]


@kernel()
def score_columns(splits, left_sums, columns, room):
    """Scores of all splits of some columns, each in its place; neighbours are one long loop."""
    k, n = 0, columns.shape[0]
    while k < n:
        first = columns[k]
        while k + 1 < n and columns[k + 1] == columns[k] + 1:
            k += 1
        a, b = splits.offsets[first], splits.offsets[columns[k] + 1]
        k += 1
        scores, weight, gain = room.scores[a:b], splits.left_weight[a:b], splits.gain[a:b]
        for j in range(scores.shape[0]):
            scores[j] = 0.0
        for c in range(left_sums.shape[0]):
            sums, slope = left_sums[c, a:b], room.slope[c]
            for j in range(scores.shape[0]):
                off = sums[j] - slope * weight[j]
                scores[j] += off * off
        for j in range(scores.shape[0]):
            scores[j] *= gain[j]


# Missing values and categories: a sum for each slot.


@search.register(SlotSplits)
def _search_slots(learners, state, subset, room):
    base = expect(learners.splits, state, room.slope)
    for k in range(subset.columns.shape[0]):
        if subset.restricted and not learners.columns.categorical[subset.columns[k]]:
            search_chosen_slots(learners, state, subset, k, base, room)
        else:
            search_column(learners, state, subset, k, base, room)
    return first_of_the_best(room.score, subset.columns.shape[0])


@kernel()
def search_column(learners, state, subset, k, base, room):
    """The best split of column k of J, its score and its left sums."""
    splits, columns = learners.splits, learners.columns
    column, left_sums = subset.columns[k], room.left_sums
    if columns.categorical[column]:
        n_bins, at = columns.n_bins[column], learners.slots.start[column]
        for c in range(left_sums.shape[0]):
            for b in range(n_bins):
                left_sums[c, b] = slot_sum(state, c, at + b)
        sort_by_direction(columns, splits, column, left_sums, state.total)
    else:
        left_of_slots(columns, learners.slots, state, column, left_sums)
    first = splits.offsets[column]
    n = splits.offsets[column + 1] - first
    weight, gain = splits.left_weight[first : first + n], splits.gain[first : first + n]
    scores = room.scores[:n]
    for s in range(n):
        scores[s] = 0.0 if gain[s] > 0.0 else -np.inf  # an empty side, in one of several folds
    for c in range(left_sums.shape[0]):
        mean = state.total[c] / splits.total_weight
        for s in range(n):
            off = left_sums[c, s] - mean * weight[s]
            scores[s] += off * off * gain[s]
    bar_light(columns, splits, column, scores)
    room.score[k], split = best_allowed(scores, n, subset, k, first, base)
    room.learner[k] = first + split
    if split >= 0:
        for c in range(left_sums.shape[0]):
            room.inner[k, c] = left_sums[c, split]


@kernel()
def slot_sum(state, c, j):
    """The sum of class c in slot j."""
    return state.left_sums[c, j] - state.constant[c] * state.left_weight[j]


@kernel()
def left_of_slots(columns, slots, state, column, out):
    """Left sums of the splits of a numeric column, a row for each class."""
    m, at = columns.n_values[column], slots.start[column]
    for c in range(out.shape[0]):
        for j in range(m - 1):
            out[c, j] = slot_sum(state, c, at + j)
        if columns.n_bins[column] > m:
            missing = slot_sum(state, c, at + m - 1)
            out[c, m - 1] = state.total[c] - missing
            for j in range(m - 1):
                out[c, m + j] = out[c, j] + missing


@kernel()
def search_chosen_slots(learners, state, subset, k, base, room):
    """`search_column` for a numeric column of a J that holds only some of its splits."""
    splits, columns = learners.splits, learners.columns
    column = subset.columns[k]
    m, at = columns.n_values[column], learners.slots.start[column]
    room.score[k], to_beat = -1.0, -1.0
    for i in range(subset.first[k], subset.first[k + 1]):
        j = subset.learners[i]
        split, weight = j - splits.offsets[column], splits.left_weight[j]
        light = min(weight, splits.total_weight - weight) < columns.lightest
        if light or splits.gain[j] == 0.0:
            continue
        score = 0.0
        for c in range(state.total.shape[0]):
            mean = state.total[c] / splits.total_weight
            off = left_of_split(state, c, at, m, split) - mean * weight
            score += off * off
        score *= splits.gain[j]
        if score > to_beat:
            to_beat = score + TIE * (score + base)
            room.score[k], room.learner[k] = score + base, j
    if room.score[k] >= 0.0:
        split = room.learner[k] - splits.offsets[column]
        for c in range(state.total.shape[0]):
            room.inner[k, c] = left_of_split(state, c, at, m, split)


@kernel()
def left_of_split(state, c, at, m, split):
    """The left sum of a split of a column with m bins of values, whose slots begin at ``at``."""
    if split < m - 1:
        return slot_sum(state, c, at + split)
    missing = slot_sum(state, c, at + m - 1)
    if split == m - 1:
        return state.total[c] - missing
    return slot_sum(state, c, at + split - m) + missing
