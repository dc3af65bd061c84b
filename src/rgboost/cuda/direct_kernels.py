"""Kernels of the direct engine: an iteration of Algorithm 2 without a word to the host.

1. `add_residuals`: sums of residuals in the cells of the columns of J;
2. `search`: the best weak-learner of every column of J, a block each;
3. `pick`: the best of all, its leaves, and their values if the step is a constant;
4. `sum_curvatures` and `newton_values`, if it is Newton's;
5. `make_advance`: new scores and residuals of all rows; `settle`: their sums.

A column is a pair of features, or a feature by itself, whose second axis is -1. An axis of m bins
of values has a last bin for missing values. Its splits have numbers as in
`rgboost.learners.pairs.axes`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, types

from ..learners.kernels import TIE
from ..learners.pairs.search import leaf_of as leaf_of_house
from .compiled import on_card
from .kernels import (
    _LONG_TYPE,
    _PARTS,
    LONGS,
    THREADS,
    WORDS,
    add_long,
    block_largest,
    block_sum,
    in_units,
    long_at,
)

BLOCKS = 1056
"""Of a pass over the rows: eight for each of the processors of a large card. Sums are taken in an
order that follows from it."""

leaf_of = on_card(leaf_of_house, {})

LOSS, HELD, TOTAL, SCALE, MOST = range(5)
"""The state of a run: sums of losses of its rows and of those that are held out, of residuals, and
how many units make 1. ``partial`` has the same of blocks, and the largest residual."""

SUMS, WEIGHTS, VALUES, SAID = 0, 4, 8, 12
"""Where a move has the sums of residuals and the weights in its four quadrants, their values, and
what rows are told: these values, and those where a number is missing that never was in training."""
MOVE = SAID + 9


class Axes(NamedTuple):
    """For every feature the number of bins of values, whether one more has missing values, and how
    many splits there are; and for every column its features, its first weak-learner, and where
    ``weights`` has its cells: weights of the rows up to each of them (see `add_up_cells`)."""

    n_values: Any
    missing: Any
    n_splits: Any
    features: Any
    first: Any
    start: Any
    weights: Any


class Choice(NamedTuple):
    """Settings of the search: the weight of all rows; the weight of a leaf up to which it is
    ``light``; whether a weak-learner with such a leaf is out (stumps), or the leaf stays at zero
    (pairs); whether leaves are +-1 (``signed``); and the constant step times the learning rate."""

    total: float
    light: float
    barred: bool
    signed: bool
    step: float


class Newton(NamedTuple):
    """See `rgboost.engines.direct.newton_leaves.NewtonRule`."""

    learning_rate: float
    l2: float
    limit: float


class Written(NamedTuple):
    """What iterations write down."""

    loss: Any
    held_loss: Any
    learner: Any
    values: Any
    gradient: Any
    sets: Any


def make_advance(loss: Any) -> Any:
    """The kernel that adds a move to scores, for a loss (`compiled.loss_on_card`)."""

    @cuda.jit
    def advance(terms, codes, chosen, left, move, y, weight, held_lo, held_hi, score, residual,
                used, partial):  # fmt: skip
        """f += step b, residuals, and sums of blocks. Rows held_lo..held_hi are held out: their
        residuals are 0. Clears ``used``."""
        room = cuda.shared.array(THREADS, types.float64)
        t = cuda.threadIdx.x
        begin, stride = cuda.blockIdx.x * THREADS + t, cuda.gridDim.x * THREADS
        for c in range(begin, used.shape[0], stride):
            used[c] = 0
        g, h = chosen[0], chosen[1]
        fitted, held, total, most = 0.0, 0.0, 0.0, 0.0
        for i in range(begin, score.shape[0], stride):
            now = score[i]
            if g >= 0:
                on_h = np.int64(1)
                if h >= 0:
                    on_h = np.int64(left[1, codes[h, i]])
                now += move[SAID + leaf_of(np.int64(left[0, codes[g, i]]), on_h)]
                score[i] = now
            value, r, _ = loss(terms, y[i], now)
            w = 1.0
            if weight.shape[0] > 0:
                w = weight[i]
            if held_lo <= i < held_hi:
                held += w * value
                residual[i] = 0.0
            else:
                r *= w
                fitted += w * value
                residual[i] = r
                total += r
                if not (abs(r) <= most) and most == most:
                    most = abs(r)
        fitted = block_sum(fitted, room)
        held = block_sum(held, room)
        total = block_sum(total, room)
        most = block_largest(most, room)
        if t == 0:
            partial[LOSS, cuda.blockIdx.x] = fitted
            partial[HELD, cuda.blockIdx.x] = held
            partial[TOTAL, cuda.blockIdx.x] = total
            partial[MOST, cuda.blockIdx.x] = most

    return advance


@cuda.jit
def settle(partial, n_rows, state):
    """The sums of all blocks; and a unit such that the sum of all residuals has 62 bits."""
    room = cuda.shared.array(THREADS, types.float64)
    t = cuda.threadIdx.x
    for k in range(SCALE):
        mine = 0.0
        for b in range(t, partial.shape[1], THREADS):
            mine += partial[k, b]
        mine = block_sum(mine, room)
        if t == 0:
            state[k] = mine
    most = 0.0
    for b in range(t, partial.shape[1], THREADS):
        one = partial[MOST, b]
        if not (one <= most) and most == most:
            most = one
    most = block_largest(most, room)
    if t == 0:
        scale = 0.0
        if 0.0 < most < math.inf:
            _, exponent = math.frexp(most * n_rows)
            scale = math.ldexp(1.0, int(min(62 - exponent, 1000)))
        state[SCALE] = scale


@cuda.jit(device=True)
def shape_of(axes, k):
    """(m of g, cells along h, m of h) of column k."""
    g, h = axes.features[k, 0], axes.features[k, 1]
    if h < 0:
        return axes.n_values[g], np.int64(1), np.int64(1)
    return axes.n_values[g], axes.n_values[h] + 1, axes.n_values[h]


@cuda.jit
def add_residuals(codes, axes, columns, first, residual, state, length, out):
    """``out[j]``: sums of residuals in the cells of column j of J, in units. A block has a stretch
    of rows, a column, and a tile of its cells."""
    room = cuda.shared.array(WORDS, _LONG_TYPE)
    t, k = cuda.threadIdx.x, columns[first + cuda.blockIdx.y]
    g, h = axes.features[k, 0], axes.features[k, 1]
    m_g, wide, _ = shape_of(axes, k)
    low, scale = cuda.blockIdx.z * LONGS, state[SCALE]
    n_cells = min(LONGS, (m_g + 1) * wide - low)
    if n_cells > 0:
        for c in range(t, _PARTS * n_cells, THREADS):
            room[c] = 0
    cuda.syncthreads()
    begin = cuda.blockIdx.x * length
    end = min(begin + length, residual.shape[0])
    for i in range(begin + t, end, THREADS):
        cell = np.int64(codes[g, i]) * wide
        if h >= 0:
            cell += codes[h, i]
        cell -= low
        if 0 <= cell < n_cells:
            add_long(room, cell, in_units(residual[i], scale))
    cuda.syncthreads()
    for c in range(t, n_cells, THREADS):
        found = long_at(room, c)
        if found != 0:
            cuda.atomic.add(out, (cuda.blockIdx.y, low + c), found)


@cuda.jit(device=True)
def add_up_line(sums, n, room):
    """Sums up to each of n numbers, in place, by all threads of a block."""
    t = cuda.threadIdx.x
    share = (n + THREADS - 1) // THREADS
    first, last = min(t * share, n), min((t + 1) * share, n)
    mine = np.int64(0)
    for b in range(first, last):
        mine += sums[b]
    room[t] = mine
    cuda.syncthreads()
    d = 1
    while d < THREADS:
        before = np.int64(0)
        if t >= d:
            before = room[t - d]
        cuda.syncthreads()
        room[t] += before
        cuda.syncthreads()
        d *= 2
    found = room[t] - mine
    for b in range(first, last):
        found += sums[b]
        sums[b] = found
    cuda.syncthreads()


@cuda.jit(device=True)
def add_up_cells(sums, m_g, wide, m_h, room):
    """Sums over cells become those up to each cell, in place, along the bins of values. Bins of
    missing values are added up along the other axis only."""
    t = cuda.threadIdx.x
    if wide == 1:
        add_up_line(sums, m_g, room)
        return
    for a in range(t, m_g + 1, THREADS):
        found = np.int64(0)
        for b in range(m_h):
            found += sums[a * wide + b]
            sums[a * wide + b] = found
    cuda.syncthreads()
    for b in range(t, wide, THREADS):
        found = np.int64(0)
        for a in range(m_g):
            found += sums[a * wide + b]
            sums[a * wide + b] = found
    cuda.syncthreads()


@cuda.jit(device=True)
def left_of_both(sums, m_g, wide, m_h, s, u):
    """The sum over the cells on the left of split s of g and of split u of h."""
    a = s if s < m_g else s - m_g
    b = u if u < m_h else u - m_h
    found = sums[a * wide + b]
    if s >= m_g:
        found += sums[m_g * wide + b]
    if u >= m_h:
        found += sums[a * wide + m_h]
        if s >= m_g:
            found += sums[m_g * wide + m_h]
    return found


@cuda.jit(device=True)
def left_of_g(sums, m_g, wide, m_h, s):
    """The sum over the cells on the left of split s of g; all of them, but for those where g is
    missing, if s = m_g - 1."""
    a = s if s < m_g else s - m_g
    found = sums[a * wide + m_h - 1]
    if wide > m_h:
        found += sums[a * wide + m_h]
    if s >= m_g:
        found += sums[m_g * wide + m_h - 1]
        if wide > m_h:
            found += sums[m_g * wide + m_h]
    return found


@cuda.jit(device=True)
def left_of_h(sums, m_g, wide, m_h, u):
    """The same of split u of h."""
    b = u if u < m_h else u - m_h
    found = sums[(m_g - 1) * wide + b] + sums[m_g * wide + b]
    if u >= m_h:
        found += sums[(m_g - 1) * wide + m_h] + sums[m_g * wide + m_h]
    return found


@cuda.jit(device=True)
def quadrants(sums, m_g, wide, m_h, s, u):
    """Sums in the quadrants 2 (right of g) + (right of h); a feature by itself has 0 and 2."""
    every = left_of_g(sums, m_g, wide, m_h, m_g - 1) + sums[m_g * wide + m_h - 1]
    if wide == 1:
        left = left_of_g(sums, m_g, wide, m_h, s)
        return left, left - left, every - left, left - left
    every += sums[m_g * wide + m_h]
    both = left_of_both(sums, m_g, wide, m_h, s, u)
    left = left_of_g(sums, m_g, wide, m_h, s) - both
    right = left_of_h(sums, m_g, wide, m_h, u) - both
    return both, left, right, every - both - left - right


@cuda.jit(device=True)
def score_of(sums, weights, unit, m_g, wide, m_h, s, u, choice):
    """<b, r>^2 of the weak-learner with these splits; -1 if it is out."""
    w0, w1, w2, w3 = quadrants(weights, m_g, wide, m_h, s, u)
    if choice.barred and not (w0 > choice.light and w2 > choice.light):
        return -1.0
    i0, i1, i2, i3 = quadrants(sums, m_g, wide, m_h, s, u)
    if choice.signed:
        return ((i0 - i2) * unit) ** 2 / choice.total
    found = 0.0
    if w0 > choice.light:
        found += (i0 * unit) ** 2 / w0
    if w1 > choice.light:
        found += (i1 * unit) ** 2 / w1
    if w2 > choice.light:
        found += (i2 * unit) ** 2 / w2
    if w3 > choice.light:
        found += (i3 * unit) ** 2 / w3
    return found


@cuda.jit
def search(axes, columns, first, restricted, first_listed, listed, choice, state, sums, best,
           learner):  # fmt: skip
    """The best weak-learner in J of each column of J; ties go to the smallest. A block has a
    column; its sums are added up in place."""
    room = cuda.shared.array(THREADS, types.float64)
    places = cuda.shared.array(THREADS, types.int64)
    t, j = cuda.threadIdx.x, cuda.blockIdx.x
    k = columns[first + j]
    m_g, wide, m_h = shape_of(axes, k)
    mine = sums[j]
    weights = axes.weights[axes.start[k] : axes.start[k + 1]]
    add_up_cells(mine, m_g, wide, m_h, places)
    unit = 1.0 / state[SCALE] if state[SCALE] > 0.0 else 0.0
    n_h = np.int64(1)
    if wide > 1:
        n_h = axes.n_splits[axes.features[k, 1]]
    start, n = np.int64(0), axes.n_splits[axes.features[k, 0]] * n_h
    if restricted:
        start = first_listed[first + j]
        n = first_listed[first + j + 1] - start
    top = -1.0
    for i in range(t, n, THREADS):
        split = listed[start + i] - axes.first[k] if restricted else i
        top = max(
            top, score_of(mine, weights, unit, m_g, wide, m_h, split // n_h, split % n_h, choice)
        )
    top = block_largest(top, room)
    found: Any = np.int64(-1)
    if top >= 0.0:
        for i in range(t, n, THREADS):
            split = listed[start + i] - axes.first[k] if restricted else i
            now = score_of(mine, weights, unit, m_g, wide, m_h, split // n_h, split % n_h, choice)
            if now >= top * (1.0 - TIE) and (found < 0 or split < found):
                found = split
    found = block_first(found, places)
    if t == 0:
        best[j] = top
        learner[j] = found + axes.first[k] if found >= 0 else -1


@cuda.jit(device=True)
def block_first(place, room):
    """The smallest of the places of all threads of a block; -1 is none."""
    t = cuda.threadIdx.x
    room[t] = place
    cuda.syncthreads()
    n = THREADS // 2
    while n > 0:
        if t < n:
            other = room[t + n]
            if other >= 0 and (room[t] < 0 or other < room[t]):
                room[t] = other
        cuda.syncthreads()
        n //= 2
    found = room[0]
    cuda.syncthreads()
    return found


@cuda.jit
def pick(axes, columns, first, n, best, learner, sums, choice, state, m, chosen, left, move,
         out):  # fmt: skip
    """The best weak-learner of J, its leaves and their values; writes down iteration m."""
    room = cuda.shared.array(THREADS, types.float64)
    places = cuda.shared.array(THREADS, types.int64)
    t = cuda.threadIdx.x
    top = -1.0
    for j in range(t, n, THREADS):
        top = max(top, best[j])
    top = block_largest(top, room)
    place: Any = np.int64(-1)
    if top >= 0.0:
        for j in range(t, n, THREADS):
            if place < 0 and best[j] >= top * (1.0 - TIE):
                place = j
    place = block_first(place, places)
    if t == 0:
        out.loss[m], out.held_loss[m] = state[LOSS], state[HELD]
        out.learner[m], out.gradient[m] = -1, 0.0
        chosen[0], chosen[1] = -1, -1
    if place < 0:
        return
    k = columns[first + place]
    g, h = axes.features[k, 0], axes.features[k, 1]
    m_g, wide, m_h = shape_of(axes, k)
    n_h = axes.n_splits[h] if h >= 0 else np.int64(1)
    split = learner[place] - axes.first[k]
    s, u = split // n_h, split % n_h
    mark_left(axes.n_values[g], axes.missing[g], s, left[0])
    if h >= 0:
        mark_left(axes.n_values[h], axes.missing[h], u, left[1])
    cuda.syncthreads()
    for byte in range(t, out.sets.shape[2], THREADS):
        out.sets[m, 0, byte] = bits_of(left[0], axes.n_values[g] + 1, byte)
        if h >= 0:
            out.sets[m, 1, byte] = bits_of(left[1], axes.n_values[h] + 1, byte)
    if t > 0:
        return
    unit = 1.0 / state[SCALE] if state[SCALE] > 0.0 else 0.0
    weights = axes.weights[axes.start[k] : axes.start[k + 1]]
    i0, i1, i2, i3 = quadrants(sums[place], m_g, wide, m_h, s, u)
    move[SUMS], move[SUMS + 1], move[SUMS + 2], move[SUMS + 3] = (
        i0 * unit, i1 * unit, i2 * unit, i3 * unit
    )  # fmt: skip
    w0, w1, w2, w3 = quadrants(weights, m_g, wide, m_h, s, u)
    move[WEIGHTS], move[WEIGHTS + 1], move[WEIGHTS + 2], move[WEIGHTS + 3] = w0, w1, w2, w3
    difference = move[SUMS] - move[SUMS + 2]
    for q in range(4):
        if not move[WEIGHTS + q] > choice.light:
            move[SUMS + q] = 0.0
            value = 0.0
        elif choice.signed:
            value = (difference if q == 0 else -difference) / choice.total
        else:
            value = move[SUMS + q] / move[WEIGHTS + q]
        move[VALUES + q] = choice.step * value
    chosen[0], chosen[1] = g, h
    out.learner[m], out.gradient[m] = learner[place], math.sqrt(top)
    tell(move, m, out)


@cuda.jit(device=True)
def mark_left(m, missing, split, left_out):
    """Mark the bins left of a split: 1; 2 is the bin of values that were never missing."""
    last = split - m if split >= m else split
    for b in range(cuda.threadIdx.x, m + 1, THREADS):
        if b < m:
            left_out[b] = 1 if b <= last else 0
        elif missing:
            left_out[b] = 1 if split >= m else 0
        else:
            left_out[b] = 2


@cuda.jit(device=True)
def bits_of(left, n, byte):
    """Eight of the marks as a byte."""
    found = 0
    for b in range(8):
        if 8 * byte + b < n and left[8 * byte + b] == 1:
            found |= 1 << b
    return found


@cuda.jit(device=True)
def tell(move, m, out):
    """Write down the values of the quadrants, and find those of rows that lack a number: the mean
    over the sides that they could be on (`rgboost.learners.pairs.choose.SIDES`)."""
    for q in range(4):
        out.values[m, q] = move[VALUES + q]
        move[SAID + q] = move[VALUES + q]
    for k in range(5):
        a = 0 if k != 1 and k != 3 else (1 if k == 1 else 2)
        step = 2 if k < 2 else 1
        n = 4 if k == 4 else 2
        above, below = 0.0, 0.0
        for i in range(n):
            q = a + step * i
            above += move[WEIGHTS + q] * move[VALUES + q]
            below += move[WEIGHTS + q]
        move[SAID + 4 + k] = above / below if below > 0.0 else 0.0


def make_sum_curvatures(loss: Any) -> Any:
    """The kernel that adds up curvatures in leaves, for a loss."""

    @cuda.jit
    def sum_curvatures(terms, codes, chosen, left, y, weight, held_lo, held_hi, score, partial):
        room = cuda.shared.array(THREADS, types.float64)
        t = cuda.threadIdx.x
        begin, stride = cuda.blockIdx.x * THREADS + t, cuda.gridDim.x * THREADS
        g, h = chosen[0], chosen[1]
        h0, h1, h2, h3 = 0.0, 0.0, 0.0, 0.0
        if g >= 0:
            for i in range(begin, score.shape[0], stride):
                if held_lo <= i < held_hi:
                    continue
                _, _, curvature = loss(terms, y[i], score[i])
                if weight.shape[0] > 0:
                    curvature *= weight[i]
                on_h = np.int64(1)
                if h >= 0:
                    on_h = np.int64(left[1, codes[h, i]])
                q = leaf_of(np.int64(left[0, codes[g, i]]), on_h)
                if q == 0:
                    h0 += curvature
                elif q == 1:
                    h1 += curvature
                elif q == 2:
                    h2 += curvature
                else:
                    h3 += curvature
        h0 = block_sum(h0, room)
        h1 = block_sum(h1, room)
        h2 = block_sum(h2, room)
        h3 = block_sum(h3, room)
        if t == 0:
            partial[0, cuda.blockIdx.x] = h0
            partial[1, cuda.blockIdx.x] = h1
            partial[2, cuda.blockIdx.x] = h2
            partial[3, cuda.blockIdx.x] = h3

    return sum_curvatures


@cuda.jit
def newton_values(rule, partial, chosen, m, move, out):
    """learning_rate S_q / (H_q + l2), cut at +-limit."""
    room = cuda.shared.array(THREADS, types.float64)
    t = cuda.threadIdx.x
    for q in range(4):
        mine = 0.0
        for b in range(t, partial.shape[1], THREADS):
            mine += partial[q, b]
        below = block_sum(mine, room) + rule.l2
        if t == 0:
            value = move[SUMS + q] / below if below > 0.0 else 0.0
            move[VALUES + q] = rule.learning_rate * min(max(value, -rule.limit), rule.limit)
    if t == 0 and chosen[0] >= 0:
        tell(move, m, out)
