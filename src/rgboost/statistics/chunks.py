"""Statistics of rows that are read piece by piece, and are never all in memory.

The rows are read once more to put them into bins: a byte a cell (two where a feature has more than
256 bins), which are written to a `WorkFile` beside labels, weights and offsets. From there on, a
call reads that file, block by block. Blocks have a number of rows that does not depend on the
pieces that the rows came in, so neither do the answers. Within a block, rows are ordered by their
folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.chunks.chunks import Watch
from ..learners.stumps.stump_statistics import dense_bins
from .base import Curvature, Facts, Source, Statistics
from .folded_rows import Asked, Binner, FoldedRows, NumberRows, folded
from .pieces import SumOfPieces
from .work_file import Stored, WorkFile

Vector = NDArray[np.float64]

BLOCK_CELLS, SHORTEST_BLOCK = 1 << 25, 1 << 14
"""Cells of a block, and its least number of rows: the tables of pairs of bins that Gram rows are
made from, which every block has of its own, are to be small beside it."""


@dataclass(frozen=True)
class ReadRows:
    """Rows that can be read again and again: ``read()`` gives them piece by piece, ``n_rows`` in
    all."""

    read: Callable[[], Iterator[NumberRows]]
    n_rows: int


def block_rows(n_features: int) -> int:
    """How many rows a block has."""
    return max(SHORTEST_BLOCK, BLOCK_CELLS // max(1, n_features)) // 8 * 8


def bytes_of_rows(n_rows: int, n_features: int, wide: bool, numbers: int) -> int:
    """What a work file takes: a cell has a byte, or two if it is ``wide``; a row has a label and
    so many other numbers."""
    return n_rows * (n_features * (1 + wide) + 8 * (1 + numbers))


class ChunkRows(Source):
    """Rows that are read piece by piece.

    ``held`` are validation rows; or a ``share`` of the rows is held out, by chance.
    """

    def __init__(
        self,
        facts: Facts,
        rows: ReadRows,
        folder: Path,
        watch: Watch,
        held: ReadRows | None = None,
        share: float = 0.0,
    ) -> None:
        self.facts = facts
        self.rows = rows
        self.folder = folder
        self.watch = watch
        self.held = held
        self.share = share
        self.file: WorkFile | None = None
        self.has_held = held is not None or share > 0.0
        self.passes: list[int] = []
        """Bytes that each pass over the work file read."""

    def cuts(self, classes: bool) -> Facts:
        return self.facts

    def binned(self, problem: Any, family: Any, n_folds: int, seed: int, team: Any) -> Statistics:
        self.close()  # bins of another problem
        prepared, facts = problem.prepared, self.facts
        wide = dense_bins(prepared.arrays).dtype != np.uint8
        numbers = (facts.weight is not None) + (facts.offset is not None) * problem.loss.outputs
        n_rows = self.rows.n_rows + (0 if self.held is None else self.held.n_rows)
        n_features = facts.X.shape[1]
        self.file = WorkFile(self.folder, bytes_of_rows(n_rows, n_features, wide, numbers))
        writer = BlockWriter(self.file, self.binner(problem), n_features)

        def of_fold(first: int, n: int) -> NDArray[np.int64]:
            return self.folds(np.arange(first, first + n), n_folds, seed)

        blocks = writer.write(self.rows.read(), of_fold)
        n_sets = n_folds
        if self.held is not None:
            blocks += writer.write(self.held.read(), lambda first, n: np.ones(n, np.int64))
        if self.has_held:
            n_sets = 2
        return self.statistics(blocks, problem, family, n_sets, team)

    def binner(self, problem: Any) -> Any:
        """What puts rows into the bins of a problem."""
        return Binner.of(problem)

    def statistics(
        self, blocks: Sequence[Block], problem: Any, family: Any, n_folds: int, team: Any
    ) -> Statistics:
        """Sums over what was written."""
        return MappedRows(self, blocks, problem, family, n_folds, team)

    def close(self) -> None:
        """Give the room on the disk back."""
        if self.file is not None:
            self.file.close()
            self.file = None


class Block(NamedTuple):
    """Where the rows of a block are; see `FoldedRows`."""

    starts: NDArray[np.int64]
    codes: Stored
    y: Stored
    weight: Stored | None
    offset: Stored | None

    def read(self, file: WorkFile) -> FoldedRows:
        parts = (None if one is None else file.read(one) for one in self[1:])
        return FoldedRows(self.starts, *parts)  # type: ignore[arg-type]


class BlockWriter:
    """Puts rows into bins, and writes them block by block."""

    def __init__(self, file: WorkFile, binner: Any, n_features: int) -> None:
        self.file = file
        self.binner = binner
        self.length = block_rows(n_features)

    def write(
        self, pieces: Iterator[NumberRows], of_fold: Callable[[int, int], NDArray[np.int64]]
    ) -> list[Block]:
        """The blocks of some pieces."""
        blocks: list[Block] = []
        waiting: list[tuple[Any, ...]] = []
        n_waiting = first = 0
        for piece in pieces:
            for rows in self.binner.slices(piece):
                while len(rows[1]):
                    now = tuple(_cut(part, 0, self.length - n_waiting) for part in rows)
                    rows = tuple(_cut(part, self.length - n_waiting, None) for part in rows)
                    waiting.append(now)
                    n_waiting += len(now[1])
                    if n_waiting == self.length:
                        blocks.append(self._block(waiting, of_fold(first, n_waiting)))
                        first += n_waiting
                        waiting, n_waiting = [], 0
        if n_waiting:
            blocks.append(self._block(waiting, of_fold(first, n_waiting)))
        return blocks

    def _block(self, parts: list[tuple[Any, ...]], fold: NDArray[np.int64]) -> Block:
        """Write a block."""
        rows = folded(parts, fold)
        numbers = [None if part is None else self.file.write(part) for part in rows[2:]]
        return Block(rows.starts, self.file.write(rows.codes), *numbers)  # type: ignore[arg-type]


def _cut(part: Any, first: int, last: int | None) -> Any:
    return None if part is None else part[first:last]


class MappedRows(SumOfPieces):
    """Sums over blocks, which are in memory one at a time."""

    far = True

    def __init__(
        self, source: ChunkRows, blocks: Sequence[Block], problem: Any, family: Any, n_folds: int,
        team: Any,
    ) -> None:  # fmt: skip
        self.source = source
        self.blocks = blocks
        self.asked = Asked(problem.prepared.arrays, family, problem.loss, team)
        self.offsets = family.offsets
        starts = [np.append(block.starts, [block.y.shape[0]] * n_folds) for block in blocks]
        self.sizes = np.sum([np.diff(s[: n_folds + 1]) for s in starts], axis=0).tolist()
        self.weighted = any(block.weight is not None for block in blocks)
        self.rows_at_once = max(block.codes.shape[1] for block in blocks)

    def piece(self, k: int, block: Block, weighting: Curvature | None) -> Statistics | None:
        """A block, to be asked one thing; None if no row counts."""
        assert self.source.file is not None
        return block.read(self.source.file).statistics(self.asked, self.n_folds, weighting)

    def each(self, weighting: Curvature | None = None) -> Iterator[Statistics]:
        assert self.source.file is not None
        done, total = 0, self.source.file.size
        for k, block in enumerate(self.blocks):
            rows = self.piece(k, block, weighting)
            if rows is not None:
                yield rows
            done += _bytes_of(block)
            self.source.watch("sums over the rows", done, total)
        self.source.passes.append(done)


def _bytes_of(block: Block) -> int:
    """What a block takes in the file."""
    parts = (one for one in block[1:] if one is not None)
    return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for _, shape, dtype in parts)
