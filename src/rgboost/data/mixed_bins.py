"""Bins of features of which some have missing values, and some are categorical.

A feature has bins 0..m-1 for its values (between thresholds, or one for each category) and bin m
for missing values.

Rare categories share a bin, the last one of values: `OTHERS` stands for them, and for all that are
not listed. Where there are no rare ones, categories that were not seen when the bins were made
count as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import one_line
from .binning import SparseCodes, bin_dense, bin_sparse, empty_codes, encode_dense, encode_sparse
from .cuts import MOST_BINS, CutPlan, Cuts, columns_with_missing
from .elsewhere import MatrixElsewhere
from .sparse_columns import SparseColumns, sparse_columns

Matrix = Any
"""A dense array of numbers, or a sparse matrix in CSC form."""

Vector = NDArray[np.float64]

MOST_CATEGORIES = MOST_BINS - 1
"""One bin is kept for missing values."""

OTHERS = np.inf
"""The category that rare ones share."""


class CategoryPlan(NamedTuple):
    """Categories with less than the weight ``least`` are rare, and those beyond the ``most``
    heaviest (ties go to the smaller one)."""

    least: float = 0.0
    most: int | None = None


NOTHING_RARE = CategoryPlan()


class Counted(NamedTuple):
    """What was counted over ``n_rows`` rows of the weight ``total``, where bins are chosen by a
    sample of them.

    ``missing[g]`` is the weight of the rows in which feature g is missing. ``levels[g]`` are the
    categories of feature g, ascending, and their weights; `OTHERS` stand for those that were not
    counted one by one.
    """

    n_rows: int
    total: float
    missing: Vector
    levels: Mapping[int, tuple[Vector, Vector]]


@one_line
@dataclass(frozen=True)
class MixedCuts:
    """Thresholds, categories and weights of the bins of all features.

    ``edges[edge_start[g]:edge_start[g + 1]]`` are the thresholds of feature g, or its categories
    in ascending order if ``categorical[g]``. ``bin_weight[bin_start[g]:bin_start[g + 1]]`` are the
    weights of its bins, that of missing values last.
    """

    categorical: NDArray[np.bool_]
    edge_start: NDArray[np.int64]
    edges: Vector
    bin_start: NDArray[np.int64]
    bin_weight: Vector
    total_weight: float

    @property
    def n_features(self) -> int:
        return len(self.categorical)

    @property
    def n_values(self) -> NDArray[np.int64]:
        """m, the number of bins for values."""
        return np.diff(self.bin_start) - 1

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Features that had missing values when the bins were made."""
        return self.bin_weight[self.bin_start[1:] - 1] > 0

    def edges_of(self, g: int | np.integer) -> Vector:
        return self.edges[self.edge_start[g] : self.edge_start[g + 1]]

    def weights_of(self, g: int | np.integer) -> Vector:
        return self.bin_weight[self.bin_start[g] : self.bin_start[g + 1]]

    def code_dtype(self) -> type[np.uint8] | type[np.uint16]:
        return np.uint8 if int(self.n_values.max(initial=0)) <= 255 else np.uint16


def without_missing(cuts: Cuts, total_weight: float) -> MixedCuts:
    """Numeric bins made from rows without missing values, for rows that may have some."""
    n_cuts = np.diff(cuts.offsets)
    bin_start = np.concatenate([[0], np.cumsum(n_cuts + 2)]).astype(np.int64)
    weights = np.zeros(bin_start[-1])
    for g in np.flatnonzero(n_cuts):
        left = cuts.left_weight[cuts.offsets[g] : cuts.offsets[g + 1]]
        weights[bin_start[g] : bin_start[g + 1] - 1] = np.diff(left, prepend=0, append=total_weight)
    categorical = np.zeros(cuts.n_features, dtype=bool)
    return MixedCuts(
        categorical, cuts.offsets, cuts.thresholds, bin_start, weights, float(total_weight)
    )


def cut_mixed(
    X: Matrix,
    categorical: NDArray[np.bool_],
    missing: NDArray[np.bool_],
    plan: CutPlan,
    weight: Vector | None,
    n_jobs: int = 1,
    rare: CategoryPlan = NOTHING_RARE,
    counted: Counted | None = None,
) -> MixedCuts:
    """Thresholds and categories of the columns of X; ``missing`` are those with NaN. Where X is a
    sample, categories are those that were ``counted``."""
    plan = plan._replace(max_bins=min(plan.max_bins, MOST_CATEGORIES))
    n_rows, n_features = X.shape
    total = float(n_rows) if weight is None else float(weight.sum())
    edges: list[Vector] = [np.empty(0)] * n_features
    plain = np.flatnonzero(~categorical & ~missing)
    if len(plain):
        part = X[:, plain]
        if scipy.sparse.issparse(X):
            cuts = bin_sparse(sparse_columns(part), plan, weight, n_jobs)[0]
        else:
            cuts = bin_dense(part, plan, weight, n_jobs)[0]
        for g, found in zip(plain, np.split(cuts.thresholds, cuts.offsets[1:-1]), strict=True):
            edges[g] = found

    def cut(g: int) -> None:
        if categorical[g]:
            every = counted.levels[g] if counted else weigh_categories(X, g, weight)
            edges[g] = _categories(*every, rare, g)
        elif scipy.sparse.issparse(X):
            edges[g] = _sparse_thresholds(X, g, plan, weight, total)
        else:
            edges[g] = _dense_thresholds(X[:, g], plan, weight)

    _for_each(cut, np.flatnonzero(categorical | missing), n_jobs)
    return _make_cuts(categorical, edges, total)


