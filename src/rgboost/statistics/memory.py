"""Sums over a set of rows in memory, slot by slot (`slots`); see `base` for tables of models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import by_type, kernel
from .._core.team import Team, take_ticket, wait_for_all
from ..learners.kernels import Scratch, scratch_size
from ..learners.stumps.dense_stumps import fill_bins
from ..learners.stumps.mixed_stumps import MixedStumps
from ..learners.stumps.stump_statistics import (
    add_table,
    as_sparse,
    expand_codes,
    fill_column,
    joint_bins,
    stored_entries,
    table_base,
)
from ..losses import Loss
from .base import Columns, Vector
from .counted_gram import count_gram, counts_pay
from .rows import TILE, Rows, make_rows, start_rows
from .slots import Slots, bins_to_slots, number_slots
from .whole_gram import MOST_BINS_IN_ALL, WholeGram

MOST_BINS = 2048
"""Of a feature that has Gram rows: every thread has a table of pairs of bins."""

STORED_SHARE = 0.25
"""Dense rows are stored as sparse ones if no more than this share of them has to be stored."""


def bins_obstacle(most_bins: int) -> str | None:
    """Why a feature with so many bins has no Gram rows; None if it has."""
    if most_bins <= MOST_BINS:
        return None
    return f"it needs at most {MOST_BINS} bins per feature; set max_bins to that or less"


_PIECE = 32
"""Numbers on a side of a piece of a matrix that is transposed at once."""


class Gradient(NamedTuple):
    """``left_sums[j]``: sum of weighted residuals in slot j. ``total``: over all rows."""

    left_sums: Vector
    total: float
    loss: float


class MemoryStatistics:
    """A set of rows, and the model that was looked at last."""

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
        slots: Slots | None = None,
    ) -> None:
        """``start`` is the score at the null model, the same for all rows or one for each."""
        self.arrays = arrays
        self.start = start
        self.loss_function = loss
        self.team = team
        self.rows: Rows = make_rows(y, weight, start)
        self._at: tuple[Any, Vector] | None = None
        """The start and the tables of the model whose scores the rows have."""
        self.slots = number_slots(arrays.splits.offsets) if slots is None else slots

    @cached_property
    def counts(self) -> bool:
        """Whether Gram rows of the rows, if they weigh 1, are counts (`counted_gram`)."""
        possible = not self.makes_all and self.slots.plain
        return possible and counts_pay(self.arrays, len(self.rows.y))

    @cached_property
    def most_bins(self) -> int:
        """Of a feature, that of missing values included."""
        return int(np.diff(self.slots.cells).max())

    def bin_weights(self) -> tuple[Vector, float]:
        """The weight in every slot, and of all rows."""
        rows = self.rows
        return self.weigh_splits(rows.weight if rows.weighted else np.ones(len(rows.y)))

    def weigh_splits(self, weight: Vector) -> tuple[Vector, float]:
        """Sums of any weights in every slot, and over all rows."""
        total = float(weight.sum())
        return self._sums(weight, total), total

    def gradient(self, tables: Vector) -> Gradient:
        """Sums of residuals in every slot, and the loss, at a model."""
        loss = self.loss(tables)
        total = float(self.rows.residual_sums.sum())
        return Gradient(self._sums(self.rows.residual, total), total, loss)

    def loss(self, tables: Vector) -> float:
        """The loss at a model; rows have its residuals then."""
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

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        """Rows of the Gram matrix of slots, for some features; see `base.Statistics.gram`."""
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
        stride = self.most_bins
        codes = np.empty((len(wanted), len(self.rows.y)), expanded_type(stride))
        self.team.run(
            fill_gram, self.arrays, self.slots, stride, wanted, others, codes, weight, out
        )

    def score(self, tables: Vector) -> Vector:
        """The score of every row at a model."""
        self._set_score(tables)
        return self.rows.score

    def _set_score(self, tables: Vector) -> None:
        if self._at is not None:
            start, before = self._at
            if np.array_equal(start, self.start) and np.array_equal(before, tables):
                return
        self._at = None
        self.rows.score[:] = self.start
        self.add_scores(tables, self.rows.score)
        self._at = self.start, tables.copy()

    def add_scores(self, tables: Vector, score_out: Vector) -> None:
        """Add the score of every row at a model, less the null model's."""
        change = np.add.reduceat(np.abs(tables), self.slots.cells[:-1])
        used = np.flatnonzero(change > 0).astype(np.int64)
        cells = self.slots.cells
        self.team.run(add_tables, self.arrays, cells, used, tables, self.rows.chunks, score_out)

    def _sums(self, values: Vector, total: float) -> Vector:
        out = np.empty(int(self.slots.start[-1]))
        self.team.run(fill_slots, self.arrays, self.slots, values, total, out)
        return out


