"""Sums over the rows of binned features: what engines on statistics, several classes and monotone
constraints need of stumps.

Like `kernels`, each function is chosen by the family's arrays (dense or sparse bins).
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import by_type, kernel


def _not_dense(learners):
    return None


def _too_many(learners, n_rows):
    return np.inf


def _as_they_are(learners, n_rows):
    return learners


@by_type(otherwise=_not_dense)
def dense_bins(learners):
    """The bins of all rows, (features, padded rows), where every one is stored; None elsewhere."""


@by_type(otherwise=_too_many)
def stored_entries(learners, n_rows):
    """Entries that sparse rows store, or would store; infinite for those who have no such form."""


@by_type(otherwise=_as_they_are)
def as_sparse(learners, n_rows):
    """The same weak-learners on sparse rows, for those whose `stored_entries` are finite."""


@by_type
def fill_column(learners, column, values, total, scratch):
    """Sums of values in the bins of a column to ``scratch.bins``; returns the number of bins.

    ``total`` is the sum of all values. The last bin may be left out: no split is right of it.
    """


@by_type
def column_left_sums(learners, column, bins, total):
    """Sums in the bins of a column become the left sums of its splits, in place."""


@by_type
def bar_light_sides(learners, column, scores):
    """Scores of the splits of a column become -inf where a side has too little weight.

    Splits that always have too little are left out before; see
    `rgboost.learners.stumps.mixed_splits` for those that remain.
    """


@by_type
def table_base(learners, column, table):
    """What `add_table` leaves out: the value of the rows that store nothing."""


@by_type
def add_table(learners, column, table, lo, hi, score):
    """``score[i] += table[bin of row i] - table_base`` for rows lo..hi."""


@by_type
def expand_codes(learners, column, stride, codes_out):
    """The bin of every row in a column, times ``stride``."""


@by_type
def joint_bins(learners, codes, bin_weights, column, weight, table_out):
    """Weights of rows by their bins in two columns: ``table_out[a, b]``.

    ``codes`` are the bins a of the first column from `expand_codes`, times the width of the table;
    ``bin_weights[a]`` their weights. b are the bins of ``column``. Weights are 1 if ``weight`` is
    empty.
    """


@kernel()
def gather_column(learners, column, k, values, total, partial, scratch):
    """`fill_column`, from what `accumulate` left in ``partial[:, k]`` if there is anything."""
    if partial.shape[0] == 0:
        fill_column(learners, column, values, total, scratch)
        return
    n_bins = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    for s in range(n_bins):
        scratch.bins[s] = partial[0, k, s]
    for chunk in range(1, partial.shape[0]):
        for s in range(n_bins):
            scratch.bins[s] += partial[chunk, k, s]
