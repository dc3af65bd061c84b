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

from ..data.binning import empty_codes
from ..data.chunks.chunks import Watch
from ..learners.stumps.stump_statistics import dense_bins
from .base import Curvature, Facts, Source, Statistics, fold_of_rows, labels_less
from .in_memory import InMemory, RowsOfFold
from .pieces import SumOfPieces
from .work_file import Stored, WorkFile

Vector = NDArray[np.float64]

BLOCK_CELLS, SHORTEST_BLOCK = 1 << 25, 1 << 14
"""Cells of a block, and its least number of rows: the tables of pairs of bins that Gram rows are
made from, which every block has of its own, are to be small beside it."""
CELLS_AT_ONCE = 1 << 22
"""Cells that are put into bins at once."""
MANY = 1 << 20
"""Shares of rows are counted in so many parts."""


class NumberRows(NamedTuple):
    """Rows of numbers (dense), their labels, weights (None: all 1) and offsets (None: all 0)."""

    X: Any
    y: Vector
    weight: Vector | None
    offset: Vector | None


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
        writer = BlockWriter(self.file, problem, n_features)

        def of_fold(first: int, n: int) -> NDArray[np.int64]:
            if n_folds > 1 or not self.share:
                return fold_of_rows(first, n, n_folds, seed)
            parts = fold_of_rows(first, n, MANY, seed)
            return (parts < self.share * MANY).astype(np.int64)

        blocks = writer.write(self.rows.read(), of_fold)
        n_sets = n_folds
        if self.held is not None:
            blocks += writer.write(self.held.read(), lambda first, n: np.ones(n, np.int64))
        if self.has_held:
            n_sets = 2
        return MappedRows(self, blocks, problem, family, n_sets, team)

    def close(self) -> None:
        """Give the room on the disk back."""
        if self.file is not None:
            self.file.close()
            self.file = None


class Block(NamedTuple):
    """Where the rows of a block are. Rows ``starts[f]`` to ``starts[f + 1]`` are those of fold
    f."""

    starts: NDArray[np.int64]
    codes: Stored
    y: Stored
    weight: Stored | None
    offset: Stored | None


class BlockWriter:
    """Puts rows into bins, and writes them block by block."""

    def __init__(self, file: WorkFile, problem: Any, n_features: int) -> None:
        self.file = file
        self.problem = problem
        self.shifts = problem.loss.translation_invariant
        self.length = block_rows(n_features)
        self.slice = max(1, CELLS_AT_ONCE // max(1, n_features))

    def write(
        self, pieces: Iterator[NumberRows], of_fold: Callable[[int, int], NDArray[np.int64]]
    ) -> list[Block]:
        """The blocks of some pieces."""
        blocks: list[Block] = []
        waiting: list[tuple[Any, ...]] = []
        n_waiting = first = 0
        for piece in pieces:
            for rows in self._slices(piece):
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

    def _slices(self, piece: NumberRows) -> Iterator[tuple[Any, ...]]:
        """(bins, label, weight, offset) of some rows at a time; bins are (rows, features)."""
        prepared, kind = self.problem.prepared, type(self.problem.prepared.arrays)
        y, offset = labels_less(piece.y, piece.offset, self.problem.centre, self.shifts)
        for lo in range(0, len(y), self.slice):
            now = slice(lo, lo + self.slice)
            arrays = prepared.arrays_for(piece.X[now], self.problem.n_jobs)
            if type(arrays) is not kind:
                raise ValueError("The rows have missing values where they had none when first read")
            others = [_cut(part, lo, lo + self.slice) for part in (y, piece.weight, offset)]
            yield (dense_bins(arrays)[:, : len(others[0])].T, *others)

    def _block(self, parts: list[tuple[Any, ...]], fold: NDArray[np.int64]) -> Block:
        """Write a block, ordered by folds."""
        order = np.argsort(fold, kind="stable")
        codes = empty_codes(parts[0][0].shape[1], len(fold), parts[0][0].dtype)
        at = 0
        for part in parts:  # side by side, before they are ordered row by row
            codes[:, at : at + len(part[1])] = part[0].T
            at += len(part[1])
        for row in codes:
            row[: len(fold)] = row[order]
        numbers = [
            None if one[0] is None else self.file.write(np.concatenate(one)[order])
            for one in list(zip(*parts, strict=True))[1:]
        ]
        starts = np.searchsorted(fold[order], np.arange(int(fold.max()) + 2))
        return Block(starts, self.file.write(codes), *numbers)  # type: ignore[arg-type]


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
        self.arrays = problem.prepared.arrays
        self.loss = problem.loss
        self.family = family
        self.offsets = family.offsets
        self.team = team
        self.sizes = [sum(_size(block, f) for block in blocks) for f in range(n_folds)]
        self.weighted = any(block.weight is not None for block in blocks)
        self.rows_at_once = max(block.codes.shape[1] for block in blocks)

    def each(self, weighting: Curvature | None = None) -> Iterator[InMemory]:
        assert self.source.file is not None
        done, total = 0, self.source.file.size
        for block in self.blocks:
            if weighting is None:
                folds = [self._rows(block, f, f + 1) for f in range(self.n_folds)]
            else:  # rows that count are those of the first folds
                folds = [self._rows(block, 0, max(weighting.folds) + 1)]
            if weighting is None or len(folds[0].y):
                yield InMemory(self.family, folds, self.loss, self.team, as_they_are=True)
            done += _bytes_of(block)
            self.source.watch("sums over the rows", done, total)
        self.source.passes.append(done)

    def _rows(self, block: Block, fold: int, stop: int) -> RowsOfFold:
        """The rows of some folds of a block."""
        assert self.source.file is not None
        read, last = self.source.file.read, len(block.starts) - 1
        a, b = (int(block.starts[min(f, last)]) for f in (fold, stop))
        every = read(block.codes)
        codes = every
        if (a, b) != (0, block.y.shape[0]):
            codes = empty_codes(len(every), b - a, every.dtype.type)
            codes[:, : b - a] = every[:, a:b]
        arrays = self.arrays._replace(codes=codes, words=codes.view(np.uint64))
        numbers = (None if s is None else read(s)[a:b] for s in block[2:])
        return RowsOfFold(arrays, *numbers)  # type: ignore[arg-type]


def _size(block: Block, fold: int) -> int:
    last = len(block.starts) - 1
    return int(block.starts[min(fold + 1, last)] - block.starts[min(fold, last)])


def _bytes_of(block: Block) -> int:
    """What a block takes in the file."""
    parts = (one for one in block[1:] if one is not None)
    return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for _, shape, dtype in parts)
