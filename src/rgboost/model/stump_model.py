"""An additive model of step functions: one table per feature.

score(x) = intercept + sum_g table_g[bin(x_g)], whatever the number of stumps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.one_line import one_line
from .._core.stored import all_or_none, are_starts, ascends, check_arrays, require, within
from .._core.team import map_ranges
from ..data.cuts import Cuts
from ..data.sparse_columns import dense_column, take_columns
from .category_tables import CategoryTables
from .ladders import BLOCK, FEW_CUTS, climb_ladder, count_cuts, make_ladders
from .pair_tables import PairTables
from .path import Path, no_stages, not_stored

_ARRAYS = {
    "features": "i8 used", "starts": "i8 used+1", "cuts": "f8 cuts", "tables": "f8 cuts+used *",
    "missing": "f8 used *", "feature": "i8? path", "threshold": "f8? path", "left": "f8? path *",
    "right": "f8? path *", "when_missing": "f8? path *",
}  # fmt: skip


@one_line
@dataclass(frozen=True)
class StumpModel:
    """Step functions of the features that the path used.

    Feature ``features[k]`` has the cuts ``cuts[starts[k]:starts[k + 1]]`` and one more value than
    cuts, ``tables[starts[k] + k:starts[k + 1] + k + 1]``, and ``missing[k]`` where x is NaN. The
    path itself is kept for `staged_score` and for whoever wants to see it: iteration m added
    ``left[m]`` where ``x[:, feature[m]] <= threshold[m]``, ``when_missing[m]`` where it is NaN and
    ``right[m]`` elsewhere (``feature[m]`` is -1 where nothing was added). The threshold is infinite
    if only missing values are on the right, and NaN for a set of categories. All five are None in
    a model that was stored without its path. ``categories`` has the tables of categorical
    features, or is None; ``pairs`` those of pairs of features, which are added last.
    """

    n_features: int
    intercept: float
    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    cuts: NDArray[np.float64]
    tables: NDArray[np.float64]
    missing: NDArray[np.float64]
    feature: NDArray[np.int64] | None
    threshold: NDArray[np.float64] | None
    left: NDArray[np.float64] | None
    right: NDArray[np.float64] | None
    when_missing: NDArray[np.float64] | None
    categories: CategoryTables | None = None
    pairs: PairTables | None = None

    @classmethod
    def collapse(cls, cuts: Cuts, path: Path, intercept: float, total_weight: float) -> StumpModel:
        """Add up the stumps of a path that starts from a constant score.

        No value was missing among the training rows, which weigh ``total_weight``: a missing value
        gets what the rows get on average.
        """
        chosen = path.learner >= 0
        share = np.zeros(len(path))
        share[chosen] = cuts.left_weight[path.learner[chosen]] / total_weight
        when_missing = share * path.left + (1.0 - share) * path.right
        feature = np.searchsorted(cuts.offsets, path.learner, side="right") - 1
        return collapse_steps(
            cuts.n_features, intercept, cuts.thresholds, path.learner,
            np.where(chosen, feature, -1), path.left, path.right, when_missing,
        )  # fmt: skip

    @property
    def wide(self) -> StumpModel:
        """Itself; see `ClassStumpModel`."""
        return self

    def without_path(self) -> StumpModel:
        """The tables alone: the same scores, but no stages."""
        tables = self.categories
        return replace(
            self, feature=None, threshold=None, left=None, right=None, when_missing=None,
            categories=None if tables is None else tables.without_path(),
        )  # fmt: skip

    def among(self, columns: NDArray[np.int64], n_features: int) -> StumpModel:
        """The same model where its features are these columns of ``n_features``."""
        assert self.categories is None
        feature = self.feature
        return replace(
            self,
            n_features=n_features,
            features=columns[self.features],
            feature=None if feature is None else np.where(feature >= 0, columns[feature], -1),
            pairs=None if self.pairs is None else self.pairs.among(columns),
        )

    def table(self, feature: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(cuts, values) of a numeric feature's step function; values has one entry more than
        cuts. For a categorical feature see ``categories.table``."""
        k = int(np.searchsorted(self.features, feature))
        if k == len(self.features) or self.features[k] != feature:
            return np.empty(0), np.zeros(1)
        a, b = self.starts[k], self.starts[k + 1]
        return self.cuts[a:b], self.tables[a + k : b + k + 1]

    def missing_value(self, feature: int) -> float:
        """What a numeric feature adds where it is missing."""
        k = int(np.searchsorted(self.features, feature))
        known = k < len(self.features) and self.features[k] == feature
        return float(self.missing[k]) if known else 0.0

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The additive score of every row."""
        out = np.full(X.shape[0], self.intercept)
        if self.categories is not None:
            self.categories.add_scores(X, out)
        if scipy.sparse.issparse(X):
            self._score_sparse(scipy.sparse.csr_array(X), out, n_jobs)
        else:
            args = (self.features, self.starts, self.cuts, self.tables, self.missing)
            map_ranges(lambda a, b: score_rows(X[a:b], *args, out[a:b]), len(out), n_jobs, BLOCK)
        if self.pairs is not None:
            self.pairs.add_scores(X, out, n_jobs)
        return out

    def _score_sparse(
        self, X: scipy.sparse.csr_array, out: NDArray[np.float64], n_jobs: int
    ) -> None:
        features, n_features = self.features, self.n_features
        if n_features > X.nnz + len(features):  # a place for each would be more than the rows
            X, n_features = take_columns(X, features), len(features)
            features = np.arange(n_features)
        slot = np.full(n_features, -1, dtype=np.int64)
        slot[features] = np.arange(len(features))
        at_zero = np.array([_value_at_zero(*self.table(g)) for g in self.features])
        out += at_zero.sum()
        tables = (self.starts, self.cuts, self.tables, self.missing)
        args = (X.indptr, X.indices, X.data, slot, at_zero, *tables)
        map_ranges(lambda a, b: score_entries(*args, a, b, out), len(out), n_jobs, BLOCK)

    def staged_score(self, X: Any, n_jobs: int = 1) -> Iterator[NDArray[np.float64]]:
        """The score after each iteration, a new array every time."""
        if self.pairs is not None:
            raise no_stages()
        if self.feature is None:
            raise not_stored("staged predictions")
        columns, place = X, self.feature
        if scipy.sparse.issparse(X):
            used = np.unique(self.feature[self.feature >= 0])
            columns = scipy.sparse.csc_array(take_columns(scipy.sparse.csr_array(X), used))
            place = np.searchsorted(used, self.feature)
        score = np.full(X.shape[0], self.intercept)
        for m, g in enumerate(self.feature):
            if g >= 0:
                score += self._step(m, dense_column(columns, place[m]))
            yield score.copy()

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        n_features = fitted["n_features_in_"]
        classes = {"*": self.tables.shape[1]} if self.tables.ndim == 2 else {}
        check_arrays(self, "model_", _ARRAYS, dict(classes))
        require(type(self.n_features) is int and self.n_features == n_features, "model_.n_features")
        require(ascends(self.features) and within(self.features, 0, n_features), "model_.features")
        require(are_starts(self.starts, len(self.cuts)), "model_.starts")
        require(all(ascends(self.cuts[a:b]) for a, b in pairwise(self.starts)), "model_.cuts")
        require(not np.isnan(self.cuts).any(), "model_.cuts")
        check_classes(self.intercept, classes.get("*"), fitted)
        if self.categories is not None:
            self.categories.check_stored(fitted, dict(classes))
            apart = not np.isin(self.categories.features, self.features).any()
            require(apart, "model_.categories.features")
        if self.pairs is not None:
            require(isinstance(self.pairs, PairTables) and self.feature is None, "model_.pairs")
            self.pairs.check_stored(fitted, dict(classes))
        path = (self.feature, self.threshold, self.left, self.right, self.when_missing)
        by_set = None
        if all_or_none(path, "model_.feature"):
            require(within(self.feature, -1, n_features), "model_.feature")  # type: ignore[arg-type]
            by_set = np.flatnonzero((self.feature >= 0) & np.isnan(self.threshold))  # type: ignore[arg-type, operator]
        if self.categories is not None:
            self.categories.check_path(by_set, self.feature)
        else:
            require(by_set is None or not len(by_set), "model_.threshold")

    def _step(self, m: int, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """What iteration m added."""
        assert self.left is not None
        assert self.right is not None
        assert self.threshold is not None
        assert self.when_missing is not None
        left, right = self.left[m], self.right[m]
        if np.isnan(self.threshold[m]):
            assert self.categories is not None
            return self.categories.step(m, x, left, right, self.when_missing[m])
        added = np.where(x <= self.threshold[m], left, right)
        added[np.isnan(x)] = self.when_missing[m]
        return added


def check_classes(intercept: Any, n_classes: int | None, fitted: Mapping[str, Any]) -> None:
    """Scores, classes and loss of a stored model must be for the same number of classes."""
    found = getattr(fitted["loss_"], "n_classes", None)
    require(found == n_classes and (n_classes is None or n_classes > 2), "fitted.loss_")
    for start in (intercept, fitted["intercept_"]):
        require(np.shape(start) == (() if n_classes is None else (n_classes,)), "intercept")
        require(np.asarray(start).dtype == np.float64, "intercept")
    labels = fitted.get("classes_")
    require(labels is None or len(labels) == (n_classes or 2), "fitted.classes_")
    require(labels is not None or n_classes is None, "fitted.loss_")


def collapse_steps(
    n_features: int,
    intercept: float,
    thresholds: NDArray[np.float64],
    cut: NDArray[np.int64],
    feature: NDArray[np.int64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    when_missing: NDArray[np.float64],
) -> StumpModel:
    """Tables from steps on numeric features.

    Iteration m cut ``feature[m]`` (-1: none) at ``thresholds[cut[m]]``; it left only missing
    values on the right if ``cut[m]`` is -1. Thresholds ascend within a feature, features in the
    order of their thresholds.
    """
    chosen, cutting = feature >= 0, (feature >= 0) & (cut >= 0)
    features, slot = np.unique(feature[chosen], return_inverse=True)
    used, position = np.unique(cut[cutting], return_inverse=True)
    owner = np.zeros(len(used), np.int64)
    owner[position] = feature[cutting]
    starts = np.searchsorted(owner, np.append(features, n_features)).astype(np.int64)
    # Walking right, a feature's score starts at the sum of its left values and changes by
    # (right - left) at each cut.
    base = np.bincount(slot, left[chosen], len(features))
    jump = np.bincount(position, right[cutting] - left[cutting], len(used))
    tables = np.insert(jump.astype(np.float64), starts[:-1], base)  # integers if there is none
    for a, b in pairwise((starts + np.arange(len(starts))).tolist()):
        np.cumsum(tables[a:b], out=tables[a:b])
    threshold = np.full(len(feature), np.nan)
    threshold[chosen] = np.inf
    threshold[cutting] = thresholds[cut[cutting]]
    return StumpModel(
        n_features=n_features,
        intercept=float(intercept),
        features=features,
        starts=starts,
        cuts=thresholds[used],
        tables=tables,
        missing=np.bincount(slot, when_missing[chosen], len(features)).astype(np.float64),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        when_missing=when_missing,
    )


def _value_at_zero(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    return float(values[np.searchsorted(cuts, 0.0)])


@kernel()
def score_rows(X, features, starts, cuts, tables, missing, out):
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
            n_missing = 0
            for i in range(rows.shape[0]):
                values[i] = rows[i, g]
                n_missing += rows[i, g] != rows[i, g]
            a, n_cuts = starts[k], starts[k + 1] - starts[k]
            if n_cuts <= FEW_CUTS:
                count_cuts(values, cuts[a : a + n_cuts], found)
            else:
                climb_ladder(values, ladders[ladder_starts[k] : ladder_starts[k + 1]], found)
            table = tables[a + k : a + k + n_cuts + 1]
            if n_missing == 0:
                for i in range(scores.shape[0]):
                    scores[i] += table[found[i]]
            else:
                for i in range(scores.shape[0]):
                    unknown = values[i] != values[i]
                    scores[i] += missing[k] if unknown else table[found[i]]


@kernel()
def score_entries(indptr, indices, data, slot, at_zero, starts, cuts, tables, missing, lo, hi, out):
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
                value = tables[base + first - starts[k]] if x == x else missing[k]
                score += value - at_zero[k]
        out[i] += score
