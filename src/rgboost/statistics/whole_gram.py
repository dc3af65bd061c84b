"""The whole Gram matrix of sparse features at once, row by row.

Column by column, the Gram matrix costs p visits of every stored entry. Row by row it costs the
square of the entries of a row, which is far less when rows are short: 14 of 123 features in a9a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel, scalar
from .._core.team import Team, wait_for_all
from ..data.binning import SparseCodes

MOST_BINS_IN_ALL = 2048
"""A table of all pairs of bins has the square of this many numbers at most (32 MiB)."""

N_TABLES = 2


class RowBins(NamedTuple):
    """The bins of the stored entries, row by row, numbered over all features.

    Bin k of feature g is number ``offsets[g] + g + k``.
    """

    start: NDArray[np.int64]
    bins: NDArray[np.uint32]


def make_row_bins(entries: SparseCodes, offsets: NDArray[np.int64], n_rows: int) -> RowBins:
    """Turn columns into rows. Features ascend within a row; those without splits are left out.

    Unsigned indices, as in `add_pairs`: half the time.
    """
    count = np.zeros(n_rows + 1, np.uint32)
    count_entries(entries, offsets, count)
    start = np.cumsum(count, dtype=np.int64)
    bins = np.empty(int(start[-1]), np.uint32)
    place_entries(entries, offsets, start[:-1].astype(np.uint64), bins)
    return RowBins(start, bins)


class WholeGram:
    """The Gram matrix of sparse features under any weights of the rows."""

    def __init__(self, entries: SparseCodes, offsets: NDArray[np.int64], n_rows: int) -> None:
        self.entries = entries
        self.offsets = offsets
        self.row_bins = make_row_bins(entries, offsets, n_rows)
        n_bins = int(offsets[-1]) + len(offsets) - 1
        self.tables = np.empty((N_TABLES, n_bins, n_bins))

    def fill(self, weight: NDArray[np.float64], team: Team, out: NDArray[np.float64]) -> None:
        arguments = self.row_bins, self.entries, self.offsets, weight
        team.run(fill_whole_gram, *arguments, self.tables, out)


@kernel()
def count_entries(entries, offsets, count_out):
    for g in range(offsets.shape[0] - 1):
        if offsets[g + 1] > offsets[g]:
            for k in range(entries.indptr[g], entries.indptr[g + 1]):
                count_out[np.uint32(entries.rows[k]) + np.uint32(1)] += np.uint32(1)


@kernel()
def place_entries(entries, offsets, free, bins_out):
    for g in range(offsets.shape[0] - 1):
        if offsets[g + 1] > offsets[g]:
            first = np.uint32(offsets[g] + g)
            for k in range(entries.indptr[g], entries.indptr[g + 1]):
                row = np.uint32(entries.rows[k])
                place = free[row]
                bins_out[place] = first + np.uint32(entries.codes[k])
                free[row] = place + np.uint64(1)


@kernel()
def fill_whole_gram(row_bins, entries, offsets, weight, tables, out, seat):
    """Weight of the rows left of both splits, for all pairs of splits: ``out[u, j]``.

    Each of a fixed number of tables takes a share of the rows, whatever the number of threads.
    """
    n_rows = row_bins.start.shape[0] - 1
    n_tables = tables.shape[0]
    for t in range(seat.rank, n_tables, seat.size):
        tables[t] = 0.0
        add_pairs(row_bins, weight, n_rows * t // n_tables, n_rows * (t + 1) // n_tables, tables[t])
    wait_for_all(seat, 0)
    if seat.rank > 0:
        return
    table = tables[0]
    for t in range(1, n_tables):
        table += tables[t]
    total = weight.sum()
    n_features = offsets.shape[0] - 1
    for q in range(n_features):
        a, b = offsets[q] + q, offsets[q + 1] + q + 1
        for g in range(q, n_features):
            c, d = offsets[g] + g, offsets[g + 1] + g + 1
            zero_q, zero_g = entries.zero_code[q], entries.zero_code[g]
            if b - a == 2 and d - c == 2:
                u, j = offsets[q], offsets[g]
                out[u, j] = left_of_both(table, a, c, zero_q, zero_g, total)
                out[j, u] = out[u, j]
            elif b - a > 1 and d - c > 1:
                add_rows_of_zeros(table, a, b, c, d, zero_q, zero_g, total)
                write_left_sums(table, a, b, c, d, offsets[q], offsets[g], out)


@kernel()
def add_pairs(row_bins, weight, lo, hi, table):
    """Weights of pairs of stored bins of rows lo..hi; a bin with itself is on the diagonal.

    Unsigned indices, which need no test for negative ones: half the time. Two bins at once are
    paired with those after them, which are then read half as often.
    """
    start, bins = row_bins.start, row_bins.bins
    cells, width = table.ravel(), np.uint32(table.shape[1])
    one, two = np.uint64(1), np.uint64(2)
    for i in range(lo, hi):
        w = weight[i]
        if w == 0.0:
            continue
        a, stop = np.uint64(start[i]), np.uint64(start[i + 1])
        while a + one < stop:
            first, second = bins[a], bins[a + one]
            row_a, row_b = first * width, second * width
            cells[row_a + first] += w
            cells[row_a + second] += w
            cells[row_b + second] += w
            for b in range(a + two, stop):
                other = bins[b]
                cells[row_a + other] += w
                cells[row_b + other] += w
            a += two
        if a < stop:
            cells[bins[a] * width + bins[a]] += w


@scalar()
def left_of_both(table, a, c, zero_q, zero_g, total):
    """Weight of the rows in the first bin of both, for features of two bins.

    One bin of each has the rows of zero, the other one is stored: n_q, n_g, and n in both.
    """
    other_q, other_g = a + 1 - zero_q, c + 1 - zero_g
    n_q, n_g, n = table[other_q, other_q], table[other_g, other_g], table[other_q, other_g]
    if a == c:
        return n_q if zero_q else total - n_q
    if zero_q:
        return n if zero_g else n_q - n
    return n_g - n if zero_g else total - n_q - n_g + n


@kernel()
def add_rows_of_zeros(table, a, b, c, d, zero_q, zero_g, total):
    """Add what is not stored in one feature or the other to the bins of zero.

    Bins a..b are feature q, c..d are feature g. The diagonal has the weight of each stored bin;
    it is complete only after the feature's own block, which comes first.
    """
    if a == c:
        stored = 0.0
        for k in range(a, b):
            stored += table[k, k]
        table[a + zero_q, a + zero_q] += total - stored
        return
    for k in range(a, b):  # rows that store q, or have zero there, but do not store g
        stored = 0.0
        for j in range(c, d):
            stored += table[k, j]
        if k != a + zero_q:
            table[k, c + zero_g] += table[k, k] - stored
    for j in range(c, d):  # rows with zero in q
        stored = 0.0
        for k in range(a, b):
            if k != a + zero_q:
                stored += table[k, j]
        if j != c + zero_g:
            table[a + zero_q, j] = table[j, j] - stored
    zero = total
    for k in range(a, b):
        for j in range(c, d):
            if k != a + zero_q or j != c + zero_g:
                zero -= table[k, j]
    table[a + zero_q, c + zero_g] = zero


@kernel()
def write_left_sums(table, a, b, c, d, first_q, first_g, out):
    """Cumulative sums in both directions, and the mirror image."""
    for k in range(a, b - 1):
        left = 0.0
        for j in range(c, d - 1):
            left += table[k, j]
            above = out[first_q + k - a - 1, first_g + j - c] if k > a else 0.0
            out[first_q + k - a, first_g + j - c] = left + above
    for u in range(b - a - 1):
        for v in range(d - c - 1):
            out[first_g + v, first_q + u] = out[first_q + u, first_g + v]
