"""A tree, grown best leaf first.

Each step parts the leaf whose best split gains most. The rows of a leaf lie side by side in a list,
in their own order; a split writes those of its left side before those of the right. Of the two
parts the one with fewer rows is summed (`histograms`), and what the parent has beyond it is the
other. So a tree of few levels costs about two looks at every row and feature.

All threads of a team run this together. They share rows where these are parted, and blocks of
features where they are summed and searched; what follows from that (which leaf is next) each of
them finds out by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.team import wait_for_all
from ..kernels import TIE
from .arrays import BYTES, MOST_BINS, bin_of
from .histograms import places_of, subtract, sum_rows
from .splits import search_column, sign_of, value_of, write_side


class Limits(NamedTuple):
    """When a leaf is not parted: there are so many leaves, it is so deep, or it gains no more than
    ``least_gain``."""

    leaves: int
    depth: int
    least_gain: float


class Tree(NamedTuple):
    """Splits in the order in which they were made. That of place k parts leaf ``leaf[k]``: its left
    side, the bins with ``left[k]``, keeps the number, and the right one is leaf k + 1. ``weight``
    are those of both sides."""

    leaf: NDArray[np.int64]
    column: NDArray[np.int64]
    split: NDArray[np.int64]
    gain: NDArray[np.float64]
    weight: NDArray[np.float64]
    left: NDArray[np.uint8]


def empty_tree(n_splits: int) -> Tree:
    leaf, column, split = np.zeros((3, n_splits), np.int64)
    sides = np.zeros((n_splits, MOST_BINS), np.uint8)
    return Tree(leaf, column, split, np.zeros(n_splits), np.zeros((n_splits, 2)), sides)


class Work(NamedTuple):
    """Memory that threads share: the lists of rows (of a leaf in one of the two), their sides,
    values (r_1, ..., r_C, w) of the rows that are summed, histograms, numbers of rows, sums over
    chunks of rows, and, of both parts of a split, what the best split on each feature gains and its
    number."""

    rows: NDArray[np.uint32]
    side: NDArray[np.uint8]
    values: NDArray[np.float64]
    histograms: NDArray[np.float64]
    counts: NDArray[np.int64]
    chunks: NDArray[np.int64]
    partial: NDArray[np.float64]
    gain: NDArray[np.float64]
    split: NDArray[np.int64]


LOW, HIGH, GAIN = range(3)
START, STOP, WHICH, DEPTH, SLOT, PLACE, SPLIT, ALONE = range(8)


class Leaves(NamedTuple):
    """What a thread knows of all leaves, in few arrays: each is an argument of every call.

    ``real[q]`` are the bounds of the value of leaf q and what its best split gains; ``whole[q]``
    where its rows begin and end in one of the two lists and in which, its depth, its histogram, the
    place of the feature and the number of its best split, and the feature that acts with nobody
    (-1: none was split on the way). ``total`` are S and W, ``left`` the bins on the left of the
    best split and ``left_total`` S and W there; ``alive`` the sets of features that have all that
    were split on the way.
    """

    real: NDArray[np.float64]
    whole: NDArray[np.int64]
    total: NDArray[np.float64]
    left: NDArray[np.uint8]
    left_total: NDArray[np.float64]
    alive: NDArray[np.bool_]


@kernel()
def grow(arrays, looked, residual, n_rows, work, limits, noise, tree, leaf_out, seat):
    """Grow a tree on the first ``n_rows`` listed rows; returns its number of leaves. ``leaf_out``
    has the leaf of every row, unless it is empty."""
    size, n_most = residual.shape[0] + 1, limits.leaves
    leaves = make_leaves(arrays, n_most, size)
    goal = gather_all(arrays, residual, n_rows, work, size, seat, np.int64(0))
    for chunk in range(work.chunks.shape[0] - 1):
        leaves.total[0] += work.partial[chunk]
    leaves.whole[0, STOP] = n_rows
    root, none = np.int64(0), np.int64(-1)
    goal = search_leaves(arrays, looked, work, leaves, root, none, limits, noise, seat, goal)
    n = np.int64(1)
    while n < n_most:
        best = root
        for q in range(1, n):
            if leaves.real[q, GAIN] > leaves.real[best, GAIN] * (1.0 + TIE):
                best = np.int64(q)
        if leaves.real[best, GAIN] <= 0.0:
            break
        if seat.rank == 0:
            note_split(tree, looked, leaves, n - 1, best)
        column = looked.columns[leaves.whole[best, PLACE]]
        n_left, goal = count_left(arrays, column, work, leaves, best, seat, goal)
        share_out(arrays, column, leaves, best, n, n_left)
        small, large = n, best
        if 2 * n_left <= leaves.whole[n, STOP] - leaves.whole[best, START]:
            small, large = best, n
        part_rows(arrays, residual, work, leaves, best, n, small, size, seat)
        goal = wait_for_all(seat, goal)
        # The smaller part gets a histogram of its own, the other that of the leaf before.
        before = leaves.whole[best, SLOT]
        leaves.whole[small, SLOT], leaves.whole[large, SLOT] = n, before
        n += 1
        if n < n_most:
            goal = search_leaves(
                arrays, looked, work, leaves, small, large, limits, noise, seat, goal
            )
    if leaf_out.shape[0] > 0:
        for q in range(seat.rank, n, seat.size):
            rows = work.rows[leaves.whole[q, WHICH], leaves.whole[q, START] : leaves.whole[q, STOP]]
            for i in rows:
                leaf_out[i] = q
    return n


@kernel()
def make_leaves(arrays, n, size):
    real, whole = np.zeros((n, 3)), np.zeros((n, 8), np.int64)
    real[:, LOW], real[:, HIGH], whole[:, ALONE] = -np.inf, np.inf, -1
    sides = np.zeros((n, MOST_BINS), np.uint8)
    alive = np.ones((n, arrays.member.shape[0]), np.bool_)
    return Leaves(real, whole, np.zeros((n, size)), sides, np.zeros((n, size)), alive)


@kernel()
def gather_all(arrays, residual, n_rows, work, size, seat, goal):
    """The values of all listed rows side by side, and sums over chunks of them."""
    rows, values = work.rows[0], work.values
    weighted = arrays.weight.shape[0] > 0
    for chunk in range(seat.rank, work.chunks.shape[0] - 1, seat.size):
        lo, hi = work.chunks[chunk], work.chunks[chunk + 1]
        gather(rows[lo:hi], residual, arrays.weight, weighted, values[size * lo : size * hi])
        for c in range(size):
            total = 0.0
            for at in range(size * lo + c, size * hi, size):
                total += values[at]
            work.partial[chunk, c] = total
    return wait_for_all(seat, goal)


@kernel()
def gather(rows, residual, weight, weighted, values_out):
    """(r_1, ..., r_C, w) of some rows."""
    n_outputs = residual.shape[0]
    size = n_outputs + 1
    for k in range(rows.shape[0]):
        i = rows[k]
        for c in range(n_outputs):
            values_out[size * k + c] = residual[c, i]
        values_out[size * k + n_outputs] = weight[i] if weighted else 1.0


@kernel()
def search_leaves(arrays, looked, work, leaves, small, large, limits, noise, seat, goal):
    """The best splits of both parts of a leaf; ``large`` is -1 if there is only one leaf. The rows
    of the smaller part are side by side in ``work.values``."""
    size = leaves.total.shape[1]
    open_small = is_open(arrays, leaves, small, limits)
    open_large = large >= 0 and is_open(arrays, leaves, large, limits)
    leaves.real[small, GAIN] = 0.0
    if large >= 0:
        leaves.real[large, GAIN] = 0.0
    if not (open_small or open_large):
        return goal
    start, stop = leaves.whole[small, START], leaves.whole[small, STOP]
    rows = work.rows[leaves.whole[small, WHICH], start:stop]
    own, other = (
        work.histograms[leaves.whole[small, SLOT]],
        work.histograms[leaves.whole[max(large, 0), SLOT]],
    )
    n_blocks = looked.filled.shape[0] + looked.sparse.shape[0] - 1
    total = leaves.total[small]
    sum_rows(arrays, looked, seat.rank, seat.size, rows, work.values, total, size, own)
    for b in range(seat.rank, n_blocks, seat.size):
        places = places_of(looked, b)
        if open_large:
            subtract(looked, places, size, other, own)
        for j in places:
            if open_small:
                search(arrays, looked, j, own, leaves, small, noise, work, 0)
            if open_large:
                search(arrays, looked, j, other, leaves, large, noise, work, 1)
    goal = wait_for_all(seat, goal)
    if open_small:
        choose(arrays, looked, own, leaves, small, limits, noise, work.gain[0], work.split[0])
    if open_large:
        choose(arrays, looked, other, leaves, large, limits, noise, work.gain[1], work.split[1])
    return goal


@scalar()
def is_open(arrays, leaves, q, limits):
    """Whether a leaf may be parted."""
    heavy = leaves.total[q, leaves.total.shape[1] - 1] >= 2.0 * arrays.lightest
    return heavy and leaves.whole[q, DEPTH] < limits.depth


@scalar()
def search(arrays, looked, j, histogram, leaves, q, noise, work, part):
    """The best split of leaf q on the feature of place j, if it may act with those before it."""
    work.gain[part, j] = 0.0
    if may_act(arrays, looked.columns[j], leaves, q):
        low, high = leaves.real[q, LOW], leaves.real[q, HIGH]
        work.gain[part, j], work.split[part, j] = search_column(
            arrays, looked, j, histogram, leaves.total[q], low, high, noise
        )


@scalar()
def may_act(arrays, g, leaves, q):
    """Whether a feature may act together with all that were split on the way to a leaf."""
    if arrays.lone.shape[0] == 0 or leaves.whole[q, DEPTH] == 0:
        return True
    if leaves.whole[q, ALONE] >= 0 or arrays.lone[g]:
        return leaves.whole[q, ALONE] == g
    together = False
    for k in range(arrays.member.shape[0]):
        together |= leaves.alive[q, k] and arrays.member[k, g]
    return together


@kernel()
def choose(arrays, looked, histogram, leaves, q, limits, noise, gain, split):
    """Of the best splits of a leaf the best one; ties go to the first feature."""
    best, place = limits.least_gain, -1
    for j in range(looked.columns.shape[0]):
        if gain[j] > best * (1.0 + TIE):
            best, place = gain[j], j
    if place < 0:
        return
    size = leaves.total.shape[1]
    leaves.real[q, GAIN], leaves.whole[q, PLACE], leaves.whole[q, SPLIT] = best, place, split[place]
    bins = histogram[size * looked.start[place] : size * looked.start[place + 1]]
    leaves.left_total[q] = write_side(
        arrays,
        looked.columns[place],
        leaves.whole[q, SPLIT],
        bins,
        leaves.total[q],
        noise,
        leaves.left[q],
    )


@kernel()
def note_split(tree, looked, leaves, k, q):
    last = leaves.total.shape[1] - 1
    tree.leaf[k], tree.column[k] = q, looked.columns[leaves.whole[q, PLACE]]
    tree.split[k], tree.gain[k] = leaves.whole[q, SPLIT], leaves.real[q, GAIN]
    tree.weight[k, 0] = leaves.left_total[q, last]
    tree.weight[k, 1] = leaves.total[q, last] - leaves.left_total[q, last]
    tree.left[k] = leaves.left[q]


@kernel()
def count_left(arrays, column, work, leaves, q, seat, goal):
    """Mark the sides of the rows of a leaf; how many are on the left."""
    first, left = leaves.whole[q, START], leaves.left[q]
    n = leaves.whole[q, STOP] - first
    lo, hi = first + n * seat.rank // seat.size, first + n * (seat.rank + 1) // seat.size
    rows, side = work.rows[leaves.whole[q, WHICH], lo:hi], work.side[lo:hi]
    count = 0
    if arrays.lane[column] >= 0:
        bins = arrays.bins[BYTES * arrays.block[column] + arrays.lane[column]]
        for k in range(rows.shape[0]):
            side[k] = left[bins[rows[k]]]
            count += int(side[k])
    else:
        for k in range(rows.shape[0]):
            side[k] = left[bin_of(arrays, column, rows[k])]
            count += int(side[k])
    work.counts[seat.rank] = count
    goal = wait_for_all(seat, goal)
    return work.counts[: seat.size].sum(), goal


@kernel()
def share_out(arrays, column, leaves, q, new, n_left):
    """What the two parts of leaf q are: the left keeps its number, the right is leaf ``new``."""
    last = leaves.total.shape[1] - 1
    left, right = leaves.left_total[q], leaves.total[q] - leaves.left_total[q]
    low, high = leaves.real[q, LOW], leaves.real[q, HIGH]
    leaves.real[new, LOW], leaves.real[new, HIGH] = low, high
    sign = sign_of(arrays, column, leaves.whole[q, SPLIT])
    if sign != 0:
        middle = 0.5 * value_of(left[0], left[last] + arrays.l2, low, high)
        middle += 0.5 * value_of(right[0], right[last] + arrays.l2, low, high)
        below, above = (q, new) if sign > 0 else (new, q)
        leaves.real[below, HIGH], leaves.real[above, LOW] = middle, middle
    leaves.total[q], leaves.total[new] = left, right
    leaves.whole[new, STOP], leaves.whole[new, START] = (
        leaves.whole[q, STOP],
        leaves.whole[q, START] + n_left,
    )
    leaves.whole[q, STOP] = leaves.whole[q, START] + n_left
    leaves.whole[q, DEPTH] += 1
    leaves.whole[new, DEPTH] = leaves.whole[q, DEPTH]
    leaves.whole[q, WHICH] = leaves.whole[new, WHICH] = 1 - leaves.whole[q, WHICH]
    if arrays.lone.shape[0] > 0:
        if arrays.lone[column]:
            leaves.whole[q, ALONE] = column
        for k in range(arrays.member.shape[0]):
            leaves.alive[q, k] &= arrays.member[k, column]
        leaves.whole[new, ALONE] = leaves.whole[q, ALONE]
        leaves.alive[new] = leaves.alive[q]


@kernel()
def part_rows(arrays, residual, work, leaves, q, new, small, size, seat):
    """Write the rows of both parts to the other list, and the values of the smaller one side by
    side."""
    first, n = leaves.whole[q, START], leaves.whole[new, STOP] - leaves.whole[q, START]
    lo, hi = first + n * seat.rank // seat.size, first + n * (seat.rank + 1) // seat.size
    at = np.empty(2, np.int64)
    at[1] = first + work.counts[: seat.rank].sum()
    at[0] = leaves.whole[new, START] + (lo - first) - (at[1] - first)
    begin = at[1] if small == q else at[0]
    source, target = work.rows[1 - leaves.whole[q, WHICH]], work.rows[leaves.whole[q, WHICH]]
    left, right = at[1], at[0]
    for k in range(lo, hi):
        side = np.int64(work.side[k])
        target[left if side == 1 else right] = source[k]
        left += side
        right += 1 - side
    end = left if small == q else right
    to = begin - leaves.whole[small, START]
    values = work.values[size * to : size * (to + end - begin)]
    gather(target[begin:end], residual, arrays.weight, arrays.weight.shape[0] > 0, values)
