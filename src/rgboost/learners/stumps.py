"""Stumps: weak-learners that split one feature at one threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._validation import check_count, check_option
from ..data.binning import (
    MOST_BINS,
    BinningKind,
    Cuts,
    bin_dense,
    bin_sparse,
    encode_dense,
    encode_sparse,
    make_plan,
)
from ..model import Coverage, Path, StumpModel
from ..selection import Layout
from .base import LearnerFamily, Prepared
from .dense_stumps import DenseStumps, dense_stumps
from .sparse_stumps import SparseStumps
from .splits import make_splits

PAPER_BINS = 100
PAPER_ROWS = 10_000


@dataclass(frozen=True)
class Stumps(LearnerFamily):
    """b(x; (g, s)) takes one value where x_g <= s and another where x_g > s.

    Parameters
    ----------
    leaves : {"free", "signed"}
        ``"free"``: the two values are the best ones for the residual, the unit vector in the span
        of the two indicators that has the largest inner product with it (CART; the authors'
        code). ``"signed"``: the values are +1 and -1, up to scale (equation weak-learn-stmps).
    max_bins : int, None or "paper"
        Bins per feature, from 2 to 65,536: one threshold fewer than bins. None: a threshold
        between every two distinct values, up to 65,535. ``"paper"``: 100 bins above 10,000 rows,
        else None.
    binning : {"quantile", "hybrid"}
        Thresholds at quantiles, or half of them at quantiles and half evenly spaced between
        smallest and largest value, which keeps the tails of skewed features apart.

    Dense matrices and sparse ones (without making them dense) are accepted. Ties between stumps
    go to the smaller feature, then to the smaller threshold.
    """

    leaves: Literal["free", "signed"] = "free"
    max_bins: int | Literal["paper"] | None = 255
    binning: BinningKind = "quantile"

    def __post_init__(self) -> None:
        check_option(self.leaves, "leaves", ["free", "signed"])
        check_option(self.binning, "binning", ["quantile", "hybrid"])
        if self.max_bins is None or self.max_bins == "paper":
            return
        if check_count(self.max_bins, "max_bins", at_least=2) > MOST_BINS:
            raise ValueError(
                f"max_bins={self.max_bins} is too large; use at most {MOST_BINS}, "
                "or None for every distinct value."
            )

    def bins_for(self, n_rows: int) -> int | None:
        if self.max_bins == "paper":
            return PAPER_BINS if n_rows > PAPER_ROWS else None
        return self.max_bins

    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> PreparedStumps:
        plan = make_plan(self.bins_for(X.shape[0]), self.binning)
        total = float(X.shape[0]) if weight is None else float(weight.sum())
        arrays: Any
        if scipy.sparse.issparse(X):
            columns = as_sorted_csc(X)
            cells = float(columns.nnz + X.shape[1])
            cuts, entries = bin_sparse(columns, plan, weight, n_jobs)
            del columns  # the bins say it all; room for what follows
            arrays = SparseStumps(entries, make_splits(cuts, total, self.leaves == "signed"))
        else:
            cuts, codes = bin_dense(X, plan, weight, n_jobs)
            arrays = dense_stumps(codes, make_splits(cuts, total, self.leaves == "signed"))
            cells = float(X.shape[0]) * X.shape[1]
        layout = Layout.make(cuts.offsets, groups, names)
        return PreparedStumps(arrays, layout, cuts, cells)


@dataclass
class PreparedStumps(Prepared):
    """Stumps on binned training rows."""

    arrays: Any
    layout: Layout
    cuts: Cuts
    cells: float

    @property
    def sums_by_rows(self) -> bool:  # type: ignore[override]
        return isinstance(self.arrays, DenseStumps)

    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        if scipy.sparse.issparse(X):
            entries = encode_sparse(as_sorted_csc(X), self.cuts, n_jobs)
            return SparseStumps(entries, self.arrays.splits)
        return dense_stumps(encode_dense(X, self.cuts, n_jobs), self.arrays.splits)

    def model(self, path: Path, intercept: float) -> StumpModel:
        return StumpModel.collapse(self.cuts, path, intercept)

    def coverage(self, model: StumpModel, learner: NDArray[np.int64]) -> Coverage:
        return Coverage.of(model, learner, self.cuts, float(self.arrays.splits.total_weight))


def as_sorted_csc(X: Any) -> scipy.sparse.csc_array:
    """A CSC copy with sorted rows, no explicit zeros and no duplicates; X is left alone."""
    columns = scipy.sparse.csc_array(X, copy=scipy.sparse.issparse(X) and X.format == "csc")
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
