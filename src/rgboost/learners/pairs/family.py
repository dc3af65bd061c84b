"""Quadrant stumps as a family of weak-learners."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.validation import check_count, check_option, check_real
from ...data.coarse import BinnedRows
from ...data.cuts import make_plan
from ...data.mixed_bins import (
    CategoryPlan,
    MixedCuts,
    columns_with_missing,
    cut_mixed,
    encode_mixed,
    encode_mixed_sparse,
    weigh_bins,
)
from ...data.sparse_columns import as_columns, take_columns
from ...model import Coverage, Path
from ...selection import Layout
from ..base import LearnerFamily, Prepared, with_sets
from ..credibility import few_categories, usual_weight
from ..stumps.monotone import check_constraints, check_ordered
from .axes import NUMBER, kinds_of, splits_of
from .choose import PairChoice, PairSearch
from .columns import (
    Columns,
    all_pairs,
    allowed_pairs,
    groups_of_columns,
    some_pairs,
    with_stumps,
)
from .search import MOST_BINS, PairArrays, find_leaves
from .tables import add_path, cell_weights, empty_model

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs(LearnerFamily):
    """Quadrant stumps on pairs of features, with four free values each.

    A weak-learner cuts one feature at a threshold and another one, too. Groups are the pairs: with
    p features there are p(p-1)/2 of them, the very case that Type 3 of the paper is for, many
    groups of which few are looked at in an iteration.

    Parameters
    ----------
    pairs
        "all" or a list of pairs of features, by name or index.
    stumps : bool
        Whether every feature by itself is among the groups, too.
    max_bins : int
        Bins per feature, from 2 to 255. A pair has a table of the square of that.
    binning, categorical, min_frequency, max_categories
        As in `Stumps`.
    min_weight_fraction_leaf : float
        A quadrant that has a smaller share of the weight stays at zero.
    smooth : bool
        Sums of rare categories are drawn towards zero, see `rgboost.learners.credibility`.
    interaction_constraints : list of sets of features, or None
        Features that may act together.
    constraints
        As ``monotone_constraints`` of the estimators, or None.
    search_rows : int or None
        The best weak-learner of J is looked for on so many rows, others at every iteration; its
        values are those of all rows. None: on all rows.
    search_cuts : int or None
        The best weak-learner of J is looked for among so many evenly spaced cuts of a number,
        others at every iteration. None: among all.
    cuts
        Bins that somebody made before, or None.
    binned
        The training rows in finer bins, or None; thresholds of ``cuts`` are among theirs.

    Notes
    -----
    Ties go to the pair that comes first, then to the smaller thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.learners import Pairs
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = RGBMRegressor(learner=Pairs(max_bins=16), max_iter=200, random_state=0).fit(X, y)
    >>> model.term_names_[-3:]
    ['x0 x x1', 'x0 x x2', 'x1 x x2']
    """

    pairs: Any = "all"
    stumps: bool = False
    max_bins: int = 64
    binning: Literal["quantile", "hybrid"] = "quantile"
    categorical: tuple[int, ...] = ()
    min_weight_fraction_leaf: float = 0.0
    smooth: bool = False
    min_frequency: int = 1
    max_categories: int = MOST_BINS - 1
    interaction_constraints: Any = None
    constraints: Any = None
    search_rows: int | None = None
    search_cuts: int | None = None
    cuts: MixedCuts | None = None
    binned: BinnedRows | None = field(default=None, repr=False)
    accepts_missing: ClassVar[bool] = True
    knows_folds: ClassVar[bool] = True
    on_cards: ClassVar[bool] = True
    free_leaves: ClassVar[bool] = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        check_option(self.stumps, "stumps", [True, False])
        check_option(self.binning, "binning", ["quantile", "hybrid"])
        check_option(self.smooth, "smooth", [True, False])
        if check_count(self.max_bins, "max_bins", at_least=2) > MOST_BINS - 1:
            raise ValueError(
                f"max_bins={self.max_bins} is too large for pairs; use at most {MOST_BINS - 1}."
            )
        if not 0.0 <= check_real(self.min_weight_fraction_leaf, "min_weight_fraction_leaf") <= 0.25:
            raise ValueError(
                f"min_weight_fraction_leaf={self.min_weight_fraction_leaf} must be from 0 to 0.25: "
                "there are four quadrants."
            )
        check_count(self.min_frequency, "min_frequency", at_least=1)
        if self.search_rows is not None:
            check_count(self.search_rows, "search_rows", at_least=1)
        if self.search_cuts is not None:
            check_count(self.search_cuts, "search_cuts", at_least=1)
        if check_count(self.max_categories, "max_categories", at_least=2) > MOST_BINS - 1:
            raise ValueError(
                f"max_categories={self.max_categories} is too large for pairs; use at most "
                f"{MOST_BINS - 1}: the less frequent ones share one."
            )

    def with_categorical(self, features: tuple[int, ...]) -> Pairs:
        return replace(self, categorical=features)

    def constrained(self, constraints: Any) -> Pairs:
        return replace(self, constraints=constraints)

    def acting_together(self, sets: Any) -> Pairs:
        return with_sets(self, sets)

    def prepare(
        self,
        X: Any,
        weight: Vector | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> PreparedPairs:
        n_features = X.shape[1]
        columns = self._columns(n_features, names)
        cuts = self._cuts(X, weight, n_jobs)
        axes = np.unique(columns[columns >= 0])
        own = take_axes(cuts, axes)
        if self.binned is None:
            codes = encode_axes(X, own, axes, n_jobs)
        else:
            codes = self.binned.coarse(own, axes, X.shape[0])
        if self.cuts is None:
            weigh_bins(codes, own, weight, X.shape[0])
            put_weights(cuts, own, axes)
        signs = np.zeros(n_features, np.int8)
        if self.constraints is not None:
            signs = check_constraints(self.constraints, n_features, names)
            check_ordered(signs, self.categorical, names)
        arrays = make_arrays(
            codes, X.shape[0], own, np.searchsorted(axes, columns) * (columns >= 0) - (columns < 0),
            weight, signs[axes], self.min_weight_fraction_leaf, self.smooth,
        )  # fmt: skip
        by_column = groups_of_columns(groups, columns, n_features, names)
        layout = Layout.make(arrays.offsets, by_column)
        cells = 2.0 * X.shape[0] * len(columns)
        return PreparedPairs(
            arrays, layout, cells, cuts, columns, axes, n_features,
            self.min_weight_fraction_leaf, self.search_cuts, self.search_rows,
        )  # fmt: skip

    def _columns(self, n_features: int, names: Any) -> Columns:
        if isinstance(self.pairs, str):
            check_option(self.pairs, "pairs", ["all"])
            pairs = all_pairs(n_features)
        else:
            pairs = some_pairs(self.pairs, n_features, names, "pairs")
        pairs = allowed_pairs(pairs, self.interaction_constraints, n_features, names)
        return with_stumps(pairs, n_features) if self.stumps else pairs

    def _cuts(self, X: Any, weight: Vector | None, n_jobs: int) -> MixedCuts:
        if self.cuts is not None:
            return self.cuts
        categorical = np.zeros(X.shape[1], dtype=bool)
        categorical[list(self.categorical)] = True
        total = float(X.shape[0]) if weight is None else float(weight.sum())
        rows = self.min_frequency - 0.5 if self.min_frequency > 1 else 0.0  # sums are rounded
        rare = CategoryPlan(rows * total / max(1, X.shape[0]), self.max_categories)
        plan = make_plan(self.max_bins, self.binning)
        missing = columns_with_missing(X)
        return cut_mixed(as_columns(X), categorical, missing, plan, weight, n_jobs, rare)


def take_axes(cuts: MixedCuts, axes: NDArray[np.int64]) -> MixedCuts:
    """The bins of some features."""
    edges = [cuts.edges_of(g) for g in axes]
    weights = [cuts.weights_of(g) for g in axes]
    return MixedCuts(
        cuts.categorical[axes],
        np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64),
        np.concatenate([*edges, np.empty(0)]),
        np.concatenate([[0], np.cumsum([len(w) for w in weights])]).astype(np.int64),
        np.concatenate([*weights, np.empty(0)]),
        cuts.total_weight,
    )


def put_weights(cuts: MixedCuts, own: MixedCuts, axes: NDArray[np.int64]) -> None:
    """Weights of the bins of some features, among those of all."""
    for k, g in enumerate(axes):
        cuts.weights_of(g)[:] = own.weights_of(k)


def encode_axes(X: Any, cuts: MixedCuts, axes: NDArray[np.int64], n_jobs: int) -> NDArray[np.uint8]:
    """Bins of the features that take part, a byte each; those of sparse rows are made dense."""
    if not scipy.sparse.issparse(X):
        return encode_mixed(X[:, axes] if len(axes) < X.shape[1] else X, cuts, n_jobs)
    entries = encode_mixed_sparse(as_columns(take_columns(X, axes)), cuts, n_jobs)
    codes = np.repeat(entries.zero_code.astype(np.uint8)[:, None], X.shape[0], axis=1)
    for k in range(len(axes)):
        now = slice(entries.indptr[k], entries.indptr[k + 1])
        codes[k, entries.rows[now]] = entries.codes[now]
    return codes


def make_arrays(
    codes: NDArray[np.uint8],
    n_rows: int,
    cuts: MixedCuts,
    pairs: Columns,
    weight: Vector | None,
    signs: NDArray[np.int8],
    least: float,
    smooth: bool,
) -> PairArrays:
    """Rows in bins and their pairs, for compiled code. ``pairs`` are by axes."""
    kinds = kinds_of(cuts.categorical, cuts.has_missing)
    n_splits = splits_of(kinds, cuts.n_values, cuts.has_missing)
    sizes = np.append(cuts.n_values + 1, 1)  # the last is for those without a second axis
    splits = np.append(n_splits, 1)
    learners = splits[pairs[:, 0]] * splits[pairs[:, 1]]
    cells = sizes[pairs[:, 0]] * sizes[pairs[:, 1]]
    total = float(n_rows) if weight is None else float(weight.sum())
    row_weight = usual_weight(weight) if smooth else 0.0
    return PairArrays(
        codes=codes,
        n_rows=n_rows,
        pairs=pairs,
        n_values=cuts.n_values,
        kind=kinds,
        n_levels=cuts.n_values + cuts.has_missing,
        n_splits=n_splits,
        sign=signs,
        offsets=np.concatenate([[0], np.cumsum(learners)]).astype(np.int64),
        cell_start=np.concatenate([[0], np.cumsum(cells)]).astype(np.int64),
        weights=np.empty(int(cells.sum())),
        known=np.zeros(len(pairs), dtype=bool),
        plain=np.all(np.append(kinds == NUMBER, True)[pairs], axis=1, keepdims=True)[:, 0],
        weight=np.empty(0) if weight is None else np.asarray(weight, np.float64),
        total_weight=total,
        lightest=least * total,
        row_weight=row_weight,
        few=few_categories(total, row_weight) if smooth else np.inf,
    )


@dataclass
class PreparedPairs(Prepared):
    """Quadrant stumps on binned training rows. ``columns`` are the pairs by features, those of
    ``arrays`` by axes, the features that take part."""

    arrays: PairArrays
    layout: Layout
    cells: float
    cuts: MixedCuts
    columns_: Columns
    axes: NDArray[np.int64]
    n_features: int
    least_share: float
    """Of the weight of all rows, that a quadrant has at least."""
    search_cuts: int | None
    search_rows: int | None
    _weights: dict[int, Vector] = field(default_factory=dict, repr=False)

    free_leaves = True
    by_leaves = True
    step_fields = ("values",)

    @property
    def set_bytes(self) -> int:  # type: ignore[override]
        """Bytes that tell which bins of an axis are on the left."""
        return (int(self.arrays.n_values.max(initial=0)) + 8) // 8

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        values = (4,) if n_classes is None else (4, n_classes)
        return np.dtype(
            [
                ("learner", np.int64),
                ("values", np.float64, values),
                ("gradient_norm", np.float64),
                ("sets", np.uint8, (2, self.set_bytes)),
            ]
        )

    def arrays_for(self, X: Any, n_jobs: int = 1) -> PairArrays:
        codes = encode_axes(X, take_axes(self.cuts, self.axes), self.axes, n_jobs)
        return self.arrays._replace(codes=codes, n_rows=X.shape[0])

    def lasting(self, arrays: PairArrays) -> Any:
        return arrays.codes, self.columns_, self.cuts.edges, arrays.sign, arrays.lightest

    def on_some_rows(
        self, rows: NDArray[np.int64], weight: Vector | None, others: NDArray[np.int64]
    ) -> tuple[PairArrays, PairArrays]:
        whole = self.arrays
        total = float(len(rows)) if weight is None else float(weight.sum())
        mine = whole._replace(
            codes=np.take(whole.codes, rows, axis=1),
            n_rows=len(rows),
            weights=np.empty_like(whole.weights),
            known=np.zeros_like(whole.known),
            weight=np.empty(0) if weight is None else np.asarray(weight, np.float64),
            total_weight=total,
            lightest=whole.lightest * total / whole.total_weight,
        )
        return mine, whole._replace(codes=np.take(whole.codes, others, axis=1), n_rows=len(others))

    def searcher(self, arrays: PairArrays, n_outputs: int, seed: int) -> PairSearch:
        some = self.search_rows, self.search_cuts
        return PairSearch(arrays, n_outputs, self.set_bytes, *some, seed)

    def leaves_of(self, arrays: PairArrays, choice: PairChoice, team: Any) -> NDArray[np.uint8]:
        leaf = np.empty(arrays.n_rows, np.uint8)
        find_leaves(arrays.codes, *choice.axes, choice.left, leaf)
        return leaf

    def model(self, path: Path, intercept: Any) -> Any:
        return add_path(empty_model(self.n_features, intercept), self, path)

    def weighed_cells(self, cells: Vector, usual: float) -> PreparedPairs:
        """The same of rows with these weights in the cells of all columns, one after the other;
        ``usual`` is that of a usual row."""
        arrays = self.arrays
        row_weight = usual if arrays.row_weight else 0.0
        start, shapes = arrays.cell_start, arrays.n_values + 1
        shapes = np.append(shapes, 1)[arrays.pairs]
        tables = [cells[start[k] : start[k + 1]].reshape(shape) for k, shape in enumerate(shapes)]
        total = float(tables[0].sum())
        arrays = arrays._replace(
            total_weight=total,
            lightest=self.least_share * total,
            row_weight=row_weight,
            few=few_categories(total, row_weight) if row_weight else np.inf,
        )
        return replace(self, arrays=arrays, _weights=dict(enumerate(tables)))

    def cell_weights(self, k: int) -> Vector:
        """Weights of the training rows in the cells of column k."""
        if k not in self._weights:
            self._weights[k] = cell_weights(self.arrays, k)
        return self._weights[k]

    def coverage(self, model: Any, path: Path) -> Coverage:
        return Coverage.of_mixed(model.wide, self.cuts)
