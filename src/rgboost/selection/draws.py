"""Uniform subsets, and the columns that they stand for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .layout import Layout


class Subsets(NamedTuple):
    """The subsets J of a block of iterations, as compiled code reads them.

    Iteration m looks at ``columns[start[m]:start[m + 1]]`` (with m modulo the number of subsets).
    If ``restricted``, it looks only at the weak-learners ``learners[first[k]:first[k + 1]]`` of
    the column at position k; otherwise at all of them.
    """

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    restricted: bool
    first: NDArray[np.int64]
    learners: NDArray[np.int64]


def draw_without_replacement(
    rng: np.random.Generator, n: int, t: int, n_draws: int
) -> NDArray[np.int64]:
    """``n_draws`` uniform t-subsets of ``range(n)`` as sorted rows, by Floyd's algorithm.

    The stream does not depend on how draws are cut into calls. Drawing everything (t = n) uses no
    random number and gives a single row.
    """
    if t == n:
        return np.arange(n, dtype=np.int64)[None]
    return subsets_of_uniform(rng.random((n_draws, t)), n)


def subsets_of_uniform(uniform: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Rows of t uniform numbers as sorted t-subsets of ``range(n)``, in the same memory."""
    out = uniform.view(np.int64)  # a number is read before it is written over
    floyd_subsets(uniform, n, out)
    if out.shape[1] > 1:
        out.sort(axis=1)
    return out


@kernel()
def floyd_subsets(uniform, n, out):
    """Turn rows of t numbers, uniform on [0, 1), into t-subsets of ``range(n)``.

    Floyd's algorithm: the k-th number is a draw from 0..n-t+k; take the draw unless it is in the
    set already, else take n - t + k. The set is a table with open addressing, so the cost is O(t)
    however large n is.
    """
    t = uniform.shape[1]
    size = 4
    while size < 2 * t:
        size *= 2
    table = np.empty(size, np.int64)
    for i in range(uniform.shape[0]):
        table[:] = -1
        for k in range(t):
            item = int(uniform[i, k] * (n - t + k + 1))
            slot = _slot(table, item)
            if table[slot] == item:
                item = n - t + k
                slot = _slot(table, item)
            table[slot] = item
            out[i, k] = item


@kernel()
def _slot(table, item):
    """Where ``item`` is in the table, or the free slot where it belongs."""
    mask = table.shape[0] - 1
    # A multiplicative hash, kept below 2**63 so that plain Python computes the same.
    slot = ((item & 0xFFFFFFFF) * 0x9E3779B1 >> 15) & mask
    while table[slot] != -1 and table[slot] != item:
        slot = (slot + 1) & mask
    return slot


_NONE = np.zeros(0, dtype=np.int64)


def columns_of_groups(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
    sizes = np.diff(layout.group_start)
    if len(layout.members) == layout.n_groups:  # one column a group
        start = np.arange(len(draw) + 1, dtype=np.int64) * draw.shape[1]
        return Subsets(start, layout.members[draw.ravel()], False, _NONE, _NONE)
    lengths = sizes[draw].sum(axis=1)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = np.empty(start[-1], np.int64)
    gather_groups(layout.group_start, layout.members, draw, start, columns)
    return Subsets(start, columns, False, _NONE, _NONE)


@kernel()
def gather_groups(group_start, members, draw, start, columns_out):
    """Write the columns of the drawn groups, sorted within each subset."""
    for i in range(draw.shape[0]):
        k = start[i]
        for g in draw[i]:
            for c in range(group_start[g], group_start[g + 1]):
                columns_out[k] = members[c]
                k += 1
        columns_out[start[i] : k].sort()


def columns_of_learners(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
    """Sorted learners -> the columns they lie in, and for each column its share of them."""
    start = np.empty(len(draw) + 1, np.int64)
    columns, first = np.empty(draw.size, np.int64), np.empty(draw.size + 1, np.int64)
    n = group_by_column(layout.offsets, draw, start, columns, first)
    return Subsets(start, columns[:n], True, first[: n + 1], draw.ravel())


@kernel()
def group_by_column(offsets, draw, start_out, columns_out, first_out):
    """Write where each subset starts, its columns, and where their learners start; returns how many
    columns there are in all."""
    k = 0
    for i in range(draw.shape[0]):
        start_out[i] = k
        stop = -1  # the first learner after the column at hand
        for j in range(draw.shape[1]):
            if draw[i, j] >= stop:
                column = np.searchsorted(offsets, draw[i, j], side="right") - 1
                stop = offsets[column + 1]
                columns_out[k] = column
                first_out[k] = i * draw.shape[1] + j
                k += 1
    start_out[draw.shape[0]] = k
    first_out[k] = draw.size
    return k
