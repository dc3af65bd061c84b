"""Statistics of rows on a card."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..statistics.base import (
    CellSums,
    Columns,
    Curvature,
    Falls,
    Models,
    Statistics,
    Sums,
    Weights,
)
from ..statistics.cells import Cells
from ..statistics.in_memory import UNITS_OF_A_ROW, rounded_together
from ..statistics.pieces import mirror
from . import gram_kernels, kernels
from .card import Card
from .compiled import loss_on_card
from .gram import GramMaker

Vector = NDArray[np.float64]

_NONE = np.empty(0)


class Rows(NamedTuple):
    """Rows on the card, ordered by folds: those of fold f are ``starts[f]`` to ``starts[f + 1]``.
    ``codes`` are (features, rows); arrays are empty where rows have no weights or offsets, and
    offsets of several classes are (classes, rows)."""

    starts: NDArray[np.int64]
    codes: Any
    y: Any
    weight: Any
    offset: Any

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


class Seen(NamedTuple):
    """What a look at some rows found: sums of losses, of residuals (of each class), of curvatures,
    of squares, of squares by weights; and the largest residual and curvature."""

    loss: float
    total: Vector
    curvature: float
    square: float
    weighed_square: float
    most: float
    most_curved: float


class CardRows(Statistics):
    """Sums over rows on a card. ``family`` knows how sums lie, see `rgboost.engines.gram.family`.

    Rows are in one order, and all sums are exact or taken in one order: the same calls have the
    same bits.
    """

    far = True
    rows_at_once = 1
    """The host has no rows; Gram rows of all features are made at once."""

    def __init__(self, card: Card, rows: Rows, family: Any, loss: Any, n_folds: int) -> None:
        self.card = card
        self.rows = rows
        self.family = family
        self.loss = loss
        starts = np.append(rows.starts, [rows.starts[-1]] * (n_folds + 1 - len(rows.starts)))
        self.starts = starts.astype(np.int64)
        self.sizes = np.diff(self.starts).tolist()
        self.weighted = rows.weight.shape[0] > 0
        self.weighed: tuple[Curvature | None, Any] = (None, None)
        """The curvature that was asked for last, and that of the rows in whole units."""
        self._counts: dict[tuple[int, int], Vector] = {}
        """How many of the rows lo..hi are in each bin."""
        self.flat = 0.0 if loss.newton else float(loss.smoothness or 0.0)
        self.shortest = 1.0 / loss.newton_limit if loss.newton and loss.newton_limit else 0.0

    # What is on the card

    @cached_property
    def _nothing(self) -> Any:
        return self.card.empty(0, np.float64)

    @cached_property
    def _first_cell(self) -> Any:
        return self.card.send(np.asarray(self.family.first_cell, np.int64))

    @cached_property
    def _score(self) -> Any:
        return self.card.empty(self._shape, np.float64)

    @cached_property
    def _residual(self) -> Any:
        return self.card.empty(self._shape, np.float64)

    @cached_property
    def _curvature(self) -> Any:
        return self.card.empty(self.rows.n_rows, np.float64)

    def reserve(self) -> None:
        """Ask for all that is needed of the card, so that there is an error now, if at all."""
        parts = (self._score, self._residual, self._curvature, self.by_rows)
        assert all(part is not None for part in parts)

    @property
    def _shape(self) -> Any:
        n, outputs = self.rows.n_rows, self.loss.outputs
        return n if outputs == 1 else (outputs, n)

    def _range(self, fold: int) -> tuple[int, int]:
        return int(self.starts[fold]), int(self.starts[fold + 1])

    # A look at rows

    def _set_scores(self, start: Any, tables: Vector, lo: int, hi: int, pairs: Any = None) -> None:
        """The scores of rows at a model; ``pairs`` are cells and what it adds in them."""
        rows, outputs = self.rows, self.loss.outputs
        each = [(start, tables, self._score, rows.offset)]
        if outputs > 1:
            each = [
                (start[c], tables[c], self._score[c], rows.offset[c] if rows.offset.shape[0] else
                 rows.offset)
                for c in range(outputs)
            ]  # fmt: skip
        first_cell = np.asarray(self.family.first_cell)
        for begin, table, score, offset in each:
            change = np.add.reduceat(np.abs(table), first_cell[:-1])
            used = np.flatnonzero(~(change == 0)).astype(np.int64)
            kernels.fill_scores[kernels.grid(hi - lo)](
                rows.codes, self._first_cell, self.card.send(used), self.card.send(table),
                float(begin), offset, lo, hi, score,
            )  # fmt: skip
        if pairs is not None:
            cells, values = pairs
            self._add_cells(cells, values, 0, cells.features.shape[0], lo, hi)

    def _add_cells(
        self, cells: Any, values: Vector, begin: int, end: int, lo: int, hi: int
    ) -> None:
        """Add what columns begin..end say to the scores."""
        outputs = self.loss.outputs
        for c, table in enumerate(np.atleast_2d(values)):
            score = self._score if outputs == 1 else self._score[c]
            kernels.add_cell_scores[kernels.grid(hi - lo)](
                self.rows.codes, *cells, begin, end, self.card.send(table), lo, hi, score
            )

    def _look(self, lo: int, hi: int, curved: bool = False, values: Any = None) -> Seen:
        """Residuals of rows at their scores; curvatures and losses, if they are asked for."""
        rows, outputs = self.rows, self.loss.outputs
        n_blocks, length = kernels.stretches(hi - lo)
        partial = self.card.empty((kernels.MOST_CURVED + outputs, n_blocks), np.float64)
        of_rows = rows.y, rows.weight, self._score, lo, hi, length, self._residual
        out = (
            self._curvature if curved else self._nothing,
            self._nothing if values is None else values,
            partial,
        )
        terms = self.loss.terms
        if outputs > 1:
            kernels.evaluate_classes[n_blocks, kernels.THREADS](terms, *of_rows, *out)
        else:
            kernel = evaluate_kernel(terms)
            kernel[n_blocks, kernels.THREADS](terms, self.flat, self.shortest, *of_rows, *out)
        found = partial.copy_to_host()
        total, rest = found[kernels.TOTAL : kernels.TOTAL + outputs].sum(axis=1), outputs - 1
        sums = found.sum(axis=1)
        return Seen(
            float(sums[kernels.LOSS]), total, float(sums[kernels.CURVED + rest]),
            float(sums[kernels.SQUARE + rest]), float(sums[kernels.WEIGHED_SQUARE + rest]),
            float(found[kernels.MOST + rest].max()), float(found[kernels.MOST_CURVED + rest].max()),
        )  # fmt: skip

    def _sums_of_bins(self, values: Any, most: float, lo: int, hi: int) -> Vector:
        """Sums of values of rows, at most ``most`` each, in the bins of all features; how many rows
        they have, if there are no values."""
        scale = unit_scale(most, hi - lo) if values.shape[0] else 1.0
        first_cell = self.family.first_cell
        if not np.isfinite(scale):
            return np.full(int(first_cell[-1]), np.nan)
        out = self.card.zeros(int(first_cell[-1]), np.int64)
        n_features = len(first_cell) - 1
        n_blocks, length = kernels.stretches(hi - lo, n_features)
        kernels.add_to_bins[(n_blocks, n_features), kernels.THREADS](
            self.rows.codes, self._first_cell, values, scale, lo, hi, length, out
        )
        return np.asarray(out.copy_to_host() / scale)

    # The contract

    def weights(self, weighting: Curvature | None = None) -> Weights:
        with self.card.at_work():
            if weighting is None:
                ranges = [self._range(f) for f in range(self.n_folds)]
                values, most = self.rows.weight, self._heaviest if self.weighted else 1.0
            else:
                ranges = [self._range_of(weighting.folds)]
                values, most = self.weigh(weighting), float(np.iinfo(np.int32).max)
            bins = [self._sums_of_bins(values, most, *now) for now in ranges]
        every = slice(*self.family.first_cell[:2])  # each row is in some bin of the first feature
        totals = [one[every].sum() for one in bins]
        return Weights(np.array([self.family.sums_of_bins(b) for b in bins]), np.array(totals))

    @cached_property
    def _heaviest(self) -> float:
        return float(self.rows.weight.copy_to_host().max(initial=0.0))

    def _range_of(self, folds: Sequence[int]) -> tuple[int, int]:
        """The rows of some folds, which are the first ones."""
        return 0, int(self.starts[max(folds) + 1])

    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        with self.card.at_work():
            found = [
                [self._sums_at(f, models, m, losses_only) for m in range(len(models.start))]
                for f in range(self.n_folds)
            ]
        parts = [np.array([[one[i] for one in row] for row in found]) for i in range(5)]
        return Sums(*parts)

    def _sums_at(self, f: int, models: Models, m: int, losses_only: bool) -> tuple[Any, ...]:
        lo, hi = self._range(f)
        self._set_scores(models.start[m], models.tables[m], lo, hi, self._cells_of(models, m))
        seen, several = self._look(lo, hi), self.loss.outputs > 1
        left: Any = _NONE
        if not losses_only:
            each = [self._residual[c] for c in range(self.loss.outputs)] if several else [
                self._residual
            ]  # fmt: skip
            bins = [self._sums_of_bins(one, seen.most, lo, hi) for one in each]
            found = np.array([self.family.sums_of_bins(one) for one in bins])
            left = found if several else found[0]
        return (
            left,
            seen.total if several else seen.total[0],
            seen.loss,
            seen.curvature,
            seen.square,
        )

    def _cells_of(self, models: Models, m: int) -> Any:
        """The cells of pairs on the card, and what model m adds in them; None without pairs."""
        if models.pairs is None:
            return None
        return self._send_cells(models.pairs.cells), models.pairs.values[m]

    def _send_cells(self, cells: Cells) -> Any:
        return CellsOnCard(*(self.card.send(part) for part in cells))

    def weigh(self, weighting: Curvature) -> Any:
        """The curvature of every row that counts, in whole units; kept for the next call."""
        before, units = self.weighed
        if before is not weighting:
            self.weighed = (None, None)
            units = self._in_units(weighting)
            self.weighed = weighting, units
        return units

    def _in_units(self, at: Curvature) -> Any:
        lo, hi = self._range_of(at.folds)
        self._set_scores(at.start, at.tables, lo, hi)
        seen = self._look(lo, hi, curved=True)
        long = np.dtype(at.dtype).itemsize == 4
        if long or seen.curvature >= UNITS_OF_A_ROW * at.unit * (hi - lo):
            out = self.card.empty(self.rows.n_rows, np.int32)
            kernels.fill_units[kernels.grid(hi - lo)](
                self._curvature, at.least, at.unit, long, lo, hi, out
            )
            return out
        curvature = np.maximum(self._curvature[lo:hi].copy_to_host(), at.least)
        return self.card.send(rounded_together(curvature / at.unit))

    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        """Feature by feature; what is known by symmetry is not made again."""
        offsets, others = self.family.offsets, np.asarray(columns, np.int64)
        known, first = np.zeros(len(offsets) - 1, bool), 0
        known[np.flatnonzero(np.diff(offsets) == 0)] = True
        with self.card.at_work():
            maker = GramMaker(self, weighting, outs)
            for q in features:
                stop = first + int(offsets[q + 1] - offsets[q])
                maker.make(q, others[~known[others]], first, stop)
                known[q], first = True, stop
            self.card.carrier.wait()
        mirror(features, offsets, outs)

    @cached_property
    def by_rows(self) -> Any:
        """The bins of rows as (rows, features)."""
        codes = self.rows.codes
        found = self.card.empty((codes.shape[1], codes.shape[0]), codes.dtype)
        gram_kernels.lay_rows[kernels.grid(codes.shape[1])](codes, found)
        return found

    def places_of(self, q: int, lo: int, hi: int) -> NDArray[np.int32]:
        """Where the rows lo..hi of each bin of feature q begin, if they are in the order of bins;
        the last number is how many there are."""
        if (lo, hi) not in self._counts:
            self._counts[lo, hi] = self._sums_of_bins(self._nothing, 1.0, lo, hi)
        first_cell = self.family.first_cell
        mine = self._counts[lo, hi][first_cell[q] : first_cell[q + 1]]
        return np.concatenate([[0], np.cumsum(mine)]).astype(np.int32)

    @property
    def unit_of_weights(self) -> float:
        """How many units make a weight of 1."""
        return unit_scale(self._heaviest, self.rows.n_rows)

    def cell_weights(self, cells: Cells) -> Vector:
        with self.card.at_work():
            on_card = self._send_cells(cells)
            values, most = self.rows.weight, self._heaviest if self.weighted else 1.0
            ranges = [self._range(f) for f in range(self.n_folds)]
            return np.array([self._sums_in_cells(cells, on_card, values, most, *r) for r in ranges])

    def _sums_in_cells(
        self, cells: Cells, on_card: Any, values: Any, most: float, lo: int, hi: int
    ) -> Vector:
        """Sums of values of rows, at most ``most`` each, in the cells of columns."""
        scale = unit_scale(most, hi - lo) if values.shape[0] else 1.0
        n_cells = int(cells.start[-1])
        if not np.isfinite(scale):
            return np.full(n_cells, np.nan)
        out, n_columns = self.card.zeros(n_cells, np.int64), len(cells.features)
        tiles = -(-int(np.diff(cells.start).max(initial=1)) // kernels.LONGS)
        for begin in range(0, n_columns, MOST_BLOCKS):
            some = slice(begin, begin + MOST_BLOCKS)
            features, start = on_card.features[some], on_card.start[begin:]
            width = int(features.shape[0])
            n_blocks, length = kernels.stretches(hi - lo, width * tiles)
            kernels.add_to_cells[(n_blocks, width, tiles), kernels.THREADS](
                self.rows.codes, features, *on_card[1:4], start, values, scale, lo, hi, length, out
            )
        return np.asarray(out.copy_to_host() / scale)

    def tables(self, cells: Cells, models: Models, table: NDArray[np.int64]) -> CellSums:
        n_tables, n_cells, outputs = int(table.max()) + 1, int(cells.start[-1]), self.loss.outputs
        residual = np.zeros((n_tables, outputs, n_cells))
        curvature = np.zeros((n_tables, 0 if self.loss.quadratic else n_cells))
        loss, square = np.zeros(table.shape), np.zeros(table.shape)
        with self.card.at_work():
            on_card = self._send_cells(cells)
            for f, m in zip(*np.nonzero(table >= 0), strict=True):
                lo, hi = self._range(f)
                if lo == hi:
                    continue
                at = table[f, m]
                pairs = self._cells_of(models, m)
                self._set_scores(models.start[m], models.tables[m], lo, hi, pairs)
                seen = self._look(lo, hi, curved=not self.loss.quadratic)
                for c in range(outputs):
                    values = self._residual if outputs == 1 else self._residual[c]
                    residual[at, c] += self._sums_in_cells(
                        cells, on_card, values, seen.most, lo, hi
                    )
                if not self.loss.quadratic:
                    curvature[at] += self._sums_in_cells(
                        cells, on_card, self._curvature, seen.most_curved, lo, hi
                    )
                loss[f, m], square[f, m] = seen.loss, seen.weighed_square
        return CellSums(residual if outputs > 1 else residual[:, 0], curvature, loss, square)

    def falls(
        self, models: Models, fold: Sequence[int], counts: NDArray[np.int64], unit: float
    ) -> Falls:
        assert models.pairs is not None
        n_models = len(models.start)
        found = Falls(*np.zeros((2, n_models)), *np.zeros((2, n_models, len(counts))))
        found.weight[:] = self.weights().total[list(fold)]
        with self.card.at_work():
            cells = self._send_cells(models.pairs.cells)
            before, after = (self.card.empty(self.rows.n_rows, np.float64) for _ in range(2))
            for m, f in enumerate(fold):
                lo, hi = self._range(f)
                self._set_scores(models.start[m], models.tables[m], lo, hi)
                found.loss[m] = self._look(lo, hi, values=before).loss / unit
                for i, (begin, end) in enumerate(pairwise([0, *counts.tolist()])):
                    self._add_cells(cells, models.pairs.values[m], begin, end, lo, hi)
                    self._look(lo, hi, values=after)
                    n_blocks, length = kernels.stretches(hi - lo)
                    partial = self.card.empty((2, n_blocks), np.float64)
                    kernels.sum_falls[n_blocks, kernels.THREADS](
                        before, after, unit, lo, hi, length, partial
                    )
                    found.fall[m, i], found.square[m, i] = partial.copy_to_host().sum(axis=1)
        return found


MOST_BLOCKS = 1 << 15
"""Columns that are summed at once: a card counts blocks by 16 bits in this direction."""


class CellsOnCard(NamedTuple):
    """`rgboost.statistics.cells.Cells`, on the card."""

    features: Any
    first_bin: Any
    bin_of: Any
    n_bins: Any
    start: Any


_KERNELS: dict[Any, Any] = {}


def evaluate_kernel(terms: Any) -> Any:
    """The kernel that looks at rows with a loss."""
    loss = loss_on_card(terms)
    if loss not in _KERNELS:
        _KERNELS[loss] = kernels.make_evaluate(loss)
    return _KERNELS[loss]


def unit_scale(most: float, n_rows: int) -> float:
    """How many units make 1, a power of two, such that the sum of so many values of at most
    ``most`` has 62 bits; NaN if that is not possible."""
    if not math.isfinite(most):
        return math.nan
    _, exponent = math.frexp(most * max(1, n_rows))
    return math.ldexp(1.0, min(62 - exponent, 1000)) if most > 0.0 else 1.0
