"""The rows in bins, as trees read them.

A tree looks at rows of a leaf that lie anywhere, and at all features of each. So the bins of a row
lie side by side, eight features in a word of 64 bits: a look at memory finds all that is asked of
a row. To part the rows of a leaf by one feature, they are kept column by column, too: two bytes a
cell. A column of a sparse matrix that stores few entries has no place there: it is in one of a few
blocks of such columns, row by row, with entries that say their column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ...data.binning import SparseCodes
from ...data.mixed_bins import MixedCuts, encode_mixed, encode_mixed_sparse

MOST_BINS = 256
"""Bins of a feature, that of missing values included: codes are bytes."""

BYTES = 8
"""Bytes of a word, and features in it."""

TILE = 1024
"""Rows whose words stay near the processor while one block of features after the other is read."""

DENSE_SHARE = 1 / 8
"""A column of a sparse matrix that stores this share of the rows or more is read as a dense one,
where an entry costs a fraction of what it costs among others."""

MOST_BLOCKS = 8
"""Blocks of sparse columns, for threads to share."""


class TreeArrays(NamedTuple):
    """Rows in bins, and the features that trees split.

    Column g is byte ``lane[g]`` of word ``block[g]`` of a row, and
    ``bins[8 * block[g] + lane[g]]``. Where ``lane[g]`` is -1 it is sparse: the entries
    ``pointers[b, i]:pointers[b, i + 1]`` of row i in block b say their column and bin, and
    ``zero[g]`` is the bin of all others. ``block[g]`` is -1 where a feature has no
    split; kinds and numbers of splits are those of `rgboost.learners.pairs.axes`. ``sign`` are
    monotone constraints; ``member[k, g]`` tells whether g is in the k-th set of features that may
    act together, and ``lone[g]`` that it is in none and acts with nobody. Leaves have at least the
    weight ``lightest``; ``l2`` shrinks their values. ``row_weight`` is that of a usual row, 0 where
    categories are not smoothed.
    """

    words: NDArray[np.uint64]
    bins: NDArray[np.uint8]
    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[np.uint8]
    block: NDArray[np.int64]
    lane: NDArray[np.int64]
    zero: NDArray[np.int64]
    n_rows: int
    n_values: NDArray[np.int64]
    kind: NDArray[np.int8]
    n_levels: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sign: NDArray[np.int8]
    member: NDArray[np.bool_]
    lone: NDArray[np.bool_]
    weight: NDArray[np.float64]
    total_weight: float
    lightest: float
    l2: float
    row_weight: float


class Coded(NamedTuple):
    """The part of `TreeArrays` that differs from rows to rows."""

    words: NDArray[np.uint64]
    bins: NDArray[np.uint8]
    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[np.uint8]
    block: NDArray[np.int64]
    lane: NDArray[np.int64]
    zero: NDArray[np.int64]
    n_rows: int


Bins = NDArray[np.unsignedinteger] | SparseCodes


def bins_of(X: Any, cuts: MixedCuts, n_jobs: int) -> Bins:
    """Bins of rows, column by column."""
    if scipy.sparse.issparse(X):
        return encode_mixed_sparse(X, cuts, n_jobs)
    return encode_mixed(X, cuts, n_jobs)


def is_dense(bins: Bins, useful: NDArray[np.bool_], n_rows: int) -> NDArray[np.bool_]:
    """Which of the useful columns have a byte in every row."""
    if not isinstance(bins, SparseCodes):
        return useful
    return useful & (np.diff(bins.indptr) >= DENSE_SHARE * n_rows)


def code_rows(
    bins: Bins, n_rows: int, useful: NDArray[np.bool_], dense: NDArray[np.bool_]
) -> Coded:
    """Bins as trees read them. Where columns lie follows from ``useful`` and ``dense``, not from
    the rows."""
    block, lane = np.full(len(useful), -1, np.int64), np.full(len(useful), -1, np.int64)
    places = np.arange(int(dense.sum()))
    block[dense], lane[dense] = places // BYTES, places % BYTES
    words = np.zeros((n_rows, -(-len(places) // BYTES)), np.uint64)
    sparse = useful & ~dense
    n_sparse = int(sparse.sum())
    n_blocks = min(MOST_BLOCKS, n_sparse)
    block[sparse] = np.arange(n_sparse) * n_blocks // max(1, n_sparse)
    coded = Coded(
        words=words,
        bins=np.empty((len(places), n_rows), np.uint8),
        pointers=np.zeros((n_blocks, n_rows + 1), np.int64),
        columns=np.empty(0, np.int32),
        codes=np.empty(0, np.uint8),
        block=block,
        lane=lane,
        zero=np.zeros(len(useful), np.int64),
        n_rows=n_rows,
    )
    if not isinstance(bins, SparseCodes):
        coded.bins[:] = bins[np.flatnonzero(dense), :n_rows]
        put_columns(coded.bins, words)
        return coded
    coded.zero[:] = bins.zero_code
    for k, g in enumerate(np.flatnonzero(dense)):
        now = slice(bins.indptr[g], bins.indptr[g + 1])
        coded.bins[k] = bins.zero_code[g]
        coded.bins[k, bins.rows[now]] = bins.codes[now]
    put_columns(coded.bins, words)
    return coded._replace(**_blocks_of_entries(bins, sparse, block, coded.pointers))


def _blocks_of_entries(
    entries: SparseCodes,
    sparse: NDArray[np.bool_],
    block: NDArray[np.int64],
    pointers: NDArray[np.int64],
) -> dict[str, Any]:
    """Entries of sparse columns, row by row in each block."""
    column = np.repeat(np.arange(len(sparse)), np.diff(entries.indptr))
    kept = sparse[column]
    column, row, code = column[kept], entries.rows[kept], entries.codes[kept]
    n_blocks, n_rows = pointers.shape[0], pointers.shape[1] - 1
    key = block[column] * n_rows + row
    order = np.argsort(key, kind="stable")
    counts = np.bincount(key, minlength=n_blocks * n_rows)
    after = np.cumsum(counts).reshape(n_blocks, n_rows)
    before = np.concatenate([np.zeros(1, np.int64), after[:-1, -1]]) if n_blocks else after[:0, 0]
    return {
        "pointers": np.column_stack([before, after]).astype(np.int64),
        "columns": column[order].astype(np.int32),
        "codes": code[order].astype(np.uint8),
    }


@kernel()
def put_columns(bins, words):
    """Write columns of bins to the bytes of words."""
    n_rows = words.shape[0]
    for lo in range(0, n_rows, TILE):
        for k in range(bins.shape[0]):
            column, b, shift = bins[k], k // BYTES, np.uint64(8 * (k % BYTES))
            for i in range(lo, min(lo + TILE, n_rows)):
                words[i, b] |= np.uint64(column[i]) << shift


def take_coded(arrays: Any, rows: NDArray[np.int64]) -> dict[str, Any]:
    """The fields of `Coded` for some rows."""
    pointers = arrays.pointers
    n_blocks = len(pointers)
    lengths = np.diff(pointers, axis=1)[:, rows]
    after = np.cumsum(lengths.ravel()).reshape(n_blocks, len(rows))
    first = np.concatenate([[0], after[:-1, -1]]) if n_blocks else np.empty(0)
    new = np.column_stack([first, after]).astype(np.int64).reshape(n_blocks, len(rows) + 1)
    starts = pointers[:, :-1][:, rows].ravel()
    entries = np.repeat(starts - (after.ravel() - lengths.ravel()), lengths.ravel())
    entries += np.arange(len(entries))
    return {
        "words": np.take(arrays.words, rows, axis=0),
        "bins": np.take(arrays.bins, rows, axis=1),
        "pointers": new,
        "columns": arrays.columns[entries],
        "codes": arrays.codes[entries],
        "n_rows": len(rows),
    }


@scalar()
def bin_of(arrays, g, i):
    """The bin of row i on column g."""
    b, lane = arrays.block[g], arrays.lane[g]
    if lane >= 0:
        return np.int64(arrays.bins[BYTES * b + lane, i])
    for e in range(arrays.pointers[b, i], arrays.pointers[b, i + 1]):
        if arrays.columns[e] == g:
            return np.int64(arrays.codes[e])
    return arrays.zero[g]
