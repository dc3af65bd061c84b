"""Tables of pairs of features: one value for each cell of a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import one_line
from .._core.stored import are_starts, are_weights, ascends, check_arrays, require, within
from .._core.team import map_ranges
from ..data.mixed_bins import OTHERS, find_categories
from ..data.sparse_columns import dense_column, take_columns
from .ladders import BLOCK
from .pair_scores import Axis, PairLookup, make_lookup, score_pairs

Vector = NDArray[np.float64]

_ARRAYS = {
    "features": "i8 pairs two", "categorical": "b1 pairs two", "edge_starts": "i8 ends",
    "edges": "f8 edges", "tables": "f8 cells *", "weights": "f8 cells",
}  # fmt: skip

_DENSE_CELLS = 1 << 22
"""Values of sparse rows that are written out at a time."""


@one_line
@dataclass(frozen=True)
class PairTables:
    """score(x) = ... + sum_j table_j[bin(x_g), bin(x_h)], where pair j is (g, h) = features[j].

    Axis 2j is feature g of pair j (g < h), axis 2j + 1 is its feature h. Axis i has the edges
    ``edges[edge_starts[i]:edge_starts[i + 1]]``: thresholds in ascending order, or, where
    ``categorical``, categories as in `MixedCuts`. It has m bins for values (one more than
    thresholds, or one for each category), and then one for missing values. The cells of a pair are
    those of a (bins of g, bins of h) table, row by row, after those of the pairs before it:
    ``tables`` has what they add (a column for each of several classes), ``weights`` the weight of
    the training rows in them.
    """

    features: NDArray[np.int64]
    categorical: NDArray[np.bool_]
    edge_starts: NDArray[np.int64]
    edges: Vector
    tables: Vector
    weights: Vector

    def __len__(self) -> int:
        return len(self.features)

    def shape(self, j: int) -> tuple[int, int]:
        """Bins of both features of pair j, those of missing values included."""
        a, b = self._sizes[2 * j : 2 * j + 2]
        return int(a), int(b)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """Bins of every axis."""
        return np.diff(self.edge_starts) + np.where(self.categorical.ravel(), 1, 2)

    @property
    def cell_starts(self) -> NDArray[np.int64]:
        """The first cell of each pair, and the number of all cells."""
        sizes = self._sizes
        return np.concatenate([[0], np.cumsum(sizes[::2] * sizes[1::2])]).astype(np.int64)

    def edges_of(self, j: int, axis: int) -> Vector:
        """Thresholds or categories of the first (0) or second (1) feature of pair j."""
        i = 2 * j + axis
        return self.edges[self.edge_starts[i] : self.edge_starts[i + 1]]

    def table(self, j: int) -> Vector:
        """What the cells of pair j add: (bins of g, bins of h), with several classes one axis
        more."""
        a, b = self.cell_starts[j : j + 2]
        return self.tables[a:b].reshape(*self.shape(j), *self.tables.shape[1:])

    def weights_of(self, j: int) -> Vector:
        """The weight of the training rows in the cells of pair j."""
        a, b = self.cell_starts[j : j + 2]
        return self.weights[a:b].reshape(self.shape(j))

    def bins(self, j: int, axis: int, x: NDArray[np.floating]) -> NDArray[np.int64]:
        """The bins of values of a feature of pair j."""
        return find_bins(x, self.edges_of(j, axis), bool(self.categorical[j, axis]))

    @property
    def strengths(self) -> Vector:
        """The standard deviation of each pair over the training rows; of several classes, the root
        of the sum of their squares."""
        found = [weighted_spread(self.table(j), self.weights_of(j)) for j in range(len(self))]
        return np.array(found, np.float64)

    @cached_property
    def lookup(self) -> tuple[NDArray[np.int64], PairLookup]:
        """The used features, and what the kernel reads."""
        used, slots = np.unique(self.features, return_inverse=True)
        sizes, starts = self._sizes, self.cell_starts
        axes = [
            Axis(
                slot=int(slots.ravel()[i]),
                categorical=bool(self.categorical[i // 2, i % 2]),
                edges=self.edges_of(i // 2, i % 2),
                stride=1 if i % 2 else int(sizes[i + 1]),
                start=0 if i % 2 else int(starts[i // 2]),
            )
            for i in range(2 * len(self))
        ]
        return used, make_lookup(axes, len(used))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made when it is needed."""
        return {name: value for name, value in vars(self).items() if name != "lookup"}

    def add_scores(self, X: Any, out: Vector, n_jobs: int = 1) -> None:
        """Add what the pairs say about every row, pair after pair."""
        used, lookup = self.lookup
        tables = self.tables if self.tables.ndim == 2 else self.tables[:, None]
        scores = out if out.ndim == 2 else out[:, None]

        def add(rows: NDArray[np.floating], columns: NDArray[np.int64], some: Vector) -> None:
            map_ranges(
                lambda a, b: score_pairs(rows[a:b], columns, lookup, tables, some[a:b]),
                len(some), n_jobs, BLOCK,
            )  # fmt: skip

        if not scipy.sparse.issparse(X):
            add(X, used, scores)
            return
        kept = take_columns(scipy.sparse.csr_array(X), used)
        at_most = 1 + _DENSE_CELLS // max(1, len(used))
        for a in range(0, len(out), at_most):
            now = slice(a, a + at_most)
            add(kept[now].toarray(), np.arange(len(used)), scores[now])

    def contributions(self, X: Any) -> Vector:
        """What each pair adds to each row: (rows, pairs), with several classes one axis more."""
        columns = scipy.sparse.csc_array(X) if scipy.sparse.issparse(X) else X
        out = np.empty((X.shape[0], len(self), *self.tables.shape[1:]))
        for j, (g, h) in enumerate(self.features):
            rows = self.bins(j, 0, dense_column(columns, g))
            out[:, j] = self.table(j)[rows, self.bins(j, 1, dense_column(columns, h))]
        return out

    def take(self, order: NDArray[np.int64]) -> PairTables:
        """Some of the pairs, in that order."""
        axes = (2 * np.asarray(order, np.int64)[:, None] + np.arange(2)).ravel()
        ends, cells = self.edge_starts, self.cell_starts
        spans = [np.arange(cells[j], cells[j + 1]) for j in order]
        span = np.concatenate([*spans, np.empty(0, np.int64)]).astype(np.int64)
        sizes = np.diff(ends)[axes]
        return replace(
            self,
            features=self.features[order],
            categorical=self.categorical[order],
            edge_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            edges=np.concatenate([*(self.edges[ends[i] : ends[i + 1]] for i in axes), np.empty(0)]),
            tables=self.tables[span],
            weights=self.weights[span],
        )

    def among(self, columns: NDArray[np.int64]) -> PairTables:
        """The same pairs where the features are these columns, which ascend."""
        return replace(self, features=columns[self.features])

    def of_class(self, c: int) -> PairTables:
        """The pairs of the score of class c."""
        return replace(self, tables=self.tables[:, c].copy())

    def check_stored(self, fitted: Mapping[str, Any], sizes: dict[str, int]) -> None:
        """See `rgboost._core.stored`."""
        name, n_features = "model_.pairs", fitted["n_features_in_"]
        n_pairs = len(self.features)
        sizes |= {"two": 2, "ends": 2 * n_pairs + 1}
        check_arrays(self, name, _ARRAYS, sizes)
        g, h = self.features.T
        require(
            n_pairs and (g < h).all() and within(self.features, 0, n_features), f"{name}.features"
        )
        require(len(np.unique(self.features, axis=0)) == n_pairs, f"{name}.features")
        categorical = fitted["input_"].categorical
        truths = np.ascontiguousarray(self.categorical).view(np.uint8) <= 1
        require(truths.all(), f"{name}.categorical")
        require((self.categorical == categorical[self.features]).all(), f"{name}.categorical")
        require(are_starts(self.edge_starts, len(self.edges)), f"{name}.edge_starts")
        for i, (a, b) in enumerate(pairwise(self.edge_starts)):
            self._check_edges(self.edges[a:b], i, fitted["input_"].labels)
        require(self.cell_starts[-1] == len(self.weights), f"{name}.tables")
        for a, b in pairwise(self.cell_starts):
            require(are_weights(self.weights[a:b]), f"{name}.weights")

    def _check_edges(self, edges: Vector, i: int, labels: Mapping[int, NDArray]) -> None:
        """Whether these are the thresholds or the categories of an axis."""
        name, own = "model_.pairs.edges", labels.get(int(self.features[i // 2, i % 2]))
        require(ascends(edges) and not np.isnan(edges).any(), name)
        if self.categorical[i // 2, i % 2]:
            require(len(edges), name)
            alone = edges[:-1] if edges[-1] == OTHERS else edges
            require(np.isfinite(alone).all(), name)
            if own is not None:  # a category is the number of its label
                known = (alone >= 0) & (alone < len(own)) & (alone == np.floor(alone))
                require(known.all(), name)


def find_bins(x: NDArray[np.floating], edges: Vector, categorical: bool) -> NDArray[np.int64]:
    """The bin of each value among thresholds or categories, missing values in the last one."""
    if categorical:
        return find_categories(x, edges)
    return np.where(np.isnan(x), len(edges) + 1, np.searchsorted(edges, x))


def weighted_spread(values: Vector, weights: Vector) -> float:
    """The standard deviation of values under weights, which have the first axes of them; of
    several classes, the root of the sum of their squares."""
    flat = values.reshape(weights.size, -1)
    weight = weights.ravel()
    off = flat - np.average(flat, axis=0, weights=weight)
    scale = float(np.abs(off).max(initial=0.0))  # squares of very large and small values exist
    if scale == 0.0:
        return 0.0
    squares = ((off / scale) ** 2).sum(axis=1)
    return scale * float(np.sqrt(np.average(squares, weights=weight)))
