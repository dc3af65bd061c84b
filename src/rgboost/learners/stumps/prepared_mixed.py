"""Stumps on training rows with missing values or categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...data.binning import SparseCodes
from ...data.cuts import CutPlan
from ...data.mixed_bins import (
    CategoryPlan,
    MixedCuts,
    cut_mixed,
    encode_mixed,
    encode_mixed_sparse,
    weigh_bins,
    weigh_sparse_bins,
    without_light_thresholds,
)
from ...data.sparse_columns import as_columns
from ...model import ClassStumpModel, Coverage, Path, StumpModel
from ...model.mixed import collapse_mixed
from ...selection import Layout
from ..base import sums_obstacle
from ..credibility import usual_weight
from .mixed_splits import MixedColumns, mixed_columns, mixed_splits
from .mixed_stumps import MixedStumps, SparseMixedStumps, mixed_stumps
from .some_rows import PreparedBins
from .splits import Splits, split_type


@dataclass
class PreparedMixedStumps(PreparedBins):
    """Stumps on binned training rows, some features with missing values or categories."""

    arrays: Any
    layout: Layout
    cuts: MixedCuts
    cells: float

    @property
    def set_bytes(self) -> int:  # type: ignore[override]
        bins = self.cuts.n_values[self.cuts.categorical] + 1
        return (int(bins.max(initial=0)) + 7) // 8

    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        columns = as_columns(X)
        return mixed_arrays(columns, self.cuts, self.arrays.splits, self.arrays.columns, n_jobs)

    def lasting(self, arrays: Any) -> Any:
        """Bins of rows and of features; a search writes to the splits of categories."""
        cuts = self.cuts
        bins = (cuts.categorical, cuts.edge_start, cuts.edges, cuts.bin_weight)
        rows = arrays.codes if isinstance(arrays, MixedStumps) else arrays.entries
        smooth = arrays.columns.row_weight
        return rows, bins, arrays.splits.signed, arrays.columns.lightest, smooth

    @property
    def most_bins(self) -> int:  # type: ignore[override]
        return int(self.cuts.n_values.max(initial=0)) + 1

    def statistics_obstacle(self, held: Any) -> str | None:
        dense = isinstance(self.arrays, MixedStumps) and isinstance(held, MixedStumps)
        return sums_obstacle(sparse=not dense, mixed=True)

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        return split_type(n_classes, self.set_bytes)

    def model(self, path: Path, intercept: Any) -> StumpModel | ClassStumpModel:
        def collapse(one: Path, start: float) -> StumpModel:
            return collapse_mixed(self.cuts, self.layout.offsets, one, start)

        if path.left.ndim == 2:
            return ClassStumpModel.collapse_each(collapse, path, intercept)
        return collapse(path, intercept)

    def bins(self) -> MixedCuts:
        return self.cuts

    def coverage(self, model: Any, path: Path) -> Coverage:
        return Coverage.of_mixed(model.wide, self.cuts)


def prepare_mixed(
    X: Any,
    categorical: NDArray[np.bool_],
    missing: NDArray[np.bool_],
    plan: CutPlan,
    weight: NDArray[np.float64] | None,
    signed: bool,
    lightest: float,
    *,
    rare: CategoryPlan,
    smooth: bool,
    groups: Any,
    names: Any,
    n_jobs: int,
) -> PreparedMixedStumps:
    """Bins, weights and splits. A sparse X is in CSC form with sorted rows. ``lightest`` is the
    least weight of a side, ``rare`` and ``smooth`` are what is done about rare categories."""
    cuts = cut_mixed(X, categorical, missing, plan, weight, n_jobs, rare)
    rows = _encode_and_weigh(X, cuts, weight, n_jobs)
    if lightest > 0.0:
        cuts = without_light_thresholds(cuts, lightest)
        rows = _encode_and_weigh(X, cuts, weight, n_jobs)
    row_weight = usual_weight(weight) if smooth else 0.0
    splits, columns = mixed_splits(cuts, signed), mixed_columns(cuts, lightest, row_weight)
    arrays: Any
    if isinstance(rows, SparseCodes):
        arrays = SparseMixedStumps(rows, splits, columns)
        cells = float(X.nnz + X.shape[1])
    else:
        arrays = mixed_stumps(rows, splits, columns)
        cells = float(X.shape[0]) * X.shape[1]
    layout = Layout.make(arrays.splits.offsets, groups, names)
    layout = layout.weighed(even_weights(cuts, splits), cuts.total_weight)
    return PreparedMixedStumps(arrays, layout, cuts, cells)


def even_weights(cuts: MixedCuts, splits: Splits) -> NDArray[np.float64]:
    """Weights left of the splits, as `rgboost.selection.RandomThresholds` reads them: ascending. As
    if all splits of a feature were equally far apart, where categories or missing values are."""
    found = splits.left_weight.copy()
    for g in np.flatnonzero(cuts.categorical | cuts.has_missing):
        now = slice(splits.offsets[g], splits.offsets[g + 1])
        n = now.stop - now.start
        found[now] = cuts.total_weight * np.arange(1, n + 1) / (n + 1)
    return found


def _encode_and_weigh(
    X: Any, cuts: MixedCuts, weight: NDArray[np.float64] | None, n_jobs: int
) -> NDArray[np.unsignedinteger] | SparseCodes:
    """The bins of the rows; fills in ``cuts.bin_weight``."""
    if scipy.sparse.issparse(X):
        entries = encode_mixed_sparse(X, cuts, n_jobs)
        weigh_sparse_bins(entries, cuts, weight, X.shape[0])
        return entries
    codes = encode_mixed(X, cuts, n_jobs)
    weigh_bins(codes, cuts, weight, X.shape[0])
    return codes


def mixed_arrays(
    X: Any, cuts: MixedCuts, splits: Splits, columns: MixedColumns, n_jobs: int = 1
) -> MixedStumps | SparseMixedStumps:
    """The weak-learners on other rows. They share the memory of splits and columns with those of
    the training rows, where the search writes the order of categories."""
    if scipy.sparse.issparse(X):
        return SparseMixedStumps(encode_mixed_sparse(X, cuts, n_jobs), splits, columns)
    return mixed_stumps(encode_mixed(X, cuts, n_jobs), splits, columns)
