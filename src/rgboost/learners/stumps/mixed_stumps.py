"""Stumps over dense and sparse bins of features that have missing values or are categorical.

Families of their own: a fit on plain numbers compiles none of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import scalar
from ...data.binning import SparseCodes
from ..credibility import residual_noise
from ..kernels import (
    accumulate,
    direction,
    make_pick,
    note_noise,
    note_set,
    scratch_size,
    search_columns,
    trust,
)
from .dense_stumps import (
    _COPIES,
    _STRIDE,
    _add_table,
    _dense_bins,
    _expand_codes,
    _joint_bins,
    _table_base,
    fill_bins,
)
from .mixed_splits import MixedColumns, bar_light, bin_values, mixed_left_sums, write_set
from .sparse_stumps import fill_sparse_bins
from .splits import Splits, best_allowed, expected_sum, pick_split, score_splits, shared_score
from .stump_statistics import (
    add_table,
    bar_light_sides,
    column_left_sums,
    dense_bins,
    expand_codes,
    fill_column,
    joint_bins,
    table_base,
)


class MixedStumps(NamedTuple):
    """As `DenseStumps`, with what mixed columns need."""

    codes: NDArray[np.unsignedinteger]
    words: NDArray[np.uint64]
    wide: bool
    splits: Splits
    columns: MixedColumns


class SparseMixedStumps(NamedTuple):
    """As `SparseStumps`, with what mixed columns need."""

    entries: SparseCodes
    splits: Splits
    columns: MixedColumns


def mixed_stumps(
    codes: NDArray[np.unsignedinteger], splits: Splits, columns: MixedColumns
) -> MixedStumps:
    """The family's arrays from bins (features, padded rows)."""
    return MixedStumps(codes, codes.view(np.uint64), codes.dtype == np.uint16, splits, columns)


dense_bins.register(MixedStumps)(_dense_bins)
expand_codes.register(MixedStumps)(_expand_codes)
joint_bins.register(MixedStumps)(_joint_bins)
table_base.register(MixedStumps)(_table_base)
add_table.register(MixedStumps)(_add_table)


@scratch_size.register(MixedStumps)
@scratch_size.register(SparseMixedStumps)
def _scratch_size(learners):
    return max(_COPIES * _STRIDE, 2 * learners.splits.most_bins)


@make_pick.register(MixedStumps)
@make_pick.register(SparseMixedStumps)
def _make_pick(learners, column, learner, inner, total):
    return pick_split(learners.splits, column, learner, inner, total)


@note_set.register(MixedStumps)
@note_set.register(SparseMixedStumps)
def _note_set(learners, pick, bits_out):
    write_set(learners.columns, learners.splits, pick, bits_out)


@note_noise.register(MixedStumps)
@note_noise.register(SparseMixedStumps)
def _note_noise(learners, residual, weight, weighted):
    columns, total_weight = learners.columns, learners.splits.total_weight
    if columns.row_weight > 0.0:
        columns.noise[0] = residual_noise(
            residual, weight, weighted, columns.row_weight, total_weight
        )


@trust.register(MixedStumps)
@trust.register(SparseMixedStumps)
def _trust(learners, pick):
    columns, column = learners.columns, pick.column
    if columns.row_weight == 0.0 or not columns.categorical[column]:
        return 1.0
    split = pick.learner - learners.splits.offsets[column]
    return columns.trust[columns.bin_start[column] + split]


@accumulate.register(MixedStumps)
def _accumulate(learners, columns, residual, lo, hi, scratch, first, partial_out):
    codes, words, wide = learners.codes, learners.words, learners.wide
    bins, values = scratch.bins, scratch.values
    for k in range(columns.shape[0]):
        c = columns[k]
        n_bins = learners.columns.n_bins[c]
        fill_bins(codes[c], words[c], wide, n_bins, residual, lo, hi, bins, values)
        out = partial_out[k]
        if first:
            for s in range(n_bins):
                out[s] = bins[s]
        else:
            for s in range(n_bins):
                out[s] += bins[s]


@accumulate.register(SparseMixedStumps)
def _accumulate_sparse(learners, columns, residual, lo, hi, scratch, first, partial_out):
    pass  # a column is short: it is searched whole


@fill_column.register(MixedStumps)
def _fill_column(learners, column, values, total, scratch):
    n_bins = learners.columns.n_bins[column]
    codes, words = learners.codes[column], learners.words[column]
    start, n = np.int64(0), values.shape[0]
    fill_bins(codes, words, learners.wide, n_bins, values, start, n, scratch.bins, scratch.values)
    return n_bins


