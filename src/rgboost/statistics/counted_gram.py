"""Gram rows of few rows that all weigh 1: counts, made split after split.

The rows that are left of split u and not of the split before it are those of one bin. With few
rows that is a handful, and the Gram row of u is that of the split before it plus, for every
feature, how many of the handful are left of each of its splits. Those are at most 255, so that
eight of them, the bytes of a word, are added up at once. Made from tables of all pairs of bins,
which are mostly empty then, the matrix takes almost twice as long.

Sets of rows that the same sums are needed of, the folds of cross-validation, are done side by side,
and the sum over them on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel, scalar
from .._core.team import Team, take_ticket, wait_for_all
from ..learners.stumps.stump_statistics import expand_codes

_FEW_ROWS = 4
"""If that many times the rows are fewer than the cells of a table of pairs of bins, counts split
after split are faster."""

_CELLS = 8
_EACH_CELL = np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _SEVEN = (np.uint64(8 * cells) for cells in (1, 2, 4, 7))
_MOST_ROWS = 255
"""What a cell, a byte of a word, can count."""


class Cells(NamedTuple):
    """Rows as the cells that they count in, one for each of some features.

    Bin b of the k-th of the ``columns`` is cell ``8 * word[k] + b``: a feature has words of its
    own. Rows ``row[s]`` to ``row[s + 1]`` are those of set s. Columns ascend, and have splits; the
    splits of all of them are ``spans[i, 0]`` to ``spans[i, 1]``.
    """

    columns: NDArray[np.int64]
    spans: NDArray[np.int64]
    word: NDArray[np.int64]
    row: NDArray[np.int64]
    cells: NDArray[np.uint16]


def counts_pay(arrays: Any, n_rows: int) -> bool:
    """Whether counts are faster, and possible: for that, cells are numbered by 16 bits."""
    offsets, most_bins = arrays.splits.offsets, arrays.splits.most_bins
    n_words = int(_words(offsets, np.arange(len(offsets) - 1))[-1])
    return _FEW_ROWS * n_rows < most_bins * most_bins and _CELLS * n_words <= 1 << 16


def _words(offsets: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first word of each column."""
    n_bins = offsets[columns + 1] - offsets[columns] + 1
    return np.concatenate([[0], np.cumsum(-(-n_bins // _CELLS))]).astype(np.int64)


def _spans(offsets: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The splits of the columns, as few ranges: loops over short ones take longer."""
    start, stop = offsets[columns], offsets[columns + 1]
    return np.column_stack([np.setdiff1d(start, stop), np.setdiff1d(stop, start)])


def count_gram(
    arrays: Sequence[Any],
    n_rows: Sequence[int],
    features: NDArray[np.int64],
    columns: NDArray[np.int64],
    outs: Sequence[NDArray],
    total: NDArray | None,
    team: Team,
) -> None:
    """Gram rows of some features, for ``columns`` that include them, of several sets of rows; and,
    if there is room for it, their sum."""
    offsets = arrays[0].splits.offsets
    columns = columns[np.diff(offsets)[columns] > 0]
    row = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    cells = np.empty((row[-1], len(columns)), np.uint16)
    rows = Cells(columns, _spans(offsets, columns), _words(offsets, columns), row, cells)
    for s, learners in enumerate(arrays):
        team.run(write_cells, learners, rows, s)
    sizes = offsets[features + 1] - offsets[features]
    first_rows = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
    sums = np.empty((0, 0), outs[0].dtype) if total is None else total
    team.run(fill_counts, rows, offsets, features, first_rows, tuple(outs), sums)


@kernel()
def write_cells(learners, rows, s, seat):
    """The cells of a set of rows, each thread on its features."""
    first, stop = rows.row[s], rows.row[s + 1]
    codes = np.empty(stop - first, np.uint16)
    for k in range(seat.rank, rows.columns.shape[0], seat.size):
        expand_codes(learners, rows.columns[k], 1, codes)
        start = _CELLS * rows.word[k]
        for i in range(codes.shape[0]):
            rows.cells[first + i, k] = start + codes[i]


@kernel()
def fill_counts(rows, offsets, features, first_rows, outs, total, seat):
    """Gram rows of the features; threads take features in turn."""
    n_sets = len(outs)
    order = np.empty(rows.cells.shape[0], np.int64)
    words = np.zeros(rows.word[-1], np.uint64)
    f = 0 if seat.size == 1 else take_ticket(seat, 0)
    while f < features.shape[0]:
        n_splits = offsets[features[f] + 1] - offsets[features[f]]
        start = sort_rows(rows, features[f], n_splits, order)
        for u in range(n_splits):
            row = first_rows[f] + u
            for s in range(n_sets):
                these = order[start[u * n_sets + s] : start[u * n_sets + s + 1]]
                add_rows(rows, these, offsets, outs[s], row, u == 0, words)
                if total.shape[0] > 0:
                    add_set(rows.spans, outs[s][row], s == 0, total[row])
        f = f + 1 if seat.size == 1 else take_ticket(seat, 0)
    wait_for_all(seat, 0)


@kernel()
def sort_rows(rows, feature, n_splits, order_out):
    """Rows by their bins of a feature, and by sets within a bin; returns where each of them
    starts."""
    n_sets = rows.row.shape[0] - 1
    start = np.zeros((n_splits + 1) * n_sets + 1, np.int64)
    if n_splits == 0:
        return start
    k = np.searchsorted(rows.columns, feature)
    first = _CELLS * rows.word[k]
    for s in range(n_sets):
        for i in range(rows.row[s], rows.row[s + 1]):
            start[(rows.cells[i, k] - first) * n_sets + s + 1] += 1
    for b in range(start.shape[0] - 1):
        start[b + 1] += start[b]
    free = start.copy()
    for s in range(n_sets):
        for i in range(rows.row[s], rows.row[s + 1]):
            b = (rows.cells[i, k] - first) * n_sets + s
            order_out[free[b]] = i
            free[b] += 1
    return start


@kernel()
def add_rows(rows, these, offsets, out, row, first, words):
    """A Gram row: the one above it, if it is not the first, and the counts of these rows.

    ``words`` are 0, before and after.
    """
    columns, word, counts = rows.columns, rows.word, words.view(np.uint8)
    here, above = out[row], out[row if first else row - 1]
    if first:
        for i in range(rows.spans.shape[0]):
            here[rows.spans[i, 0] : rows.spans[i, 1]] = 0
    for lo in range(0, max(1, these.shape[0]), _MOST_ROWS):
        count_rows(rows.cells, these[lo : lo + _MOST_ROWS], counts)
        for k in range(columns.shape[0]):
            to_left_counts(words[word[k] : word[k + 1]])
        for k in range(columns.shape[0]):
            a, b = offsets[columns[k]], offsets[columns[k] + 1]
            add_counts(above[a:b], counts[_CELLS * word[k] :], here[a:b])
        words[:] = 0
        above = here


@kernel()
def count_rows(cells, these, counts):
    for i in these:
        mine = cells[i]
        for k in range(mine.shape[0]):
            counts[np.uint64(mine[k])] += np.uint8(1)  # unsigned: no test for a negative index


@scalar()
def to_left_counts(words):
    """Sums over the cells up to each: within a word first, over two, four and eight of them."""
    before = np.uint64(0)
    for q in range(words.shape[0]):
        within = words[q]
        within += within << _ONE
        within += within << _TWO
        within += within << _FOUR
        words[q] = within + before
        before += (within >> _SEVEN) * _EACH_CELL


@scalar()
def add_counts(above, counts, out):
    for j in range(out.shape[0]):
        out[j] = above[j] + counts[j]


@kernel()
def add_set(spans, one, first, sums):
    """Add the Gram row of a set to the sum over sets."""
    for i in range(spans.shape[0]):
        mine, out = one[spans[i, 0] : spans[i, 1]], sums[spans[i, 0] : spans[i, 1]]
        if first:
            for j in range(out.shape[0]):
                out[j] = mine[j]
        else:
            for j in range(out.shape[0]):
                out[j] += mine[j]
