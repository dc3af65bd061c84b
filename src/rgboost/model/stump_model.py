"""An additive model of step functions: one table per feature.

score(x) = intercept + sum_g table_g[bin(x_g)], whatever the number of stumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._jit import kernel
from .._team import map_ranges
from ..data.binning import Cuts
from .path import Path

BLOCK = 256


@dataclass(frozen=True)
class StumpModel:
    """Step functions of the features that the path used.

    Feature ``features[k]`` has the cuts ``cuts[starts[k]:starts[k + 1]]`` and one more value than
    cuts, ``tables[starts[k] + k:starts[k + 1] + k + 1]``. The path itself is kept for
    `staged_score` and for whoever wants to see it: iteration m added ``left[m]`` where
    ``x[:, feature[m]] <= threshold[m]`` and ``right[m]`` elsewhere (``feature[m]`` is -1 where
    nothing was added).
    """

    n_features: int
    intercept: float
    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    cuts: NDArray[np.float64]
    tables: NDArray[np.float64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]

    @classmethod
    def collapse(cls, cuts: Cuts, path: Path, intercept: float) -> StumpModel:
        """Add up the stumps of a path that starts from a constant score."""
        chosen = path.learner >= 0
        learner = path.learner[chosen]
        used, position = np.unique(learner, return_inverse=True)
        used_feature = np.searchsorted(cuts.offsets, used, side="right") - 1
        features, first = np.unique(used_feature, return_index=True)
        starts = np.append(first, len(used)).astype(np.int64)
        # Walking right, a feature's score starts at the sum of its left values and changes by
        # (right - left) at each cut.
        jump = np.bincount(position, path.right[chosen] - path.left[chosen], len(used))
        base = np.bincount(position, path.left[chosen], len(used))
        tables = np.empty(len(used) + len(features))
        for k, (a, b) in enumerate(pairwise(starts)):
            table = np.cumsum(np.concatenate([[base[a:b].sum()], jump[a:b]]))
            tables[a + k : b + k + 1] = table
        feature = np.full(len(path), -1, dtype=np.int64)
        feature[chosen] = used_feature[position]
        threshold = np.full(len(path), np.nan)
        threshold[chosen] = cuts.thresholds[learner]
        return cls(
            n_features=cuts.n_features,
            intercept=float(intercept),
            features=features,
            starts=starts,
            cuts=cuts.thresholds[used],
            tables=tables,
            feature=feature,
            threshold=threshold,
            left=path.left,
            right=path.right,
        )

    def table(self, feature: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(cuts, values) of a feature's step function; values has one entry more than cuts."""
        k = int(np.searchsorted(self.features, feature))
        if k == len(self.features) or self.features[k] != feature:
            return np.empty(0), np.zeros(1)
        a, b = self.starts[k], self.starts[k + 1]
        return self.cuts[a:b], self.tables[a + k : b + k + 1]

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The additive score of every row."""
        out = np.full(X.shape[0], self.intercept)
        if scipy.sparse.issparse(X):
            return self._score_sparse(scipy.sparse.csr_array(X), out, n_jobs)
        args = (self.features, self.starts, self.cuts, self.tables)
        map_ranges(lambda a, b: score_rows(X[a:b], *args, out[a:b]), len(out), n_jobs, BLOCK)
        return out

    def _score_sparse(
        self, X: scipy.sparse.csr_array, out: NDArray[np.float64], n_jobs: int
    ) -> NDArray[np.float64]:
        slot = np.full(self.n_features, -1, dtype=np.int64)
        slot[self.features] = np.arange(len(self.features))
        at_zero = np.array([_value_at_zero(*self.table(g)) for g in self.features])
        out += at_zero.sum()
        args = (X.indptr, X.indices, X.data, slot, at_zero, self.starts, self.cuts, self.tables)
        map_ranges(lambda a, b: score_entries(*args, a, b, out), len(out), n_jobs, BLOCK)
        return out

    def staged_score(self, X: Any, n_jobs: int = 1) -> Iterator[NDArray[np.float64]]:
        """The score after each iteration, a new array every time."""
        sparse = scipy.sparse.issparse(X)
        columns = scipy.sparse.csc_array(X) if sparse else X
        score = np.full(X.shape[0], self.intercept)
        for g, s, left, right in zip(
            self.feature, self.threshold, self.left, self.right, strict=True
        ):
            if g >= 0:
                x = columns[:, [g]].toarray().ravel() if sparse else columns[:, g]
                score += np.where(x <= s, left, right)
            yield score.copy()


def _value_at_zero(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    return float(values[np.searchsorted(cuts, 0.0)])


FEW_CUTS = 24
"""Up to this many cuts, comparing with every one of them is faster than a binary search."""


@kernel()
def score_rows(X, features, starts, cuts, tables, out):
    """Add the table entries of dense rows, a block of rows at a time and in it feature by feature.

    The block stays in cache while its columns are read; its values are copied so that the search
    runs over neighbours.
    """
    ladder_starts, ladders = make_ladders(starts, cuts)
    found = np.empty(BLOCK, np.uint32)
    values = np.empty(BLOCK, X.dtype)
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK]
        scores = out[start : start + BLOCK]
        for k in range(features.shape[0]):
            g = features[k]
            for i in range(rows.shape[0]):
                values[i] = rows[i, g]
            a, n_cuts = starts[k], starts[k + 1] - starts[k]
            if n_cuts <= FEW_CUTS:
                count_cuts(values, cuts[a : a + n_cuts], found)
            else:
                climb_ladder(values, ladders[ladder_starts[k] : ladder_starts[k + 1]], found)
            table = tables[a + k : a + k + n_cuts + 1]
            for i in range(scores.shape[0]):
                scores[i] += table[found[i]]


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


@kernel()
def score_entries(indptr, indices, data, slot, at_zero, starts, cuts, tables, lo, hi, out):
    """Add, for the stored entries of rows lo..hi, the table entry less the one of zero."""
    for i in range(lo, hi):
        score = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            k = slot[indices[e]]
            if k >= 0:
                first, length = starts[k], starts[k + 1] - starts[k]
                base = first + k
                x = data[e]
                while length > 0:  # a search without calls: most features have a cut or two
                    half = (length + 1) // 2
                    if cuts[first + half - 1] < x:
                        first += half
                        length -= half
                    else:
                        length = half - 1
                score += tables[base + first - starts[k]] - at_zero[k]
        out[i] += score
