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