class SparseStatistics(MemoryStatistics):
    """Statistics of features that mostly have one value: indicators, counts, words.

    The rows in the most frequent bin of a feature need not be stored. What is left of a row is
    short, and then the whole Gram matrix costs the square of its length (`whole_gram`), not n p for
    each feature: a9a has 14 of 123 features a row. So all Gram rows are made when the first ones
    are asked for, and kept until all were.
    """

    makes_all = True
    _maker: WholeGram | None = None
    _whole: NDArray[np.float64] | None = None
    _weight: NDArray | None = None
    _given = 0

    def weighted_gram_rows(
        self, features: Sequence[int], columns: Columns, weight: NDArray, out: NDArray
    ) -> None:
        if self._whole is None or weight is not self._weight:
            self._whole, self._weight, self._given = self._make_whole(weight), weight, 0
        row = 0
        for g in features:
            a, b = self.slots.start[g], self.slots.start[g + 1]
            out[row : row + b - a] = self._whole[a:b]
            row += b - a
        self._given += row
        if self._given >= len(self._whole):
            self._whole = None
            if weight is self.rows.weight:  # which do not change: once is enough
                self._maker = None

    def _make_whole(self, weight: NDArray) -> NDArray[np.float64]:
        n_rows, n_splits = len(self.rows.y), int(self.slots.start[-1])
        if self._maker is None:
            self._maker = WholeGram(self.arrays.entries, self.slots.start, n_rows)
        out = np.zeros((n_splits, n_splits))
        self._maker.fill(
            weight.astype(np.float64) if len(weight) else np.ones(n_rows), self.team, out
        )
        return out


def pays_by_rows(arrays: Any, n_rows: int) -> bool:
    """Whether the whole Gram matrix is cheaper row by row."""
    n_features = len(arrays.splits.offsets) - 1
    n_bins = len(arrays.splits.gain) + n_features
    few = stored_entries(arrays, n_rows) <= STORED_SHARE * n_rows * n_features
    return n_bins <= MOST_BINS_IN_ALL and few


def as_stored(arrays: Any, n_rows: int) -> Any:
    """The same weak-learners on sparse rows, if little has to be stored of dense ones."""
    return as_sparse(arrays, n_rows) if pays_by_rows(arrays, n_rows) else arrays


def expanded_type(stride: int) -> Any:
    """For bins times the width of a table of pairs of bins."""
    return np.uint16 if stride <= 256 else np.uint32


@kernel()
def add_tables(learners, cells, used, tables, chunks, score, seat):
    """Add the tables of the used features to the scores, each thread on its chunks of rows."""
    base = 0.0
    for g in used:
        base += table_base(learners, g, tables[cells[g] : cells[g + 1]])
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for lo in range(chunks[chunk], chunks[chunk + 1], TILE):
            hi = min(lo + TILE, chunks[chunk + 1])
            for i in range(lo, hi):  # not as a slice: to compile that takes two seconds
                score[i] += base
            for g in used:
                add_table(learners, g, tables[cells[g] : cells[g + 1]], lo, hi, score)


@kernel()
def fill_slots(learners, slots, values, total, out, seat):
    """Sums of values in every slot, each thread on its columns."""
    scratch = Scratch(np.empty(scratch_size(learners)), np.empty(TILE), np.empty(TILE))
    start = slots.start
    for g in range(seat.rank, start.shape[0] - 1, seat.size):
        if start[g + 1] > start[g]:
            fill_all_bins(learners, g, values, total, scratch)
            mine = out[start[g] : start[g + 1]]
            bins_to_slots(slots.ordered[g], slots.missing[g], scratch.bins, mine)


def _fill_column(learners, column, values, total, scratch):
    fill_column(learners, column, values, total, scratch)


