"""Losses and sums of residuals of several runs, side by side: one pass over the rows for all.

Runs have models of their own, but the same rows in the same bins. A bin then has eight numbers, one
for each run, next to each other: the additive score of the bin, or a sum of residuals in it. They
are read and added at once, which takes as long as one of them.

Rows lie in the order of their folds, so that sums over the rows that a run does not see are those
of one stretch of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.lanes import LANES, add_lanes
from .._core.team import Team, row_chunks
from ..learners.dense_stumps import DenseStumps
from ..learners.mixed_stumps import MixedStumps
from ..learners.some_rows import take_rows
from ..losses import Loss
from ..losses.kernels import evaluate

MOST_ROWS = 1 << 18
"""Rows that are looked at before their residuals, 64 bytes a row, are summed."""

_TILE = 128
"""Rows whose scores under all runs are looked at at once: 8 KiB."""

Vector = NDArray[np.float64]


class Sums(NamedTuple):
    """Of run k, at its model: ``bins[k]`` are sums of residuals in bins, ``total[k]`` is that over
    all rows, ``loss[k]`` the sum of losses."""

    bins: Vector
    total: Vector
    loss: Vector


def can_stand_side_by_side(arrays: Any, loss: Loss, fold: NDArray[np.int64]) -> bool:
    dense = isinstance(arrays, DenseStumps | MixedStumps)
    return dense and int(fold.max()) < LANES and loss.terms is not None


class SideBySide:
    """Rows under the models of several runs; run k does not see those of fold k.

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
        fold: NDArray[np.int64],
        team: Team,
    ) -> None:
        order = np.argsort(fold, kind="stable")
        self.codes = take_rows(arrays, order, len(y)).codes
        self.first_cell = first_cell
        self.y = y[order]
        self.weight = np.empty(0) if weight is None else weight[order]
        self.offset = np.empty(0) if offset is None else offset[order]
        self.terms = loss.terms
        self.team = team
        self.chunks, self.fold_of_chunk = _chunks_of_folds(np.bincount(fold))

    def look(self, start: Vector, tables: Vector) -> tuple[Sums, Sums]:
        """At the models ``start[k]`` plus ``tables[k]``: sums over all rows, and over those that a
        run does not see."""
        n_runs, n_cells = tables.shape
        lanes, starts = np.zeros((n_cells, LANES)), np.zeros(LANES)
        lanes[:, :n_runs], starts[:n_runs] = tables.T, start
        sums = np.zeros((2, len(self.fold_of_chunk), LANES))
        bins = np.zeros((2, n_cells, LANES))
        for first, last in _batches(self.chunks):
            mine = self.chunks[first : last + 1]
            residual = np.empty((mine[-1] - mine[0]) * LANES)
            self.team.run(
                evaluate_runs, self.codes, self.first_cell, lanes.ravel(), starts, self.terms,
                self.y, self.weight, self.offset, mine, residual, sums[:, first:last],
            )  # fmt: skip
            folds = self.fold_of_chunk[first:last]
            self.team.run(add_bins, self.codes, self.first_cell, residual, mine, folds, *bins)
        its_own = self.fold_of_chunk[:, None] == np.arange(LANES)
        loss, total = sums.sum(axis=1)[:, :n_runs]
        held_loss, held_total = np.where(its_own, sums, 0.0).sum(axis=1)[:, :n_runs]
        every, held = np.ascontiguousarray(bins.transpose(0, 2, 1)[:, :n_runs])
        return Sums(every, total, loss), Sums(held, held_total, held_loss)


def _chunks_of_folds(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Boundaries of pieces of rows that are of one fold each, and these folds. They do not depend
    on the number of threads."""
    bounds, folds = [np.zeros(1, np.int64)], []
    for f, n in enumerate(sizes.tolist()):
        bounds.append(bounds[-1][-1] + row_chunks(n)[1:])
        folds += [f] * len(bounds[-1])
    return np.concatenate(bounds), np.array(folds, np.int64)


def _batches(chunks: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
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
    codes, first_cell, tables, start, terms, y, weight, offset, chunks, residual, sums, seat
):
    """Residuals of the rows of some chunks under all runs, and sums of losses and residuals over
    each chunk; threads take chunks in turn."""
    size = _TILE * LANES
    score, labels, values = np.empty(size), np.empty(size), np.empty(size)
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
            mine = residual[LANES * (lo - chunks[0]) : LANES * (hi - chunks[0])]
            evaluate_lanes(terms, labels, score, n * LANES, values, mine)
            if weight.shape[0] > 0:
                for i in range(n):
                    for k in range(LANES):
                        values[LANES * i + k] *= weight[lo + i]
                        mine[LANES * i + k] *= weight[lo + i]
            add_rows(values, n, sums[0, chunk])
            add_rows(mine, n, sums[1, chunk])


@kernel()
def evaluate_lanes(terms, y, score, n, values_out, residual_out):
    for j in range(n):
        values_out[j], residual_out[j], _ = evaluate(terms, y[j], score[j])


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
def add_bins(codes, first_cell, residual, chunks, fold_of_chunk, bins_out, held_out, seat):
    """Sums of residuals in bins, of all rows of some chunks and of those that a run does not see;
    threads take features in turn."""
    for g in range(seat.rank, first_cell.shape[0] - 1, seat.size):
        a, b = first_cell[g], first_cell[g + 1]
        # Two sums by turns: an addition need not wait for the one before it.
        even, odd = np.zeros((b - a) * LANES), np.zeros((b - a) * LANES)
        for chunk in range(chunks.shape[0] - 1):
            mine = codes[g, chunks[chunk] : chunks[chunk + 1]]
            rows = residual[LANES * (chunks[chunk] - chunks[0]) :]
            n, f = mine.shape[0], fold_of_chunk[chunk]
            for i in range(0, n - 1, 2):
                add_lanes(rows, i, even, mine[i])
                add_lanes(rows, i + 1, odd, mine[i + 1])
            if n % 2:
                add_lanes(rows, n - 1, even, mine[n - 1])
            for s in range(b - a):
                for k in range(LANES):
                    bins_out[a + s, k] += even[LANES * s + k] + odd[LANES * s + k]
                held_out[a + s, f] += even[LANES * s + f] + odd[LANES * s + f]
            even[:] = 0.0
            odd[:] = 0.0
