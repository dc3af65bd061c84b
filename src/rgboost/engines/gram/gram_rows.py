"""Gram rows: how much two left sides have in common, feature by feature, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..base import Arrays


def gram_types(sizes: list[int], weighted: bool, together: bool) -> list[Any]:
    """Of the Gram rows of folds with so many rows, and of all rows ``together``: counts of rows are
    exact as integers, in half or a quarter of the memory of weights."""
    if weighted:
        return [np.float64] * (len(sizes) + together)
    if together:
        return [_count_type(max(sizes))] * len(sizes) + [_count_type(sum(sizes))]
    return [_count_type(n) for n in sizes]


def _count_type(n_rows: int) -> Any:
    """Floats hold whole numbers up to 2^53."""
    integers = (np.uint16, np.uint32)
    return next((kind for kind in integers if n_rows <= np.iinfo(kind).max), np.float64)


Maker = Callable[[Sequence[int], NDArray[np.int64], Sequence[NDArray]], None]
"""Makes Gram rows of some features: their columns of others, into blocks for each matrix."""


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

    def add(self, features: list[int], maker: Maker) -> bool:
        """Make the rows of as many of the features as fit; whether the first did."""
        sizes = [int(self.offsets[g + 1] - self.offsets[g]) for g in features]
        while features and self.used + sum(sizes) > self.room:
            features, sizes = features[:-1], sizes[:-1]
        if not features:
            return False
        stop = self.used + sum(sizes)
        unknown = np.flatnonzero(self.row_start < 0)
        try:
            maker(features, unknown, [block[self.used : stop] for block in self.blocks])
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

    def restore(self, kept: Arrays, maker: Maker) -> None:
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
