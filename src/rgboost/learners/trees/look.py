"""Which features a tree looks at, and how their histograms lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from .arrays import BYTES, TILE, TreeArrays
from .histograms import Looked


def look_at(arrays: TreeArrays, columns: NDArray[np.int64], team: Team) -> Looked:
    """The features of J, in ascending order. Where some of the dense ones are not in it, those that
    are get words of their own: eight bins that are looked at, not one among eight."""
    n = len(columns)
    dense = np.flatnonzero(arrays.lane[columns] >= 0)
    sparse = np.flatnonzero(arrays.lane[columns] < 0)
    n_blocks = -(-len(dense) // BYTES)
    lanes = np.full((n_blocks, BYTES), -1, np.int64)
    lanes.ravel()[: len(dense)] = dense
    filled = (lanes >= 0).sum(axis=1)
    words = arrays.words
    if len(dense) < int((arrays.lane >= 0).sum()):
        words = np.empty((arrays.n_rows, n_blocks), np.uint64)
        chosen = columns[dense]
        places = BYTES * arrays.block[chosen] + arrays.lane[chosen]
        team.run(pack, arrays.bins, places, words)
    start = np.concatenate([[0], np.cumsum(arrays.n_levels[columns])]).astype(np.int64)
    first = np.full(len(arrays.lane), -1, np.int64)
    first[columns] = start[:n]
    by_block = arrays.block[columns[sparse]]  # ascends with the columns
    bounds = np.searchsorted(by_block, np.arange(len(arrays.pointers) + 1)).astype(np.int64)
    return Looked(
        columns, start, words, lanes, filled, bounds, sparse, first, np.empty(0, np.bool_)
    )


@kernel()
def pack(bins, places, words_out, seat):
    """Words of some features, from their columns: of the others nothing is read."""
    n_rows = words_out.shape[0]
    first, stop = n_rows * seat.rank // seat.size, n_rows * (seat.rank + 1) // seat.size
    for lo in range(first, stop, TILE):
        out = words_out[lo : min(lo + TILE, stop)]
        out[:] = np.uint64(0)
        for k in range(places.shape[0]):
            column, b, shift = bins[places[k], lo:stop], k // BYTES, np.uint64(8 * (k % BYTES))
            for i in range(out.shape[0]):
                out[i, b] |= np.uint64(column[i]) << shift


def allowed_learners(arrays: Any, subset: Any) -> NDArray[np.bool_]:
    """Which weak-learners are in J, if not all of its columns are."""
    found = np.zeros(int(arrays.offsets[-1]), np.bool_)
    found[subset] = True
    return found
