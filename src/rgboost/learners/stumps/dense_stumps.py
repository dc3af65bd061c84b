"""Stumps over a dense matrix of bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, reduction, scalar
from ..._core.math import blocked_sum
from ..kernels import (
    TIE,
    accumulate,
    direction,
    make_pick,
    scratch_size,
    search_columns,
)
from .splits import (
    Splits,
    expected_sum,
    pick_split,
    scan_candidates,
    scan_splits,
    shared_score,
    to_left_sums,
)
from .stump_statistics import (
    add_table,
    bar_light_sides,
    column_left_sums,
    dense_bins,
    expand_codes,
    fill_column,
    joint_bins,
    stored_entries,
    table_base,
)

_COPIES = 2
_STRIDE = 256
_TOGETHER = 3
_FEW_CANDIDATES = 2
"""Splits of a column whose left sums are faster one by one than by the sums of all bins."""
_SHORT = 1024
"""Rows below which copies of the bins are not worth clearing and adding up."""


class DenseStumps(NamedTuple):
    """Bins feature by feature, and the same memory as 8-byte words.

    ``wide`` tells that bins are uint16; words are read only if they are not.
    """

    codes: NDArray[np.unsignedinteger]
    words: NDArray[np.uint64]
    wide: bool
    splits: Splits


def dense_stumps(codes: NDArray[np.unsignedinteger], splits: Splits) -> DenseStumps:
    """The family's arrays from bins (features, padded rows)."""
    return DenseStumps(codes, codes.view(np.uint64), codes.dtype == np.uint16, splits)


@dense_bins.register(DenseStumps)
def _dense_bins(learners):
    return learners.codes


@stored_entries.register(DenseStumps)
def _stored_entries(learners: DenseStumps, n_rows: int) -> float:
    """Those outside the heaviest bin of a feature."""
    return n_rows * float(np.sum(1.0 - heaviest_bins(learners.splits)[1]))


