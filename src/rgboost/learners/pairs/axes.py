"""The two axes of a pair: how the bins of a feature are put in order, and where it is cut.

A feature has bins 0..m-1 for its values and bin m for missing values. Its splits are numbered as
those of a stump:

- a number that is never missing: split s has the bins 0..s on the left;
- a number with missing values: splits 0..m-1 have them on the right (m - 1: only them), splits
  m..2m-2 have the bins 0..s-m and the missing values on the left;
- categories (missing values are one of them): prefixes of an order that the search finds.

The search lays the bins out in an order and cuts it at all positions. Missing values have two
places in the order of a number, at its end and at its beginning: two arrangements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel

NUMBER, WITH_MISSING, CATEGORY = 0, 1, 2


def kinds_of(categorical: NDArray[np.bool_], has_missing: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The kind of each axis."""
    return np.where(categorical, CATEGORY, np.where(has_missing, WITH_MISSING, NUMBER)).astype("i1")


def splits_of(
    kinds: NDArray[np.int8], n_values: NDArray[np.int64], has_missing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """How many splits each axis has."""
    n_splits = np.where(kinds == WITH_MISSING, 2 * n_values - 1, n_values - 1)
    n_splits = np.where(kinds == CATEGORY, n_values + has_missing - 1, n_splits)
    return np.maximum(n_splits, 0).astype(np.int64)


@kernel()
def n_arrangements(kind):
    """In how many ways missing values can be placed."""
    return 2 if kind == WITH_MISSING else 1


@kernel()
def arrange(kind, m, which, n_levels, levels, order_out):
    """Lay out the bins of an axis: (bins in the order, first and last position of a cut, number of
    the split at the first position). ``levels`` is the order of categories."""
    if kind == CATEGORY:
        for k in range(n_levels):
            order_out[k] = levels[k]
        return n_levels, 0, n_levels - 2, 0
    first = 0
    if kind == WITH_MISSING and which == 1:
        order_out[0] = m
        first = 1
    for b in range(m):
        order_out[first + b] = b
    if kind == WITH_MISSING and which == 0:
        order_out[m] = m
        return m + 1, 0, m - 1, 0
    if kind == WITH_MISSING:
        return m + 1, 1, m - 1, m
    return m, 0, m - 2, 0


@kernel()
def left_side(kind, m, split, levels, left_out):
    """Mark the bins on the left of a split; a number that is never missing has no side for missing
    values, and they are marked 2."""
    for b in range(m + 1):
        left_out[b] = 0
    if kind == CATEGORY:
        for k in range(split + 1):
            left_out[levels[k]] = 1
        return
    last = split - m if kind == WITH_MISSING and split >= m else split
    for b in range(min(last + 1, m)):
        left_out[b] = 1
    if kind == NUMBER:
        left_out[m] = 2
    elif split >= m:
        left_out[m] = 1
