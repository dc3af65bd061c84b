"""The bins that a search sees: all of them, or neighbours taken together.

The cost of looking at every cut of a pair grows with the square of the bins, not with the rows. A
search that cuts each axis at some evenly spaced places only, others every time, costs little more
than the sum over the rows; over the iterations every cut has its turn. It is a random subset of the
weak-learners of a group, as the paper's random subsets are of all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from .axes import CATEGORY, WITH_MISSING


class Look(NamedTuple):
    """For every axis: the bin that each code is seen in, the last code of each of these bins, and
    how many bins of values, levels and splits there are. Missing values keep a bin of their own,
    the last one, and so does every category."""

    bin_of: NDArray[np.uint8]
    last: NDArray[np.int64]
    n_values: NDArray[np.int64]
    n_levels: NDArray[np.int64]
    n_splits: NDArray[np.int64]


def make_look(n_values: NDArray[np.int64]) -> Look:
    """Memory for a look at so many axes, to be filled by `look_at`."""
    shape = len(n_values), int(n_values.max(initial=0)) + 1
    counts = [np.zeros(len(n_values), np.int64) for _ in range(3)]
    return Look(np.zeros(shape, np.uint8), np.zeros(shape, np.int64), *counts)


def whole_look(arrays: Any, columns: NDArray[np.int64]) -> Look:
    """Every bin by itself."""
    look = make_look(arrays.n_values)
    look_at(arrays, columns, look.last.shape[1], 0, 0, look)
    return look


@kernel()
def look_at(arrays, columns, most_cuts, seed, number, look_out):
    """The look of search ``number`` at the axes of some columns: numbers of more than ``most_cuts``
    bins are cut at every k-th place, from a random one on."""
    for column in columns:
        for axis in arrays.pairs[column]:
            if axis < 0:
                continue
            m = arrays.n_values[axis]
            together = 1 if arrays.kind[axis] == CATEGORY else max(1, -(-m // most_cuts))
            first = random_number(seed, number, axis) % together
            last = look_out.last[axis]
            seen = 0
            for code in range(m):
                seen = (code + first) // together
                look_out.bin_of[axis, code] = seen
                last[seen] = code
            n = seen + 1 if m > 0 else 0
            look_out.bin_of[axis, m] = n
            last[n] = m
            look_out.n_values[axis] = n
            look_out.n_levels[axis] = n + arrays.n_levels[axis] - m
            splits = arrays.n_splits[axis]
            if arrays.kind[axis] != CATEGORY:
                splits = max(0, 2 * n - 1 if arrays.kind[axis] == WITH_MISSING else n - 1)
            look_out.n_splits[axis] = splits


@kernel()
def random_number(seed, number, axis):
    """Three numbers below 2**31 as one of 16 bits, which look random. Products stay below 2**63, so
    that plain Python computes the same."""
    mixed = (seed + number * 0x9E3779B1 + axis * 0x85EBCA6B) & 0x7FFFFFFF
    mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6D & 0x7FFFFFFF
    mixed = (mixed ^ (mixed >> 12)) * 0x297A2D39 & 0x7FFFFFFF
    return (mixed ^ (mixed >> 15)) & 0xFFFF


@kernel()
def split_seen(kind, n_values, split, n_seen, last):
    """The number of a split among all splits of an axis, from that among those that are seen."""
    if kind == CATEGORY:
        return split
    if kind == WITH_MISSING and split >= n_seen:
        return n_values + last[split - n_seen]
    return last[split]


@kernel()
def cells_seen(cells, g, h, look, out):
    """Sums up to the last code of the bins that are seen, from those up to every code."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[a, b] = cells[look.last[g, a], 0 if h < 0 else look.last[h, b]]


@kernel()
def apart(sums, least):
    """Sums over single cells, from those up to each cell, in place; what is smaller than ``least``
    is rounding."""
    n, m = sums.shape
    for a in range(n - 1, -1, -1):
        for b in range(m - 1, -1, -1):
            one = sums[a, b]
            if a > 0:
                one -= sums[a - 1, b]
            if b > 0:
                one -= sums[a, b - 1]
            if a > 0 and b > 0:
                one += sums[a - 1, b - 1]
            sums[a, b] = one if one > least else 0.0
