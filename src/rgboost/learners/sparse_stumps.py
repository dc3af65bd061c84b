"""Stumps over a sparse matrix: cost and memory follow the stored entries.

The rows that store nothing for a feature all lie in one bin, the bin of zero. Its sum of residuals
is the total less the sums of the stored entries, so those rows are never visited in the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..data.binning import SparseCodes
from .kernels import accumulate, best_in_column, direction, make_pick, scratch_size
from .splits import Splits, pick_split, scan_splits
from .stump_statistics import add_table, expand_codes, fill_column, joint_bins


class SparseStumps(NamedTuple):
    entries: SparseCodes
    splits: Splits


@scratch_size.register(SparseStumps)
def _scratch_size(learners):
    return learners.splits.most_bins


@accumulate.register(SparseStumps)
def _accumulate(learners, columns, residual, lo, hi, scratch, partial_out):
    pass  # a column is short: it is searched whole


@kernel()
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


@kernel()
def fill_sparse_bins(learners, column, residual, total, bins_out):
    """Sums of residuals in each bin of a column, the bin of zero by subtraction."""
    entries = learners.entries
    n_bins = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    bins_out[:n_bins] = 0.0
    start = entries.indptr[column]
    stop = entries.indptr[column + 1]
    if entries.only_code[column] >= 0:
        bins_out[entries.only_code[column]] = sum_at(residual, entries.rows[start:stop])
    else:
        for k in range(start, stop):
            bins_out[entries.codes[k]] += residual[entries.rows[k]]
    stored = 0.0
    for s in range(n_bins):
        stored += bins_out[s]
    bins_out[entries.zero_code[column]] += total - stored


@fill_column.register(SparseStumps)
def _fill_column(learners, column, values, total, scratch):
    fill_sparse_bins(learners, column, values, total, scratch.bins)
    return learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1


@add_table.register(SparseStumps)
def _add_table(learners, column, table, lo, hi, score):
    entries = learners.entries
    zero = table[entries.zero_code[column]]
    part = score[lo:hi]
    for i in range(part.shape[0]):
        part[i] += zero
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


@best_in_column.register(SparseStumps)
def _best_in_column(learners, column, candidates, residual, total, scratch, partial, k):
    fill_sparse_bins(learners, column, residual, total, scratch.bins)
    return scan_splits(learners.splits, column, candidates, scratch.bins, total)


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
