"""Cells of pairs of features: sums over the rows in them, and scores that tables of them add.

Bins are those of the rows, or neighbours of them taken together: a table of every two features is
the square of their bins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.lanes import LANES, add_lanes

Vector = NDArray[np.float64]


class Cells(NamedTuple):
    """The cells of columns: of pairs of features, or of a feature by itself.

    ``features[k]`` are the two of column k, the second -1 for one by itself. ``first_bin[g]`` is
    the place of feature g in ``bin_of``, which has the bin in which each of its bins is counted;
    there are ``n_bins[g]`` of these. Cell (a, b) of column k has the number
    ``start[k] + a n_bins[h] + b``.
    """

    features: NDArray[np.int64]
    first_bin: NDArray[np.int64]
    bin_of: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    start: NDArray[np.int64]

    @classmethod
    def make(
        cls,
        features: NDArray[np.int64],
        first_bin: NDArray[np.int64],
        bin_of: NDArray[np.uint8],
        n_bins: NDArray[np.int64],
    ) -> Cells:
        sizes = np.append(n_bins, 1)[features].prod(axis=1)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(features, first_bin, bin_of, n_bins, start)

    def shape(self, k: int) -> tuple[int, int]:
        """Of the table of column k."""
        g, h = self.features[k]
        return int(self.n_bins[g]), 1 if h < 0 else int(self.n_bins[h])


NO_CELLS = Cells.make(
    np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.int64)
)


class CellTables(NamedTuple):
    """What models add in cells: ``values[m]``, with several classes (classes, cells)."""

    cells: Cells
    values: Vector


@kernel()
def cell_numbers(codes, cells, k, lo, hi, out):
    """The cell of rows lo..hi in column k."""
    g, h = cells.features[k, 0], cells.features[k, 1]
    first, bins, mine = cells.start[k], cells.bin_of[cells.first_bin[g] :], codes[g, lo:hi]
    if h < 0:
        for i in range(mine.shape[0]):
            out[i] = first + bins[mine[i]]
        return
    width, others, other = cells.n_bins[h], cells.bin_of[cells.first_bin[h] :], codes[h, lo:hi]
    for i in range(mine.shape[0]):
        out[i] = first + bins[mine[i]] * width + others[other[i]]


_TILE = 2048
"""Rows whose cells are found at once."""


@kernel()
def add_to_cells(codes, cells, values, out, seat):
    """Sums of values in cells, (outputs, rows) and (outputs, cells); threads take columns in
    turn."""
    numbers = np.empty(_TILE, np.int64)
    for k in range(seat.rank, cells.features.shape[0], seat.size):
        for lo in range(0, values.shape[1], _TILE):
            hi = min(lo + _TILE, values.shape[1])
            cell_numbers(codes, cells, k, lo, hi, numbers)
            for c in range(values.shape[0]):
                some, sums = values[c, lo:hi], out[c]
                for i in range(some.shape[0]):
                    sums[numbers[i]] += some[i]


@kernel()
def add_lanes_to_cells(codes, cells, first, values, out, seat):
    """Sums of eight numbers a row, side by side, of the rows from ``first`` on."""
    numbers, n = np.empty(_TILE, np.int64), values.shape[0] // LANES
    for k in range(seat.rank, cells.features.shape[0], seat.size):
        for lo in range(0, n, _TILE):
            hi = min(lo + _TILE, n)
            cell_numbers(codes, cells, k, first + lo, first + hi, numbers)
            for i in range(hi - lo):
                add_lanes(values, lo + i, out, numbers[i])


@kernel()
def add_cell_scores(codes, cells, begin, end, tables, score, seat):
    """Add the tables (outputs, cells) of the columns begin..end to the scores (outputs, rows);
    threads take rows in turn."""
    numbers = np.empty(_TILE, np.int64)
    for lo in range(seat.rank * _TILE, score.shape[1], seat.size * _TILE):
        hi = min(lo + _TILE, score.shape[1])
        for k in range(begin, end):
            cell_numbers(codes, cells, k, lo, hi, numbers)
            for c in range(score.shape[0]):
                some, table = score[c, lo:hi], tables[c]
                for i in range(some.shape[0]):
                    some[i] += table[numbers[i]]
