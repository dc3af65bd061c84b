"""Scores from tables of pairs: a row's bins are found once, then looked up pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from ..data.mixed_bins import OTHERS, find_categories
from .ladders import BLOCK, FEW_CUTS, climb_ladder, count_cuts, make_ladders

Vector = NDArray[np.float64]


class Axis(NamedTuple):
    """An axis of a pair: the feature in place ``slot`` among those used, and its edges."""

    slot: int
    categorical: bool
    edges: Vector
    stride: int
    """Cells from one bin to the next."""
    start: int
    """The cell of the first bin; 0 for one of the two axes."""


class PairLookup(NamedTuple):
    """What the kernel reads.

    Feature k of those used has the edges ``edges[starts[k]:starts[k + 1]]``, all those of its axes.
    A value of it has a code: the number of edges below it, and two more, for a number above them
    all (a category that no axis knows) and for missing values. Axis i, of the feature ``slots[i]``,
    has the cells ``cells[cell_starts[i]:]`` for these codes: the cell of a pair is the sum of both.
    """

    categorical: NDArray[np.bool_]
    starts: NDArray[np.int64]
    edges: Vector
    slots: NDArray[np.int64]
    cell_starts: NDArray[np.int64]
    cells: NDArray[np.int64]


def make_lookup(axes: Sequence[Axis], n_used: int) -> PairLookup:
    """The codes of all features, and the cells that they stand for on every axis."""
    categorical = np.zeros(n_used, np.bool_)
    found: list[list[Vector]] = [[np.empty(0)] for _ in range(n_used)]
    for axis in axes:
        found[axis.slot].append(axis.edges)
        categorical[axis.slot] = axis.categorical
    union = [np.unique(np.concatenate(parts)) for parts in found]
    union = [u[u != OTHERS] if c else u for u, c in zip(union, categorical, strict=True)]
    cells = [
        axis.start + axis.stride * bins_of_codes(union[axis.slot], axis.edges, axis.categorical)
        for axis in axes
    ]
    return PairLookup(
        categorical=categorical,
        starts=_starts([len(u) for u in union]),
        edges=np.concatenate([*union, np.empty(0)]),
        slots=np.array([axis.slot for axis in axes], np.int64),
        cell_starts=_starts([len(c) for c in cells]),
        cells=np.concatenate([*cells, np.empty(0, np.int64)]),
    )


def bins_of_codes(union: Vector, edges: Vector, categorical: bool) -> NDArray[np.int64]:
    """The bin of an axis for each code of its feature."""
    if categorical:
        return find_categories(np.append(union, [-np.inf, np.nan]), edges)
    # The code of x counts the edges below x: x is at most the edge after them.
    bins = np.searchsorted(edges, np.append(union, np.inf))
    return np.append(bins, len(edges) + 1)


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@kernel()
def score_pairs(X, features, lookup, tables, out):
    """Add the entries of ``tables`` (cells, outputs) to ``out`` (rows, outputs), pair after pair,
    a block of rows at a time. ``features`` are the columns of X with the used features."""
    n_used, n_pairs, n_outputs = features.shape[0], lookup.slots.shape[0] // 2, tables.shape[1]
    ladder_starts, ladders = make_ladders(lookup.starts, lookup.edges)
    codes = np.empty((n_used, BLOCK), np.uint32)
    values = np.empty(BLOCK, X.dtype)
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK]
        scores = out[start : start + BLOCK]
        for k in range(n_used):
            for i in range(rows.shape[0]):
                values[i] = rows[i, features[k]]
            edges = lookup.edges[lookup.starts[k] : lookup.starts[k + 1]]
            if edges.shape[0] <= FEW_CUTS:
                count_cuts(values, edges, codes[k])
            else:
                climb_ladder(values, ladders[ladder_starts[k] : ladder_starts[k + 1]], codes[k])
            mark_special(values, edges, lookup.categorical[k], codes[k])
        for j in range(n_pairs):
            codes_g, codes_h = codes[lookup.slots[2 * j]], codes[lookup.slots[2 * j + 1]]
            cells_g = lookup.cells[lookup.cell_starts[2 * j] : lookup.cell_starts[2 * j + 1]]
            cells_h = lookup.cells[lookup.cell_starts[2 * j + 1] : lookup.cell_starts[2 * j + 2]]
            if n_outputs == 1:
                for i in range(scores.shape[0]):
                    scores[i, 0] += tables[cells_g[codes_g[i]] + cells_h[codes_h[i]], 0]
            else:
                for i in range(scores.shape[0]):
                    cell = cells_g[codes_g[i]] + cells_h[codes_h[i]]
                    for c in range(n_outputs):
                        scores[i, c] += tables[cell, c]


@kernel()
def mark_special(values, edges, categorical, codes):
    """Codes of missing values, and of categories that are not among the edges."""
    n_edges = np.uint32(edges.shape[0])
    for i in range(values.shape[0]):
        x = values[i]
        if categorical and (codes[i] == n_edges or edges[codes[i]] != x):
            codes[i] = n_edges
        if x != x:
            codes[i] = n_edges + np.uint32(1)
