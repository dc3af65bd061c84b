"""Rows that are read piece by piece, and whose sums are made on a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..data.cuts import columns_with_missing
from ..statistics.base import Curvature, Facts, Statistics, labels_less
from ..statistics.chunks import Block, ChunkRows, MappedRows
from ..statistics.folded_rows import NumberRows
from .card import Card
from .rows import CardRows
from .source import INPUT_BYTES, CardBinner, to_card


class CardChunks(ChunkRows):
    """`ChunkRows` that are put into bins on a card; blocks of bins are on the disk, and on the card
    as far as there is room."""

    def __init__(self, card: Card, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.card = card

    def binner(self, problem: Any) -> CardSlices:
        return CardSlices(self.card, problem, self.facts)

    def statistics(
        self, blocks: Sequence[Block], problem: Any, family: Any, n_folds: int, team: Any
    ) -> Statistics:
        return BlocksOnCard(self.card, self, blocks, problem, family, n_folds, team)


class CardSlices:
    """Puts rows into bins on a card; see `rgboost.statistics.folded_rows.Binner`."""

    def __init__(self, card: Card, problem: Any, facts: Facts) -> None:
        self.binner = CardBinner(card, problem)
        assert facts.counted is not None
        self.has_missing = bool(facts.counted.missing.any()) or self.binner.cuts.categorical.any()

    def slices(self, piece: NumberRows) -> Iterator[tuple[Any, ...]]:
        """(bins, label, weight, offset) of some rows at a time; bins are (rows, features)."""
        binner = self.binner
        if not self.has_missing and columns_with_missing(piece.X).any():
            raise ValueError("The rows have missing values where they had none when first read")
        shifts = binner.loss.translation_invariant
        y, offset = labels_less(piece.y, piece.offset, binner.centre, shifts)
        step = max(1, INPUT_BYTES // max(1, piece.X.shape[1] * piece.X.dtype.itemsize))
        for lo in range(0, len(y), step):
            now = slice(lo, lo + step)
            others = [None if part is None else part[now] for part in (y, piece.weight, offset)]
            with binner.card.at_work():
                codes = binner.codes([piece.X[now]], len(others[0]))  # type: ignore[arg-type]
                yield (codes.copy_to_host().T, *others)


class BlocksOnCard(MappedRows):
    """Sums over blocks; those that have room on the card stay there."""

    def __init__(
        self, card: Card, source: CardChunks, blocks: Sequence[Block], problem: Any, family: Any,
        n_folds: int, team: Any,
    ) -> None:  # fmt: skip
        super().__init__(source, blocks, problem, family, n_folds, team)
        self.rows_at_once = 1
        self.card = card
        self.kept: dict[int, CardRows] = {}
        self.room = CardBinner(card, problem).room()
        """How many rows fit on the card. Two blocks of them are those that come and go."""
        self.room -= 2 * max((block.y.shape[0] for block in blocks), default=0)

    def piece(self, k: int, block: Block, weighting: Curvature | None) -> CardRows | None:
        """None if no row counts."""
        last = len(block.starts) - 1
        if weighting is not None and block.starts[min(max(weighting.folds) + 1, last)] == 0:
            return None
        if k in self.kept:
            return self.kept[k]
        assert self.source.file is not None
        rows = block.read(self.source.file)
        if rows.offset is not None:
            rows = rows._replace(offset=np.ascontiguousarray(rows.offset.T))
        with self.card.at_work():
            on_card = to_card(self.card, rows)
        found = CardRows(self.card, on_card, self.asked.family, self.asked.loss, len(self.sizes))
        if on_card.n_rows <= self.room:
            self.room -= on_card.n_rows
            self.kept[k] = found
        return found
