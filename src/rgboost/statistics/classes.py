"""Sums of residuals and losses of rows with a score for every class, at some models.

Where rows are dense, classes stand side by side as models do in `side_by_side`: a bin has eight
numbers, one for each of eight classes, which are read and added at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.lanes import LANES, add_lanes
from .._core.math import EXPONENT_MIN, exp
from ..losses import Loss
from ..losses.softmax import curvature_of_row
from .class_rows import class_tile, make_class_rows, start_classes
from .memory import MemoryStatistics
from .side_by_side import add_bins, batches, can_stand_side_by_side, in_lanes

Vector = NDArray[np.float64]

_TILE = 256
"""Rows whose scores are summed at once: 16 KiB."""


class ClassStatistics:
    """Rows under models of several classes.

    ``part`` knows how sums of one class lie in memory, ``family`` how they follow from bins.
    """

    def __init__(
        self, family: Any, part: MemoryStatistics, y: Vector, weight: Vector | None, offset: Any,
        loss: Loss,
    ) -> None:  # fmt: skip
        self.family = family
        self.part = part
        self.loss = loss
        self.offset = np.zeros((1, loss.outputs)) if offset is None else offset
        self.rows = make_class_rows(y, weight, np.broadcast_to(self.offset, (len(y), loss.outputs)))
        self.beside = can_stand_side_by_side(part.arrays, loss) and len(y) > 0

    def score(self, start: Vector, tables: Vector) -> Vector:
        """Scores, (classes, rows), at a model: ``tables[c]`` are those of class c."""
        rows, team = self.rows, self.part.team
        rows.score[:] = (start + self.offset).T
        if self.beside:
            codes, first_cell = self.part.arrays.codes, self.family.first_cell
            for c in range(0, len(tables), LANES):
                lanes, mine = in_lanes(tables[c : c + LANES]), rows.score[c : c + LANES]
                team.run(add_class_tables, codes, first_cell, lanes, rows.chunks, mine)
        else:
            for one, score in zip(tables, rows.score, strict=True):
                self.part.add_scores(one, score)
        return rows.score

    def look(self, start: Vector, tables: Vector, losses_only: bool) -> tuple[Any, ...]:
        """At a model, as in `rgboost.statistics.base.Sums`."""
        self.score(start, tables)
        rows, loss = self.rows, self.loss
        self.part.team.run(start_classes, loss.terms, rows, class_tile(len(rows.score)))
        left = np.empty(0) if losses_only else self._left_sums()
        total, value = rows.residual_sums.sum(axis=0), float(rows.loss_sums.sum())
        curvature = float(self.curvature().sum())
        return left, total, value, curvature, float(np.square(rows.residual).sum())

    def curvature(self) -> Vector:
        """w h of every row, at the model that was looked at last."""
        rows, out = self.rows, np.empty(len(self.rows.label))
        self.part.team.run(fill_curvature, self.loss.terms, rows, out)
        return out

    def _left_sums(self) -> Vector:
        """Sums of residuals in slots, for each class."""
        rows, n_classes = self.rows, len(self.rows.residual)
        if not self.beside:
            return np.array([self.part.weigh_splits(one)[0] for one in rows.residual])
        first_cell, codes = self.family.first_cell, self.part.arrays.codes
        found = []
        for c in range(0, n_classes, LANES):
            mine, bins = rows.residual[c : c + LANES], np.zeros((int(first_cell[-1]), LANES))
            for first, last in batches(rows.chunks):
                chunks = rows.chunks[first : last + 1]
                residual = in_lanes(mine[:, chunks[0] : chunks[-1]])
                self.part.team.run(add_bins, codes, first_cell, residual, chunks, bins)
            found += [self.family.sums_of_bins(one) for one in bins.T[: len(mine)].copy()]
        return np.array(found)


@kernel()
def add_class_tables(codes, first_cell, tables, chunks, score, seat):
    """Add the tables of all features to the scores, each thread on its chunks of rows."""
    lanes = np.empty(LANES * _TILE)
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for lo in range(chunks[chunk], chunks[chunk + 1], _TILE):
            hi = min(lo + _TILE, chunks[chunk + 1])
            lanes[:] = 0.0
            for g in range(first_cell.shape[0] - 1):
                table, mine = tables[LANES * first_cell[g] :], codes[g, lo:hi]
                for i in range(mine.shape[0]):
                    add_lanes(table, mine[i], lanes, i)
            for c in range(score.shape[0]):
                out = score[c, lo:hi]
                for i in range(out.shape[0]):
                    out[i] += lanes[LANES * i + c]


@kernel()
def fill_curvature(terms, rows, out, seat):
    """`rgboost.losses.Softmax.model_curvature` times the weight, at the scores of the rows.

    One class after the other, so that loops run over neighbours.
    """
    top, own, total, squares = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], _TILE):
            hi = min(lo + _TILE, rows.chunks[chunk + 1])
            for i in range(hi - lo):
                top[i], own[i] = rows.score[0, lo + i], rows.score[rows.label[lo + i], lo + i]
                total[i] = squares[i] = 0.0
            for c in range(1, rows.score.shape[0]):
                score = rows.score[c, lo:hi]
                for i in range(score.shape[0]):
                    top[i] = max(top[i], score[i])
            for c in range(rows.score.shape[0]):
                score = rows.score[c, lo:hi]
                for i in range(score.shape[0]):
                    e = exp(max(score[i] - top[i], EXPONENT_MIN))
                    total[i] += e
                    squares[i] += e * e
            mine = out[lo:hi]
            for i in range(mine.shape[0]):
                below = own[i] - top[i]
                mine[i] = curvature_of_row(terms, total[i], squares[i], below, rows.score.shape[0])
            if rows.weighted:
                for i in range(mine.shape[0]):
                    mine[i] *= rows.weight[lo + i]