@fill_column.register(SparseMixedStumps)
def _fill_sparse_column(learners, column, values, total, scratch):
    entries = learners.entries
    now = slice(entries.indptr[column], entries.indptr[column + 1])
    rows, codes = entries.rows[now], entries.codes[now]
    only, zero = entries.only_code[column], entries.zero_code[column]
    n_bins = learners.columns.n_bins[column]
    fill_sparse_bins(rows, codes, only, zero, n_bins, values, total, scratch.bins)
    return n_bins


@column_left_sums.register(MixedStumps)
@column_left_sums.register(SparseMixedStumps)
def _column_left_sums(learners, column, bins, total):
    mixed_left_sums(learners.columns, learners.splits, column, bins, total)


@bar_light_sides.register(MixedStumps)
@bar_light_sides.register(SparseMixedStumps)
def _bar_light_sides(learners, column, scores):
    bar_light(learners.columns, learners.splits, column, scores)


@scalar()
def best_of_column(columns, splits, subset, k, bins, slope, shift, base):
    """(score, learner, left sum) of the best split in J of column k of J, from its left sums."""
    first, stop = splits.offsets[subset.columns[k]], splits.offsets[subset.columns[k] + 1]
    n = stop - first
    left_weight, gain, scores = splits.left_weight, splits.gain, bins[n : 2 * n]
    score_splits(bins[:n], left_weight[first:stop], gain[first:stop], slope, shift, scores)
    bar_light(columns, splits, subset.columns[k], scores)
    score, split = best_allowed(scores, n, subset, k, first, base)
    return score, first + split, bins[split]


@search_columns.register(MixedStumps)
def _search_columns(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    codes, words, wide = learners.codes, learners.words, learners.wide
    columns, splits, bins, values = learners.columns, learners.splits, scratch.bins, scratch.values
    score, learner, inner = best_out.score, best_out.learner, best_out.inner
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    start, n = np.int64(0), residual.shape[0]
    for k in range(k_start, k_stop):
        c = subset.columns[k]
        n_bins = columns.n_bins[c]
        if partial.shape[0] == 0:
            fill_bins(codes[c], words[c], wide, n_bins, residual, start, n, bins, values)
        else:
            for s in range(n_bins):
                bins[s] = partial[0, k, s]
            for chunk in range(1, partial.shape[0]):
                for s in range(n_bins):
                    bins[s] += partial[chunk, k, s]
        mixed_left_sums(columns, splits, c, bins, total)
        score[k], learner[k], inner[k] = best_of_column(
            columns, splits, subset, k, bins, slope, shift, base
        )


@search_columns.register(SparseMixedStumps)
def _search_sparse(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    entries, columns, splits = learners.entries, learners.columns, learners.splits
    score, learner, inner = best_out.score, best_out.learner, best_out.inner
    bins = scratch.bins
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    for k in range(k_start, k_stop):
        c = subset.columns[k]
        rows = entries.rows[entries.indptr[c] : entries.indptr[c + 1]]
        codes = entries.codes[entries.indptr[c] : entries.indptr[c + 1]]
        only, zero = entries.only_code[c], entries.zero_code[c]
        fill_sparse_bins(rows, codes, only, zero, columns.n_bins[c], residual, total, bins)
        mixed_left_sums(columns, splits, c, bins, total)
        score[k], learner[k], inner[k] = best_of_column(
            columns, splits, subset, k, bins, slope, shift, base
        )


@direction.register(MixedStumps)
def _direction(learners, pick, lo, hi, out):
    values = bin_values(learners.columns, learners.splits, pick)
    codes = learners.codes[pick.column, lo:hi]
    for i in range(codes.shape[0]):
        out[i] = values[codes[i]]


@direction.register(SparseMixedStumps)
def _sparse_direction(learners, pick, lo, hi, out):
    entries = learners.entries
    values = bin_values(learners.columns, learners.splits, pick)
    out[: hi - lo] = values[entries.zero_code[pick.column]]
    start = entries.indptr[pick.column]
    rows = entries.rows[start : entries.indptr[pick.column + 1]]
    for k in range(np.searchsorted(rows, lo), np.searchsorted(rows, hi)):
        out[rows[k] - lo] = values[entries.codes[start + k]]
