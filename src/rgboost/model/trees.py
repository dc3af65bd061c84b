"""A sum of regression trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.one_line import one_line
from .._core.stored import are_starts, ascends, check_arrays, require, within
from .._core.team import map_ranges
from ..data.mixed_bins import find_categories
from ..data.sparse_columns import take_columns
from .leaf_lines import LeafLines, Lines, line_value, look_up, no_lines
from .stump_model import check_classes

BLOCK = 64
"""Rows that go down a tree side by side, or fewer rows that go down several trees: none of them
waits for another."""

SPARSE_BLOCK = 1024
"""Rows of a sparse matrix that are made dense at a time, in the columns that trees split."""

_ARRAYS = {
    "starts": "i8 trees+1", "feature": "i8 splits", "threshold": "f8 splits",
    "children": "i8 splits 2", "missing_left": "u1 splits", "which_set": "i8 splits",
    "sets": "u1 sets bytes", "gain": "f8 splits", "values": "f8 leaves *", "weight": "f8 leaves",
    "category_features": "i8 categorical", "category_starts": "i8 categorical+1",
    "categories": "f8 categories",
}  # fmt: skip


NODE = np.dtype(
    [
        ("threshold", "f8"), ("feature", "i4"), ("left", "i4"), ("right", "i4"), ("leaf", "i4"),
        ("which_set", "i4"), ("missing_left", "i4"),
    ]
)  # fmt: skip
"""A split, or a leaf, which leads to itself: all that a step down a tree reads lies side by side
(half a cache line)."""


class Forest(NamedTuple):
    """Splits and leaves of all trees in one list, for compiled code: those of tree t begin at
    ``starts[t]``, and its longest way has ``depth[t]`` splits."""

    nodes: NDArray[Any]
    starts: NDArray[np.int64]
    depth: NDArray[np.int64]
    sets: NDArray[np.uint8]
    values: NDArray[np.float64]
    lines: Lines


@one_line
@dataclass(frozen=True)
class TreesModel:
    """score(x) = intercept + sum_t tree_t(x).

    Tree t has the splits ``starts[t]:starts[t + 1]`` and one leaf more than splits, of which it has
    the ``values`` from ``starts[t] + t`` on, with several classes one for each. A split goes to
    ``children[k, 0]`` where ``x[:, feature[k]] <= threshold[k]``, and to ``children[k, 1]``
    elsewhere: a later split of the tree, counted from 0, or ~q for its leaf q. Missing values go to
    the left if ``missing_left[k]``. The threshold of a split of categories is NaN: bit c of
    ``sets[which_set[k]]`` tells whether category c goes to the left, in the order of
    ``categories[category_starts[j]:category_starts[j + 1]]`` for feature ``category_features[j]``;
    the bit after the last one stands for missing values and categories that were not there at fit
    time. ``gain`` is what each split gained when it was chosen (sums of squared residuals),
    ``weight`` the weight of the training rows in each leaf. With ``lines`` a leaf says a linear
    function, and ``values`` are what it is where all of its z are 0.
    """

    n_features: int
    intercept: Any
    starts: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    children: NDArray[np.int64]
    missing_left: NDArray[np.uint8]
    which_set: NDArray[np.int64]
    sets: NDArray[np.uint8]
    gain: NDArray[np.float64]
    values: NDArray[np.float64]
    weight: NDArray[np.float64]
    category_features: NDArray[np.int64]
    category_starts: NDArray[np.int64]
    categories: NDArray[np.float64]
    lines: LeafLines | None = None

    no_functions = (
        "this one is a sum of trees, in which features act together: feature_importances_ tells "
        "what each of them gained, explain_local what they contribute to single rows, and "
        "learner='stumps' fits a model that can be shown."
    )

    @property
    def n_trees(self) -> int:
        return len(self.starts) - 1

    def without_path(self) -> TreesModel:
        """Itself: its trees are its stages."""
        return self

    def among(self, columns: NDArray[np.int64], n_features: int) -> TreesModel:
        """The same model where its features are these columns of ``n_features``."""
        return replace(
            self,
            n_features=n_features,
            feature=columns[self.feature],
            category_features=columns[self.category_features],
            lines=None if self.lines is None else self.lines.among(columns),
        )

    def importances(self) -> NDArray[np.float64]:
        """The share of each feature in what all splits gained; all 0 if there are none."""
        found = np.bincount(self.feature, self.gain, self.n_features).astype(np.float64)
        total = found.sum()
        return found / total if total > 0.0 else found

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The score of every row, (rows,) or (rows, classes)."""
        out = self._start(X.shape[0])
        self._add(X, 0, self.n_trees, out, n_jobs)
        return out[:, 0] if self.values.ndim == 1 else out

    def staged_score(self, X: Any, n_jobs: int = 1) -> Iterator[NDArray[np.float64]]:
        """The score after each tree, a new array every time."""
        out = self._start(X.shape[0])
        for t in range(self.n_trees):
            self._add(X, t, t + 1, out, n_jobs)
            yield out[:, 0].copy() if self.values.ndim == 1 else out.copy()

    def _start(self, n_rows: int) -> NDArray[np.float64]:
        out = np.empty((n_rows, self.values.shape[1] if self.values.ndim == 2 else 1))
        out[:] = self.intercept
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Its fields, for pickle: what compiled code reads is made from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _forest(self) -> Forest:
        nodes, starts, depth = make_nodes(
            self.starts, self.feature, self.threshold, self.children, self.missing_left,
            self.which_set, NODE,
        )  # fmt: skip
        values = self.values if self.values.ndim == 2 else self.values[:, None]
        lines = no_lines() if self.lines is None else self.lines.arrays()
        return Forest(nodes, starts, depth, self.sets, values, lines)

    def _add(self, X: Any, first: int, stop: int, out: NDArray[np.float64], n_jobs: int) -> None:
        """Add what some of the trees say."""
        if not scipy.sparse.issparse(X):
            known, forest = self._coded(X), self._forest
            map_ranges(
                lambda a, b: add_trees(known[a:b], forest, first, stop, out[a:b]),
                len(out), n_jobs, BLOCK,
            )  # fmt: skip
            return
        used, narrow = self._narrow
        rows = take_columns(scipy.sparse.csr_array(X), used)

        def add(a: int, b: int) -> None:
            for lo in range(a, max(b, a + 1), SPARSE_BLOCK):
                hi = min(lo + SPARSE_BLOCK, b)
                dense = narrow._coded(rows[lo:hi].toarray())
                add_trees(dense, narrow._forest, first, stop, out[lo:hi])

        map_ranges(add, len(out), n_jobs, BLOCK)

    @cached_property
    def _narrow(self) -> tuple[NDArray[np.int64], TreesModel]:
        """The columns that trees split, and the same model where its features are these."""
        used, place = np.unique(self.feature, return_inverse=True)
        if not len(used):
            used, place = np.zeros(1, np.int64), place.astype(np.int64)
        lines = self.lines
        if lines is not None:
            lines = replace(lines, features=np.searchsorted(used, lines.features))
        narrow = replace(
            self, n_features=len(used), feature=place.astype(np.int64), lines=lines,
            category_features=np.searchsorted(used, self.category_features),
        )  # fmt: skip
        return used, narrow

    def _coded(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Rows with the number of its category in place of each."""
        if not len(self.category_features):
            return X
        X = np.array(X, np.float64)
        for j, g in enumerate(self.category_features):
            known = self.categories[self.category_starts[j] : self.category_starts[j + 1]]
            X[:, g] = find_categories(X[:, g], known)
        return X

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        n_features = fitted["n_features_in_"]
        classes = {"*": self.values.shape[1]} if self.values.ndim == 2 else {}
        sizes = {"trees": max(0, self.starts.size - 1), "2": 2}
        check_arrays(self, "model_", _ARRAYS, {**sizes, **classes})
        require(type(self.n_features) is int and self.n_features == n_features, "model_.n_features")
        require(are_starts(self.starts, len(self.feature)), "model_.starts")
        require(len(self.values) == len(self.feature) + self.n_trees, "model_.values")
        require(within(self.feature, 0, n_features), "model_.feature")
        require(all_forward(self.starts, self.children), "model_.children")
        require(within(self.missing_left.astype(np.int64), 0, 2), "model_.missing_left")
        by_set = self.which_set >= 0
        require(within(self.which_set, -1, len(self.sets)), "model_.which_set")
        require((np.isnan(self.threshold) == by_set).all(), "model_.threshold")
        features = self.category_features
        inside = ascends(features) and within(features, 0, n_features)
        require(inside, "model_.category_features")
        require(np.isin(self.feature[by_set], features).all(), "model_.category_features")
        require(not np.isin(self.feature[~by_set], features).any(), "model_.category_features")
        require(are_starts(self.category_starts, len(self.categories)), "model_.category_starts")
        for a, b in pairwise(self.category_starts):
            require(ascends(self.categories[a:b]), "model_.categories")
            require(b - a < 8 * self.sets.shape[1], "model_.sets")
        require((self.weight >= 0.0).all() and (self.gain >= 0.0).all(), "model_.weight")
        require(np.isfinite(self.values).all(), "model_.values")
        check_classes(self.intercept, classes.get("*"), fitted)
        if self.lines is not None:
            require(type(self.lines) is LeafLines and not classes, "model_.lines")
            lined = self.lines.features
            require(not np.isin(lined, features).any(), "model_.lines.features")
            require(np.isin(lined, self.feature).all(), "model_.lines.features")
            self.lines.check_stored({"leaves": len(self.values), "features": n_features})


def all_forward(starts: NDArray[np.int64], children: NDArray[np.int64]) -> bool:
    """Whether every split leads to later splits, or leaves, of its own tree."""
    for a, b in pairwise(starts):
        n, here = b - a, children[a:b]
        later = (here > np.arange(n)[:, None]) & (here < n)
        leaf = (here < 0) & (here >= ~n)
        if not (later | leaf).all():
            return False
    return True


@kernel()
def make_nodes(starts, feature, threshold, children, missing_left, which_set, kind):
    """(splits and leaves of all trees in one list, where each tree begins, how deep it is)."""
    n_trees, n_splits = starts.shape[0] - 1, feature.shape[0]
    size = 2 * n_splits + n_trees
    nodes = np.zeros(size, kind)
    begin, depth = np.zeros(n_trees, np.int64), np.zeros(n_trees, np.int64)
    deep = np.zeros(size, np.int64)
    for t in range(n_trees):
        first, n = starts[t], starts[t + 1] - starts[t]
        base = 2 * first + t
        begin[t] = base
        for k in range(n):
            at = base + k
            node = nodes[at]
            node.feature, node.threshold = feature[first + k], threshold[first + k]
            node.missing_left, node.which_set = missing_left[first + k], which_set[first + k]
            left, right = children[first + k, 0], children[first + k, 1]
            node.left = base + (left if left >= 0 else n + ~left)
            node.right = base + (right if right >= 0 else n + ~right)
            deep[node.left] = deep[node.right] = deep[at] + 1
        for q in range(n + 1):
            at = base + n + q
            node = nodes[at]
            node.threshold, node.which_set, node.missing_left = np.inf, -1, 1
            node.left = node.right = at
            node.leaf = first + t + q
            depth[t] = max(depth[t], deep[at])
    return nodes, begin, depth


@kernel()
def add_trees(X, forest, first, stop, out):
    """Add the values of some trees to the scores of rows."""
    at, row = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    values, lines = forest.values, forest.lines
    linear, by_set = lines.low.shape[0] > 0, forest.sets.shape[0] > 0
    z = np.empty((BLOCK, lines.features.shape[0]))
    for start in range(0, X.shape[0], BLOCK):
        rows, scores = X[start : start + BLOCK], out[start : start + BLOCK]
        n_rows = rows.shape[0]
        if linear:
            look_up(rows, lines, z)
        group = BLOCK // n_rows
        for place in range(group * n_rows):
            row[place] = place % n_rows
        for t in range(first, stop, group):
            end = min(t + group, stop)
            depth = 0
            for k in range(t, end):
                at[(k - t) * n_rows : (k - t + 1) * n_rows] = forest.starts[k]
                depth = max(depth, forest.depth[k])
            n = (end - t) * n_rows
            for _ in range(depth):
                if by_set:
                    go_down_sets(rows, forest.nodes, forest.sets, row, at[:n])
                else:
                    go_down(rows, forest.nodes, row, at[:n])
            for place in range(n):
                i, q = row[place], forest.nodes[at[place]].leaf
                if linear:
                    scores[i, 0] += line_value(lines, q, values[q, 0], z[i])
                    continue
                for c in range(values.shape[1]):
                    scores[i, c] += values[q, c]


@kernel()
def go_down(rows, nodes, row, at):
    """Every row one level down its tree, without branches: a wrong guess would cost more than a
    split."""
    for place in range(at.shape[0]):
        node = nodes[at[place]]
        x = rows[row[place], node.feature]
        right = np.int64(x > node.threshold) | (np.int64(x != x) & (1 - node.missing_left))
        at[place] = node.left + right * (node.right - node.left)


@kernel()
def go_down_sets(rows, nodes, sets, row, at):
    """The same where some features are categories, given by their numbers."""
    for place in range(at.shape[0]):
        node = nodes[at[place]]
        x = rows[row[place], node.feature]
        if node.which_set >= 0:
            code = np.int64(x)
            right = 1 - np.int64((sets[node.which_set, code // 8] >> (code % 8)) & 1)
        else:
            right = np.int64(x > node.threshold) | (np.int64(x != x) & (1 - node.missing_left))
        at[place] = node.left + right * (node.right - node.left)
