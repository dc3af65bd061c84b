"""Statistics of features that mostly have one value: indicators, counts, words.

The rows in the most frequent bin of a feature need not be stored. What is left of a row is short,
and then the whole Gram matrix costs the square of its length (`row_gram`), not n p for each
feature: a9a has 14 of 123 features a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners.stumps.stump_statistics import as_sparse, stored_entries
from .memory import Columns, MemoryStatistics
from .row_gram import MOST_BINS_IN_ALL, WholeGram

STORED_SHARE = 0.25
"""Dense rows are stored as sparse ones if no more than this share of them has to be stored."""


class RowStatistics(MemoryStatistics):
    """All Gram rows are made when the first ones are asked for, and kept until all were."""

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
