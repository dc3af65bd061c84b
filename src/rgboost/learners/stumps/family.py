"""Stumps: weak-learners that split one feature at one threshold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.validation import check_count, check_option, check_real
from ...data.binning import bin_dense, bin_sparse, encode_dense, encode_sparse
from ...data.cuts import (
    MOST_BINS,
    BinningKind,
    Cuts,
    columns_with_missing,
    make_plan,
    without_light_sides,
)
from ...data.input.names import feature_mask
from ...data.mixed_bins import CategoryPlan, Counted, MixedCuts, without_missing
from ...data.sparse_columns import as_columns, sparse_columns
from ...model import ClassStumpModel, Coverage, Path, StumpModel
from ...model.path import path_tables
from ...selection import Layout
from ..base import LearnerFamily, sums_obstacle
from .dense_stumps import DenseStumps, dense_stumps
from .mixed_splits import mixed_columns
from .prepared_mixed import PreparedMixedStumps, mixed_arrays, prepare_mixed
from .some_rows import PreparedBins
from .sparse_stumps import SparseStumps
from .splits import make_splits, split_type

_LEAST = "min_weight_fraction_leaf"


@dataclass(frozen=True)
class Stumps(LearnerFamily):
    """b(x; (g, s)) takes one value where x_g <= s and another where x_g > s.

    Parameters
    ----------
    leaves : {"free", "signed"}
        ``"free"``: the two values are the best ones for the residual, the unit vector in the span
        of the two indicators that has the largest inner product with it (CART; the authors'
        code). ``"signed"``: the values are +1 and -1, up to scale (equation weak-learn-stmps).
    max_bins : int or None
        Bins per feature, from 2 to 65,536: one threshold fewer than bins. None: a threshold
        between every two distinct values, up to 65,535. The estimators choose a number by the
        rows; see `rgboost.training.plan`.
    binning : {"quantile", "hybrid"}
        Thresholds at quantiles, or half of them at quantiles and half evenly spaced between
        smallest and largest value, which keeps the tails of skewed features apart.
    min_weight_fraction_leaf : float
        The least share of the weight of all rows that lies on either side of a threshold, from 0
        to 1/2. Thresholds are chosen by ``max_bins`` and ``binning``, then those with less are
        left out; so are sets of categories, and missing values on either side.
    categorical : tuple of int
        Features whose numbers are categories: b takes one value on a set of them, and another on
        the rest.
    smooth : bool
        Mean residuals of categories are drawn towards the mean of all rows before sets of them are
        chosen, those of rare ones most: see `rgboost.learners.credibility`. Otherwise a column of
        many rare categories fits noise.
    min_frequency : int
        Categories of fewer rows (in units of the mean weight) share one.
    max_categories : int or None
        The most categories of a feature; the less frequent ones share one.
    expects_missing : bool
        Bins are made as those of rows with missing values also where none is missing: rows to come
        may lack some. The weak-learners are the same.

    Notes
    -----
    Dense matrices and sparse ones (without making them dense) are accepted. Ties between stumps
    go to the smaller feature, then to the smaller threshold. NaN is a missing value: see
    `rgboost.learners.stumps.mixed_splits`.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.learners import Stumps
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Stumps(max_bins=8).prepare(X).layout.n_learners
    21
    """

    leaves: Literal["free", "signed"] = "free"
    max_bins: int | None = 255
    binning: BinningKind = "quantile"
    categorical: tuple[int, ...] = ()
    min_weight_fraction_leaf: float = 0.0
    smooth: bool = False
    min_frequency: int = 1
    max_categories: int | None = None
    expects_missing: bool = field(default=False, repr=False)
    accepts_missing: ClassVar[bool] = True
    knows_folds: ClassVar[bool] = True
    by_statistics: ClassVar[bool] = True
    on_cards: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_option(self.leaves, "leaves", ["free", "signed"])
        check_option(self.binning, "binning", ["quantile", "hybrid"])
        if not 0.0 <= check_real(self.min_weight_fraction_leaf, _LEAST) <= 0.5:
            raise ValueError(f"{_LEAST}={self.min_weight_fraction_leaf} must be from 0 to 0.5.")
        check_option(self.smooth, "smooth", [True, False])
        check_option(self.expects_missing, "expects_missing", [True, False])
        check_count(self.min_frequency, "min_frequency", at_least=1)
        if self.max_categories is not None:
            check_count(self.max_categories, "max_categories", at_least=2)
        if self.max_bins is None:
            return
        if isinstance(self.max_bins, str):
            raise TypeError(
                f"max_bins must be an integer, got {self.max_bins!r}; use a number, or None for "
                "every distinct value; an estimator takes 'auto' and 'paper', too."
            )
        if check_count(self.max_bins, "max_bins", at_least=2) > MOST_BINS:
            raise ValueError(
                f"max_bins={self.max_bins} is too large; use at most {MOST_BINS}, "
                "or None for every distinct value."
            )

    @property
    def free_leaves(self) -> bool:  # type: ignore[override]
        return self.leaves == "free"

    def with_missing(self) -> Stumps:
        return replace(self, expects_missing=True)

    def acting_together(self, sets: Any) -> Stumps:
        return self  # functions of single features

    def with_categorical(self, features: tuple[int, ...]) -> Stumps:
        return replace(self, categorical=features)

    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
        counted: Counted | None = None,
    ) -> PreparedStumps | PreparedMixedStumps:
        """``counted`` are categories and missing values of all rows, where X is a sample."""
        missing = columns_with_missing(X) if counted is None else counted.missing > 0
        mixed = self.expects_missing or bool(self.categorical) or bool(missing.any())
        plan = make_plan(self.max_bins, self.binning)
        total = float(X.shape[0]) if weight is None else float(weight.sum())
        lightest = self.min_weight_fraction_leaf * total
        arrays: Any
        if mixed:
            categorical = feature_mask(self.categorical, X.shape[1], None, "categorical")
            signed = self.leaves == "signed"
            rows = self.min_frequency - 0.5 if self.min_frequency > 1 else 0.0  # sums are rounded
            usual = total / max(1, X.shape[0])
            if counted is not None:
                usual = counted.total / counted.n_rows
            rare = CategoryPlan(rows * usual, self.max_categories)
            return prepare_mixed(
                as_columns(X), categorical, missing, plan, weight, signed, lightest,
                rare=rare, smooth=self.smooth, groups=groups, names=names, n_jobs=n_jobs,
                counted=counted,
            )  # fmt: skip
        if scipy.sparse.issparse(X):
            columns = sparse_columns(X)
            cuts, entries = bin_sparse(columns, plan, weight, n_jobs)
            if lightest > 0.0:
                cuts = without_light_sides(cuts, lightest, total)
                entries = encode_sparse(columns, cuts, n_jobs)
            del columns  # the bins say it all; room for what follows
            cells = float(len(entries.rows) + X.shape[1])
            arrays = SparseStumps(entries, make_splits(cuts, total, self.leaves == "signed"))
        else:
            cuts, codes = bin_dense(X, plan, weight, n_jobs)
            if lightest > 0.0:
                cuts = without_light_sides(cuts, lightest, total)
                codes = encode_dense(X, cuts, n_jobs)
            arrays = dense_stumps(codes, make_splits(cuts, total, self.leaves == "signed"))
            cells = float(X.shape[0]) * X.shape[1]
        layout = Layout.make(cuts.offsets, groups, names).weighed(cuts.left_weight, total)
        return PreparedStumps(arrays, layout, cuts, cells)


@dataclass
class PreparedStumps(PreparedBins):
    """Stumps on binned training rows."""

    arrays: Any
    layout: Layout
    cuts: Cuts
    cells: float

    numeric_bins = True

    def weighed(self, bins: NDArray[np.float64], total: float) -> PreparedStumps:
        offsets = self.cuts.offsets
        n_cuts, sums = np.diff(offsets), np.cumsum(bins)
        first = offsets[:-1] + np.arange(len(n_cuts))  # of each feature, its first bin
        below = np.repeat(sums[first] - bins[first], n_cuts)
        left = np.delete(sums, first + n_cuts) - below
        cuts = Cuts(offsets, self.cuts.thresholds, left)
        arrays = self.arrays._replace(splits=make_splits(cuts, total, self.arrays.splits.signed))
        return replace(self, arrays=arrays, layout=self.layout.weighed(left, total), cuts=cuts)

    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        if columns_with_missing(X).any():
            splits = self.arrays.splits
            cuts = without_missing(self.cuts, splits.total_weight)
            return mixed_arrays(as_columns(X), cuts, splits, mixed_columns(cuts), n_jobs)
        if scipy.sparse.issparse(X):
            entries = encode_sparse(sparse_columns(X), self.cuts, n_jobs)
            return SparseStumps(entries, self.arrays.splits)
        return dense_stumps(encode_dense(X, self.cuts, n_jobs), self.arrays.splits)

    @property
    def dense_numbers(self) -> bool:  # type: ignore[override]
        return not self.sparse

    @property
    def most_bins(self) -> int:  # type: ignore[override]
        return int(self.arrays.splits.most_bins)

    def statistics_obstacle(self, held: Any) -> str | None:
        plain = isinstance(held, DenseStumps | SparseStumps)
        return sums_obstacle(sparse=self.sparse, held_missing=not plain)

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        return split_type(n_classes)

    def model(self, path: Path, intercept: Any) -> StumpModel | ClassStumpModel:
        if path.left.ndim == 2:
            return ClassStumpModel.collapse(
                self.cuts, path, intercept, self.arrays.splits.total_weight
            )
        return StumpModel.collapse(self.cuts, path, intercept, self.arrays.splits.total_weight)

    def coefficients(self, path: Path) -> NDArray[np.float64]:
        return path_tables(self.layout.offsets, path.learner, path.left, path.right)

    def bins(self) -> MixedCuts:
        return without_missing(self.cuts, float(self.arrays.splits.total_weight))

    def coverage(self, model: Any, path: Path) -> Coverage:
        return Coverage.of(model.wide, path, self.cuts, float(self.arrays.splits.total_weight))
