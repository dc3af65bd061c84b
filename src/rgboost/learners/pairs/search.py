"""The best quadrant stump of each pair in J.

A weak-learner on the pair (g, h) cuts g at s and h at u; its four values are free. With S_q and W_q
the sums of weighted residuals and of weights in quadrant q,

    <b, r>^2 = sum_q S_q^2 / W_q,

and the largest over all cuts is found from one table of residuals in pairs of bins: n additions,
prefix sums in both directions, and a look at every cut. A stump is the case in which h has a single
bin. Quadrants are numbered 2 (right of g) + (right of h).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.math import largest
from ..._core.team import Team
from ..credibility import residual_noise
from ..kernels import TIE, Subset
from .axes import CATEGORY, arrange, left_side, n_arrangements
from .levels import order_by_change, order_by_strongest
from .look import Look, apart, cells_seen, split_seen
from .score import EMPTY, quadrants, score_cuts

MOST_BINS = 256
"""Bins of an axis, that of missing values included: codes are bytes."""


class PairArrays(NamedTuple):
    """Rows in bins, and the pairs of them.

    Column k has the axes ``pairs[k]`` (the second is -1 for a stump) and the weak-learners
    ``offsets[k]:offsets[k + 1]``; their number is split_g * n_splits[h] + split_h.
    ``weights[cell_start[k]:cell_start[k + 1]]`` are the weights of the rows up to each of its cells
    once ``known[k]``. ``plain[k]``: its axes are numbers that are never missing.
    ``sign`` are monotone constraints. ``few`` and ``noise`` are q and phi of
    `rgboost.learners.credibility`; ``row_weight`` is 0 where categories are not smoothed.
    """

    codes: NDArray[np.uint8]
    n_rows: int
    pairs: NDArray[np.int64]
    n_values: NDArray[np.int64]
    kind: NDArray[np.int8]
    n_levels: NDArray[np.int64]
    n_splits: NDArray[np.int64]
    sign: NDArray[np.int8]
    offsets: NDArray[np.int64]
    cell_start: NDArray[np.int64]
    weights: NDArray[np.floating]
    known: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    weight: NDArray[np.float64]
    total_weight: float
    lightest: float
    row_weight: float
    few: float


class Found(NamedTuple):
    """The best of each column of J: its score and number, in its quadrants the sums of residuals
    ((outputs), smoothed and as they are) and the weights, and the bins left of both cuts."""

    score: NDArray[np.float64]
    learner: NDArray[np.int64]
    sums: NDArray[np.float64]
    raw: NDArray[np.float64]
    weights: NDArray[np.float64]
    left: NDArray[np.uint8]


def make_found(n_columns: int, n_outputs: int) -> Found:
    return Found(
        np.empty(n_columns),
        np.empty(n_columns, np.int64),
        np.empty((n_columns, 4, n_outputs)),
        np.empty((n_columns, 4, n_outputs)),
        np.empty((n_columns, 4)),
        np.empty((n_columns, 2, MOST_BINS), np.uint8),
    )


def search_all(
    arrays: PairArrays, subset: Subset, look: Look, residual: Any, lo: int, hi: int, found: Found,
    team: Team,
) -> None:  # fmt: skip
    """Search the columns of J, in the bins that are seen, on the residuals (outputs, rows) of rows
    lo..hi; weights are those of all rows. Pairs of plain numbers have a kernel of their own: most
    fits have no others."""
    plain = arrays.plain[subset.columns]
    rows = look, residual, lo, hi
    if plain.any():
        team.run(search_numbers, arrays, subset, np.flatnonzero(plain), *rows, found)
    if not plain.all():
        noise = 0.0
        if arrays.row_weight > 0.0:
            weighted = len(arrays.weight) > 0
            noise = residual_noise(
                residual, arrays.weight, weighted, arrays.row_weight, arrays.total_weight
            )
        team.run(search_others, arrays, subset, np.flatnonzero(~plain), *rows, noise, found)


@kernel()
def search_numbers(arrays, subset, places, look, residual, lo, hi, found, seat):
    """The best weak-learners on one or two numbers that are never missing, in the columns of J at
    some places, each by one thread: sums do not depend on how many there are."""
    for p in range(seat.rank, places.shape[0], seat.size):
        j = places[p]
        k = subset.columns[j]
        g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
        n_g, n_h = look.n_values[g], 0 if h < 0 else look.n_values[h]
        left = np.zeros((residual.shape[0], n_g + 1, n_h + 1))
        left_w = np.empty((n_g + 1, n_h + 1), arrays.weights.dtype)
        cells_seen(known_cells(arrays, k), g, h, look, left_w)
        for c in range(left.shape[0]):
            add_residuals(arrays, look, g, h, residual[c], lo, hi, left[c])
            cumulate(left[c])
        gain = np.empty((max(0, n_g - 1), 1 if h < 0 else max(0, n_h - 1)))
        score_cuts(arrays, look, g, h, left, left_w, 0, 0, 0, 0, gain)
        best = best_of(arrays, subset, gain, found, j)
        if best < 0:
            continue
        s, u = best // gain.shape[1], best % gain.shape[1]
        note_choice(arrays, look, k, s, u, arrays.offsets, arrays.offsets, found, j)
        for c in range(left.shape[0]):
            quadrants(left[c], s, u, n_g, n_h, found.sums[j, :, c])
            quadrants(left[c], s, u, n_g, n_h, found.raw[j, :, c])
        quadrants(left_w, s, u, n_g, n_h, found.weights[j])


@kernel()
def note_choice(arrays, look, k, s, u, levels_g, levels_h, found, j):
    """Write down the number of a weak-learner of column k, and the bins on the left of its cuts."""
    g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
    kind, m = arrays.kind[g], arrays.n_values[g]
    s = split_seen(kind, m, s, look.n_values[g], look.last[g])
    left_side(kind, m, s, levels_g, found.left[j, 0])
    if h < 0:
        found.left[j, 1, 0] = 1
        found.learner[j] = arrays.offsets[k] + s
        return
    kind, m = arrays.kind[h], arrays.n_values[h]
    u = split_seen(kind, m, u, look.n_values[h], look.last[h])
    left_side(kind, m, u, levels_h, found.left[j, 1])
    found.learner[j] = arrays.offsets[k] + s * arrays.n_splits[h] + u


@kernel()
def known_cells(arrays, k):
    """The weights of the rows up to each cell of a column, counted when they are first asked
    for."""
    g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
    a, b = arrays.n_values[g] + 1, 1 if h < 0 else arrays.n_values[h] + 1
    start = arrays.cell_start[k]
    cells = arrays.weights[start : start + a * b].reshape(a, b)
    if not arrays.known[k]:
        weigh_cells(arrays, g, h, cells)
        cumulate(cells)
        arrays.known[k] = True
    return cells


@kernel()
def add_residuals(arrays, look, g, h, residual, lo, hi, out):
    """Sums of the residuals of rows lo..hi in the cells of a pair that are seen."""
    codes_g, residual = arrays.codes[g, lo:hi], residual[lo:hi]
    bin_g = look.bin_of[g]
    if h < 0:
        for i in range(residual.shape[0]):
            out[bin_g[codes_g[i]], 0] += residual[i]
        return
    codes_h, bin_h = arrays.codes[h, lo:hi], look.bin_of[h]
    for i in range(residual.shape[0]):
        out[bin_g[codes_g[i]], bin_h[codes_h[i]]] += residual[i]


@kernel()
def weigh_cells(arrays, g, h, out):
    """Sums of weights in the cells of a pair."""
    out[:] = 0
    weighted = arrays.weight.shape[0] > 0
    for i in range(arrays.n_rows):
        b = 0 if h < 0 else np.int64(arrays.codes[h, i])
        out[arrays.codes[g, i], b] += arrays.weight[i] if weighted else 1.0


@kernel()
def cumulate(table):
    """Sums over all cells up to each one, in place. Rows by fours: a sum has to wait for the one
    before it, but not for its neighbours."""
    n, m = table.shape
    s = 0
    while s < n:
        last = min(s + 4, n)
        if last == s + 4:
            a, b, c, d = table[s], table[s + 1], table[s + 2], table[s + 3]
            w = x = y = z = table.dtype.type(0)
            for u in range(m):
                w += a[u]
                x += b[u]
                y += c[u]
                z += d[u]
                a[u], b[u], c[u], d[u] = w, x, y, z
        else:
            for r in range(s, last):
                for u in range(1, m):
                    table[r, u] += table[r, u - 1]
        s = last
    for s in range(1, n):
        before, now = table[s - 1], table[s]
        for u in range(m):
            now[u] += before[u]


@kernel()
def best_of(arrays, subset, gain, found, j):
    """The place of the best weak-learner in column j of J, -1 if there is none; ties go to the
    first. J lists weak-learners only of axes that are seen whole."""
    n, gain = gain.size, gain.ravel()
    offset = arrays.offsets[subset.columns[j]]
    if subset.restricted:
        keep_listed(gain, offset, subset.learners[subset.first[j] : subset.first[j + 1]])
    top = largest(gain, n) if n > 0 else -1.0
    found.score[j] = top
    found.learner[j] = -1
    if top < 0.0:
        return -1
    best = 0
    while gain[best] < top * (1.0 - TIE):
        best += 1
    return best


@kernel()
def search_others(arrays, subset, places, look, residual, lo, hi, noise, found, seat):
    """The same in columns with missing values or categories."""
    for p in range(seat.rank, places.shape[0], seat.size):
        j = places[p]
        k = subset.columns[j]
        g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
        a, b = look.n_values[g] + 1, 1 if h < 0 else look.n_values[h] + 1
        sums, weights = np.zeros((residual.shape[0], a, b)), np.empty((a, b))
        for c in range(residual.shape[0]):
            add_residuals(arrays, look, g, h, residual[c], lo, hi, sums[c])
        cells_seen(known_cells(arrays, k), g, h, look, weights)
        apart(weights, EMPTY * arrays.total_weight)
        search_any(arrays, look, subset, j, sums, weights, noise, found)


@kernel()
def search_any(arrays, look, subset, j, raw, weights, noise, found):
    """The best weak-learner of column j of J, whatever its axes are."""
    k = subset.columns[j]
    g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
    kind_h = CATEGORY if h < 0 else arrays.kind[h]
    levels_h, splits_h = (1, 1) if h < 0 else (look.n_levels[h], look.n_splits[h])
    m_g, m_h = look.n_values[g], 0 if h < 0 else look.n_values[h]
    order_g, order_h = np.empty(MOST_BINS, np.int64), np.empty(MOST_BINS, np.int64)
    by_g, by_h = np.zeros(MOST_BINS, np.int64), np.zeros(MOST_BINS, np.int64)
    sums = raw
    if arrays.kind[g] == CATEGORY or (h >= 0 and kind_h == CATEGORY):
        sums = order_categories(arrays, look, g, h, raw, weights, noise, by_g, by_h)
    gain = np.full((look.n_splits[g], splits_h), -1.0)
    for v in range(n_arrangements(arrays.kind[g])):
        n_g, low_g, high_g, split_g = arrange(
            arrays.kind[g], m_g, v, look.n_levels[g], by_g, order_g
        )
        for w in range(n_arrangements(kind_h)):
            n_h, low_h, high_h, split_h = arrange(kind_h, m_h, w, levels_h, by_h, order_h)
            if h < 0:
                high_h = 0
            left, left_w = prefix_sums(sums, weights, order_g[:n_g], order_h[:n_h])
            scores = gain[split_g : split_g + high_g - low_g + 1]
            scores = scores[:, split_h : split_h + high_h - low_h + 1]
            score_cuts(arrays, look, g, h, left, left_w, low_g, low_h, split_g, split_h, scores)
    best = best_of(arrays, subset, gain, found, j)
    if best < 0:
        return
    s, u = best // splits_h, best % splits_h
    note_choice(arrays, look, k, s, u, by_g, by_h, found, j)
    on_left = np.zeros((2, MOST_BINS), np.uint8)
    left_side(arrays.kind[g], m_g, s, by_g, on_left[0])
    if h < 0:
        on_left[1, 0] = 1
    else:
        left_side(kind_h, m_h, u, by_h, on_left[1])
    sum_quadrants(sums, weights, on_left, found.sums[j], found.weights[j])
    sum_quadrants(raw, weights, on_left, found.raw[j], found.weights[j])


@kernel()
def keep_listed(gain, offset, listed):
    """Only the weak-learners of a list are in J."""
    allowed = np.zeros(gain.shape[0], np.bool_)
    for learner in listed:
        allowed[learner - offset] = True
    for i in range(gain.shape[0]):
        if not allowed[i]:
            gain[i] = -1.0


@kernel()
def order_categories(arrays, look, g, h, sums, weights, noise, by_g, by_h):
    """Write the orders of categories; returns the sums, smoothed by the trust in each of them."""
    m_h = 0 if h < 0 else look.n_values[h]
    category_g = arrays.kind[g] == CATEGORY
    category_h = h >= 0 and arrays.kind[h] == CATEGORY
    trust = np.ones(MOST_BINS)
    order = np.zeros(MOST_BINS, np.int64)
    sums = sums.copy()
    if category_h and category_g:
        order_by_strongest(sums, weights, look.n_levels[g], look.n_levels[h], by_h)
    if category_g:
        n_h = 1
        if h >= 0:
            n_h, _, _, _ = arrange(arrays.kind[h], m_h, 0, look.n_levels[h], by_h, order)
        n = look.n_levels[g]
        order_by_change(sums, weights, n, order, n_h, noise, arrays.few, trust, by_g)
        for c in range(sums.shape[0]):
            for a in range(n):
                sums[c, a] *= trust[a]
    if category_h:
        n_g, _, _, _ = arrange(arrays.kind[g], look.n_values[g], 0, look.n_levels[g], by_g, order)
        turned = np.empty((sums.shape[0], sums.shape[2], sums.shape[1]))
        for c in range(sums.shape[0]):
            turned[c] = sums[c].T
        n, turned_w = look.n_levels[h], weights.T.copy()
        order_by_change(turned, turned_w, n, order, n_g, noise, arrays.few, trust, by_h)
        for c in range(sums.shape[0]):
            for b in range(n):
                sums[c, :, b] *= trust[b]
    return sums


@kernel()
def prefix_sums(sums, weights, order_g, order_h):
    """Sums over the bins up to each position of both orders: of residuals, and of weights."""
    n_g, n_h, n_outputs = order_g.shape[0], order_h.shape[0], sums.shape[0]
    left, left_w = np.empty((n_outputs, n_g, n_h)), np.empty((n_g, n_h))
    for s in range(n_g):
        for u in range(n_h):
            left_w[s, u] = weights[order_g[s], order_h[u]]
            for c in range(n_outputs):
                left[c, s, u] = sums[c, order_g[s], order_h[u]]
    cumulate(left_w)
    for c in range(n_outputs):
        cumulate(left[c])
    return left, left_w


@kernel()
def sum_quadrants(sums, weights, left, sums_out, weights_out):
    """Sums of residuals and of weights in the four quadrants."""
    sums_out[:] = 0.0
    weights_out[:] = 0.0
    for a in range(weights.shape[0]):
        for b in range(weights.shape[1]):
            q = (0 if left[0, a] == 1 else 2) + (0 if left[1, b] == 1 else 1)
            weights_out[q] += weights[a, b]
            for c in range(sums.shape[0]):
                sums_out[q, c] += sums[c, a, b]


@kernel()
def find_leaves(codes, g, h, left, leaf_out):
    """The leaf of every row; see `leaf_of`."""
    first, second = codes[g], codes[max(h, 0)]
    for i in range(leaf_out.shape[0]):
        on_h = 1 if h < 0 else left[1, second[i]]
        leaf_out[i] = leaf_of(left[0, first[i]], on_h)


@scalar()
def leaf_of(on_g, on_h):
    """The quadrant of a row that is on the left (1) or right (0) of the cuts of g and h; 4..8 where
    a number is missing that never was in training (2): 4, 5 on the left and right of h; 6, 7 on the
    left and right of g; 8 where both are."""
    if on_g == 2:
        return 8 if on_h == 2 else 5 - on_h
    if on_h == 2:
        return 7 - on_g
    return 3 - 2 * on_g - on_h


@kernel()
def sum_leaves(residual, leaf, n_leaves):
    """Sums of residuals (outputs, rows) in leaves, (leaves, outputs)."""
    out = np.zeros((n_leaves, residual.shape[0]))
    for c in range(residual.shape[0]):
        for i in range(leaf.shape[0]):
            out[leaf[i], c] += residual[c, i]
    return out