def _make_cuts(categorical: NDArray[np.bool_], edges: list[Vector], total: float) -> MixedCuts:
    """Cuts from the thresholds or categories of each feature, without weights."""
    n_edges = np.array([len(found) for found in edges], dtype=np.int64)
    n_values = np.where(categorical, n_edges, n_edges + 1)
    bin_start = np.concatenate([[0], np.cumsum(n_values + 1)]).astype(np.int64)
    return MixedCuts(
        categorical=categorical,
        edge_start=np.concatenate([[0], np.cumsum(n_edges)]).astype(np.int64),
        edges=np.concatenate([*edges, np.empty(0)]),
        bin_start=bin_start,
        bin_weight=np.zeros(bin_start[-1]),
        total_weight=total,
    )


def without_light_thresholds(cuts: MixedCuts, lightest: float) -> MixedCuts:
    """Without the thresholds that have less than the weight ``lightest`` on a side, wherever
    missing values go. Weights are to be filled in anew."""

    def heavy(left: Vector) -> NDArray[np.bool_]:
        return np.minimum(left, cuts.total_weight - left) >= lightest

    edges = []
    for g in range(cuts.n_features):
        found, weights = cuts.edges_of(g), cuts.weights_of(g)
        if not cuts.categorical[g]:
            left = np.cumsum(weights[:-1])[:-1]
            found = found[heavy(left) | heavy(left + weights[-1])]
        edges.append(found)
    return _make_cuts(cuts.categorical, edges, cuts.total_weight)


def _categories(values: Vector, weights: Vector, rare: CategoryPlan, g: int) -> Vector:
    """The categories of column g in ascending order, `OTHERS` last if some are rare."""
    if rare.most is not None and len(values) > rare.most:
        heaviest = np.lexsort((values, -weights))[: rare.most - 1]
        kept = np.isin(np.arange(len(values)), heaviest)
    else:
        kept = np.ones(len(values), dtype=bool)
    kept &= (weights >= rare.least) & (values != OTHERS)
    if len(values) - kept.sum() > 1 or (values == OTHERS).any():
        values = np.append(values[kept], OTHERS)
    if len(values) > MOST_CATEGORIES:
        raise ValueError(
            f"the categorical column {g} of X has {len(values)} categories; at most "
            f"{MOST_CATEGORIES} are possible. Group the rare ones, or drop the column."
        )
    return values


def weigh_categories(X: Matrix, g: int, weight: Vector | None) -> tuple[Vector, Vector]:
    """The categories of a column, in ascending order, and their weights."""
    if isinstance(X, MatrixElsewhere):
        return X.weigh_levels(g, weight)
    if scipy.sparse.issparse(X):
        now = slice(X.indptr[g], X.indptr[g + 1])
        x, w = X.data[now], None if weight is None else weight[X.indices[now]]
        if len(x) < X.shape[0]:  # all zeros that are not stored, as one row
            stored = float(len(x)) if w is None else float(w.sum())
            rest = (X.shape[0] if weight is None else float(weight.sum())) - stored
            x = np.append(x, 0.0)
            w = np.append(np.ones(len(x) - 1) if w is None else w, rest)
    else:
        x, w = X[:, g], weight
    known = ~np.isnan(x)
    values, place = np.unique(x[known], return_inverse=True)
    weights = np.bincount(place, None if w is None else w[known], len(values))
    return values.astype(np.float64), weights.astype(np.float64)


def _dense_thresholds(x: NDArray[np.floating], plan: CutPlan, weight: Vector | None) -> Vector:
    known = ~np.isnan(x)
    if not known.any():
        return np.empty(0)
    w = None if weight is None else weight[known]
    return bin_dense(x[known][:, None], plan, w)[0].thresholds


def _sparse_thresholds(
    X: scipy.sparse.csc_array, g: int, plan: CutPlan, weight: Vector | None, total: float
) -> Vector:
    """Thresholds from the stored entries that are known, and one row for all that store nothing."""
    now = slice(X.indptr[g], X.indptr[g + 1])
    rows, data = X.indices[now], X.data[now]
    known = ~np.isnan(data)
    stored = np.ones(len(rows)) if weight is None else weight[rows]
    rest = total - float(stored.sum())
    weights = stored[known] if len(rows) == X.shape[0] else np.append(stored[known], rest)
    if len(weights) == 0:
        return np.empty(0)
    n = int(known.sum())
    order = np.empty(0, np.int32)
    column = SparseColumns(
        len(weights), np.array([0, n]), np.arange(n, dtype=np.int32), data[known], order
    )
    return bin_sparse(column, plan, weights)[0].thresholds


