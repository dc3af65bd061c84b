"""The path of a run on numbers as tables: the score of every bin of every feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel


def path_tables(
    offsets: NDArray[np.int64],
    learner: NDArray[np.int64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The tables of some iterations, bin by bin; see `rgboost.statistics.memory`."""
    tables = np.zeros(int(offsets[-1]) + len(offsets) - 1)
    add_path(offsets, learner, left, right, tables)
    return tables


@kernel()
def add_path(offsets, learner, left, right, tables):
    """Jumps of all stumps where they are, then their running sums."""
    for m in range(learner.shape[0]):
        if learner[m] >= 0:
            g = np.searchsorted(offsets, learner[m], side="right") - 1
            tables[offsets[g] + g] += left[m]
            tables[learner[m] + g + 1] += right[m] - left[m]
    for g in range(offsets.shape[0] - 1):
        for k in range(offsets[g] + g, offsets[g + 1] + g):
            tables[k + 1] += tables[k]


@kernel()
def add_mixed_path(splits, columns, learner, left, right, sets, tables):
    """What each step adds to the bins of its feature; see `mixed_splits.bin_values`."""
    for i in range(learner.shape[0]):
        if learner[i] < 0:
            continue
        g = np.searchsorted(splits.offsets, learner[i], side="right") - 1
        split, m, start = learner[i] - splits.offsets[g], columns.n_values[g], columns.bin_start[g]
        last_left = split - m if split >= m else split
        left_weight = 0.0
        for b in range(columns.n_bins[g]):
            if columns.categorical[g]:
                on_left = sets[i, b // 8] >> (b % 8) & 1 == 1
            else:
                on_left = split >= m if b == m else b <= last_left
            tables[start + b] += left[i] if on_left else right[i]
            left_weight += columns.bin_weight[start + b] if on_left else 0.0
        if columns.n_bins[g] == m:  # nothing was missing
            share = left_weight / splits.total_weight
            tables[start + m] += share * left[i] + (1.0 - share) * right[i]
