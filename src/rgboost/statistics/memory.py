"""Sums over rows behind a small seam, so that the rows can live elsewhere.

Engines that work on statistics never touch a row: they ask a `Statistics` for sums. Rows in memory
are the first implementation; a file that is read in chunks, a cluster or a GPU can be others.

A model is handed over as ``tables``: the additive score of bin k of feature g, on top of the null
model, is ``tables[offsets[g] + g + k]`` (features have one bin more than splits).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.math import blocked_sum
from .._core.team import Team, take_ticket, wait_for_all
from ..learners.kernels import Scratch, scratch_size
from ..learners.splits import to_left_sums
from ..learners.stump_statistics import add_table, expand_codes, fill_column, joint_bins, table_base
from ..losses import Loss
from ..losses.kernels import evaluate
from .counted_gram import count_gram, counts_pay
from .rows import TILE, Rows, make_rows, start_rows

Vector = NDArray[np.float64]
Columns = Sequence[int] | NDArray[np.int64]


MOST_BINS = 2048
"""Of a feature that has Gram rows: every thread has a table of pairs of bins."""


_PIECE = 32
"""Numbers on a side of a piece of a matrix that is transposed at once."""


class Gradient(NamedTuple):
    """``left_sums[j]``: sum of weighted residuals left of split j. ``total``: over all rows."""

    left_sums: Vector
    total: float
    loss: float


class Statistics(Protocol):
    """What an engine asks of a set of rows. Losses and sums are sums over rows, not means."""

    def bin_weights(self) -> tuple[Vector, float]:
        """The weight left of every split, and of all rows."""

    def gradient(self, tables: Vector) -> Gradient:
        """Sums of residuals left of every split, and the loss, at a model."""

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        """Rows of the Gram matrix of left indicators, for all splits of some features.

        Row after row: the weight of the rows left of both split u of the feature and split j, for
        every split j of ``columns``, which include the features. The rest of ``out`` is left alone:
        the matrix is symmetric, and the caller may know it already.
        """

    def loss(self, tables: Vector) -> float:
        """The loss at a model."""

    def line(self, change: Vector) -> Line:
        """The models f + s d: f the model that was looked at last, d the tables of a change."""


class Line(Protocol):
    """The models f + s d of a line search."""

    def slope(self, scale: float) -> tuple[float, float]:
        """The first and the second derivative of the loss by s; 0, 0 if they are not known."""


class MemoryStatistics:
    """`Statistics` of rows in memory."""

    makes_all = False
    """Whether Gram rows of all features are made at once, whatever is asked for."""

    def __init__(
        self,
        arrays: Any,
        y: Vector,
        weight: Vector | None,
        loss: Loss,
        start: Any,
        team: Team,
    ) -> None:
        """``start`` is the score at the null model, the same for all rows or one for each."""
        self.arrays = arrays
        self.start = start
        self.loss_function = loss
        self.team = team
        self.rows: Rows = make_rows(y, weight, start)
        self.offsets = arrays.splits.offsets

    @property
    def counts(self) -> bool:
        """Whether Gram rows of the rows, if they weigh 1, are counts (`counted_gram`)."""
        return type(self) is MemoryStatistics and counts_pay(self.arrays, len(self.rows.y))

    def bin_weights(self) -> tuple[Vector, float]:
        rows = self.rows
        return self.weigh_splits(rows.weight if rows.weighted else np.ones(len(rows.y)))

    def weigh_splits(self, weight: Vector) -> tuple[Vector, float]:
        """Sums of any weights left of every split, and over all rows."""
        total = float(weight.sum())
        return self._left_sums(weight, total), total

    def curvature_weights(self) -> Vector:
        """w_i l''(y_i, f_i) at the model that was looked at last."""
        curvature = self.loss_function.curvature(self.rows.y, self.rows.score)
        return self.rows.weight * curvature if self.rows.weighted else curvature

    def gradient(self, tables: Vector) -> Gradient:
        loss = self.loss(tables)
        total = float(self.rows.residual_sums.sum())
        return Gradient(self._left_sums(self.rows.residual, total), total, loss)

    def loss(self, tables: Vector) -> float:
        self._set_score(tables)
        rows, loss = self.rows, self.loss_function
        if loss.terms is not None:
            start_rows(loss.terms, rows)
            return float(rows.loss_sums.sum())
        weight = rows.weight if rows.weighted else 1.0
        rows.residual[:] = weight * loss.residual(rows.y, rows.score)
        rows.residual_sums[:] = 0.0
        rows.residual_sums[:1] = rows.residual.sum()
        return float((weight * loss.value(rows.y, rows.score)).sum())

    def line(self, change: Vector) -> MemoryLine:
        return MemoryLine(self, change)

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        self.weighted_gram_rows(features, columns, self.rows.weight, out)

    def weighted_gram_rows(
        self, features: Sequence[int], columns: Columns, weight: NDArray, out: NDArray
    ) -> None:
        """`gram_rows` for any weights of the rows; all 1 if ``weight`` is empty."""
        wanted = np.asarray(features, dtype=np.int64)
        others = np.asarray(columns, dtype=np.int64)
        if len(weight) == 0 and self.counts:
            count_gram([self.arrays], [len(self.rows.y)], wanted, others, [out], None, self.team)
            return
        stride = int(self.arrays.splits.most_bins)
        codes = np.empty((len(wanted), len(self.rows.y)), expanded_type(stride))
        self.team.run(fill_gram, self.arrays, wanted, others, codes, weight, out)

    def score(self, tables: Vector) -> Vector:
        """The score of every row at a model."""
        self._set_score(tables)
        return self.rows.score

    def _set_score(self, tables: Vector) -> None:
        self.rows.score[:] = self.start
        self.add_scores(tables, self.rows.score)

    def add_scores(self, tables: Vector, score_out: Vector) -> None:
        """Add the score of every row at a model, less the null model's."""
        change = np.add.reduceat(
            np.abs(tables), self.offsets[:-1] + np.arange(len(self.offsets) - 1)
        )
        used = np.flatnonzero(change > 0).astype(np.int64)
        self.team.run(add_tables, self.arrays, used, tables, self.rows.chunks, score_out)

    def _left_sums(self, values: Vector, total: float) -> Vector:
        out = np.empty(int(self.offsets[-1]))
        self.team.run(fill_left_sums, self.arrays, values, total, out)
        return out


