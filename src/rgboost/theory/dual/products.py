"""Products with the columns of stumps, in as few passes over the bins as there can be.

`A t` gathers table entries, `A' x` adds up x in bins. The product that conjugate gradients want,
A' diag(x) A t, does both while a tile of rows is in cache. Partial sums are taken over the chunks
of `rgboost._core.team.row_chunks`: the same bits for any number of threads.
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import kernel, scalar
from ...learners.kernels import Scratch, accumulate, scratch_size
from ...learners.stumps.stump_statistics import add_table
from ...statistics.rows import TILE

_TOGETHER = 3


@kernel()
def multiply_dense(learners, columns, tables, x, chunks, gather, rows, weighted, partial, seat):
    """``rows`` = A t, ``weighted`` = x A t (both given unless ``gather``); its sums by chunks."""
    scratch = Scratch(np.empty(scratch_size(learners)), np.empty(TILE), np.empty(TILE))
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for lo in range(chunks[chunk], chunks[chunk + 1], TILE):
            hi = min(lo + TILE, chunks[chunk + 1])
            if gather:
                for i in range(lo, hi):
                    rows[i] = 0.0
                add_tables(learners, columns, tables, lo, hi, rows)
                for i in range(lo, hi):
                    weighted[i] = x[i] * rows[i]
            first = lo == chunks[chunk]
            accumulate(learners, columns, weighted, lo, hi, scratch, first, partial[chunk])


@kernel()
def add_tables(learners, columns, tables, lo, hi, rows):
    """Add the tables of the columns to rows lo..hi, three columns at once where bins are bytes."""
    offsets = learners.splits.offsets
    n_columns = columns.shape[0]
    k = 0
    while k < n_columns:
        if k + 2 < n_columns and not learners.wide:
            c, d, e = columns[k], columns[k + 1], columns[k + 2]
            three = (
                tables[offsets[c] + c : offsets[c + 1] + c + 1],
                tables[offsets[d] + d : offsets[d + 1] + d + 1],
                tables[offsets[e] + e : offsets[e + 1] + e + 1],
            )
            gather_three(learners.codes, learners.words, (c, d, e), three, lo, hi, rows)
            k += _TOGETHER
        else:
            c = columns[k]
            table = tables[offsets[c] + c : offsets[c + 1] + c + 1]
            add_table(learners, c, table, lo, hi, rows)
            k += 1


@scalar()
def gather_three(codes, words, c, tables, lo, hi, rows):
    """Add the tables of three columns of bytes; lo is a multiple of 8."""
    table0, table1, table2 = tables
    words0, words1, words2 = words[c[0]], words[c[1]], words[c[2]]
    whole = lo + (hi - lo) // 8 * 8
    for k in range(lo // 8, whole // 8):
        word0, word1, word2 = words0[k], words1[k], words2[k]
        i = k * 8
        for b in range(8):
            first = table0[byte(word0, b)] + table1[byte(word1, b)]
            rows[i + b] += first + table2[byte(word2, b)]
    for i in range(whole, hi):
        first = table0[codes[c[0], i]] + table1[codes[c[1], i]]
        rows[i] += first + table2[codes[c[2], i]]


@scalar()
def byte(word, b):
    return (word >> np.uint64(8 * b)) & np.uint64(255)


@kernel()
def add_row_bins(row_bins, tables, out):
    """Add the table entries of the stored bins of sparse rows.

    Sums in bins are better taken column by column: row after row, additions to a bin that many
    rows share would wait for each other.
    """
    bins, start = row_bins.bins, row_bins.start
    for i in range(out.shape[0]):
        even, odd = 0.0, 0.0  # so that an addition need not wait for the one before it
        last = start[i + 1] - 1
        for k in range(start[i], last, 2):
            even += tables[np.uint32(bins[k])]
            odd += tables[np.uint32(bins[k + 1])]
        if (last - start[i]) % 2 == 0:
            even += tables[np.uint32(bins[last])]
        out[i] += even + odd
