"""Statistics of rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.team import Team
from ..learners.stumps.stump_statistics import dense_bins
from ..losses import Loss
from .base import CellSums, Columns, Curvature, Falls, Models, Statistics, Sums, Weights
from .cells import Cells, add_cell_scores, add_to_cells
from .classes import ClassStatistics
from .counted_gram import count_gram
from .memory import MemoryStatistics
from .side_by_side import SideBySide, can_stand_side_by_side

Vector = NDArray[np.float64]

UNITS_OF_A_ROW = 8
"""With so many units a row, curvature is rounded row by row: rows that are alike weigh the same."""


class RowsOfFold(NamedTuple):
    """Weak-learners on some rows, their labels, weights (None: all 1) and offsets (None: all 0)."""

    arrays: Any
    y: Vector
    weight: Vector | None
    offset: Vector | None


class InMemory(Statistics):
    """Rows of several folds. ``family`` knows how sums lie; ``together`` are the rows of all folds
    that Gram rows of the curvature are of, where these are more than the first. ``as_they_are``:
    rows are not stored in the form that statistics are fastest with, which pays if they are asked
    more than once."""

    def __init__(
        self,
        family: Any,
        folds: Sequence[RowsOfFold],
        loss: Loss,
        team: Team,
        together: RowsOfFold | None = None,
        as_they_are: bool = False,
    ) -> None:
        self.family = family
        self.loss = loss
        self.team = team
        self.folds = folds
        self.as_they_are = as_they_are
        self.together = folds[0] if together is None else together
        self.sizes = [len(one.y) for one in folds]
        self.rows_at_once = sum(self.sizes)
        self.weighted = any(one.weight is not None for one in folds)
        self.parts = [self._sums_of(one) for one in folds]
        self.weighed: tuple[Curvature | None, NDArray] = (None, np.empty(0))
        """The curvature that was asked for last, and that of every row in whole units."""

    def _sums_of(self, rows: RowsOfFold) -> MemoryStatistics:
        arrays = rows.arrays
        if not self.as_they_are:
            arrays = self.family.stored(arrays, len(rows.y))
        return self.family.statistics(arrays, rows.y, rows.weight, self.loss, 0.0, self.team)

    @cached_property
    def whole(self) -> MemoryStatistics:
        """Of the rows that Gram rows of the curvature are of."""
        return self.parts[0] if self.together is self.folds[0] else self._sums_of(self.together)

    @cached_property
    def _beside(self) -> list[SideBySide | None]:
        """Rows of each fold under several models at once, where that is possible."""
        found: list[SideBySide | None] = []
        for rows, part in zip(self.folds, self.parts, strict=True):
            able = can_stand_side_by_side(part.arrays, self.loss) and len(rows.y) > 0
            rest = rows.y, rows.weight, rows.offset, self.loss, self.team
            found.append(SideBySide(part.arrays, self.family.first_cell, *rest) if able else None)
        return found

    @property
    def makes_all(self) -> bool:  # type: ignore[override]
        return any(part.makes_all for part in self.parts)

    def weights(self, weighting: Curvature | None = None) -> Weights:
        if weighting is None:
            found = [part.bin_weights() for part in self.parts]
        else:
            found = [self.whole.weigh_splits(self.weigh(weighting).astype(np.float64))]
        return Weights(np.array([left for left, _ in found]), np.array([t for _, t in found]))

    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        found = [self._sums_of_fold(f, models, losses_only) for f in range(self.n_folds)]
        return Sums(*(np.array([getattr(one, name) for one in found]) for name in Sums._fields))

    @cached_property
    def _of_classes(self) -> list[ClassStatistics]:
        """Rows of each fold with several scores."""
        pairs = zip(self.parts, self.folds, strict=True)
        return [ClassStatistics(self.family, part, *rows[1:], self.loss) for part, rows in pairs]

    def _sums_of_fold(self, f: int, models: Models, losses_only: bool) -> Sums:
        """Without the axis of folds."""
        several = len(models.start) > 1 and self.loss.outputs == 1
        beside = self._beside[f] if several and not losses_only else None
        if beside is None:
            last = len(models.start) - 1
            each = [
                self._sums_at(f, *model, losses_only, m == last)
                for m, model in enumerate(self._each(f, models))
            ]
            return Sums(*(np.array(values) for values in zip(*each, strict=True)))
        bins, total, loss, curvature, square = beside.look(*models)
        left = np.array([self.family.sums_of_bins(one) for one in bins])
        return Sums(left, total, loss, curvature, square)

    def _sums_at(
        self, f: int, start: Any, tables: Vector, losses_only: bool = True, curved: bool = False
    ) -> tuple[Any, ...]:
        """Of the rows of a fold at one model; without curvature unless it is ``curved``."""
        if self.loss.outputs > 1:
            return self._of_classes[f].look(start, tables, losses_only)
        part, rows = self.parts[f], self.folds[f]
        part.start = start if rows.offset is None else start + rows.offset
        if losses_only:
            loss = part.loss(tables)
            left, total = np.empty(0), float(part.rows.residual_sums.sum())
        else:
            left, total, loss = part.gradient(tables)
        if not curved:
            return left, total, loss, 0.0, 0.0
        score, weight = part.rows.score, 1.0 if rows.weight is None else rows.weight
        curvature = float(np.sum(self.loss.model_curvature(rows.y, score) * weight))
        square = float(np.sum(part.rows.residual**2))
        return left, total, loss, curvature, square

    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        if weighting is not None:
            (out,) = outs
            self.whole.weighted_gram_rows(features, columns, self.weigh(weighting), out)
            return
        folds, total = outs[: self.n_folds], outs[self.n_folds :]
        if total and all(part.counts and not part.rows.weighted for part in self.parts):
            arrays, n_rows = [p.arrays for p in self.parts], [len(p.rows.y) for p in self.parts]
            wanted, others = np.asarray(features, np.int64), np.asarray(columns, np.int64)
            count_gram(arrays, n_rows, wanted, others, folds, total[0], self.team)
            return
        for part, out in zip(self.parts, folds, strict=True):
            part.gram_rows(features, columns, out)
        if total:
            self.team.run(add_blocks, tuple(folds), total[0])

    def weigh(self, weighting: Curvature) -> NDArray[np.int32]:
        """The curvature of every row, in whole units; kept for the next call."""
        before, curvature = self.weighed
        if before is not weighting:
            curvature = self._in_units(weighting, self.curvature(weighting))
            self.weighed = weighting, curvature
        return curvature

    def curvature(self, at: Curvature) -> Vector:
        """w h of every row."""
        rows, whole = self.together, self.whole
        if self.loss.outputs > 1:
            classes = ClassStatistics(self.family, whole, *rows[1:], self.loss)
            classes.score(at.start, at.tables)
            return np.maximum(classes.curvature(), at.least)
        whole.start = at.start if rows.offset is None else at.start + rows.offset
        curvature = self.loss.model_curvature(rows.y, whole.score(at.tables))
        return np.maximum(curvature if rows.weight is None else curvature * rows.weight, at.least)

    def _in_units(self, weighting: Curvature, curvature: Vector) -> NDArray[np.int32]:
        """Sums of integers are exact: the quadratic model is that of some weights of rows and has a
        minimum. With rounded sums it need not have one, between splits that differ by few rows.

        Where there are few units for a row, rows are rounded up or down such that every stretch of
        them, in a random order, has its sum: some rows stand for others. The quadratic model is a
        rougher one then, still of some weights of rows.
        """
        units = curvature / weighting.unit
        if np.dtype(weighting.dtype).itemsize == 4:
            return np.ceil(units).astype(np.int32)
        if float(units.sum()) >= UNITS_OF_A_ROW * len(units):
            return np.rint(units).astype(np.int32)
        return rounded_together(units)

    def scores(self, f: int, start: Any, tables: Vector) -> Vector:
        """The score of every row of a fold at a model, for engines that go on with the rows; of
        several classes, (rows, classes)."""
        if self.loss.outputs > 1:
            return self._of_classes[f].score(start, tables).T.copy()
        part, offset = self.parts[f], self.folds[f].offset
        part.start = start if offset is None else start + offset
        return part.score(tables).copy()

    def cell_weights(self, cells: Cells) -> Vector:
        return np.array([self._weigh_cells(f, cells) for f in range(self.n_folds)])

    def _weigh_cells(self, f: int, cells: Cells) -> Vector:
        rows, out = self.folds[f], np.zeros((1, int(cells.start[-1])))
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        self.team.run(add_to_cells, self.codes(f), cells, weight[None], out)
        return out[0]

    def codes(self, f: int) -> NDArray[np.unsignedinteger]:
        """The bins of the rows of a fold, (features, rows or more)."""
        rows = self.folds[f]
        codes = dense_bins(rows.arrays)
        if codes is not None:
            return codes
        n_features = len(self.family.first_cell) - 1
        return np.array([codes_of(rows.arrays, g, len(rows.y)) for g in range(n_features)])

    def tables(self, cells: Cells, models: Models, table: NDArray[np.int64]) -> CellSums:
        n_tables, n_cells = int(table.max()) + 1, int(cells.start[-1])
        shape = (n_tables, self.loss.outputs, n_cells)
        residual = np.zeros(shape if self.loss.outputs > 1 else (n_tables, n_cells))
        curvature = np.zeros((n_tables, 0 if self.loss.quadratic else n_cells))
        loss, square = np.zeros(table.shape), np.zeros(table.shape)
        for f, places in enumerate(table):
            mine = np.flatnonzero(places >= 0)
            if not len(mine) or not self.sizes[f]:
                continue
            found = self._in_cells(f, cells, some_models(models, mine))
            np.add.at(residual, places[mine], found[0])
            np.add.at(curvature, places[mine], found[1])
            loss[f, mine], square[f, mine] = found[2], found[3]
        return CellSums(residual, curvature, loss, square)

    def _in_cells(self, f: int, cells: Cells, models: Models) -> tuple[Vector, ...]:
        """Of the rows of a fold at each of some models: sums of residuals and of curvatures in
        cells; of losses; and of squares."""
        curved, beside = not self.loss.quadratic, self._beside[f]
        if beside is not None and self.loss.outputs == 1:
            return beside.in_cells(cells, *models, curved)
        found = [self._in_cells_at(f, cells, *model) for model in self._each(f, models)]
        return tuple(np.array(parts) for parts in zip(*found, strict=True))

    def _in_cells_at(self, f: int, cells: Cells, start: Any, tables: Vector) -> tuple[Any, ...]:
        """Of the rows of a fold at one model."""
        rows, codes = self.folds[f], self.codes(f)
        loss = self._sums_at(f, start, tables)[2]
        if self.loss.outputs > 1:
            classes = self._of_classes[f]
            residual, curvature = classes.rows.residual, classes.curvature()
        else:
            residual = self.parts[f].rows.residual[None]
            curvature = self.loss.model_curvature(rows.y, self.parts[f].rows.score)
            curvature = curvature if rows.weight is None else curvature * rows.weight
        out = np.zeros((len(residual), int(cells.start[-1])))
        self.team.run(add_to_cells, codes, cells, np.ascontiguousarray(residual), out)
        squares = np.square(residual)
        square = float((squares if rows.weight is None else squares / rows.weight).sum())
        curved = np.zeros((1, 0 if self.loss.quadratic else out.shape[1]))
        if not self.loss.quadratic:
            self.team.run(add_to_cells, codes, cells, np.ascontiguousarray(curvature[None]), curved)
        return out if len(out) > 1 else out[0], curved[0], loss, square

    def _each(self, f: int, models: Models) -> Iterator[tuple[Any, Vector]]:
        """The start and the tables of each model; what pairs add to a row is part of its start."""
        for m, (start, tables) in enumerate(zip(*models[:2], strict=True)):
            if models.pairs is None:
                yield start, tables
            else:
                cells, values = models.pairs
                score = self.cell_scores(f, cells, values[m], 0, len(cells.features))
                yield start + score, tables

    def cell_scores(self, f: int, cells: Cells, values: Vector, begin: int, end: int) -> Vector:
        """What the columns begin..end add to the scores of the rows of a fold."""
        values = np.atleast_2d(values)
        out = np.zeros((len(values), self.sizes[f]))
        self.team.run(add_cell_scores, self.codes(f), cells, begin, end, values, out)
        return out[0] if self.loss.outputs == 1 else out.T

    def falls(
        self, models: Models, fold: Sequence[int], counts: NDArray[np.int64], unit: float
    ) -> Falls:
        assert models.pairs is not None
        cells, n_models = models.pairs.cells, len(models.start)
        found = Falls(*np.zeros((2, n_models)), *np.zeros((2, n_models, len(counts))))
        ends = np.concatenate([[0], counts])
        for m, f in enumerate(fold):
            rows = self.folds[f]
            score = self.scores(f, models.start[m], models.tables[m])
            weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
            before = weight * (self.loss.value(rows.y, score) / unit)
            found.weight[m] = weight.sum()
            found.loss[m] = before.sum()
            for i, (begin, end) in enumerate(pairwise(ends.tolist())):
                score += self.cell_scores(f, cells, models.pairs.values[m], begin, end)
                fall = before - weight * (self.loss.value(rows.y, score) / unit)
                found.fall[m, i], found.square[m, i] = fall.sum(), np.square(fall).sum()
        return found


def rounded_together(units: Vector) -> NDArray[np.int32]:
    """Whole numbers such that every stretch of them, in a random order, has its sum."""
    order = np.random.default_rng(len(units)).permutation(len(units))
    found = np.empty(len(units), np.int32)
    found[order] = np.diff(np.rint(np.cumsum(units[order])), prepend=0.0)
    return found


def some_models(models: Models, some: NDArray[np.int64]) -> Models:
    """Some of the models."""
    pairs = models.pairs
    if pairs is not None:
        pairs = pairs._replace(values=pairs.values[some])
    return Models(models.start[some], models.tables[some], pairs)


def codes_of(arrays: Any, g: int, n_rows: int) -> NDArray:
    """The bins of a feature, row by row."""
    codes = dense_bins(arrays)
    if codes is not None:
        return codes[g, :n_rows]
    entries = arrays.entries
    now = slice(entries.indptr[g], entries.indptr[g + 1])
    found = np.full(n_rows, entries.zero_code[g])
    found[entries.rows[now]] = entries.codes[now]
    return found


@kernel()
def add_blocks(parts, out, seat):
    """Sums of rows of several matrices, each thread on its rows."""
    for row in range(seat.rank, out.shape[0], seat.size):
        sums = out[row]
        one = parts[0][row]
        for j in range(sums.shape[0]):
            sums[j] = one[j]
        for k in range(1, len(parts)):
            one = parts[k][row]
            for j in range(sums.shape[0]):
                sums[j] += one[j]
