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
def fill_sparse_bins(learners, column, residual, total, bins_out):
    """Sums of residuals in each bin of a column, the bin of zero by subtraction."""
    entries = learners.entries
    n_bins = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    bins_out[:n_bins] = 0.0
    for k in range(entries.indptr[column], entries.indptr[column + 1]):
        bins_out[entries.codes[k]] += residual[entries.rows[k]]
    stored = 0.0
    for s in range(n_bins):
        stored += bins_out[s]
    bins_out[entries.zero_code[column]] += total - stored


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