def heaviest_bins(splits: Splits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The heaviest bin of each feature, and its share of the weight."""
    offsets = splits.offsets
    n_features = len(offsets) - 1
    first = offsets[:-1] + np.arange(n_features)
    edges = np.insert(splits.left_weight, offsets[1:], splits.total_weight)
    weights = np.diff(edges, prepend=0.0)
    weights[first] = edges[first]
    heaviest = np.array(
        [int(weights[a:b].argmax()) for a, b in zip(first, [*first[1:], len(edges)], strict=True)],
        dtype=np.int64,
    )
    return heaviest, weights[first + heaviest] / splits.total_weight


@scratch_size.register(DenseStumps)
def _scratch_size(learners):
    return max(_TOGETHER * _COPIES * _STRIDE, 2 * learners.splits.most_bins)


@scalar()
def fill_bins(codes, words, wide, n_bins, residual, lo, hi, bins_out, values):
    """Sums of residuals in each bin of a column, over rows lo..hi (lo a multiple of 8).

    One addition a row. Bins are read eight at a time, and two copies of the sums take turns, so
    that an addition need not wait for the one before it to the same bin.

        word:  b0 b1 b2 b3 b4 b5 b6 b7      copy:  0 1 0 1 0 1 0 1
    """
    if n_bins == 2:
        fill_two_bins(codes, residual, lo, hi, bins_out, values)
    elif wide or hi - lo < _SHORT:
        for s in range(n_bins):
            bins_out[s] = 0.0
        for i in range(np.uint64(lo), np.uint64(hi)):
            bins_out[codes[i]] += residual[i]
    else:
        clear(bins_out, n_bins, 1)
        whole = lo + (hi - lo) // 8 * 8
        for k in range(lo // 8, whole // 8):
            word = words[k]
            i = k * 8
            for b in range(8):
                bins_out[cell(word, b, 0)] += residual[i + b]
        for i in range(whole, hi):
            bins_out[codes[i]] += residual[i]
        join(bins_out, n_bins, 0)


@scalar()
def fill_three(codes, words, c, n_bins, residual, lo, hi, bins_out):
    """`fill_bins` for columns c (three of them) at once, to the same sums.

    A residual is read once for three additions: 3.3 additions a nanosecond against 2.4.
    """
    c0, c1, c2 = c
    clear(bins_out, max(n_bins), _TOGETHER)
    words0, words1, words2 = words[c0], words[c1], words[c2]
    whole = lo + (hi - lo) // 8 * 8
    for k in range(lo // 8, whole // 8):
        word0, word1, word2 = words0[k], words1[k], words2[k]
        i = k * 8
        for b in range(8):
            r = residual[i + b]
            bins_out[cell(word0, b, 0)] += r
            bins_out[cell(word1, b, 1)] += r
            bins_out[cell(word2, b, 2)] += r
    for i in range(whole, hi):
        bins_out[codes[c0, i]] += residual[i]
        bins_out[_COPIES * _STRIDE + np.int64(codes[c1, i])] += residual[i]
        bins_out[2 * _COPIES * _STRIDE + np.int64(codes[c2, i])] += residual[i]
    for column in range(_TOGETHER):
        join(bins_out, n_bins[column], column)


@scalar()
def cell(word, b, column):
    """Where byte b of a word is counted, for one of the columns that are summed together."""
    copy = np.uint64(_STRIDE * (_COPIES * column + b % _COPIES))
    return ((word >> np.uint64(8 * b)) & np.uint64(255)) + copy


@scalar()
def clear(bins_out, n_bins, n_columns):
    for copy in range(_COPIES * n_columns):
        for s in range(n_bins):
            bins_out[copy * _STRIDE + s] = 0.0


@scalar()
def join(bins_out, n_bins, column):
    """The copies of a column's sums, added to the first of them."""
    first = _COPIES * _STRIDE * column
    for s in range(first, first + n_bins):
        bins_out[s] += bins_out[s + _STRIDE]


@kernel()
def fill_two_bins(codes, residual, lo, hi, bins_out, values):
    """`fill_bins` for an indicator: a masked sum, which the compiler vectorises.

    No split is right of the last bin, so its sum is not needed.
    """
    bins_out[0] = 0.0
    bins_out[1] = 0.0
    size = values.shape[0]
    for start in range(lo, hi, size):
        c = codes[start : min(start + size, hi)]
        r = residual[start : min(start + size, hi)]
        for i in range(r.shape[0]):
            values[i] = 0.0 if c[i] else r[i]
        bins_out[0] += blocked_sum(values, r.shape[0])


@reduction()
def left_sum(codes, split, values):
    """The sum of the values of rows on the left of a split: a masked sum, in vectors."""
    nothing = values.dtype.type(0)
    total = nothing
    for i in range(values.shape[0]):
        total += values[i] if codes[i] <= split else nothing
    return total


@reduction()
def left_sums(codes, split, values, others):
    """`left_sum` of two vectors."""
    nothing = values.dtype.type(0)
    total, other = nothing, nothing
    for i in range(values.shape[0]):
        left = codes[i] <= split
        total += values[i] if left else nothing
        other += others[i] if left else nothing
    return total, other


@fill_column.register(DenseStumps)
def _fill_column(learners, column, values, total, scratch):
    n_bins = learners.splits.offsets[column + 1] - learners.splits.offsets[column] + 1
    codes, words, n = learners.codes[column], learners.words[column], values.shape[0]
    fill_bins(codes, words, learners.wide, n_bins, values, 0, n, scratch.bins, scratch.values)
    return n_bins


@column_left_sums.register(DenseStumps)
def _column_left_sums(learners, column, bins, total):
    to_left_sums(bins, learners.splits.offsets[column + 1] - learners.splits.offsets[column])


@bar_light_sides.register(DenseStumps)
def _bar_light_sides(learners, column, scores):
    pass


@table_base.register(DenseStumps)
def _table_base(learners, column, table):
    return 0.0


@add_table.register(DenseStumps)
def _add_table(learners, column, table, lo, hi, score):
    codes = learners.codes[column, lo:hi]
    part = score[lo:hi]
    for i in range(codes.shape[0]):
        part[i] += table[codes[i]]


@expand_codes.register(DenseStumps)
def _expand_codes(learners, column, stride, codes_out):
    codes = learners.codes[column]
    for i in range(codes_out.shape[0]):
        codes_out[i] = stride * codes[i]


@joint_bins.register(DenseStumps)
def _joint_bins(learners, codes, bin_weights, column, weight, table_out):
    others = learners.codes[column, : codes.shape[0]]
    table_out[: bin_weights.shape[0]] = 0
    cells = table_out.ravel()
    if weight.shape[0] > 0:
        for i in range(codes.shape[0]):
            cells[np.uint32(codes[i]) + np.uint32(others[i])] += weight[i]
    else:
        for i in range(codes.shape[0]):
            cells[np.uint32(codes[i]) + np.uint32(others[i])] += 1


@accumulate.register(DenseStumps)
def _accumulate(learners, columns, residual, lo, hi, scratch, first, partial_out):
    codes, words, wide = learners.codes, learners.words, learners.wide
    offsets, bins, values = learners.splits.offsets, scratch.bins, scratch.values
    n_columns = columns.shape[0]
    k = 0
    while k < n_columns:
        c = columns[k]
        n_bins = offsets[c + 1] - offsets[c] + 1
        together = 1
        if k + 2 < n_columns and n_bins > 2 and not wide and hi - lo >= _SHORT:
            d, e = columns[k + 1], columns[k + 2]
            sizes = (n_bins, offsets[d + 1] - offsets[d] + 1, offsets[e + 1] - offsets[e] + 1)
            if min(sizes) > 2:
                together = _TOGETHER
                fill_three(codes, words, (c, d, e), sizes, residual, lo, hi, bins)
        if together == 1:
            fill_bins(codes[c], words[c], wide, n_bins, residual, lo, hi, bins, values)
        for column in range(together):
            c = columns[k + column]
            n_bins = offsets[c + 1] - offsets[c] + 1
            out, sums = partial_out[k + column], bins[_COPIES * _STRIDE * column :]
            if first:
                for s in range(n_bins):
                    out[s] = sums[s]
            else:
                for s in range(n_bins):
                    out[s] += sums[s]
        k += together


@search_columns.register(DenseStumps)
def _search_columns(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    codes, words, wide = learners.codes, learners.words, learners.wide
    splits, bins, values = learners.splits, scratch.bins, scratch.values
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    columns, restricted = subset.columns, subset.restricted
    score, learner, inner = best_out.score, best_out.learner, best_out.inner
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    to_reach = 0.0
    nothing = subset.learners[:0]
    start, n = np.int64(0), residual.shape[0]  # a plain 0 would compile `fill_bins` once more
    for k in range(k_start, k_stop):
        c = columns[k]
        first, stop = offsets[c], offsets[c + 1]
        n_bins = stop - first + 1
        chosen = subset.learners[subset.first[k] : subset.first[k + 1]] if restricted else nothing
        few = 0 < chosen.shape[0] <= _FEW_CANDIDATES and partial.shape[0] == 0
        if few:
            for j in chosen:
                bins[j - first] = left_sum(codes[c], codes.dtype.type(j - first), residual)
        elif partial.shape[0] == 0:
            fill_bins(codes[c], words[c], wide, n_bins, residual, start, n, bins, values)
        else:
            for s in range(n_bins):  # not as slices: to compile that takes two seconds
                bins[s] = partial[0, k, s]
            for chunk in range(1, partial.shape[0]):
                for s in range(n_bins):
                    bins[s] += partial[chunk, k, s]
        if restricted:
            if not few:
                to_left_sums(bins, stop - first)
            found = scan_candidates(bins, left_weight, gain, first, chosen, slope, shift, base)
        else:
            found = scan_splits(bins, left_weight, gain, first, stop, slope, shift, base, to_reach)
        to_reach = max(to_reach, found[0] * (1.0 - TIE))
        score[k], learner[k], inner[k] = found


@make_pick.register(DenseStumps)
def _make_pick(learners, column, learner, inner, total):
    return pick_split(learners.splits, column, learner, inner, total)


@direction.register(DenseStumps)
def _direction(learners, pick, lo, hi, out):
    split = pick.learner - learners.splits.offsets[pick.column]
    codes = learners.codes[pick.column, lo:hi]
    for i in range(codes.shape[0]):
        out[i] = pick.left if codes[i] <= split else pick.right
