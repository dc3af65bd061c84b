"""Stumps over a sparse matrix: cost and memory follow the stored entries.

The rows that store nothing for a feature all lie in one bin, the bin of zero. Its sum of residuals
is the total less the sums of the stored entries, so those rows are never visited in the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._core.jit import scalar
from ...data.binning import SparseCodes
from ..kernels import (
    TIE,
    direction,
    make_pick,
    scratch_size,
    search_columns,
)
from .dense_stumps import DenseStumps, heaviest_bins
from .splits import (
    Splits,
    expected_sum,
    pick_split,
    scan_candidates,
    scan_splits,
    shared_score,
    to_left_sums,
)
from .stump_statistics import (
    add_table,
    as_sparse,
    bar_light_sides,
    column_left_sums,
    expand_codes,
    fill_column,
    joint_bins,
    stored_entries,
    table_base,
)


class SparseStumps(NamedTuple):
    entries: SparseCodes
    splits: Splits


@scratch_size.register(SparseStumps)
def _scratch_size(learners):
    return 2 * learners.splits.most_bins


@scalar()
def sum_at(values, where):
    """Sum of values at some rows, in four lanes, so that additions need not wait for each other."""
    s0 = s1 = s2 = s3 = 0.0
    whole = where.shape[0] - where.shape[0] % 4
    for k in range(0, whole, 4):
        s0 += values[np.uint32(where[k])]
        s1 += values[np.uint32(where[k + 1])]
        s2 += values[np.uint32(where[k + 2])]
        s3 += values[np.uint32(where[k + 3])]
    for k in range(whole, where.shape[0]):
        s0 += values[np.uint32(where[k])]
    return (s0 + s1) + (s2 + s3)


@scalar()
def fill_sparse_bins(rows, codes, only_code, zero_code, n_bins, residual, total, bins_out):
    """Sums of residuals in each bin of a column, the bin of zero by subtraction."""
    for s in range(n_bins):
        bins_out[s] = 0.0
    stored = 0.0
    if only_code >= 0:
        stored = sum_at(residual, rows)
        bins_out[only_code] = stored
    else:
        for k in range(rows.shape[0]):
            bins_out[codes[k]] += residual[np.uint32(rows[k])]
        for s in range(n_bins):
            stored += bins_out[s]
    bins_out[zero_code] += total - stored


@fill_column.register(SparseStumps)
def _fill_column(learners, column, values, total, scratch):
    entries = learners.entries
    start, stop = entries.indptr[column], entries.indptr[column + 1]
    n_bins = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    fill_sparse_bins(
        entries.rows[start:stop],
        entries.codes[start:stop],
        entries.only_code[column],
        entries.zero_code[column],
        n_bins,
        values,
        total,
        scratch.bins,
    )
    return n_bins


@column_left_sums.register(SparseStumps)
def _column_left_sums(learners, column, bins, total):
    to_left_sums(bins, learners.splits.offsets[column + 1] - learners.splits.offsets[column])


@bar_light_sides.register(SparseStumps)
def _bar_light_sides(learners, column, scores):
    pass


@table_base.register(SparseStumps)
def _table_base(learners, column, table):
    return table[learners.entries.zero_code[column]]


@add_table.register(SparseStumps)
def _add_table(learners, column, table, lo, hi, score):
    entries = learners.entries
    zero = table[entries.zero_code[column]]
    part = score[lo:hi]
    start = entries.indptr[column]
    rows = entries.rows[start : entries.indptr[column + 1]]
    for k in range(np.searchsorted(rows, lo), np.searchsorted(rows, hi)):
        part[rows[k] - lo] += table[entries.codes[start + k]] - zero


@expand_codes.register(SparseStumps)
def _expand_codes(learners, column, stride, codes_out):
    entries = learners.entries
    codes_out[:] = stride * entries.zero_code[column]
    for k in range(entries.indptr[column], entries.indptr[column + 1]):
        codes_out[entries.rows[k]] = stride * entries.codes[k]


@joint_bins.register(SparseStumps)
def _joint_bins(learners, codes, bin_weights, column, weight, table_out):
    entries = learners.entries
    n_others = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    n_bins = bin_weights.shape[0]
    table_out[:n_bins] = 0
    cells = table_out.ravel()
    weighted = weight.shape[0] > 0
    for k in range(entries.indptr[column], entries.indptr[column + 1]):
        row = entries.rows[k]
        cells[np.int64(codes[row]) + np.int64(entries.codes[k])] += weight[row] if weighted else 1
    zero = entries.zero_code[column]
    for a in range(n_bins):  # the rest of each bin is in the bin of zero
        stored = table_out[a, :n_others].sum()
        table_out[a, zero] += bin_weights[a] - stored


@search_columns.register(SparseStumps)
def _search_columns(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    entries, splits, bins = learners.entries, learners.splits, scratch.bins
    indptr, all_rows, all_codes = entries.indptr, entries.rows, entries.codes
    only_code, zero_code = entries.only_code, entries.zero_code
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    columns, restricted = subset.columns, subset.restricted
    score, learner, inner = best_out.score, best_out.learner, best_out.inner
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    to_reach = 0.0
    for k in range(k_start, k_stop):
        c = columns[k]
        rows = all_rows[indptr[c] : indptr[c + 1]]
        codes = all_codes[indptr[c] : indptr[c + 1]]
        first, stop = offsets[c], offsets[c + 1]
        n_bins = stop - first + 1
        fill_sparse_bins(rows, codes, only_code[c], zero_code[c], n_bins, residual, total, bins)
        if restricted:
            chosen = subset.learners[subset.first[k] : subset.first[k + 1]]
            to_left_sums(bins, stop - first)
            found = scan_candidates(bins, left_weight, gain, first, chosen, slope, shift, base)
        else:
            found = scan_splits(bins, left_weight, gain, first, stop, slope, shift, base, to_reach)
        to_reach = max(to_reach, found[0] * (1.0 - TIE))
        score[k], learner[k], inner[k] = found


@make_pick.register(SparseStumps)
def _make_pick(learners, column, learner, inner, total):
    return pick_split(learners.splits, column, learner, inner, total)


@direction.register(SparseStumps)
def _direction(learners, pick, lo, hi, out):
    entries = learners.entries
    split = pick.learner - learners.splits.offsets[pick.column]
    out[: hi - lo] = pick.left if entries.zero_code[pick.column] <= split else pick.right
    start = entries.indptr[pick.column]
    rows = entries.rows[start : entries.indptr[pick.column + 1]]
    for k in range(np.searchsorted(rows, lo), np.searchsorted(rows, hi)):
        left = entries.codes[start + k] <= split
        out[rows[k] - lo] = pick.left if left else pick.right


@stored_entries.register(SparseStumps)
def _stored_entries(learners: SparseStumps, n_rows: int) -> float:
    return float(len(learners.entries.rows))


@as_sparse.register(DenseStumps)
def _as_sparse(learners: DenseStumps, n_rows: int) -> SparseStumps:
    heaviest, _ = heaviest_bins(learners.splits)
    codes = learners.codes[:, :n_rows]
    columns = [np.flatnonzero(codes[g] != heaviest[g]) for g in range(len(heaviest))]
    indptr = np.concatenate([[0], np.cumsum([len(rows) for rows in columns])])
    binary = np.diff(learners.splits.offsets) == 1
    entries = SparseCodes(
        indptr.astype(np.int64),
        np.concatenate(columns).astype(np.int32),
        np.concatenate([codes[g, rows] for g, rows in enumerate(columns)]),
        heaviest,
        np.where(binary, 1 - heaviest, -1),
    )
    return SparseStumps(entries, learners.splits)