def _for_each(function: Callable[[int], None], items: NDArray[np.int64], n_jobs: int) -> None:
    if n_jobs == 1 or len(items) < 2:
        for g in items:
            function(int(g))
        return
    with ThreadPoolExecutor(n_jobs, "rgboost") as pool:
        list(pool.map(function, items.tolist()))


def encode_mixed(
    X: NDArray[np.floating], cuts: MixedCuts, n_jobs: int = 1
) -> NDArray[np.unsignedinteger]:
    """Bins of a dense matrix, as an array like that of `rgboost.data.binning.encode_dense`."""
    n_rows = X.shape[0]
    codes = empty_codes(cuts.n_features, n_rows, cuts.code_dtype())
    n_values = cuts.n_values
    numeric = np.flatnonzero(~cuts.categorical)
    if len(numeric):
        # Bins of numbers may be shorter than two bytes, and padded otherwise.
        numbers = encode_dense(X[:, numeric], _numeric_cuts(cuts, numeric), n_jobs)
        codes[numeric, :n_rows] = numbers[:, :n_rows]

    def encode(g: int) -> None:
        if cuts.categorical[g]:
            codes[g, :n_rows] = find_categories(X[:, g], cuts.edges_of(g))
        else:
            codes[g, :n_rows][np.isnan(X[:, g])] = n_values[g]

    _for_each(encode, np.arange(cuts.n_features), n_jobs)
    return codes


def encode_mixed_sparse(X: scipy.sparse.csc_array, cuts: MixedCuts, n_jobs: int = 1) -> SparseCodes:
    """Bins of the stored entries of a sparse matrix, and of zero."""
    everything = np.arange(cuts.n_features)
    coded = encode_sparse(sparse_columns(X), _numeric_cuts(cuts, everything), n_jobs)
    codes: NDArray[np.unsignedinteger] = coded.codes.astype(cuts.code_dtype(), copy=False)
    n_values = cuts.n_values
    for g in np.flatnonzero(cuts.categorical | columns_with_missing(X)):
        now = slice(coded.indptr[g], coded.indptr[g + 1])
        if cuts.categorical[g]:
            codes[now] = find_categories(X.data[now], cuts.edges_of(g))
            coded.zero_code[g] = find_categories(np.zeros(1), cuts.edges_of(g))[0]
        else:
            codes[now][np.isnan(X.data[now])] = n_values[g]
        same = now.stop > now.start and bool((codes[now] == codes[now.start]).all())
        coded.only_code[g] = codes[now.start] if same else -1
    return coded._replace(codes=codes)


def _numeric_cuts(cuts: MixedCuts, features: NDArray[np.int64]) -> Cuts:
    """Thresholds of some features; a categorical one has none here."""
    parts = [np.empty(0) if cuts.categorical[g] else cuts.edges_of(g) for g in features]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return Cuts(offsets, np.concatenate([*parts, np.empty(0)]), np.empty(0))


def find_categories(x: NDArray[np.floating], categories: Vector) -> NDArray[np.int64]:
    """The number of each category, and that of missing values for all that is unknown, unless
    `OTHERS` have a number. Categories ascend."""
    n = len(categories)
    if n == 0:
        return np.zeros(len(x), np.int64)
    place = np.minimum(np.searchsorted(categories, x), n - 1)
    unknown = np.where(np.isnan(x), n, n - 1) if categories[-1] == OTHERS else n
    return np.where(categories[place] == x, place, unknown)


def weigh_bins(
    codes: NDArray[np.unsignedinteger], cuts: MixedCuts, weight: Vector | None, n_rows: int
) -> None:
    """Fill in ``cuts.bin_weight`` from the bins of the rows."""
    for g in range(cuts.n_features):
        size = int(cuts.bin_start[g + 1] - cuts.bin_start[g])
        cuts.weights_of(g)[:] = np.bincount(codes[g, :n_rows], weight, size)


def weigh_missing(cuts: MixedCuts, counted: Counted) -> None:
    """Fill in the weights of missing values, as shares of those that were counted."""
    cuts.bin_weight[cuts.bin_start[1:] - 1] = counted.missing * (cuts.total_weight / counted.total)


def weigh_sparse_bins(
    entries: SparseCodes, cuts: MixedCuts, weight: Vector | None, n_rows: int
) -> None:
    """`weigh_bins` for sparse bins: the rest of the weight is in the bin of zero."""
    for g in range(cuts.n_features):
        now = slice(entries.indptr[g], entries.indptr[g + 1])
        size = int(cuts.bin_start[g + 1] - cuts.bin_start[g])
        w = None if weight is None else weight[entries.rows[now]]
        weights = np.bincount(entries.codes[now], w, size).astype(np.float64)
        if now.stop - now.start < n_rows:
            weights[entries.zero_code[g]] += cuts.total_weight - weights.sum()
        cuts.weights_of(g)[:] = weights
