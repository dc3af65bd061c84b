"""Rows that no weak-learner can tell apart, merged into one row of their weight.

A fit depends on a row by its bins, its label and its weight alone, and on the weight linearly. So
rows that share bins and label can be one row that weighs as much as all of them: the iterates stay
the same, up to rounding. Logs and tables of categories are full of such rows; an iteration on
kddcup99 has a quarter of them to read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners.stumps.some_rows import take_rows
from ...learners.stumps.stump_statistics import dense_bins

Vector = NDArray[np.float64]

FEWEST_ROWS = 1000
"""Rows from which it pays to look."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits everywhere: 2^64 over the golden ratio."""


def merge_equal_rows(
    arrays: Any, y: Vector, weight: Vector | None
) -> tuple[Any, Vector, Vector | None, Any]:
    """Weak-learners on the rows, labels, weights and which rows they are: of merged rows, if these
    are at most half as many; otherwise as they are."""
    codes = dense_bins(arrays)
    if codes is None or len(y) < FEWEST_ROWS:
        return arrays, y, weight, slice(None)
    keys = row_keys(codes, y)
    order = np.argsort(keys, kind="stable")
    begins = np.append(True, np.diff(keys[order]) != 0)
    if 2 * np.count_nonzero(begins) > len(y) or not _same(codes, y, order, ~begins):
        return arrays, y, weight, slice(None)
    group = np.empty(len(y), np.int64)
    group[order] = np.cumsum(begins) - 1
    first = order[begins]
    merged = np.bincount(group, weight)
    place = np.argsort(first)  # in the order of the rows
    first = first[place]
    return take_rows(arrays, first, len(y)), y[first], merged[place].astype(np.float64), first


def _same(codes: NDArray, y: Vector, order: NDArray, repeats: NDArray[np.bool_]) -> bool:
    """Whether rows that repeat the key of the row before are equal to it: two different rows have
    one key in about n^2 / 2^65 of all cases."""
    now, before = order[1:][repeats[1:]], order[:-1][repeats[1:]]
    return all(np.array_equal(one[now], one[before]) for one in (y, *codes))


def row_keys(codes: NDArray, y: Vector) -> NDArray[np.uint64]:
    """A number for each row, the same for equal bins and labels."""
    keys = y.view(np.uint64).copy()
    for column in codes:
        keys *= _FACTOR
        keys += column[: len(y)]
    return keys
