"""Rows whose scores change leaf by leaf: for weak-learners that part the rows into leaves.

One class for one score a row, one for several classes, one for a loss that is written in Python;
all have residuals of shape (outputs, rows), as weighted sums of rows ask for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from ...learners.kernels import Scratch
from ...losses import Loss
from ...losses.kernels import evaluate
from ...statistics.class_rows import (
    ClassScratch,
    class_tile,
    clear_sums,
    evaluate_classes,
    make_class_rows,
    start_classes,
)
from ...statistics.rows import TILE, add_step, add_sums, make_rows, start_rows
from ..problem import RowSet, with_offset

Vector = NDArray[np.float64]

NOTHING, NOWHERE = np.empty(0), np.empty(0, np.uint8)

KEPT = ("score", "residual", "loss_sums", "residual_sums")
"""Arrays that steps change."""


class LeafRows:
    """Rows with one score, and a compiled loss."""

    def __init__(self, loss: Loss, some: RowSet, start: Any, score: Vector | None) -> None:
        self.loss = loss
        self.rows = self._make(some, with_offset(start, some.offset) if score is None else score)

    def _make(self, some: RowSet, score: Any) -> Any:
        rows = make_rows(some.y, some.weight, score)
        start_rows(self.loss.terms, rows)
        return rows

    @property
    def residual(self) -> Vector:
        """(outputs, rows), weighted."""
        return self.rows.residual.reshape(1, -1)

    @property
    def total_loss(self) -> float:
        return float(self.rows.loss_sums.sum())

    @property
    def weight(self) -> Vector | None:
        return self.rows.weight if self.rows.weighted else None

    @property
    def score(self) -> Vector:
        """(rows,), or (rows, classes)."""
        rows = self.rows
        if not self.loss.quadratic:
            return rows.score
        # Only residuals of the squared loss are kept up to date.
        return rows.y - (rows.residual / rows.weight if rows.weighted else rows.residual)

    def curvatures(self, leaf: NDArray[np.uint8], n_leaves: int, team: Team) -> Vector:
        """Sums of weighted curvatures, (leaves, outputs)."""
        sums = np.empty((len(self.rows.chunks) - 1, n_leaves))
        team.run(sum_curvatures, self.loss.terms, self.rows, leaf, sums)
        return sums.sum(axis=0)[:, None]

    def curvature(self, team: Team) -> Vector:
        """The weighted curvature of every row."""
        out = np.empty(len(self.rows.y))
        team.run(write_curvatures, self.loss.terms, self.rows, out)
        return out

    def add(self, leaf: NDArray[np.uint8], values: Vector, team: Team) -> None:
        """Add the value of its leaf (leaves, outputs) to the score of each row."""
        values = np.ascontiguousarray(values[:, 0])
        team.run(add_leaves, self.loss.terms, self.rows, leaf, values, NOTHING)

    def add_each(self, said: Vector, team: Team) -> None:
        """Add a number of its own to the score of each row."""
        team.run(add_leaves, self.loss.terms, self.rows, NOWHERE, NOTHING, said)


class ClassLeafRows(LeafRows):
    """Rows with a score for every class."""

    def _make(self, some: RowSet, score: Any) -> Any:
        rows = make_class_rows(some.y, some.weight, score)
        self.tile = class_tile(rows.score.shape[0])
        Team(1).run(start_classes, self.loss.terms, rows, self.tile)
        return rows

    @property
    def residual(self) -> Vector:
        return self.rows.residual

    @property
    def score(self) -> Vector:
        return self.rows.score.T

    def curvatures(self, leaf: NDArray[np.uint8], n_leaves: int, team: Team) -> Vector:
        """Twice the diagonal of the Hessian, which lies above it (`direct.softmax_step`)."""
        shape = (len(self.rows.chunks) - 1, n_leaves, self.rows.score.shape[0])
        sums = np.empty(shape)
        team.run(sum_class_curvatures, self.loss.terms, self.rows, leaf, sums)
        return 2.0 * sums.sum(axis=0)

    def add(self, leaf: NDArray[np.uint8], values: Vector, team: Team) -> None:
        team.run(add_class_leaves, self.loss.terms, self.rows, leaf, values, self.tile)


class PythonLeafRows(LeafRows):
    """Rows with one score, and a loss that is written in Python."""

    def _make(self, some: RowSet, score: Any) -> Any:
        rows = make_rows(some.y, some.weight, score)
        self._evaluate(rows)
        return rows

    def _evaluate(self, rows: Any) -> None:
        if not len(rows.y):
            return
        weight = rows.weight if rows.weighted else 1.0
        rows.residual[:] = weight * self.loss.residual(rows.y, rows.score)
        rows.loss_sums[:] = 0.0
        rows.loss_sums[0] = np.sum(weight * self.loss.value(rows.y, rows.score))

    def curvature(self, team: Team) -> Vector:
        curvature = np.asarray(self.loss.curvature(self.rows.y, self.rows.score), np.float64)
        return curvature * self.rows.weight if self.rows.weighted else curvature

    def curvatures(self, leaf: NDArray[np.uint8], n_leaves: int, team: Team) -> Vector:
        sums: Vector = np.bincount(leaf, self.curvature(team), n_leaves).astype(np.float64)
        return sums[:, None]

    def add(self, leaf: NDArray[np.uint8], values: Vector, team: Team) -> None:
        self.add_each(values[leaf, 0], team)

    def add_each(self, said: Vector, team: Team) -> None:
        self.rows.score[:] += said
        self._evaluate(self.rows)


def make_leaf_rows(loss: Loss, some: RowSet, start: Any, score: Vector | None) -> LeafRows:
    kind = ClassLeafRows if loss.outputs > 1 else LeafRows
    return (PythonLeafRows if loss.terms is None else kind)(loss, some, start, score)


@kernel()
def add_leaves(terms, rows, leaf, values, each, seat):
    """f += the value of each row's leaf, or, if there are such, what ``each`` row has for itself;
    losses and residuals anew."""
    delta, losses = np.empty(TILE), np.empty(TILE)
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        rows.loss_sums[chunk] = 0.0
        rows.residual_sums[chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            if each.shape[0] > 0:
                delta[: hi - lo] = each[lo:hi]
            else:
                for i in range(lo, hi):
                    delta[i - lo] = values[leaf[i]]
            add_step(terms, rows, lo, hi, delta, losses)
            add_sums(rows, chunk, lo, hi, losses)


@kernel()
def add_class_leaves(terms, rows, leaf, values, tile, seat):
    one = Scratch(np.empty(0), np.empty(tile), np.empty(tile))
    scratch = ClassScratch(one, np.empty(tile), np.empty(tile), np.empty((0, 0)), np.empty(0))
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        clear_sums(rows, chunk)
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], tile):
            hi = min(lo + tile, rows.chunks[chunk + 1])
            for c in range(rows.score.shape[0]):
                for i in range(lo, hi):
                    rows.score[c, i] += values[leaf[i], c]
            evaluate_classes(terms, rows, chunk, lo, hi, scratch)


@kernel()
def write_curvatures(terms, rows, out, seat):
    """The weighted curvature of every row."""
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        for i in range(rows.chunks[chunk], rows.chunks[chunk + 1]):
            _, _, curvature = evaluate(terms, rows.y[i], rows.score[i])
            out[i] = curvature * rows.weight[i] if rows.weighted else curvature


@kernel()
def sum_curvatures(terms, rows, leaf, sums_out, seat):
    """Sums of weighted curvatures in the leaves, for each chunk of rows."""
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums = sums_out[chunk]
        sums[:] = 0.0
        for i in range(rows.chunks[chunk], rows.chunks[chunk + 1]):
            _, _, curvature = evaluate(terms, rows.y[i], rows.score[i])
            sums[leaf[i]] += curvature * rows.weight[i] if rows.weighted else curvature


@kernel()
def sum_class_curvatures(terms, rows, leaf, sums_out, seat):
    """Sums of p_c (1 - p_c) + ridge; probabilities come from the residuals."""
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums = sums_out[chunk]
        sums[:] = 0.0
        for c in range(rows.score.shape[0]):
            for i in range(rows.chunks[chunk], rows.chunks[chunk + 1]):
                weight = rows.weight[i] if rows.weighted else 1.0
                own = 1.0 if rows.label[i] == c else 0.0
                p = own - rows.residual[c, i] / weight - terms.ridge * rows.score[c, i]
                sums[leaf[i], c] += weight * (p * (1.0 - p) + terms.ridge)
