"""Weak-learners on some of the training rows: what a run without the rows of a fold works with.

Bins stay those of all rows, which do not depend on labels. Weights of sides, and so the norms of
weak-learners, are those of the rows that are left; splits that have an empty side there keep their
number and are never chosen. What searches write to (orders of categories) is the run's own.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ...data.binning import SparseCodes, empty_codes
from ..base import Prepared
from .dense_stumps import DenseStumps
from .mixed_splits import MixedColumns
from .mixed_stumps import MixedStumps, SparseMixedStumps
from .sparse_stumps import SparseStumps
from .splits import Splits, weighted_splits
from .stump_statistics import dense_bins

Vector = NDArray[np.float64]

LIGHT = 1e-12
"""A side with less than this share of the weight has no rows: the rest is rounding."""


@functools.singledispatch
def take_rows(arrays: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    """The same weak-learners on some of ``n_rows`` rows, given in ascending order."""
    raise TypeError(f"{type(arrays).__name__} cannot be taken apart by rows.")


@take_rows.register(DenseStumps)
@take_rows.register(MixedStumps)
def _(arrays: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    codes = empty_codes(len(arrays.codes), len(rows), arrays.codes.dtype)
    for bins, out in zip(arrays.codes, codes, strict=True):
        np.take(bins, rows, out=out[: len(rows)], mode="clip")  # "raise" would copy once more
    return arrays._replace(codes=codes, words=codes.view(np.uint64))


@take_rows.register(SparseStumps)
@take_rows.register(SparseMixedStumps)
def _(arrays: Any, rows: NDArray[np.int64], n_rows: int) -> Any:
    entries: SparseCodes = arrays.entries
    indptr, kept, place = stored_rows(entries.indptr, entries.rows, rows, n_rows)
    taken = entries._replace(indptr=indptr, rows=place, codes=entries.codes[kept])
    return arrays._replace(entries=taken)


def stored_rows(
    indptr: NDArray[np.int64], stored: NDArray[np.int32], rows: NDArray[np.int64], n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int32]]:
    """Of the stored entries: where columns begin, which are kept, and their new rows."""
    place = np.full(n_rows, -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    kept = place[stored] >= 0
    count = np.concatenate([[0], np.cumsum(kept)])
    return count[indptr].astype(np.int64), kept, place[stored[kept]]


@functools.singledispatch
def normalised(arrays: Any, weight: Vector | None, n_rows: int) -> Any:
    """Weak-learners whose norms are those on the rows that they lie on."""
    raise TypeError(f"{type(arrays).__name__} cannot be normalised anew.")


@normalised.register
def _(arrays: DenseStumps, weight: Vector | None, n_rows: int) -> DenseStumps:
    return arrays._replace(splits=_plain_splits(arrays, weight, n_rows))


@normalised.register
def _(arrays: SparseStumps, weight: Vector | None, n_rows: int) -> SparseStumps:
    return arrays._replace(splits=_plain_splits(arrays, weight, n_rows))


def _plain_splits(arrays: Any, weight: Vector | None, n_rows: int) -> Splits:
    offsets, total = arrays.splits.offsets, _total(weight, n_rows)
    left = np.zeros(int(offsets[-1]))
    codes = dense_bins(arrays)
    if codes is not None:
        add_left_weights(codes, offsets, np.ones(n_rows) if weight is None else weight, left)
    else:
        for g in np.flatnonzero(np.diff(offsets)).tolist():
            a, b = offsets[g], offsets[g + 1]
            left[a:b] = np.cumsum(_bin_weights(arrays, g, int(b - a) + 1, weight, n_rows))[:-1]
    splits = weighted_splits(arrays.splits, left, total)
    splits.gain[np.minimum(left, total - left) < LIGHT * total] = 0.0
    return splits


@kernel()
def add_left_weights(codes, offsets, weight, left):
    """The weight of the rows left of every split."""
    for g in range(offsets.shape[0] - 1):
        first, n = offsets[g], offsets[g + 1] - offsets[g]
        for i in range(weight.shape[0]):
            if codes[g, i] < n:
                left[first + codes[g, i]] += weight[i]
        for s in range(first + 1, first + n):
            left[s] += left[s - 1]


@normalised.register
def _(arrays: MixedStumps, weight: Vector | None, n_rows: int) -> MixedStumps:
    splits, columns = _mixed_splits(arrays, weight, n_rows)
    return arrays._replace(splits=splits, columns=columns)


@normalised.register
def _(arrays: SparseMixedStumps, weight: Vector | None, n_rows: int) -> SparseMixedStumps:
    splits, columns = _mixed_splits(arrays, weight, n_rows)
    return arrays._replace(splits=splits, columns=columns)


def _mixed_splits(arrays: Any, weight: Vector | None, n_rows: int) -> tuple[Splits, MixedColumns]:
    columns, offsets, total = arrays.columns, arrays.splits.offsets, _total(weight, n_rows)
    bin_weight, left = np.zeros(len(columns.bin_weight)), np.zeros(int(offsets[-1]))
    for g in range(len(offsets) - 1):
        start, m = columns.bin_start[g], int(columns.n_values[g])
        weights = _bin_weights(arrays, g, m + 1, weight, n_rows)
        bin_weight[start : start + m + 1] = weights
        if offsets[g + 1] > offsets[g] and not columns.categorical[g]:
            below = np.cumsum(weights[:m])
            if columns.n_bins[g] > m:
                below = np.concatenate([below, below[:-1] + weights[m]])
            else:
                below = below[:-1]
            left[offsets[g] : offsets[g + 1]] = below
    share = max(columns.lightest / arrays.splits.total_weight, LIGHT)
    columns = columns._replace(
        bin_weight=bin_weight,
        order=columns.order.copy(),
        noise=columns.noise.copy(),
        trust=np.ones(len(columns.trust)),
        lightest=share * total,
    )
    return weighted_splits(arrays.splits, left, total), columns


def _bin_weights(arrays: Any, g: int, n_bins: int, weight: Vector | None, n_rows: int) -> Vector:
    """The weight of each bin of a feature."""
    codes = dense_bins(arrays)
    if codes is not None:
        return np.bincount(codes[g, :n_rows], weight, n_bins).astype(np.float64)
    entries = arrays.entries
    now = slice(entries.indptr[g], entries.indptr[g + 1])
    w = None if weight is None else weight[entries.rows[now]]
    weights = np.bincount(entries.codes[now], w, n_bins).astype(np.float64)
    if now.stop - now.start < n_rows:
        weights[entries.zero_code[g]] += _total(weight, n_rows) - weights.sum()
    return weights


def on_some_rows(
    arrays: Any, rows: NDArray[np.int64], weight: Vector | None, others: NDArray[np.int64]
) -> tuple[Any, Any]:
    """Weak-learners of a run on some of the rows, with these weights; and the same on the others,
    which it is not fitted to."""
    n_rows = len(rows) + len(others)
    mine = normalised(take_rows(arrays, rows, n_rows), weight, len(rows))
    return mine, same_as(take_rows(arrays, others, n_rows), mine)


@functools.singledispatch
def same_as(arrays: Any, others: Any) -> Any:
    """Weak-learners with the norms of those on other rows, and with what searches there write (the
    order of categories)."""
    return arrays


@same_as.register(MixedStumps)
@same_as.register(SparseMixedStumps)
def _(arrays: Any, others: Any) -> Any:
    return arrays._replace(splits=others.splits, columns=others.columns)


def _total(weight: Vector | None, n_rows: int) -> float:
    return float(n_rows) if weight is None else float(weight.sum())


class PreparedBins(Prepared):
    """What stumps on binned rows have in common, with and without missing values and categories."""

    step_fields = ("left", "right")

    @property
    def sums_by_rows(self) -> bool:  # type: ignore[override]
        return dense_bins(self.arrays) is not None

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return dense_bins(self.arrays) is None

    @property
    def free_leaves(self) -> bool:  # type: ignore[override]
        return not self.arrays.splits.signed

    def bins_of_rows(self) -> Any:
        return dense_bins(self.arrays)

    def on_some_rows(self, rows: Any, weight: Any, others: Any) -> tuple[Any, Any]:
        return on_some_rows(self.arrays, rows, weight, others)
