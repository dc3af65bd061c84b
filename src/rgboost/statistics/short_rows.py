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

from ..data.binning import SparseCodes
from ..learners.dense_stumps import DenseStumps
from ..learners.sparse_stumps import SparseStumps
from ..learners.splits import Splits
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


def stored_entries(arrays: Any, n_rows: int) -> float:
    """Entries that are stored, or that would be: those outside the heaviest bin of a feature."""
    if isinstance(arrays, SparseStumps):
        return float(len(arrays.entries.rows))
    return n_rows * float(np.sum(1.0 - _heaviest_bins(arrays.splits)[1]))


def _heaviest_bins(splits: Splits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The heaviest bin of each feature, and its share of the weight."""
    offsets = splits.offsets
    n_features = len(offsets) - 1
    first = offsets[:-1] + np.arange(n_features)
    edges = np.insert(splits.left_weight, offsets[1:], splits.total_weight)
    weights = np.diff(edges, prepend=0.0)
    weights[first] = edges[first]
    heaviest = np.array(
        [int(weights[a:b].argmax()) for a, b in zip(first, [*first[1:], len(edges)], strict=True)],
        dtype=np.int64,
    )
    return heaviest, weights[first + heaviest] / splits.total_weight


def as_stored(arrays: Any, n_rows: int) -> Any:
    """The same weak-learners on sparse rows, if little has to be stored of dense ones."""
    if not isinstance(arrays, DenseStumps) or not pays_by_rows(arrays, n_rows):
        return arrays
    heaviest, _ = _heaviest_bins(arrays.splits)
    codes = arrays.codes[:, :n_rows]
    columns = [np.flatnonzero(codes[g] != heaviest[g]) for g in range(len(heaviest))]
    indptr = np.concatenate([[0], np.cumsum([len(rows) for rows in columns])])
    binary = np.diff(arrays.splits.offsets) == 1
    entries = SparseCodes(
        indptr.astype(np.int64),
        np.concatenate(columns).astype(np.int32),
        np.concatenate([codes[g, rows] for g, rows in enumerate(columns)]),
        heaviest,
        np.where(binary, 1 - heaviest, -1),
    )
    return SparseStumps(entries, arrays.splits)
