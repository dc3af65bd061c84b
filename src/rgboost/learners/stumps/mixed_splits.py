"""Splits of features that have missing values or are categorical.

**Missing values** have a bin of their own, the last. With m bins of values, and m - 1 thresholds,
the weak-learners of a feature are

    0 .. m-2      x <= s_j on the left, missing values on the right
    m-1           every value on the left, missing values on the right
    m .. 2m-2     x <= s_(j-m) and missing values on the left

so that each split learns which side missing values take. (Every threshold and the side of missing
values are one weak-learner; complements are the same weak-learner.)

**Categories**: the best of all splits of c categories into two sets is found among c - 1. In the
order of their mean residuals, the best left set is a prefix (free leaves: Fisher 1958; Breiman et
al. 1984, Theorem 4.5; signed leaves: the categories with a negative sum). Weak-learner k of the
feature is the prefix of k + 1 categories in the order of the moment. Missing values are a category
like others. With ``smooth``, sums of categories are those of `credibility`.

**The least weight of a side** (``min_weight_fraction_leaf``): thresholds that have too little on a
side wherever missing values go are left out. The other splits that have too little (missing values
on one side of a threshold, the prefix of the moment) keep their number and are never chosen.

A feature without missing values at fit time accepts them later: then b_j takes its mean over the
training rows, so that the feature adds what it adds on average.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ...data.mixed_bins import MixedCuts
from ...data.sorting import sort_again, sorted_positions
from ..credibility import few_categories, smooth_sums
from .splits import Splits, expected_sum, to_left_sums, weighted_splits

_SORTED_AGAIN = 256
"""Up to so many categories, the order before is a good one to begin with."""


class MixedColumns(NamedTuple):
    """What splits of mixed features need beside `Splits`.

    Feature g has ``n_values[g]`` bins of values, and ``n_bins[g]`` in all: one more if it had
    missing values. ``order[bin_start[g]:]`` are the bins of a categorical feature sorted by mean
    residual, as the last search left them. ``lightest`` is the least weight of a side.

    For `credibility`: ``row_weight`` is that of a usual row, 0 if sums of categories are not
    smoothed; ``few`` is q. ``noise`` are phi, as engines write it before a search, and, for engines
    on statistics, a and b of phi = a + b * loss. ``trust`` is, for each split of categories, what
    smoothing left of it.
    """

    categorical: NDArray[np.bool_]
    n_values: NDArray[np.int64]
    n_bins: NDArray[np.int64]
    bin_start: NDArray[np.int64]
    bin_weight: NDArray[np.float64]
    order: NDArray[np.uint16]
    lightest: float
    row_weight: float
    few: float
    noise: NDArray[np.float64]
    trust: NDArray[np.float64]


def mixed_columns(cuts: MixedCuts, lightest: float = 0.0, row_weight: float = 0.0) -> MixedColumns:
    """``row_weight``: sums of categories are smoothed, and a usual row has this weight."""
    n_values = cuts.n_values
    smooth = row_weight > 0.0 and bool(cuts.categorical.any())
    return MixedColumns(
        cuts.categorical,
        n_values,
        n_values + cuts.has_missing,
        cuts.bin_start,
        cuts.bin_weight,
        np.concatenate([np.arange(m + 1, dtype=np.uint16) for m in n_values]),
        lightest,
        row_weight if smooth else 0.0,
        few_categories(cuts.total_weight, row_weight) if smooth else 0.0,
        np.zeros(3),
        np.ones(int(cuts.bin_start[-1]) if smooth else 0),
    )


def mixed_splits(cuts: MixedCuts, signed: bool) -> Splits:
    """Weights of the sides of all splits; those of categories are filled in by each search."""
    parts = [_left_weights(cuts, g) for g in range(cuts.n_features)]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    left_weight = np.concatenate([*parts, np.empty(0)])
    most_bins = int(np.diff(offsets).max(initial=0)) + 1
    none = np.empty(0)
    splits = Splits(offsets, none, none, cuts.total_weight, signed, most_bins)
    return weighted_splits(splits, left_weight, cuts.total_weight)


def _left_weights(cuts: MixedCuts, g: int) -> NDArray[np.float64]:
    weights = cuts.weights_of(g)
    values, missing = weights[:-1], weights[-1]
    if cuts.categorical[g]:
        return np.zeros(max(0, len(values) + (missing > 0) - 1))
    prefix = np.cumsum(values)
    if missing == 0:
        return prefix[:-1]
    if not values.any():
        return np.empty(0)
    return np.concatenate([prefix, prefix[:-1] + missing])


@scalar()
def mixed_left_sums(columns, splits, column, bins, total):
    """Sums in the bins of a column become the left sums of its splits, in place."""
    m, n_bins = columns.n_values[column], columns.n_bins[column]
    if columns.categorical[column]:
        sort_categories(columns, splits, column, bins, total)
    else:
        missing = bins[m]
        to_left_sums(bins, m)
        if n_bins > m:
            for j in range(m - 1):
                bins[m + j] = bins[j] + missing


@kernel()
def sort_categories(columns, splits, column, bins, total):
    """Sort the bins by mean residual; left sums, left weights and gains of their prefixes."""
    n = columns.n_bins[column]
    start, first = columns.bin_start[column], splits.offsets[column]
    weights = columns.bin_weight[start : start + n]
    if n == 2:
        bins[1] = total - bins[0]  # the sum of a last bin of two is left out
    means, known = np.empty(n), np.empty(0)
    for b in range(n):
        bins[n + b] = bins[b]
    smooth = columns.row_weight > 0.0
    if smooth:
        known = bins[:n].copy()
        sums, everything = bins[n : 2 * n].reshape(n, 1), np.full(1, total)
        smooth_sums(sums, weights, everything, splits.total_weight, columns.noise[0], columns.few)
    for b in range(n):
        # Without weight (in one of several folds) a category is as good as all rows.
        means[b] = (bins[n + b] / weights[b]) if weights[b] > 0.0 else total / splits.total_weight
    order = columns.order[start : start + n]
    if n <= _SORTED_AGAIN:
        sort_again(means, order)
    else:
        places = sorted_positions(means)
        for k in range(n):
            order[k] = places[k]
    left, left_weight = 0.0, 0.0
    for k in range(n):
        left += bins[n + order[k]]
        left_weight += weights[order[k]]
        if k < n - 1:
            bins[k] = left
            splits.left_weight[first + k] = left_weight
            if not splits.signed:
                product = left_weight * (splits.total_weight - left_weight)
                splits.gain[first + k] = splits.total_weight / product if product > 0.0 else 0.0
    if smooth:
        slope, shift = expected_sum(splits, total)
        left, left_weight = 0.0, 0.0
        for k in range(n - 1):
            left += known[order[k]]
            left_weight += weights[order[k]]
            nothing = slope * left_weight + shift
            before, after = left - nothing, bins[k] - nothing
            columns.trust[start + k] = after / before if abs(after) < abs(before) else 1.0


@scalar()
def bar_light(columns, splits, column, scores):
    """-inf for the splits of a column that have too little weight on a side."""
    if columns.lightest > 0.0:
        first = splits.offsets[column]
        for s in range(splits.offsets[column + 1] - first):
            left = splits.left_weight[first + s]
            if min(left, splits.total_weight - left) < columns.lightest:
                scores[s] = -np.inf


@kernel()
def bin_values(columns, splits, pick):
    """b_j in each bin of its column; the last is that of missing values."""
    column = pick.column
    m, start = columns.n_values[column], columns.bin_start[column]
    split = pick.learner - splits.offsets[column]
    values = np.empty(m + 1)
    if columns.categorical[column]:
        values[:] = pick.right
        for k in range(split + 1):
            values[columns.order[start + k]] = pick.left
    else:
        last_left = split - m if split >= m else split
        for b in range(m):
            values[b] = pick.left if b <= last_left else pick.right
        values[m] = pick.left if split >= m else pick.right
    if columns.n_bins[column] == m:  # nothing was missing
        share = splits.left_weight[pick.learner] / splits.total_weight
        values[m] = share * pick.left + (1.0 - share) * pick.right
    return values


@kernel()
def write_set(columns, splits, pick, bits_out):
    """The left set of a pick of a categorical column; see `rgboost.learners.kernels.note_set`."""
    bits_out[:] = 0
    if pick.learner >= 0 and columns.categorical[pick.column]:
        start = columns.bin_start[pick.column]
        for k in range(pick.learner - splits.offsets[pick.column] + 1):
            b = columns.order[start + k]
            bits_out[b // 8] |= np.uint8(1 << (b % 8))
