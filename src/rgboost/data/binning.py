"""Binning: choose thresholds for every feature, and write each value as the number of its bin.

A feature's weak-learners are its thresholds s_0 < s_1 < ...; a value x is in bin k when k
thresholds are below it, so ``x <= s_k`` is the same as ``bin(x) <= k``. Thresholds lie half-way
between two neighbouring values of the data and each cuts the rows differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.team import map_ranges
from .cuts import CutPlan, Cuts, choose_cuts
from .sorting import sort_rows
from .sparse_columns import SparseColumns

_BLOCK_BYTES = 16 << 20
"""Columns are binned in blocks of this size: one copy to lay them out, one to sort."""

_ENTRIES_FOR_THREADS = 1_000_000
"""Stored entries (about 3 milliseconds) that make starting threads pay."""

_CELLS_FOR_THREADS = 50_000
"""The same for dense matrices (about a millisecond)."""


class SparseCodes(NamedTuple):
    """Bins of the stored entries of a sparse matrix, column by column; all other rows are in
    ``zero_code[column]``. ``only_code[column]`` is the bin of all stored entries if they share
    one (indicators do), else -1."""

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: NDArray[np.unsignedinteger]
    zero_code: NDArray[np.int64]
    only_code: NDArray[np.int64]


def bin_dense(
    X: NDArray[np.floating],
    plan: CutPlan,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
) -> tuple[Cuts, NDArray[np.unsignedinteger]]:
    """Cuts of a dense matrix, and its bins feature by feature (see `encode_dense`)."""
    n_rows, n_features = X.shape
    code_type = np.uint8 if min(plan.max_bins, n_rows) <= 256 else np.uint16
    codes = empty_codes(n_features, n_rows, code_type)
    w = np.empty(0) if weight is None else weight
    if X.size < _CELLS_FOR_THREADS:
        n_jobs = 1

    def bin_block(start: int, stop: int) -> tuple[NDArray, NDArray, NDArray]:
        columns = np.ascontiguousarray(X[:, start:stop].T)
        if weight is None:
            order, ordered = np.empty((len(columns), 0), np.int64), sort_rows(columns)
        else:
            order = np.argsort(columns, axis=1)
            ordered = np.take_along_axis(columns, order, axis=1)
        found = cut_columns(ordered, order, w, plan)
        encode_columns(columns, found[0], found[1], codes[start:stop])
        return found

    width = _BLOCK_BYTES // max(1, n_rows * X.dtype.itemsize)
    blocks = _map_blocks(bin_block, n_features, width, n_jobs)
    cuts = _join_cuts(blocks)
    return cuts, codes.astype(cuts.code_dtype(), copy=False)


def bin_sparse(
    X: SparseColumns,
    plan: CutPlan,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
) -> tuple[Cuts, SparseCodes]:
    """Cuts of a sparse matrix, and the bins of its stored entries. Cost follows the entries."""
    total = float(X.n_rows) if weight is None else float(weight.sum())
    if len(X.rows) < _ENTRIES_FOR_THREADS:
        n_jobs = 1
    cuts = cut_sparse(X, plan, np.empty(0) if weight is None else weight, total, n_jobs)
    return cuts, encode_sparse(X, cuts, n_jobs)


def cut_sparse(
    X: SparseColumns, plan: CutPlan, weight: NDArray[np.float64], total: float, n_jobs: int = 1
) -> Cuts:
    """Cuts of sparse columns; weights are 1 if there are none."""
    # A column has at most as many cuts as entries. Pages that are never written take no memory.
    most = np.minimum(np.diff(X.indptr), plan.max_bins - 1)
    room = np.concatenate([np.zeros(1, np.int64), np.cumsum(most, dtype=np.int64)])
    thresholds, left_weight = np.empty(room[-1]), np.empty(room[-1])
    counts = np.zeros(len(room), np.int64)

    def cut_range(start: int, stop: int) -> None:
        out = room, thresholds, left_weight, counts
        cut_sparse_columns(X, weight, total, plan, start, stop, *out)

    map_ranges(cut_range, len(room) - 1, n_jobs, at_least=64)
    offsets = np.cumsum(counts)
    for values in (thresholds, left_weight):
        close_gaps(room, offsets, values)
        values.resize(offsets[-1], refcheck=False)
    return Cuts(offsets, thresholds, left_weight)


def encode_dense(
    X: NDArray[np.floating], cuts: Cuts, n_jobs: int = 1
) -> NDArray[np.unsignedinteger]:
    """Bins as an array (features, rows), padded with zeros to whole 8-byte words of rows."""
    n_rows, n_features = X.shape
    codes = empty_codes(n_features, n_rows, cuts.code_dtype())

    def encode_block(start: int, stop: int) -> None:
        columns = np.ascontiguousarray(X[:, start:stop].T)
        offsets = cuts.offsets[start : stop + 1]
        thresholds = cuts.thresholds[offsets[0] : offsets[-1]]
        encode_columns(columns, offsets - offsets[0], thresholds, codes[start:stop])

    width = _BLOCK_BYTES // max(1, n_rows * X.dtype.itemsize)
    for _ in _map_blocks(encode_block, n_features, width, n_jobs):
        pass
    return codes


def encode_sparse(X: SparseColumns, cuts: Cuts, n_jobs: int = 1) -> SparseCodes:
    """Bins of the stored entries of a sparse matrix."""
    codes = np.empty(len(X.rows), cuts.code_dtype())
    zero_code = np.empty(cuts.n_features, np.int64)
    only_code = np.empty(cuts.n_features, np.int64)

    def encode_range(start: int, stop: int) -> None:
        cut = cuts.offsets, cuts.thresholds
        encode_entries(X.indptr, X.data, X.order, *cut, start, stop, codes, zero_code, only_code)

    map_ranges(encode_range, cuts.n_features, n_jobs, at_least=64)
    return SparseCodes(X.indptr, X.rows, codes, zero_code, only_code)


def empty_codes(n_features: int, n_rows: int, code_type: type) -> NDArray[np.unsignedinteger]:
    """Room for bins, padded so that rows of features can be read as 8-byte words, also once they
    are stored in one byte."""
    padded = n_rows + -n_rows % 8
    codes: NDArray[np.unsignedinteger] = np.empty((n_features, padded), code_type)
    codes[:, n_rows:] = 0
    return codes


def _map_blocks(
    function: Callable[[int, int], Any], n_features: int, width: int, n_jobs: int
) -> Iterator[Any]:
    """``function(start, stop)`` of blocks of about ``width`` columns, in order, ``n_jobs`` at a
    time; before that, perhaps of an empty block, which is not yielded."""
    # Multiples of 16 columns: a cache line of a C-ordered float32 matrix.
    width = max(16, width // 16 * 16)
    width = max(1, min(width, -(-n_features // max(1, n_jobs))))
    starts = range(0, n_features, width)
    stops = [min(start + width, n_features) for start in starts]
    if n_jobs == 1 or len(starts) == 1:
        yield from map(function, starts, stops)
        return
    function(0, 0)  # compiles, see `_core.jit.ready`
    with ThreadPoolExecutor(n_jobs, "rgboost") as pool:
        yield from pool.map(function, starts, stops)


def _join_cuts(blocks: Iterable[tuple[NDArray, NDArray, NDArray]]) -> Cuts:
    """Append block after block. With many features these are the largest arrays of all: they grow
    in place, and are never held twice."""
    counts = [np.zeros(1, np.int64)]
    thresholds, left_weight = np.empty(0), np.empty(0)
    for offsets, more_thresholds, more_weight in blocks:
        counts.append(np.diff(offsets))
        old, new = len(thresholds), len(thresholds) + len(more_thresholds)
        thresholds.resize(new, refcheck=False)
        left_weight.resize(new, refcheck=False)
        thresholds[old:] = more_thresholds
        left_weight[old:] = more_weight
    return Cuts(np.cumsum(np.concatenate(counts)), thresholds, left_weight)


@kernel()
def cut_columns(ordered, order, weight, plan):
    """Cuts of sorted columns: (offsets, thresholds, left_weight). ``order`` sorts the weights."""
    n_columns, n_rows = ordered.shape
    weighted = weight.shape[0] > 0
    values = np.empty(n_rows, np.float64)
    cumulative = np.empty(n_rows, np.float64)
    most = min(plan.max_bins, n_rows)
    thresholds = np.empty(n_columns * max(most - 1, 0), np.float64)
    left_weight = np.empty_like(thresholds)
    offsets = np.zeros(n_columns + 1, np.int64)
    for c in range(n_columns):
        n_distinct = np.int64(0)  # a plain 0 would compile `choose_cuts` once more
        below = 0.0
        for i in range(n_rows):
            below += weight[order[c, i]] if weighted else 1.0
            if i == n_rows - 1 or ordered[c, i] < ordered[c, i + 1]:
                values[n_distinct] = ordered[c, i]
                cumulative[n_distinct] = below
                n_distinct += 1
        first = offsets[c]
        count = choose_cuts(
            values, cumulative, n_distinct, plan, thresholds[first:], left_weight[first:]
        )
        offsets[c + 1] = first + count
    return offsets, thresholds[: offsets[-1]].copy(), left_weight[: offsets[-1]].copy()


@kernel()
def cut_sparse_columns(
    columns, weight, total, plan, start, stop, room, thresholds_out, left_weight_out, count_out
):
    """Cuts of the sparse columns start..stop: of the distinct stored values, and of zero with the
    weight of the rest. Those of column c go to ``room[c]``; ``count_out[c + 1]`` says how many."""
    indptr, data, positions = columns.indptr, columns.data, columns.order
    weighted = weight.shape[0] > 0
    longest = 0
    for c in range(start, stop):
        longest = max(longest, indptr[c + 1] - indptr[c])
    column = np.empty(longest, data.dtype)
    values = np.empty(longest + 1, np.float64)
    cumulative = np.empty(longest + 1, np.float64)
    for c in range(start, stop):
        rows = columns.rows[indptr[c] : indptr[c + 1]]
        stored = rows.shape[0]
        entries = column[:stored]
        for k in range(stored):
            e = indptr[c] + k
            entries[k] = data[positions[e]] if positions.shape[0] > 0 else data[e]
        order = sorted_order(entries)
        stored_weight = 0.0
        for k in range(stored):
            stored_weight += weight[rows[k]] if weighted else 1.0
        zero_weight = total - stored_weight
        zero_pending = stored < columns.n_rows
        n_distinct = np.int64(0)  # a plain 0 would compile `choose_cuts` once more
        below = 0.0
        for k in range(stored):
            value = np.float64(entries[order[k]])
            if zero_pending and value > 0.0:
                below += zero_weight
                values[n_distinct] = 0.0
                cumulative[n_distinct] = below
                n_distinct += 1
                zero_pending = False
            below += weight[rows[order[k]]] if weighted else 1.0
            if k == stored - 1 or entries[order[k]] < entries[order[k + 1]]:
                values[n_distinct] = value
                cumulative[n_distinct] = below
                n_distinct += 1
        if zero_pending:
            values[n_distinct] = 0.0
            cumulative[n_distinct] = total
            n_distinct += 1
        first = room[c]
        count_out[c + 1] = choose_cuts(
            values, cumulative, n_distinct, plan, thresholds_out[first:], left_weight_out[first:]
        )


@kernel()
def close_gaps(room, offsets, values):
    """Move the values of column c from ``room[c]`` down to ``offsets[c]``."""
    for c in range(offsets.shape[0] - 1):
        for k in range(offsets[c + 1] - offsets[c]):
            values[offsets[c] + k] = values[room[c] + k]


@kernel()
def sorted_order(values):
    """The order that sorts; free of charge for what is sorted already, as indicators are."""
    for i in range(values.shape[0] - 1):
        if values[i] > values[i + 1]:
            return np.argsort(values)
    return np.arange(values.shape[0])


_SEARCH_BLOCK = 512


@kernel()
def encode_columns(columns, offsets, thresholds, codes_out):
    """``codes_out[c, i]``: how many thresholds of column c are below ``columns[c, i]``.

    A binary search of many rows at a time, one level after the other: every level is a loop over
    rows that the compiler vectorises. Thresholds are padded with infinity to a power of two, so
    that all searches take the same number of levels.
    """
    n_columns, n_rows = columns.shape
    found = np.empty(_SEARCH_BLOCK, np.uint32)
    for c in range(n_columns):
        n_cuts = offsets[c + 1] - offsets[c]
        levels = 0
        while (1 << levels) <= n_cuts:
            levels += 1
        ladder = np.full(1 << levels, np.inf, columns.dtype)
        for k in range(n_cuts):
            # In the type of the data, rounded down: its values are on the same side of both, and
            # twice as many float32 fit into a register.
            ladder[k] = thresholds[offsets[c] + k]
            if ladder[k] > thresholds[offsets[c] + k]:
                ladder[k] = np.nextafter(ladder[k], -ladder[n_cuts])
        for start in range(0, n_rows, _SEARCH_BLOCK):
            size = min(_SEARCH_BLOCK, n_rows - start)
            found[:] = 0
            for level in range(levels - 1, -1, -1):
                half = np.uint32(1 << level)
                for i in range(size):
                    below = ladder[found[i] + half - np.uint32(1)] < columns[c, start + i]
                    found[i] += half if below else np.uint32(0)
            for i in range(size):
                codes_out[c, start + i] = found[i]


@kernel()
def encode_entries(
    indptr, data, order, offsets, thresholds, start, stop, codes_out, zero_out, only_out
):
    """`encode_columns` for the stored entries of the columns start..stop, and for zero."""
    for c in range(start, stop):
        cuts = thresholds[offsets[c] : offsets[c + 1]]
        zero_out[c] = count_below(cuts, 0.0)
        only_out[c] = -1
        for k in range(indptr[c], indptr[c + 1]):
            x = data[order[k]] if order.shape[0] > 0 else data[k]
            codes_out[k] = count_below(cuts, x)
            if k == indptr[c]:
                only_out[c] = codes_out[k]
            elif codes_out[k] != only_out[c]:
                only_out[c] = -2
        only_out[c] = max(only_out[c], -1)


@kernel()
def count_below(cuts, x):
    """How many of the sorted cuts are below x, by a search without branches."""
    length = cuts.shape[0]
    if length == 0:
        return 0
    first = 0
    while length > 1:
        half = length // 2
        first += half if cuts[first + half - 1] < x else 0
        length -= half
    return first + 1 if cuts[first] < x else first
