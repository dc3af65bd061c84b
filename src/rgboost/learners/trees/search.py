"""The search of an iteration: a tree on the features of J, and the rows of its leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team, row_chunks
from ...selection import Subsets
from ..credibility import residual_noise
from ..leaves import Leaves
from ..pairs.axes import CATEGORY
from .arrays import TreeArrays
from .grow import Limits, Tree, Work, empty_tree, grow
from .histograms import Looked
from .leaf_of import children_of, find_leaves, keep_order, sum_leaves
from .lines import BinTable, Lines, features_on_the_way
from .look import allowed_learners, look_at
from .splits import sign_of
from .stored import no_splits, write_tree

Vector = NDArray[np.float64]

LEAST_GAIN = 1e-14
"""A split that gains less than this share of the sum of squared residuals is rounding."""


class TreeChoice(NamedTuple):
    """A tree: the number of its first split (-1 if there is none), its splits, as they are and as
    bytes for the record, and its leaves."""

    learner: int
    tree: Any = None
    sets: Any = None
    leaves: Any = None

    def everywhere(self, values: Vector) -> Vector:
        """Every row is in a leaf."""
        return values


class TreeSearch:
    """The search of one run, with memory to work with."""

    def __init__(
        self,
        arrays: TreeArrays,
        n_outputs: int,
        max_leaf_nodes: int,
        max_depth: int | None,
        subsample: float,
        set_bytes: int,
        seed: int,
        table: BinTable | None,
        n_slopes: int | None,
    ) -> None:
        self.arrays = arrays
        self.n_outputs = n_outputs
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_leaf_nodes if max_depth is None else max_depth
        self.subsample = subsample
        self.set_bytes = set_bytes
        self.seed = seed
        self.table = table
        self.n_slopes = n_slopes
        self.done = 0
        self._looked: Looked | None = None
        self._work: Work | None = None
        self._tree = empty_tree(max_leaf_nodes - 1)
        self._leaf = np.empty(arrays.n_rows, np.uint8)
        self._every_row = np.arange(arrays.n_rows, dtype=np.uint32)

    def __call__(self, residual: Vector, subsets: Subsets, m: int, team: Team) -> TreeChoice:
        """The choice of iteration m."""
        arrays, (columns, allowed) = self.arrays, self._subset(subsets, m)
        if not len(columns):
            return TreeChoice(-1)
        if self._looked is None or not np.array_equal(columns, self._looked.columns):
            self._looked = look_at(arrays, columns, team)
        looked = self._looked
        if allowed is not None:
            looked = looked._replace(allowed=allowed_learners(arrays, allowed))
        work, rows = self._ready(looked, team), self._rows()
        work.rows[0, : len(rows)] = rows
        weighted = len(arrays.weight) > 0
        squares = residual_noise(residual, arrays.weight, weighted, 1.0, 1.0)
        noise = arrays.row_weight * squares / arrays.total_weight
        limits = Limits(self.max_leaf_nodes, self.max_depth, LEAST_GAIN * squares)
        every = len(rows) == arrays.n_rows
        leaf = self._leaf if every else self._leaf[:0]
        work = work._replace(chunks=row_chunks(len(rows)))
        n = team.run(
            grow, arrays, looked, residual, len(rows), work, limits, noise, self._tree, leaf
        )
        if n < 2:
            return TreeChoice(-1)
        tree = Tree._make(part[: n - 1].copy() for part in self._tree)
        if not every:
            team.run(find_leaves, arrays, tree, children_of(tree.leaf), self._leaf)
        return self._choice(tree, residual, team)

    def _subset(self, subsets: Subsets, m: int) -> tuple[NDArray[np.int64], Any]:
        """The columns of J, and its weak-learners if they are not all of these columns."""
        at = m % (len(subsets.start) - 1)
        start, stop = subsets.start[at], subsets.start[at + 1]
        columns = subsets.columns[start:stop]
        if not subsets.restricted:
            return np.sort(columns), None
        first, last = (subsets.first[start], subsets.first[stop]) if stop > start else (0, 0)
        return np.unique(columns), subsets.learners[first:last]

    def _rows(self) -> NDArray[np.uint32]:
        """The rows that the tree is looked for on: a share of them, others at every iteration."""
        self.done += 1
        if self.subsample == 1.0:
            return self._every_row
        n = max(1, round(self.subsample * self.arrays.n_rows))
        rng = np.random.default_rng([self.seed, self.done])
        drawn = rng.permutation(self.arrays.n_rows)[:n]
        return np.sort(drawn).astype(np.uint32)

    def _ready(self, looked: Looked, team: Team) -> Work:
        """Memory for histograms of these features."""
        arrays, size = self.arrays, self.n_outputs + 1
        n_rows, n_bins, n_columns = arrays.n_rows, looked.n_bins, len(looked.columns)
        work = self._work
        if work is None or work.histograms.shape[1] < size * n_bins:
            chunks = row_chunks(n_rows)
            work = self._work = Work(
                rows=np.empty((2, n_rows), np.uint32),
                side=np.empty(n_rows, np.uint8),
                values=np.empty(size * n_rows),
                histograms=np.empty((max(1, self.max_leaf_nodes - 1), size * n_bins)),
                counts=np.zeros(team.size, np.int64),
                chunks=chunks,
                partial=np.zeros((len(chunks) - 1, size)),
                gain=np.empty((2, 0)),
                split=np.empty((2, 0), np.int64),
            )
        if work.gain.shape[1] < n_columns:
            gain, split = np.empty((2, n_columns)), np.empty((2, n_columns), np.int64)
            work = self._work = work._replace(gain=gain, split=split)
        return work

    def _choice(self, tree: Tree, residual: Vector, team: Team) -> TreeChoice:
        arrays, n = self.arrays, len(tree.leaf) + 1
        chunks = row_chunks(arrays.n_rows)
        partial = np.empty((len(chunks) - 1, n, self.n_outputs + 1))
        team.run(sum_leaves, residual, arrays.weight, self._leaf, chunks, partial)
        both = partial.sum(axis=0)
        raw, weights = both[:, :-1].copy(), both[:, -1].copy()
        sums, keep = raw * (weights / (weights + arrays.l2))[:, None], None
        if arrays.sign.any():
            sums, keep = self._in_order(tree, raw, sums, weights)
            if not sums.any():
                return TreeChoice(-1)
        leaves = Leaves(self._leaf, raw, sums, weights, keep, self._lines(tree))
        sets = no_splits(self.max_leaf_nodes - 1, self.set_bytes)
        write_tree(tree, arrays.offsets, arrays.n_values, sets)
        learner = int(arrays.offsets[tree.column[0]] + tree.split[0])
        return TreeChoice(learner, tree, sets.view(np.uint8), leaves)

    def _lines(self, tree: Tree) -> Lines | None:
        """The linear functions in the leaves; None if each has one value."""
        arrays = self.arrays
        if self.table is None or self.n_slopes is None:
            return None
        numbers = arrays.kind != CATEGORY
        features, count = features_on_the_way(tree.leaf, tree.column, numbers, self.n_slopes)
        usual = arrays.total_weight / max(1, arrays.n_rows)
        return Lines(arrays, self.table, features, count, usual)

    def _in_order(
        self, tree: Tree, raw: Vector, sums: Vector, weights: Vector
    ) -> tuple[Vector, Any]:
        """Sums of values that keep the constraints, along a direction b with a positive <b, r>; and
        what keeps them for other values."""
        arrays = self.arrays
        splits = zip(tree.column, tree.split, strict=True)
        signs = np.array([sign_of(arrays, g, s) for g, s in splits], np.int8)

        def keep(values: Vector, weights: Vector) -> None:
            keep_order(tree, signs, values, np.maximum(weights, 1e-12 * weights.sum()))

        values = sums[:, 0] / weights
        keep(values, weights)
        along, square = float(values @ raw[:, 0]), float(weights @ values**2)
        share = min(1.0, max(0.0, along / square)) if square > 0.0 else 0.0
        return (share * values * weights)[:, None], keep
