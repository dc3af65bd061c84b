"""Kernels of the direct engine: an iteration of Algorithm 2 without a word to the host.

1. `search_kernels.add_residuals`: sums of residuals in the cells of the columns of J;
2. `search_kernels.search`: the best weak-learner of every column of J, a block each;
3. `pick`: the best of all, its leaves, and their values if the step is a constant;
4. `sum_curvatures` and `newton_values`, if it is Newton's;
5. `make_advance`: new scores and residuals of all rows; `settle`: their sums.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, types

from ..learners.kernels import TIE
from ..learners.pairs.search import leaf_of as leaf_of_house
from .compiled import on_card
from .kernels import THREADS, block_largest, block_sum, hand_over_largest, hand_over_sum
from .search_kernels import HELD, LOSS, MOST, SCALE, TOTAL, block_first, quadrants, shape_of

BLOCKS = 1056
"""Of a pass over the rows: eight for each of the processors of a large card. Sums are taken in an
order that follows from it."""

leaf_of = on_card(leaf_of_house, {})

SUMS, WEIGHTS, VALUES, SAID = 0, 4, 8, 12
"""Where a move has the sums of residuals and the weights in its four quadrants, their values, and
what rows are told: these values, and those where a number is missing that never was in training."""
MOVE = SAID + 9


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
        hand_over_sum(fitted, room, partial, LOSS)
        hand_over_sum(held, room, partial, HELD)
        hand_over_sum(total, room, partial, TOTAL)
        hand_over_largest(most, room, partial, MOST)

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
        hand_over_sum(h0, room, partial, 0)
        hand_over_sum(h1, room, partial, 1)
        hand_over_sum(h2, room, partial, 2)
        hand_over_sum(h3, room, partial, 3)

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
