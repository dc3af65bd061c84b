"""Where the values of a block of rows lie among thresholds."""

from __future__ import annotations

import numpy as np

from .._core.jit import kernel

BLOCK = 256
"""Rows of a block: its columns stay in cache while they are read."""

FEW_CUTS = 24
"""Up to this many cuts, comparing with every one of them is faster than a binary search."""


@kernel()
def make_ladders(starts, cuts):
    """The cuts of each feature with many of them, padded with infinity to a power of two."""
    n_features = starts.shape[0] - 1
    ladder_starts = np.zeros(n_features + 1, np.int64)
    for k in range(n_features):
        n_cuts = starts[k + 1] - starts[k]
        size = 0
        if n_cuts > FEW_CUTS:
            size = 1
            while size <= n_cuts:
                size *= 2
        ladder_starts[k + 1] = ladder_starts[k] + size
    ladders = np.full(ladder_starts[n_features], np.inf)
    for k in range(n_features):
        if ladder_starts[k + 1] > ladder_starts[k]:
            for i in range(starts[k + 1] - starts[k]):
                ladders[ladder_starts[k] + i] = cuts[starts[k] + i]
    return ladder_starts, ladders


@kernel()
def count_cuts(values, cuts, found_out):
    """How many cuts are below each value."""
    found_out[:] = 0
    for cut in cuts:
        for i in range(values.shape[0]):
            found_out[i] += np.uint32(1) if cut < values[i] else np.uint32(0)


@kernel()
def climb_ladder(values, ladder, found_out):
    """`count_cuts` by a binary search of all values at once; see `rgboost.data.binning`."""
    found_out[:] = 0
    half = np.uint32(ladder.shape[0] // 2)
    while half > 0:
        for i in range(values.shape[0]):
            below = ladder[found_out[i] + half - np.uint32(1)] < values[i]
            found_out[i] += half if below else np.uint32(0)
        half = np.uint32(half // 2)
