"""Gram rows: how much two left sides have in common, feature by feature, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from ...statistics.counted_gram import count_gram
from ...statistics.memory import Columns, MemoryStatistics
from ..base import Arrays


def gram_type(weight: NDArray[np.float64] | None, n_rows: int) -> Any:
    """Counts of rows are exact as integers, in half or a quarter of the memory of weights."""
    if weight is not None:
        return np.float64
    return np.uint16 if n_rows <= np.iinfo(np.uint16).max else np.uint32


class GramMaker(Protocol):
    """Who makes the Gram rows of several sets of rows."""

    @property
    def makes_all(self) -> bool:
        """Whether those of all features are made at once, whatever is asked for."""

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        """`rgboost.statistics.memory.Statistics.gram_rows`, one block for each set."""


class OneByOne:
    """A `GramMaker` that asks somebody for each of the blocks."""

    def __init__(self, *providers: Any) -> None:
        self.providers = providers

    @property
    def makes_all(self) -> bool:
        return any(provider.makes_all for provider in self.providers)

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        for provider, out in zip(self.providers, outs, strict=True):
            provider.gram_rows(features, columns, out)


class FoldsAndSum(OneByOne):
    """Gram rows of the rows of each fold, and of all of them."""

    def __init__(self, parts: Sequence[MemoryStatistics], team: Team) -> None:
        super().__init__(*parts)
        self.team = team

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        *folds, total = outs
        if all(part.counts and not part.rows.weighted for part in self.providers):
            arrays = [part.arrays for part in self.providers]
            n_rows = [len(part.rows.y) for part in self.providers]
            wanted, others = np.asarray(features, np.int64), np.asarray(columns, np.int64)
            count_gram(arrays, n_rows, wanted, others, folds, total, self.team)
            return
        super().gram_blocks(features, columns, folds)
        self.team.run(add_blocks, tuple(folds), total)


@kernel()
def add_blocks(parts, out, seat):
    """Sums of rows of several matrices, each thread on its rows."""
    for row in range(seat.rank, out.shape[0], seat.size):
        sums = out[row]
        one = parts[0][row]
        for j in range(sums.shape[0]):
            sums[j] = one[j]
        for k in range(1, len(parts)):
            one = parts[k][row]
            for j in range(sums.shape[0]):
                sums[j] += one[j]


class GramRows:
    """Gram rows of the features that were chosen so far, within a budget.

    Memory is reserved for all rows that fit and used as features come: the system hands out pages
    when they are first written. Where it refuses, there is room for none.
    """

    def __init__(self, offsets: NDArray[np.int64], dtypes: list[Any], memory: int) -> None:
        self.offsets = offsets
        n_splits = int(offsets[-1])
        row_bytes = n_splits * sum(np.dtype(dtype).itemsize for dtype in dtypes)
        self.room = min(n_splits, memory // max(1, row_bytes))
        self.used = 0
        self.row_start = np.full(len(offsets) - 1, -1, dtype=np.int64)
        try:
            self.blocks = [np.empty((self.room, n_splits), dtype) for dtype in dtypes]
        except MemoryError:
            self.room = 0
            self.blocks = [np.empty((0, n_splits), dtype) for dtype in dtypes]
        self.batches: list[list[int]] = []
        """Features in the order in which their rows were made."""

    def add(self, features: list[int], maker: GramMaker) -> bool:
        """Make the rows of as many of the features as fit; whether the first did."""
        sizes = [int(self.offsets[g + 1] - self.offsets[g]) for g in features]
        while features and self.used + sum(sizes) > self.room:
            features, sizes = features[:-1], sizes[:-1]
        if not features:
            return False
        stop = self.used + sum(sizes)
        unknown = np.flatnonzero(self.row_start < 0)
        try:
            maker.gram_blocks(features, unknown, [block[self.used : stop] for block in self.blocks])
        except MemoryError:
            return False
        for block in self.blocks:
            mirror(block, self.row_start, self.offsets, np.array(features), self.used)
        self.row_start[features] = self.used + np.cumsum([0, *sizes[:-1]])
        self.used = stop
        self.batches.append(features)
        return True

    @property
    def features(self) -> list[int]:
        """The features that have rows."""
        return np.flatnonzero(self.row_start >= 0).tolist()

    @property
    def size_of_all(self) -> int:
        """How many numbers a block has, with the rows of all features."""
        return int(self.offsets[-1]) ** 2

    def forget(self) -> None:
        """No rows are there any more. The memory is kept: to have it anew takes long."""
        self.used = 0
        self.row_start[:] = -1
        self.batches.clear()

    def keep(self) -> Arrays:
        """The order of features: sums of weights that are no integers depend on it."""
        return {
            "gram_features": np.array([g for batch in self.batches for g in batch], np.int64),
            "gram_batches": np.array([len(batch) for batch in self.batches], np.int64),
        }

    def restore(self, kept: Arrays, maker: GramMaker) -> None:
        """Make the rows of `keep` again, in that order."""
        ends = np.cumsum(kept["gram_batches"])
        for batch in np.split(kept["gram_features"], ends[:-1]) if len(ends) else []:
            if not self.add(batch.tolist(), maker) or len(self.batches[-1]) < len(batch):
                raise ValueError(
                    "gram_memory is smaller than when the run began: its Gram rows do not fit; "
                    "use as much as before."
                )


@kernel()
def mirror(rows, row_start, offsets, features, first_row):
    """Fill in what is known by symmetry: the columns of features that have rows already."""
    for q in features:
        a, b = offsets[q], offsets[q + 1]
        for g in range(row_start.shape[0]):
            if row_start[g] >= 0:
                known = rows[row_start[g] : row_start[g] + offsets[g + 1] - offsets[g], a:b]
                for v in range(b - a):
                    here = rows[first_row + v, offsets[g] : offsets[g + 1]]
                    for u in range(here.shape[0]):
                        here[u] = known[u, v]
        first_row += b - a
