"""Gram rows of rows on a card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..statistics.base import Curvature
from ..statistics.pieces import spans
from . import gram_kernels as kernels
from .kernels import THREADS, grid

TABLE_BYTES = 1 << 28
"""Of the tables that Gram rows are made from at once."""


class GramMaker:
    """Makes Gram rows of one feature after the other, block by block of columns; ``of`` are
    `rgboost.cuda.rows.CardRows`."""

    def __init__(self, of: Any, weighting: Curvature | None, outs: Any) -> None:
        self.of = of
        self.outs = outs
        slots, send = of.family.slots, of.card.send
        self.first_cell = np.asarray(slots.cells, np.int64)
        self.offsets = np.asarray(slots.start, np.int64)
        self.slots = [
            send(np.asarray(part)) for part in (slots.start, slots.ordered, slots.missing)
        ]
        self.missing = np.asarray(slots.missing)
        self.whole = weighting is not None or not of.weighted
        """Whether values are whole numbers of 32 bits."""
        if weighting is None:
            self.ranges = [of._range(f) for f in range(of.n_folds)]
            self.values, self.scale = of.rows.weight, 1.0
            if of.weighted:
                self.scale = of.unit_of_weights
        else:
            self.ranges = [of._range_of(weighting.folds)]
            self.values, self.scale = of.weigh(weighting), 1.0
        longest = max((hi - lo for lo, hi in self.ranges), default=0)
        self.order = of.card.empty(max(1, longest), np.int32)

    def make(self, q: int, columns: NDArray[np.int64], first: int, stop: int) -> None:
        """Rows first..stop of the matrices, in the columns of some features."""
        sizes = np.diff(self.first_cell)
        if stop == first or not len(columns):
            return
        cells = int(sizes[q]) * int(sizes[columns].max())
        together = max(1, TABLE_BYTES // (8 * cells * (len(self.ranges) + 1)))
        for k in range(0, len(columns), together):
            self._make_block(q, np.sort(columns[k : k + together]), first, stop)

    def _make_block(self, q: int, columns: NDArray[np.int64], first: int, stop: int) -> None:
        of, card = self.of, self.of.card
        sizes, n_slots = np.diff(self.first_cell), np.diff(self.offsets)[columns]
        place = np.concatenate([[0], np.cumsum(n_slots)])
        on_card, places = card.send_all(columns, place[:-1])
        widest = int(sizes[columns].max())
        shape = len(self.ranges), len(columns), int(sizes[q]) * widest
        tables = card.zeros(shape, np.int64)
        for f, (lo, hi) in enumerate(self.ranges):
            if hi > lo:
                self._count(q, on_card, widest, lo, hi, tables[f])
        for out, table in zip(self.outs, self._each(tables), strict=False):
            found = card.empty((stop - first, int(place[-1])), out.dtype)
            kernels.pairs_to_slots[len(columns), THREADS](
                table, q, on_card, places, of._first_cell, *self.slots, 1.0 / self.scale, found
            )
            card.carrier.fetch(found, _Spread(out[first:stop], spans(columns, self.offsets)))

    def _count(self, q: int, columns: Any, widest: int, lo: int, hi: int, table: Any) -> None:
        """Sums of the rows lo..hi in the bins of q and of each of the columns."""
        of = self.of
        start = of.places_of(q, lo, hi)
        start, free = of.card.send_all(start, start[:-1])
        kernels.place_rows[-(-(hi - lo) // kernels.PLACED), THREADS](
            of.rows.codes, q, lo, hi, free, self.order
        )
        most = kernels.WORDS // (widest * (1 if self.whole else 2))
        together = min(kernels.LANES, most)
        groups = -(-columns.shape[0] // together)
        n_blocks = max(1, min(kernels.BLOCKS // groups, (hi - lo) // kernels.PLACED))
        length = -(-(hi - lo) // n_blocks)
        rows = (
            of.by_rows,
            self.order,
            start,
            columns,
            of._first_cell,
            widest,
            together,
        )
        blocks = (n_blocks, groups), THREADS
        if self.whole:
            kernels.count_pairs[blocks](*rows, self.values, length, table)
        else:
            kernels.weigh_pairs[blocks](*rows, self.values, self.scale, length, table)

    def _each(self, tables: Any) -> Iterator[Any]:
        """The table of each matrix: that of all folds, if it is asked for, comes last, and is made
        before the others are used up."""
        total = None
        if len(self.outs) > len(self.ranges):
            total = self.of.card.empty(tables.shape[1:], np.int64)
            kernels.add_up[grid(total.size)](tables, total)
        for f in range(len(self.ranges)):
            yield tables[f]
        if total is not None:
            yield total


class _Spread:
    """Rows of some features' columns, in the places of these columns."""

    def __init__(self, out: NDArray, columns: list[slice]) -> None:
        self.out = out
        self.columns = columns

    def __call__(self, rows: NDArray, first: int) -> None:
        at = 0
        for now in self.columns:
            width = now.stop - now.start
            self.out[first : first + len(rows), now] = rows[:, at : at + width]
            at += width
