"""Sums of residuals and weights in the bins of features, over the rows of a leaf.

An entry of a histogram is S_1, ..., S_C and W of a bin. What it costs is an addition for each row
and feature, so that is all that the inner loop does: two numbers are one addition
(`rgboost._core.lanes`), a word has the bins of eight features, and eight histograms of 256 bins
(32 KiB) stay next to the processor while a tile of rows passes by. Each block of features is summed
by one thread in the order of the rows: the same bits for any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.lanes import add_pair, fetch
from .arrays import BYTES, TILE

AHEAD = 16
"""Rows whose words are asked for before they are needed: rows of a leaf lie anywhere, and their
words come from far away."""


class Looked(NamedTuple):
    """The features of J, as histograms of a tree have them.

    ``columns`` ascend; that of place j has the bins ``start[j]:start[j] + n_bins[j]`` of a
    histogram. ``words`` have the bins of the dense ones, ``lanes[b]`` the places of those of word
    b, of which there are ``filled[b]``; the sparse block b has the places ``sparse[b]:sparse[b +
    1]`` of ``sparse_places``. ``first[g]`` is where the bins of column g begin, -1 if it is not in
    J. ``allowed`` are the weak-learners in J, nothing if all of these columns are.
    """

    columns: NDArray[np.int64]
    start: NDArray[np.int64]
    words: NDArray[np.uint64]
    lanes: NDArray[np.int64]
    filled: NDArray[np.int64]
    sparse: NDArray[np.int64]
    sparse_places: NDArray[np.int64]
    first: NDArray[np.int64]
    allowed: NDArray[np.bool_]

    @property
    def n_bins(self) -> int:
        return int(self.start[-1])


@kernel()
def sum_words(words, values, starts, sums):
    """Add the values (rows, 2) of some rows to the bins of eight features; all are flat."""
    s0, s1, s2, s3 = starts[0], starts[1], starts[2], starts[3]
    s4, s5, s6, s7 = starts[4], starts[5], starts[6], starts[7]
    byte, eight = np.uint64(255), np.uint64(8)
    for i in range(words.shape[0]):
        word = words[i]
        add_pair(values, i, sums, s0 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s1 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s2 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s3 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s4 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s5 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s6 + np.int64(word & byte))
        word >>= eight
        add_pair(values, i, sums, s7 + np.int64(word & byte))


@kernel()
def gather_words(words, rows, rank, step, tile_out):
    """The words of rows that lie anywhere, side by side."""
    flat, width = words.reshape(-1), words.shape[1]
    for i in range(rows.shape[0]):
        source = rows[i]
        if i + AHEAD < rows.shape[0]:
            soon = np.int64(rows[i + AHEAD]) * width
            for b in range(0, width, BYTES):
                fetch(flat, soon + b)
        for b in range(rank, tile_out.shape[0], step):
            tile_out[b, i] = words[source, b]


@kernel()
def sum_any_words(words, values, starts, filled, size, sums):
    """The same for ``filled`` features, and values of any size."""
    for i in range(words.shape[0]):
        word = words[i]
        for k in range(filled):
            to = size * (starts[k] + np.int64((word >> np.uint64(8 * k)) & np.uint64(255)))
            for c in range(size):
                sums[to + c] += values[size * i + c]


@kernel()
def sum_entries(pointers, columns, codes, first, rows, values, size, sums):
    """Add the values of some rows to the bins that a block of sparse columns stores."""
    for i in range(rows.shape[0]):
        for e in range(pointers[rows[i]], pointers[rows[i] + 1]):
            start = first[columns[e]]
            if start < 0:
                continue
            to = size * (start + np.int64(codes[e]))
            for c in range(size):
                sums[to + c] += values[size * i + c]


@kernel()
def fill_zeros(arrays, looked, places, total, size, sums):
    """What is not stored is in the bin of zero."""
    for j in places:
        start, stop = size * looked.start[j], size * looked.start[j + 1]
        zero = start + size * arrays.zero[looked.columns[j]]
        for c in range(size):
            rest = total[c]
            for to in range(start + c, stop, size):
                rest -= sums[to]
            sums[zero + c] += rest


@kernel()
def places_of(looked, b):
    """The places of the features of a block; those of sparse columns come after those of words."""
    n_words = looked.filled.shape[0]
    if b < n_words:
        return looked.lanes[b, : looked.filled[b]]
    b -= n_words
    return looked.sparse_places[looked.sparse[b] : looked.sparse[b + 1]]


@kernel()
def sum_rows(arrays, looked, rank, step, rows, values, total, size, sums):
    """The histograms of every ``step``-th block of features from ``rank`` on; ``total`` is the sum
    of the values."""
    n_words = looked.filled.shape[0]
    n_blocks = n_words + looked.sparse.shape[0] - 1
    starts = np.zeros((n_blocks, BYTES), np.int64)
    for b in range(rank, n_blocks, step):
        for k, j in enumerate(places_of(looked, b)):
            sums[size * looked.start[j] : size * looked.start[j + 1]] = 0.0
            if b < n_words:
                starts[b, k] = looked.start[j]
    tile = np.empty((n_words, TILE + BYTES), np.uint64)  # a power of two would share cache lines
    for lo in range(0, rows.shape[0], TILE):
        now, mine = rows[lo : lo + TILE], values[size * lo :]
        gather_words(looked.words, now, rank, step, tile)
        for b in range(rank, n_words, step):
            words = tile[b, : now.shape[0]]
            if size == 2 and looked.filled[b] == BYTES:
                sum_words(words, mine, starts[b], sums)
            else:
                sum_any_words(words, mine, starts[b], looked.filled[b], size, sums)
    first, columns, codes = looked.first, arrays.columns, arrays.codes
    for b in range(rank, n_blocks, step):
        if b >= n_words:
            pointers = arrays.pointers[b - n_words]
            sum_entries(pointers, columns, codes, first, rows, values, size, sums)
            fill_zeros(arrays, looked, places_of(looked, b), total, size, sums)


@kernel()
def subtract(looked, places, size, whole, part):
    """Of the histograms of a leaf and one of its two parts, those of the other, in place of the
    first."""
    for j in places:
        for to in range(size * looked.start[j], size * looked.start[j + 1]):
            whole[to] -= part[to]
