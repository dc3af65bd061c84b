"""Left sums of the splits of a column for several classes at once.

**Categories.** With one residual the best set of categories is a prefix in the order of their mean
residuals (see `mixed_splits`). With C residuals a category b has a mean vector m_b, and the best
set lies on one side of a hyperplane through the space of these vectors; to look at all of them
takes exponential time in C. The order that is used here is that of the projections <m_b - m, v> to
the first principal direction v, the largest eigenvector of

    sum_b w_b (m_b - m) (m_b - m)',    m = the mean over all rows,

as found by a fixed number of steps of the power method. Weak-learner k of the feature is the prefix
of k + 1 categories in this order. The set is the best one if the m_b lie on a line, as they do for
two classes; in general it is a good one. Its score and its leaves are exact.
"""

from __future__ import annotations

import math

import numpy as np

from ..._core.jit import by_type, kernel, reduction
from ..credibility import smooth_sums
from .dense_stumps import DenseStumps, left_sum
from .mixed_stumps import MixedStumps, SparseMixedStumps
from .sparse_stumps import SparseStumps
from .splits import to_left_sums

_POWER_STEPS = 12


@by_type
def class_left_sums(learners, column, sums, totals):
    """Sums in the bins of a column, a row for each class, become the left sums of its splits, in
    place. ``totals`` are the sums over all rows."""


@class_left_sums.register(DenseStumps)
@class_left_sums.register(SparseStumps)
def _plain(learners, column, sums, totals):
    n = learners.splits.offsets[column + 1] - learners.splits.offsets[column]
    for c in range(sums.shape[0]):
        to_left_sums(sums[c], n)


@class_left_sums.register(MixedStumps)
@class_left_sums.register(SparseMixedStumps)
def _mixed(learners, column, sums, totals):
    columns = learners.columns
    if columns.categorical[column]:
        sort_by_direction(columns, learners.splits, column, sums, totals)
    else:
        m, n_bins = columns.n_values[column], columns.n_bins[column]
        for c in range(sums.shape[0]):
            missing = sums[c, n_bins - 1]  # if there are any
            to_left_sums(sums[c], m)
            if n_bins > m:
                for j in range(m - 1):
                    sums[c, m + j] = sums[c, j] + missing


def _no_sum_of_its_own(learners, column, split, values, lo):
    return 0.0


@by_type(otherwise=_no_sum_of_its_own)
def split_sum(learners, column, split, values, lo):
    """The sum of the values of rows lo, lo + 1, ... on the left of a split, where it is faster by
    itself than with all other splits of the column: of numbers, in dense bins."""


@split_sum.register(DenseStumps)
def _split_sum(learners, column, split, values, lo):
    codes = learners.codes[column, lo : lo + values.shape[0]]
    return left_sum(codes, codes.dtype.type(split), values)


@split_sum.register(MixedStumps)
def _mixed_split_sum(learners, column, split, values, lo):
    codes = learners.codes[column, lo : lo + values.shape[0]]
    m = learners.columns.n_values[column]
    if split < m:
        return left_sum(codes, codes.dtype.type(split), values)
    return sum_with_missing(codes, codes.dtype.type(split - m), codes.dtype.type(m), values)


@reduction()
def sum_with_missing(codes, split, missing, values):
    """The sum of the values of rows on the left of a split, missing values among them."""
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i] if codes[i] <= split or codes[i] == missing else 0.0
    return total


def _never(learners, column):
    return False


@by_type(otherwise=_never)
def needs_all_bins(learners, column):
    """Whether what is on the left of a split follows from the sums in all bins of the column."""


@needs_all_bins.register(MixedStumps)
def _is_categorical(learners, column):
    return learners.columns.categorical[column]


def _none(learners):
    return 0.0


@by_type(otherwise=_none)
def least_weight(learners):
    """What a side must weigh, if there are splits with less; see `bar_light_sides`."""


@least_weight.register(MixedStumps)
@least_weight.register(SparseMixedStumps)
def _lightest(learners):
    return learners.columns.lightest


@kernel()
def sort_by_direction(columns, splits, column, sums, totals):
    """Left sums, left weights and gains of the prefixes of the categories, in the order of their
    projections to the first principal direction."""
    n, n_classes = columns.n_bins[column], sums.shape[0]
    start, first = columns.bin_start[column], splits.offsets[column]
    weights = columns.bin_weight[start : start + n]
    bins = np.empty((n, n_classes))
    for c in range(n_classes):
        if n == 2:
            sums[c, 1] = totals[c] - sums[c, 0]  # the sum of a last bin of two is left out
        for b in range(n):
            bins[b, c] = sums[c, b]
    if columns.row_weight > 0.0:
        smooth_sums(bins, weights, totals, splits.total_weight, columns.noise[0], columns.few)
    order = np.argsort(projections(bins, weights, totals, splits.total_weight), kind="mergesort")
    left, left_weight = np.zeros(n_classes), 0.0
    for k in range(n):
        columns.order[start + k] = order[k]
        left_weight += weights[order[k]]
        for c in range(n_classes):
            left[c] += bins[order[k], c]
            sums[c, k] = left[c]
        if k < n - 1:
            splits.left_weight[first + k] = left_weight
            product = left_weight * (splits.total_weight - left_weight)
            splits.gain[first + k] = splits.total_weight / product if product > 0.0 else 0.0


@kernel()
def projections(bins, weights, totals, total_weight):
    """<m_b - m, v> of every bin; all 0 if the bins do not differ."""
    n, n_classes = bins.shape
    off = np.empty((n, n_classes))
    most, widest = 0.0, 0
    for b in range(n):
        size = 0.0
        for c in range(n_classes):
            mean = totals[c] / total_weight
            # Without weight (in one of several folds) a category is as good as all rows.
            off[b, c] = bins[b, c] / weights[b] - mean if weights[b] > 0.0 else 0.0
            size += weights[b] * off[b, c] * off[b, c]
        if size > most:
            most, widest = size, b
    found = np.zeros(n)
    if most == 0.0:
        return found
    direction = off[widest].copy()  # of the bin that differs most
    for step in range(_POWER_STEPS + 1):
        norm = math.sqrt((direction * direction).sum())
        if norm == 0.0:
            break
        direction /= norm
        for b in range(n):
            found[b] = (off[b] * direction).sum()
        if step < _POWER_STEPS:
            direction[:] = 0.0
            for b in range(n):
                direction += weights[b] * found[b] * off[b]
    return found
