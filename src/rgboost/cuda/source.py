"""Rows in memory, or on a card, whose sums are made on a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import OTHERS, MixedCuts
from ..engines.problem import RowSet, start_of
from ..statistics.base import Curvature, Facts, Source, Statistics, labels_less
from ..statistics.folded_rows import FoldedRows, NumberRows
from ..statistics.pieces import SumOfPieces
from . import kernels
from .card import Card, out_of_memory
from .direct import CardRuns, columns_of, obstacle
from .matrix import CardMatrix
from .rows import CardRows, Rows

Vector = NDArray[np.float64]

INPUT_BYTES = 1 << 28
"""Of rows as numbers, that are on the card at once, and of tables."""

ROW_NUMBERS = 6
"""Numbers of 8 bytes that a row has on the card, beside its bins: label, weight, offset, score,
residual, curvature; of several classes, more."""


class CardSource(Source):
    """Rows that are put into bins on a card, and stay there; or in pieces in memory, if they are
    too many. ``fold`` are the folds of ``rows``; ``held`` are validation rows."""

    def __init__(
        self,
        card: Card,
        facts: Facts,
        rows: NumberRows,
        fold: NDArray[np.int64] | None = None,
        held: NumberRows | None = None,
    ) -> None:
        self.card = card
        self.facts = facts
        self.rows = rows
        self.fold = fold
        self.held = held
        self.has_held = held is not None
        self.pieces = 0
        """In how many pieces the rows were, the last time."""

    has_codes = True

    def cuts(self, classes: bool) -> Facts:
        return self.facts

    def folds(self, places: NDArray[np.int64], n_folds: int, seed: int) -> NDArray[np.int64]:
        if self.fold is None:
            return super().folds(places, n_folds, seed)
        return self.fold[places]

    def binned(self, problem: Any, family: Any, n_folds: int, seed: int, team: Any) -> Statistics:
        parts = [self.rows] if self.held is None else [self.rows, self.held]
        fold = self.folds(np.arange(len(self.rows.y)), n_folds, seed)
        if self.held is not None:
            n_folds, fold = 2, np.repeat([0, 1], [len(part.y) for part in parts])
        binner = CardBinner(self.card, problem)
        n_rows = len(fold)
        length = min(n_rows, binner.most_rows())
        while True:
            try:
                found = self._laid(binner, parts, fold, length, problem, family, n_folds)
            except Exception as fault:
                if not out_of_memory(fault) or length <= kernels.STRETCH:
                    raise
            else:
                self.pieces = -(-n_rows // max(1, length))
                return found
            length = -(-length // 2)

    def direct_runs(self, problem: Any) -> CardRuns:
        why = obstacle(problem)
        if why is not None:
            raise ValueError(
                f"engine='direct' on device={self.card.device!r} cannot do this: {why}. "
                "Change that, leave engine='auto', or use device='cpu'."
            )
        parts = [self.rows] if self.held is None else [self.rows, self.held]
        shifts, sets = problem.loss.translation_invariant, []
        for part in parts:
            y, offset = labels_less(part.y, part.offset, problem.centre, shifts)
            sets.append(RowSet(y, part.weight, offset))
        if problem.start is None:
            problem.start = start_of(problem.loss, sets[0], None)
        fold = np.repeat(np.arange(len(parts)), [len(part.y) for part in parts])
        try:
            with self.card.at_work():
                rows = CardBinner(self.card, problem).rows(parts, fold)
                found = CardRows(self.card, rows, None, problem.loss, len(parts))
                return CardRuns(problem, found, [*(one.mass for one in sets), 0.0])
        except Exception as fault:
            if not out_of_memory(fault):
                raise
            raise MemoryError(
                f"engine='direct' needs all rows on the card at once, and {len(fold):,} rows of "
                f"{self.rows.X.shape[1]:,} features do not fit on {self.card.device!r}; leave "
                "engine='auto', which takes them in pieces, or use device='cpu'."
            ) from fault

    def _laid(
        self, binner: CardBinner, parts: Sequence[NumberRows], fold: NDArray[np.int64], length: int,
        problem: Any, family: Any, n_folds: int,
    ) -> Statistics:  # fmt: skip
        """The rows in pieces of such a length; in one, which stays on the card."""
        card, loss = self.card, problem.loss
        with card.at_work():
            if length >= len(fold):
                found = CardRows(card, binner.rows(parts, fold), family, loss, n_folds)
                found.reserve()
                return found
            pieces = []
            for lo in range(0, len(fold), length):
                some = list(_between(parts, lo, lo + length))
                pieces.append(to_host(binner.rows(some, fold[lo : lo + length])))
        return PiecesOnCard(card, pieces, family, loss, n_folds)


def _between(parts: Sequence[NumberRows], lo: int, hi: int) -> Iterator[NumberRows]:
    """The rows lo..hi of all parts, one after the other."""
    first = 0
    for part in parts:
        a, b = max(lo - first, 0), min(hi - first, len(part.y))
        if a < b:
            others = [None if one is None else one[a:b] for one in part[2:]]
            yield NumberRows(part.X[a:b], part.y[a:b], *others)
        first += len(part.y)


class CardBinner:
    """Puts rows into the bins of a problem, on the card."""

    def __init__(self, card: Card, problem: Any) -> None:
        self.card = card
        self.cuts: MixedCuts = columns_of(problem.prepared).cuts
        self.loss = problem.loss
        self.centre = problem.centre
        self.code_type = problem.prepared.arrays.codes.dtype

    def most_rows(self) -> int:
        """How many rows are put on the card at once."""
        return max(kernels.STRETCH, self.room())

    def room(self) -> int:
        """How many rows fit on the card."""
        outputs = self.loss.outputs
        numbers = ROW_NUMBERS + (3 * outputs if outputs > 1 else 0)
        cells = 2 * self.cuts.n_features  # by features, and by rows for Gram matrices
        row = cells * np.dtype(self.code_type).itemsize + 8 * numbers
        return (self.card.memory - INPUT_BYTES) // row

    def rows(self, parts: Sequence[NumberRows], fold: NDArray[np.int64]) -> Rows:
        """Rows in bins, ordered by their folds."""
        card, order = self.card, None
        codes = self.codes([part.X for part in parts], len(fold))
        if (fold[1:] < fold[:-1]).any():
            short = fold.astype(np.min_scalar_type(int(fold.max())))  # sorted by counting
            order, fold = np.argsort(short, kind="stable"), np.sort(short, kind="stable")
            reorder(card, codes, order)
        numbers = [self._numbers(parts, i, order) for i in (1, 2, 3)]
        starts = np.searchsorted(fold, np.arange(int(fold.max(initial=0)) + 2))
        return Rows(starts.astype(np.int64), codes, *numbers)

    def codes(self, parts: Sequence[Any], n_rows: int) -> Any:
        """Bins (features, rows) of the rows of all parts."""
        codes = self.card.empty((self.cuts.n_features, n_rows), self.code_type)
        first = 0
        for X in parts:
            self._fill(X, first, codes)
            first += X.shape[0]
        return codes

    def _fill(self, X: Any, first: int, codes: Any) -> None:
        """Bins of some rows, from row ``first`` on."""
        card, cuts = self.card, self.cuts
        n_values = cuts.n_values
        with_others = [
            len(edges) and edges[-1] == OTHERS for edges in map(cuts.edges_of, range(len(n_values)))
        ]
        others = np.where(with_others, n_values - 1, n_values).astype(np.int64)
        sent = [card.send(part) for part in (cuts.categorical, cuts.edge_start, cuts.edges, others)]
        for lo, some in _parts_on_card(card, X):
            size = some.shape[0] * some.shape[1]
            kernels.bin_rows[kernels.grid(size)](some, *sent, first + lo, codes)

    def _numbers(self, parts: Sequence[NumberRows], i: int, order: NDArray | None) -> Any:
        """Labels, weights or offsets of all rows; of several classes, offsets are (classes,
        rows)."""
        shifts = self.loss.translation_invariant
        found = []
        for part in parts:
            y, offset = labels_less(part.y, part.offset, self.centre, shifts)
            found.append((None, y, part.weight, offset)[i])
        if all(one is None for one in found):
            return self.card.empty(0, np.float64)
        every = np.concatenate([
            np.ones(len(part.y)) if one is None else one
            for one, part in zip(found, parts, strict=True)
        ])  # fmt: skip
        every = every if order is None else every[order]
        return self.card.send(np.asarray(every.T, np.float64))


def _parts_on_card(card: Card, X: Any) -> Iterator[tuple[int, Any]]:
    """(number of the first, some rows on the card), one after the other."""
    if not isinstance(X, CardMatrix):
        yield from card.carrier.rows(X)
        return
    step = max(1, INPUT_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
    for lo in range(0, X.shape[0], step):
        yield lo, X[lo : lo + step].on_card()


def reorder(card: Card, codes: Any, order: NDArray[np.int64]) -> None:
    """Put the rows of all features into another order."""
    room, places = card.empty(codes.shape[1], codes.dtype), card.send(order)
    for g in range(codes.shape[0]):
        room.copy_to_device(codes[g])
        kernels.take[kernels.grid(len(order))](room, places, codes[g])


def to_host(rows: Rows) -> FoldedRows:
    """Rows in bins, in memory."""
    numbers = [part.copy_to_host() if part.shape[0] else None for part in rows[2:]]
    return FoldedRows(rows.starts, rows.codes.copy_to_host(), *numbers)  # type: ignore[arg-type]


def to_card(card: Card, rows: FoldedRows) -> Rows:
    """Rows in bins, on the card."""
    numbers = [card.empty(0, np.float64) if part is None else card.send(part) for part in rows[2:]]
    return Rows(rows.starts, card.send(rows.codes[:, : len(rows.y)]), *numbers)


class PiecesOnCard(SumOfPieces):
    """Sums over pieces, which are on the card one at a time."""

    far = True

    def __init__(
        self, card: Card, pieces: Sequence[FoldedRows], family: Any, loss: Any, n_folds: int
    ) -> None:
        self.card = card
        self.stored = pieces
        self.family = family
        self.loss = loss
        self.offsets = family.offsets
        self.sizes = np.sum(
            [[piece.size(f) for f in range(n_folds)] for piece in pieces], axis=0
        ).tolist()
        self.weighted = any(piece.weight is not None for piece in pieces)
        self.rows_at_once = 1

    def each(self, weighting: Curvature | None = None) -> Iterator[Statistics]:
        for piece in self.stored:
            if weighting is not None and piece.size(0) == 0 and max(weighting.folds) == 0:
                continue
            with self.card.at_work():
                rows = to_card(self.card, piece)
            yield CardRows(self.card, rows, self.family, self.loss, len(self.sizes))
