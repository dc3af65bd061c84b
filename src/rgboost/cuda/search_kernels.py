"""Kernels of the search of the direct engine: the best weak-learner of every column of J.

A column is a pair of features, or a feature by itself, whose second axis is -1. An axis of m bins
of values has a last bin for missing values. Its splits have numbers as in
`rgboost.learners.pairs.axes`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, types

from ..learners.kernels import TIE
from .kernels import (
    _LONG_TYPE,
    _PARTS,
    LONGS,
    THREADS,
    WORDS,
    add_long,
    block_largest,
    in_units,
    long_at,
)

LOSS, HELD, TOTAL, SCALE, MOST = range(5)
"""The state of a run: sums of losses of its rows and of those that are held out, of residuals, and
how many units make 1. ``partial`` has the same of blocks, and the largest residual."""


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
