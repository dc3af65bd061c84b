"""Losses and sums of residuals of several runs, side by side: one pass over the rows for all.

Runs have models of their own, but the same rows in the same bins. A bin then has eight numbers, one
for each run, next to each other: the additive score of the bin, or a sum of residuals in it. They
are read and added at once, which takes as long as one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.lanes import LANES, add_lanes
from .._core.team import Team, row_chunks
from ..learners.stumps.stump_statistics import dense_bins
from ..losses import Loss
from ..losses.kernels import evaluate
from .cells import NO_CELLS, Cells, CellTables, add_lanes_to_cells, cell_numbers

MOST_ROWS = 1 << 18
"""Rows that are looked at before their residuals, 64 bytes a row, are summed."""

_TILE = 128
"""Rows whose scores under all runs are looked at at once: 8 KiB."""

Vector = NDArray[np.float64]


def can_stand_side_by_side(arrays: Any, loss: Loss) -> bool:
    """Whether rows are dense, and the loss compiled."""
    return dense_bins(arrays) is not None and loss.terms is not None


class SideBySide:
    """Rows under several models.

    ``first_cell[g]`` is the first of the numbers that a model has for the bins of feature g.
    """

    def __init__(
        self,
        arrays: Any,
        first_cell: NDArray[np.int64],
        y: Vector,
        weight: Vector | None,
        offset: Vector | None,
        loss: Loss,
        team: Team,
    ) -> None:
        self.codes = arrays.codes
        self.first_cell = first_cell
        self.y = y
        self.weight = np.empty(0) if weight is None else weight
        self.offset = np.empty(0) if offset is None else offset
        self.terms = loss.terms
        self.flat = 0.0 if loss.newton else float(loss.smoothness or 0.0)
        """h, if it is the same everywhere; 0 if it is the curvature."""
        self.shortest = 1.0 / loss.newton_limit if loss.newton and loss.newton_limit else 0.0
        self.team = team
        self.chunks = row_chunks(len(y))

    def look(
        self, start: Vector, tables: Vector, pairs: CellTables | None = None
    ) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """At the models ``start[m]`` plus ``tables[m]``, plus those of ``pairs``: sums of residuals
        in bins, (models, cells); over all rows; of losses; of curvatures; and of squared
        residuals."""
        found = [self._look(*some) for some in by_lanes(start, tables, pairs)]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]

    def _look(self, start: Vector, tables: Vector, pairs: CellTables | None) -> tuple[Vector, ...]:
        """Of at most as many models as there are lanes."""
        n_models, n_cells = tables.shape
        sums, bins = self._no_sums(), np.zeros((n_cells, LANES))
        for chunks, residual, _ in self._rows(start, tables, pairs, sums, False):
            self.team.run(add_bins, self.codes, self.first_cell, residual, chunks, bins)
        loss, total, curvature, square, _ = sums.sum(axis=1)[:, :n_models]
        return np.ascontiguousarray(bins.T[:n_models]), total, loss, curvature, square

    def in_cells(
        self, cells: Cells, start: Vector, tables: Vector, pairs: CellTables | None, curved: bool
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """At some models: sums of residuals in the cells of pairs, (models, cells); of curvatures,
        if they are to be ``curved``; of losses; and of weighted squares of residuals."""
        found = [self._in_cells(cells, curved, *one) for one in by_lanes(start, tables, pairs)]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]

    def _in_cells(
        self, cells: Cells, curved: bool, start: Vector, tables: Vector, pairs: CellTables | None
    ) -> tuple[Vector, ...]:
        n_models, sums = len(start), self._no_sums()
        found = np.zeros((1 + curved, int(cells.start[-1]), LANES))
        for chunks, *values in self._rows(start, tables, pairs, sums, curved):
            for some, out in zip(values, found, strict=False):
                lanes = out.ravel()
                self.team.run(add_lanes_to_cells, self.codes, cells, int(chunks[0]), some, lanes)
        loss, *_, square = sums.sum(axis=1)[:, :n_models]
        residual = np.ascontiguousarray(found[0].T[:n_models])
        curvature = found[1].T[:n_models].copy() if curved else np.empty((n_models, 0))
        return residual, curvature, loss, square

    def _no_sums(self) -> Vector:
        return np.zeros((5, len(self.chunks) - 1, LANES))

    def _rows(
        self, start: Vector, tables: Vector, pairs: CellTables | None, sums: Vector, curved: bool
    ) -> Iterator[tuple[NDArray[np.int64], Vector, Vector]]:
        """Residuals of the rows of some chunks at a time under at most as many models as there are
        lanes, and curvatures, if they are to be ``curved``. ``sums`` are filled in."""
        starts = np.zeros(LANES)
        starts[: len(start)] = start
        cells = NO_CELLS if pairs is None else pairs.cells
        values = np.empty(0) if pairs is None else in_lanes(pairs.values)
        for first, last in batches(self.chunks):
            mine = self.chunks[first : last + 1]
            residual = np.empty((mine[-1] - mine[0]) * LANES)
            curvature = np.empty(len(residual) if curved else 0)
            self.team.run(
                evaluate_runs, self.codes, self.first_cell, in_lanes(tables), cells, values,
                starts, self.terms, self.flat, self.shortest, self.y, self.weight, self.offset,
                mine, residual, curvature, sums[:, first:last],
            )  # fmt: skip
            yield mine, residual, curvature


def by_lanes(
    start: Vector, tables: Vector, pairs: CellTables | None
) -> Iterator[tuple[Vector, Vector, CellTables | None]]:
    """Models, as many at a time as there are lanes."""
    for m in range(0, len(start), LANES):
        now = slice(m, m + LANES)
        some = None if pairs is None else pairs._replace(values=pairs.values[now])
        yield start[now], tables[now], some


def in_lanes(values: Vector) -> Vector:
    """Numbers of at most eight models or classes, one after the other, as eight numbers side by
    side."""
    lanes = np.zeros((values.shape[1], LANES))
    lanes[:, : len(values)] = values.T
    return lanes.ravel()


def batches(chunks: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The first chunk and the one after the last, of batches of at most `MOST_ROWS` rows; or of one
    chunk that has more."""
    first, n_chunks = 0, len(chunks) - 1
    while first < n_chunks:
        last = int(np.searchsorted(chunks, chunks[first] + MOST_ROWS, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


@kernel()
def evaluate_runs(
    codes, first_cell, tables, cells, cell_values, start, terms, flat, shortest, y, weight, offset,
    chunks, residual, curvatures, sums, seat
):  # fmt: skip
    """Residuals of the rows of some chunks under all models, their curvatures if there is room, and
    sums of losses, residuals, curvatures, squared weighted residuals and weighted squares of
    residuals over each chunk; threads take chunks in turn."""
    size, numbers = _TILE * LANES, np.empty(_TILE, np.int64)
    score, labels, values, curvature = (
        np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    )  # fmt: skip
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for lo in range(chunks[chunk], chunks[chunk + 1], _TILE):
            hi = min(lo + _TILE, chunks[chunk + 1])
            n = hi - lo
            for i in range(n):
                known = offset[lo + i] if offset.shape[0] > 0 else 0.0
                for k in range(LANES):
                    score[LANES * i + k] = start[k] + known
                    labels[LANES * i + k] = y[lo + i]
            for g in range(first_cell.shape[0] - 1):
                add_scores(codes[g, lo:hi], tables[LANES * first_cell[g] :], score)
            for p in range(cells.features.shape[0]):
                cell_numbers(codes, cells, p, lo, hi, numbers)
                add_scores(numbers[:n], cell_values, score)
            mine = residual[LANES * (lo - chunks[0]) : LANES * (hi - chunks[0])]
            evaluate_lanes(terms, labels, score, n * LANES, values, mine, curvature)
            bound_curvature(flat, shortest, mine, n * LANES, curvature)
            if weight.shape[0] > 0:
                for i in range(n):
                    for k in range(LANES):
                        values[LANES * i + k] *= weight[lo + i]
                        mine[LANES * i + k] *= weight[lo + i]
                        curvature[LANES * i + k] *= weight[lo + i]
            add_rows(values, n, sums[0, chunk])
            add_rows(mine, n, sums[1, chunk])
            add_rows(curvature, n, sums[2, chunk])
            if curvatures.shape[0] > 0:
                first = LANES * (lo - chunks[0])
                for j in range(n * LANES):
                    curvatures[first + j] = curvature[j]
            for j in range(n * LANES):
                values[j] = mine[j] * mine[j]
            add_rows(values, n, sums[3, chunk])
            if weight.shape[0] > 0:
                for i in range(n):
                    for k in range(LANES):
                        values[LANES * i + k] /= weight[lo + i]
            add_rows(values, n, sums[4, chunk])


@kernel()
def evaluate_lanes(terms, y, score, n, values_out, residual_out, curvature_out):
    for j in range(n):
        values_out[j], residual_out[j], curvature_out[j] = evaluate(terms, y[j], score[j])


@kernel()
def bound_curvature(flat, shortest, residual, n, curvature):
    """h of the quadratic models: see `rgboost.losses.Loss.model_curvature`."""
    for j in range(n):
        curvature[j] = max(curvature[j], shortest * abs(residual[j])) if flat == 0.0 else flat


@kernel()
def add_rows(values, n, sums):
    """Sums over rows, for each run."""
    for i in range(n):
        add_lanes(values, i, sums, 0)


@kernel()
def add_scores(codes, table, score):
    """Add the numbers of their bins to the scores of some rows."""
    for i in range(codes.shape[0]):
        add_lanes(table, codes[i], score, i)


@kernel()
def add_bins(codes, first_cell, residual, chunks, bins_out, seat):
    """Sums of residuals in bins, of all rows of some chunks; threads take features in turn."""
    for g in range(seat.rank, first_cell.shape[0] - 1, seat.size):
        a, b = first_cell[g], first_cell[g + 1]
        # Two sums by turns: an addition need not wait for the one before it.
        even, odd = np.zeros((b - a) * LANES), np.zeros((b - a) * LANES)
        mine = codes[g, chunks[0] : chunks[-1]]
        n = mine.shape[0]
        for i in range(0, n - 1, 2):
            add_lanes(residual, i, even, mine[i])
            add_lanes(residual, i + 1, odd, mine[i + 1])
        if n % 2:
            add_lanes(residual, n - 1, even, mine[n - 1])
        for s in range(b - a):
            for k in range(LANES):
                bins_out[a + s, k] += even[LANES * s + k] + odd[LANES * s + k]
