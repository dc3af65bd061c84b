"""The search of an iteration: the best quadrant stump in J, and the rows of its quadrants; and one
look at all pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...selection import Subsets
from ..kernels import TIE, Subset
from ..leaves import Leaves, divided
from .axes import WITH_MISSING
from .isotone import keep_order
from .look import look_at, make_look, whole_look
from .score import EMPTY, order_values
from .search import (
    MOST_BINS,
    Found,
    PairArrays,
    find_leaves,
    make_found,
    search_all,
    sum_leaves,
)

Vector = NDArray[np.float64]

SIDES = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], float)
"""The quadrants that a row may be in that lacks a number, by codes 4..8 of `search.find_leaves`."""
_NONE = np.zeros(0, np.int64)


class PairChoice(NamedTuple):
    """A quadrant stump: its number (-1 if there was nothing to choose from), the axes, the bins on
    the left of both (bits for the record, bytes for compiled code), and its leaves."""

    learner: int
    axes: tuple[int, int] = (-1, -1)
    left: Any = None
    sets: Any = None
    leaves: Any = None

    def everywhere(self, values: Vector) -> Vector:
        """Values of the quadrants and, where a number is missing that never was in training, the
        mean over the sides that it could be on; see `search.find_leaves`."""
        shares = SIDES * self.leaves.weights
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), EMPTY)
        return np.concatenate([values, shares @ values])


class PairSearch:
    """The search of one run, with memory to work with."""

    def __init__(
        self, arrays: PairArrays, n_outputs: int, set_bytes: int, search_rows: int | None,
        search_cuts: int | None, seed: int,
    ) -> None:  # fmt: skip
        self.arrays = arrays
        self.search_cuts = search_cuts or MOST_BINS
        self.seed = seed
        self._look = make_look(arrays.n_values)
        self.size = min(arrays.n_rows, search_rows or arrays.n_rows)
        """Rows that a search looks at: the next ones at every iteration, which are at random."""
        self.done = 0
        self.n_outputs = n_outputs
        self.set_bytes = set_bytes
        self._found: Found | None = None
        self._leaf = np.empty(arrays.n_rows, np.uint8)

    def __call__(self, residual: Vector, subsets: Subsets, m: int, team: Team) -> PairChoice:
        """The choice of iteration m."""
        arrays = self.arrays
        at = m % (len(subsets.start) - 1)
        start, stop = subsets.start[at], subsets.start[at + 1]
        columns = subsets.columns[start:stop]
        if not len(columns):
            return PairChoice(-1)
        if self._found is None or len(self._found.score) < len(columns):
            self._found = make_found(len(columns), self.n_outputs)
        found = self._found
        first = subsets.first[start : stop + 1]
        subset = Subset(columns, subsets.restricted, first, subsets.learners)
        most_cuts = MOST_BINS if subsets.restricted else self.search_cuts
        look_at(arrays, columns, most_cuts, self.seed, self.done, self._look)
        search_all(arrays, subset, self._look, residual, *self._rows(), found, team)
        scores = found.score[: len(columns)]
        top = scores.max()
        if top < 0.0:
            return PairChoice(-1)
        j = int(np.argmax(scores >= top * (1.0 - TIE)))  # columns ascend: the smallest index
        return self._choice(found, j, int(columns[j]), residual)

    def _rows(self) -> tuple[int, int]:
        """The rows of this iteration: pieces of all rows in turn."""
        pieces = -(-self.arrays.n_rows // self.size)
        piece, self.done = self.done % pieces, self.done + 1
        lo = min(piece * self.size, self.arrays.n_rows - self.size)
        return lo, lo + self.size

    def _choice(self, found: Found, j: int, k: int, residual: Vector) -> PairChoice:
        arrays = self.arrays
        g, h = (int(one) for one in arrays.pairs[k])
        left = found.left[j].copy()
        find_leaves(arrays.codes, g, h, left, self._leaf)
        sets = np.zeros((2, self.set_bytes), np.uint8)
        for axis, g_or_h in enumerate((g, h) if h >= 0 else (g,)):
            inside = left[axis, : arrays.n_values[g_or_h] + 1] == 1
            bits = np.packbits(inside, bitorder="little")
            sets[axis, : len(bits)] = bits
        learner = int(found.learner[j])
        leaves = self._leaves(found, j, k, learner, residual)
        return PairChoice(learner, (g, h), left, sets, leaves)

    def _leaves(self, found: Found, j: int, k: int, learner: int, residual: Vector) -> Leaves:
        """Sums in the quadrants, over all rows; light ones stay at zero, and constraints are
        kept."""
        arrays = self.arrays
        light = max(arrays.lightest, EMPTY * arrays.total_weight)
        weights = found.weights[j].copy()
        raw, sums = found.raw[j].copy(), found.sums[j].copy()
        if self.size < arrays.n_rows:
            share = np.where(raw == 0.0, 1.0, divided(sums, raw))
            raw = sum_leaves(residual, self._leaf, 4)
            sums = raw * share
        raw[weights <= light] = sums[weights <= light] = 0.0
        sign_g, sign_h = self._signs(k, learner - int(arrays.offsets[k]))
        if not (sign_g or sign_h):
            return Leaves(self._leaf, raw, sums, weights)
        values = np.empty(4)
        order_values(sums[:, 0], weights, light, sign_g, sign_h, values)
        # A quadrant without rows has a value, too: new rows may be there.
        weights = np.maximum(weights, EMPTY * arrays.total_weight)
        sums[:, 0] = values * weights

        def keep(values: Vector, weights: Vector) -> None:
            heavy = np.maximum(weights, EMPTY * weights.sum())
            keep_order(values, heavy, sign_g, sign_h)

        return Leaves(self._leaf, raw, sums, weights, keep)

    def _signs(self, k: int, number: int) -> tuple[int, int]:
        """Constraints along both axes; the split of missing values from all values has none."""
        arrays = self.arrays
        g, h = arrays.pairs[k]
        n_h = 1 if h < 0 else int(arrays.n_splits[h])
        signs = []
        for axis, split in ((g, number // n_h), (h, number % n_h)):
            free = axis < 0 or (
                arrays.kind[axis] == WITH_MISSING and split == arrays.n_values[axis] - 1
            )
            signs.append(0 if free else int(arrays.sign[axis]))
        return signs[0], signs[1]


def screen_pairs(
    arrays: PairArrays, residual: NDArray[np.float64], team: Team
) -> NDArray[np.float64]:
    """How much each pair explains by itself: the share of the residuals, weighted (outputs, rows),
    of its best quadrant stump, <b, r>^2 / <r, r>."""
    found = make_found(len(arrays.pairs), len(residual))
    weighted = len(arrays.weight) > 0
    largest = float(np.abs(residual).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(len(arrays.pairs))
    residual = residual / largest  # squares of very large and very small ones exist, too
    total = float((residual**2 / arrays.weight if weighted else residual**2).sum())
    every = Subset(np.arange(len(arrays.pairs)), False, _NONE, _NONE)
    look = whole_look(arrays, every.columns)
    search_all(arrays, every, look, residual, 0, residual.shape[1], found, team)
    return np.maximum(found.score, 0.0) / total