@by_type(otherwise=_fill_column)
def fill_all_bins(learners, column, values, total, scratch):
    """`fill_column`, with the bin of missing values also where training rows had none."""


@fill_all_bins.register(MixedStumps)
def _fill_mixed(learners, column, values, total, scratch):
    n_bins = max(learners.columns.n_values[column] + 1, 3)  # of two, only the first would be summed
    codes, words = learners.codes[column], learners.words[column]
    first, n = np.int64(0), values.shape[0]  # a plain 0 would compile `fill_bins` once more
    fill_bins(codes, words, learners.wide, n_bins, values, first, n, scratch.bins, scratch.values)


@kernel()
def fill_gram(learners, slots, stride, wanted, columns, codes, weight, out, seat):
    """Gram rows of the wanted features; threads take (feature, column) pairs in turn.

    A pair of wanted features is made once, and written to the rows of both. ``stride`` is the most
    bins of a feature.
    """
    start, cells = slots.start, slots.cells
    for w in range(seat.rank, wanted.shape[0], seat.size):
        expand_codes(learners, wanted[w], stride, codes[w])
    place, first_rows = places_of(wanted, start)
    goal = wait_for_all(seat, 0)
    table = np.empty((stride, stride), out.dtype)
    bin_weights = table[0, :0]
    n_columns = columns.shape[0]
    w = -1
    pair = 0 if seat.size == 1 else take_ticket(seat, 0)
    while pair < wanted.shape[0] * n_columns:
        q, g = wanted[pair // n_columns], columns[pair % n_columns]
        if w < pair // n_columns:  # tickets only grow
            w = pair // n_columns
            n_bins = cells[q + 1] - cells[q]
            bin_weights = weigh_bins(codes[w], stride, weight, np.zeros(n_bins, out.dtype))
        if start[g + 1] > start[g] and (place[g] < 0 or place[g] >= w):
            joint_bins(learners, codes[w], bin_weights, g, weight, table)
            table_to_slots(slots, q, g, table, first_rows[w], out)
            if place[g] > w:
                n_rows, to_row = start[q + 1] - start[q], first_rows[place[g]]
                transpose(out, first_rows[w], n_rows, start[g], start[g + 1], to_row, start[q])
        pair = pair + 1 if seat.size == 1 else take_ticket(seat, 0)
    wait_for_all(seat, goal)


@kernel()
def places_of(wanted, start):
    """Where each feature is among the wanted ones (-1: it is not), and the first row of each of
    them."""
    place = np.full(start.shape[0] - 1, -1)
    first_rows = np.empty(wanted.shape[0], np.int64)
    row = 0
    for w in range(wanted.shape[0]):
        place[wanted[w]], first_rows[w] = w, row
        row += start[wanted[w] + 1] - start[wanted[w]]
    return place, first_rows


@kernel()
def weigh_bins(codes, stride, weight, out):
    """The weight of each bin of codes that were multiplied by stride."""
    for i in range(codes.shape[0]):
        out[codes[i] // stride] += weight[i] if weight.shape[0] > 0 else 1
    return out


@kernel()
def table_to_slots(slots, q, g, table, first_row, out):
    """Weights by the bins of two features become Gram rows of their slots."""
    first, stop = slots.start[g], slots.start[g + 1]
    n_rows = slots.start[q + 1] - slots.start[q]
    n_left = n_rows - slots.missing[q] if slots.ordered[q] else -1  # thresholds
    ordered, missing = slots.ordered[g], slots.missing[g]
    for s in range(n_rows):
        row = out[first_row + s, first:stop]
        bins_to_slots(ordered, missing, table[s + 1 if s == n_left else s], row)
        if 0 < s < n_left:
            above = out[first_row + s - 1, first:stop]
            for j in range(row.shape[0]):
                row[j] += above[j]


@kernel()
def transpose(out, first_row, n_rows, first, stop, to_row, to):
    """Write some rows of the columns first..stop where their mirror image is, in pieces that stay
    in cache."""
    for v0 in range(first, stop, _PIECE):
        for u0 in range(0, n_rows, _PIECE):
            for v in range(v0, min(v0 + _PIECE, stop)):
                for u in range(u0, min(u0 + _PIECE, n_rows)):
                    out[to_row + v - first, to + u] = out[first_row + u, v]