def expanded_type(stride: int) -> Any:
    """For bins times the width of a table of pairs of bins."""
    return np.uint16 if stride <= 256 else np.uint32


class MemoryLine:
    """`Line` of rows in memory, which have the scores of f until another model is looked at."""

    def __init__(self, statistics: MemoryStatistics, change: Vector) -> None:
        self.statistics = statistics
        self.change = np.zeros(len(statistics.rows.y))
        statistics.add_scores(change, self.change)
        self.sums = np.empty((2, len(statistics.rows.chunks) - 1))

    def slope(self, scale: float) -> tuple[float, float]:
        terms, rows = self.statistics.loss_function.terms, self.statistics.rows
        if terms is None:
            return 0.0, 0.0
        team = self.statistics.team
        team.run(add_slopes, terms, rows, self.change, scale, self.sums)
        slope, curvature = self.sums.sum(axis=1)
        return float(slope), float(curvature)


@kernel()
def add_slopes(terms, rows, change, scale, sums, seat):
    """The derivatives of the loss by the scale, each thread on its chunks of rows."""
    first, second = np.empty(TILE), np.empty(TILE)
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums[0, chunk] = 0.0
        sums[1, chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            y, f, d = rows.y[lo:hi], rows.score[lo:hi], change[lo:hi]
            for i in range(y.shape[0]):
                _, residual, curvature = evaluate(terms, y[i], f[i] + scale * d[i])
                first[i] = -d[i] * residual
                second[i] = d[i] * d[i] * curvature
            if rows.weighted:
                weight = rows.weight[lo:hi]
                for i in range(weight.shape[0]):
                    first[i] *= weight[i]
                    second[i] *= weight[i]
            sums[0, chunk] += blocked_sum(first, hi - lo)
            sums[1, chunk] += blocked_sum(second, hi - lo)


@kernel()
def add_tables(learners, used, tables, chunks, score, seat):
    """Add the tables of the used features to the scores, each thread on its chunks of rows."""
    offsets = learners.splits.offsets
    base = 0.0
    for g in used:
        base += table_base(learners, g, tables[offsets[g] + g : offsets[g + 1] + g + 1])
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for lo in range(chunks[chunk], chunks[chunk + 1], TILE):
            hi = min(lo + TILE, chunks[chunk + 1])
            for i in range(lo, hi):  # not as a slice: to compile that takes two seconds
                score[i] += base
            for g in used:
                table = tables[offsets[g] + g : offsets[g + 1] + g + 1]
                add_table(learners, g, table, lo, hi, score)


@kernel()
def fill_left_sums(learners, values, total, out, seat):
    """Sums of values left of every split, each thread on its columns."""
    scratch = Scratch(np.empty(scratch_size(learners)), np.empty(TILE), np.empty(TILE))
    offsets = learners.splits.offsets
    for g in range(seat.rank, offsets.shape[0] - 1, seat.size):
        if offsets[g + 1] == offsets[g]:
            continue
        fill_column(learners, g, values, total, scratch)
        left = 0.0
        for j in range(offsets[g], offsets[g + 1]):
            left += scratch.bins[j - offsets[g]]
            out[j] = left


@kernel()
def bins_to_left_sums(offsets, bins, out):
    """Sums in bins, which lie as in tables, become sums left of every split."""
    for g in range(offsets.shape[0] - 1):
        a, b = offsets[g], offsets[g + 1]
        for s in range(a, b):  # `out[a:b] = ...` compiles the text of an error: two seconds
            out[s] = bins[s + g]
        to_left_sums(out[a:b], b - a)


@kernel()
def fill_gram(learners, wanted, columns, codes, weight, out, seat):
    """Gram rows of the wanted features; threads take (feature, column) pairs in turn.

    A pair of wanted features is made once, and written to the rows of both.
    """
    offsets = learners.splits.offsets
    stride = learners.splits.most_bins
    for w in range(seat.rank, wanted.shape[0], seat.size):
        expand_codes(learners, wanted[w], stride, codes[w])
    place, first_rows = places_of(wanted, offsets)
    goal = wait_for_all(seat, 0)
    table = np.empty((stride, stride), out.dtype)
    bin_weights = table[0, :0]
    n_columns = columns.shape[0]
    w = -1
    pair = 0 if seat.size == 1 else take_ticket(seat, 0)
    while pair < wanted.shape[0] * n_columns:
        if w < pair // n_columns:  # tickets only grow
            w = pair // n_columns
            n_bins = offsets[wanted[w] + 1] - offsets[wanted[w]] + 1
            bin_weights = weigh_bins(codes[w], stride, weight, np.zeros(n_bins, out.dtype))
        g = columns[pair % n_columns]
        if offsets[g + 1] > offsets[g] and (place[g] < 0 or place[g] >= w):
            joint_bins(learners, codes[w], bin_weights, g, weight, table)
            n_rows, first_row = bin_weights.shape[0] - 1, first_rows[w]
            cumulate(table, n_rows, offsets[g], offsets[g + 1], first_row, out)
            if place[g] > w:
                to_row, to = first_rows[place[g]], offsets[wanted[w]]
                transpose(out, first_row, n_rows, offsets[g], offsets[g + 1], to_row, to)
        pair = pair + 1 if seat.size == 1 else take_ticket(seat, 0)
    wait_for_all(seat, goal)


@kernel()
def places_of(wanted, offsets):
    """Where each feature is among the wanted ones (-1: it is not), and the first row of each of
    them."""
    place = np.full(offsets.shape[0] - 1, -1)
    first_rows = np.empty(wanted.shape[0], np.int64)
    row = 0
    for w in range(wanted.shape[0]):
        place[wanted[w]], first_rows[w] = w, row
        row += offsets[wanted[w] + 1] - offsets[wanted[w]]
    return place, first_rows


@kernel()
def weigh_bins(codes, stride, weight, out):
    """The weight of each bin of codes that were multiplied by stride."""
    for i in range(codes.shape[0]):
        out[codes[i] // stride] += weight[i] if weight.shape[0] > 0 else 1
    return out


@kernel()
def cumulate(table, n_rows, first, stop, first_row, out):
    """Cumulative sums of a table of bins in both directions, as rows of the Gram matrix."""
    for a in range(n_rows):
        row = out[first_row + a, first:stop]
        left = table[0, 0] * 0
        for b in range(row.shape[0]):
            left += table[a, b]
            row[b] = left
        if a > 0:
            above = out[first_row + a - 1, first:stop]
            for b in range(row.shape[0]):
                row[b] += above[b]


@kernel()
def transpose(out, first_row, n_rows, first, stop, to_row, to):
    """Write some rows of the columns first..stop where their mirror image is, in pieces that stay
    in cache."""
    for v0 in range(first, stop, _PIECE):
        for u0 in range(0, n_rows, _PIECE):
            for v in range(v0, min(v0 + _PIECE, stop)):
                for u in range(u0, min(u0 + _PIECE, n_rows)):
                    out[to_row + v - first, to + u] = out[first_row + u, v]
