"""Thresholds: how many, and where; and which columns have missing values beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.one_line import one_line
from .._core.team import sums_are_finite
from .elsewhere import MatrixElsewhere

BinningKind = Literal["quantile", "hybrid"]

MOST_BINS = 65_536
"""Bins are stored as uint8 up to 256 of them, as uint16 above."""


@one_line
@dataclass(frozen=True)
class Cuts:
    """Thresholds of all features: feature g has ``thresholds[offsets[g]:offsets[g + 1]]``.

    ``left_weight`` is the weight of the rows at or below each threshold.
    """

    offsets: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    left_weight: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        return len(self.offsets) - 1

    def code_dtype(self) -> type[np.uint8] | type[np.uint16]:
        most = int(np.diff(self.offsets).max(initial=0)) + 1
        return np.uint8 if most <= 256 else np.uint16


def without_light_sides(cuts: Cuts, lightest: float, total_weight: float) -> Cuts:
    """The cuts that have at least the weight ``lightest`` on either side."""
    kept = np.minimum(cuts.left_weight, total_weight - cuts.left_weight) >= lightest
    offsets = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)[cuts.offsets]
    return Cuts(offsets, cuts.thresholds[kept], cuts.left_weight[kept])


class CutPlan(NamedTuple):
    """How many thresholds at most, at quantiles and evenly spaced."""

    max_bins: int
    n_quantile: int
    n_even: int


def make_plan(max_bins: int | None, kind: BinningKind) -> CutPlan:
    """``max_bins`` bins need one threshold fewer. Features with no more distinct values than bins
    get a threshold between every two of them, whatever the kind."""
    most = MOST_BINS if max_bins is None else max_bins
    n_even = 0 if kind == "quantile" else (most - 1) // 2
    return CutPlan(most, most - 1 - n_even, n_even)


@kernel()
def choose_cuts(values, cumulative, n_distinct, plan, thresholds_out, left_weight_out):
    """Choose where to cut distinct sorted values; returns how many cuts there are.

    ``cumulative[k]`` is the weight at or below ``values[k]``. The i-th of q quantile cuts goes
    after the first value whose cumulative weight reaches i/(q+1) of the total (the inverse of the
    distribution function, so that integer weights are the same as repeated rows); the i-th of e
    even cuts goes after the last value at or below min + i/(e+1) (max - min).
    """
    count = 0
    if n_distinct <= plan.max_bins:
        for k in range(n_distinct - 1):
            thresholds_out[count] = between(values[k], values[k + 1])
            left_weight_out[count] = cumulative[k]
            count += 1
        return count
    total = cumulative[n_distinct - 1]
    low = values[0]
    span = values[n_distinct - 1] - low
    quantile = 1
    even = 1
    for k in range(n_distinct - 1):
        cut = False
        while quantile <= plan.n_quantile and cumulative[k] >= (
            total * quantile / (plan.n_quantile + 1)
        ):
            quantile += 1
            cut = True
        while even <= plan.n_even and values[k + 1] > low + span * (even / (plan.n_even + 1)):
            even += 1
            cut = True
        if cut:
            thresholds_out[count] = between(values[k], values[k + 1])
            left_weight_out[count] = cumulative[k]
            count += 1
    return count


@kernel()
def between(a, b):
    """A number s with a <= s < b, half-way where rounding allows it."""
    s = 0.5 * a + 0.5 * b
    return s if a <= s < b else a


def columns_with_missing(X: Any) -> NDArray[np.bool_]:
    """Which columns hold NaN."""
    if isinstance(X, MatrixElsewhere):
        return X.weigh_missing(None) > 0
    if scipy.sparse.issparse(X):
        found = np.zeros(X.shape[1], dtype=bool)
        if not np.isnan(X.data).any():
            return found
        found[scipy.sparse.coo_array(X).col[np.isnan(X.data)]] = True
        return found
    if sums_are_finite(X):
        return np.zeros(X.shape[1], dtype=bool)
    return np.array([bool(np.isnan(X[:, g]).any()) for g in range(X.shape[1])])
