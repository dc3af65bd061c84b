"""Kernels of Gram rows: how many rows (or what weight) are in bin a of one feature and in bin b of
each of the others.

Rows are put in the order of their bins of the one feature. Then a stretch of rows needs a table of
a single a for all that it counts, which fits into the memory that the threads of a block share: one
column for each thread of a warp, so that no two of them add to the same number.

    rows in the order of a:   a a a a b b b c c c c c d d ...
    stretches:               |-------|-------|-------|---
"""

from __future__ import annotations

import numpy as np
from numba import cuda, types

from .kernels import _LONG_TYPE, _PARTS, _WORD_TYPE, THREADS, WORDS, add_long, in_units, long_at

LANES = min(32, THREADS)
"""Columns that are counted together: the threads of a warp."""
AT_ONCE = 4
"""Rows that a warp reads before it adds them up."""
MOST_PLACED = WORDS // 2
"""Bins that `place_rows` can have."""
PLACED = 8192
"""Rows that a block of `place_rows` puts in their places."""
BLOCKS = 792
"""Blocks that a large card has room for at once."""


@cuda.jit
def lay_rows(codes, out):
    """Codes (features, rows) as (rows, features)."""
    i = cuda.grid(1)
    if i < codes.shape[1]:
        for g in range(codes.shape[0]):
            out[i, g] = codes[g, i]


@cuda.jit
def place_rows(codes, q, lo, hi, free, order):
    """The rows lo..hi in the order of their bins of feature q, in any order within a bin.
    ``free[a]`` is the first free place of bin a; a block asks for places of all its rows at once.
    """
    room = cuda.shared.array(WORDS, types.int32)
    t, n_bins = cuda.threadIdx.x, free.shape[0]
    first = lo + cuda.blockIdx.x * PLACED
    last = min(first + PLACED, hi)
    for a in range(t, n_bins, THREADS):
        room[a] = 0
    cuda.syncthreads()
    for i in range(first + t, last, THREADS):
        cuda.atomic.add(room, np.int64(codes[q, i]), np.int32(1))
    cuda.syncthreads()
    for a in range(t, n_bins, THREADS):
        if room[a] > 0:
            room[MOST_PLACED + a] = cuda.atomic.add(free, a, room[a])
            room[a] = 0
    cuda.syncthreads()
    for i in range(first + t, last, THREADS):
        own = np.int64(codes[q, i])
        k = cuda.atomic.add(room, own, np.int32(1))
        order[room[MOST_PLACED + own] + k] = i


@cuda.jit(device=True)
def bin_at(start, place):
    """The bin whose places ``start[a]..start[a + 1]`` have this one."""
    low, high = 0, start.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if start[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@cuda.jit
def count_pairs(rows, order, start, columns, first_cell, widest, together, units, length, out):
    """``out[k, a width + b]``: how many rows (or what sum of whole ``units``) are in bin a of the
    feature that ``order`` is of and in bin b of feature ``columns[k]``. ``rows`` are codes (rows,
    features). A block has a stretch of rows in order, and ``together`` columns."""
    room = cuda.shared.array(WORDS, _WORD_TYPE)
    t = cuda.threadIdx.x
    lane, warp, n_warps = t % LANES, t // LANES, THREADS // LANES
    k = cuda.blockIdx.y * together + lane
    mine = lane < together and k < columns.shape[0]
    g = columns[k] if mine else 0
    place = cuda.blockIdx.x * length
    last = min(place + length, start[start.shape[0] - 1])
    for c in range(t, together * widest, THREADS):
        room[c] = 0
    cuda.syncthreads()
    a = bin_at(start, place)
    while place < last:
        end = min(last, start[a + 1])
        if mine:
            for j in range(place + AT_ONCE * warp, end, AT_ONCE * n_warps):
                i0 = order[j]
                i1 = order[min(j + 1, end - 1)]
                i2 = order[min(j + 2, end - 1)]
                i3 = order[min(j + 3, end - 1)]
                b0, b1, b2, b3 = rows[i0, g], rows[i1, g], rows[i2, g], rows[i3, g]
                u0, u1, u2, u3 = np.int32(1), np.int32(1), np.int32(1), np.int32(1)
                if units.shape[0] > 0:
                    u0, u1, u2, u3 = units[i0], units[i1], units[i2], units[i3]
                cuda.atomic.add(room, lane * widest + b0, u0)
                if j + 1 < end:
                    cuda.atomic.add(room, lane * widest + b1, u1)
                if j + 2 < end:
                    cuda.atomic.add(room, lane * widest + b2, u2)
                if j + 3 < end:
                    cuda.atomic.add(room, lane * widest + b3, u3)
        cuda.syncthreads()
        if end > place:
            for c in range(t, together * widest, THREADS):
                if room[c] != 0:
                    of, b = cuda.blockIdx.y * together + c // widest, c % widest
                    width = first_cell[columns[of] + 1] - first_cell[columns[of]]
                    cuda.atomic.add(out, (of, a * width + b), np.int64(room[c]))
                    room[c] = 0
        cuda.syncthreads()
        place, a = max(place, end), a + 1


@cuda.jit
def weigh_pairs(
    rows, order, start, columns, first_cell, widest, together, values, scale, length, out
):
    """`count_pairs` for weights that are no whole numbers."""
    room = cuda.shared.array(WORDS, _LONG_TYPE)
    t = cuda.threadIdx.x
    lane, warp, n_warps = t % LANES, t // LANES, THREADS // LANES
    k = cuda.blockIdx.y * together + lane
    mine = lane < together and k < columns.shape[0]
    g = columns[k] if mine else 0
    place = cuda.blockIdx.x * length
    last = min(place + length, start[start.shape[0] - 1])
    for c in range(t, _PARTS * together * widest, THREADS):
        room[c] = 0
    cuda.syncthreads()
    a = bin_at(start, place)
    while place < last:
        end = min(last, start[a + 1])
        if mine:
            for j in range(place + warp, end, n_warps):
                i = order[j]
                add_long(room, lane * widest + rows[i, g], in_units(values[i], scale))
        cuda.syncthreads()
        if end > place:
            for c in range(t, together * widest, THREADS):
                found = long_at(room, c)
                if found != 0:
                    of, b = cuda.blockIdx.y * together + c // widest, c % widest
                    width = first_cell[columns[of] + 1] - first_cell[columns[of]]
                    cuda.atomic.add(out, (of, a * width + b), found)
                    for part in range(_PARTS):
                        room[_PARTS * c + part] = 0
        cuda.syncthreads()
        place, a = max(place, end), a + 1


@cuda.jit
def add_up(parts, out):
    """The sums over the first axis."""
    i = cuda.grid(1)
    if i < out.shape[0] * out.shape[1]:
        k, c = i // out.shape[1], i % out.shape[1]
        total = np.int64(0)
        for f in range(parts.shape[0]):
            total += parts[f, k, c]
        out[k, c] = total


@cuda.jit
def pairs_to_slots(table, q, columns, place, first_cell, slot_start, ordered, missing, unit, out):
    """Sums by the bins of q and of each of the columns become Gram rows of their slots (see
    `rgboost.statistics.slots`), at ``place[k]``. A block has a column; ``table`` is used up."""
    t, k = cuda.threadIdx.x, cuda.blockIdx.x
    g = columns[k]
    width, n_slots = first_cell[g + 1] - first_cell[g], slot_start[g + 1] - slot_start[g]
    n_rows = slot_start[q + 1] - slot_start[q]
    mine = table[k]
    if ordered[g]:
        for a in range(t, first_cell[q + 1] - first_cell[q], THREADS):
            found = np.int64(0)
            for b in range(n_slots - missing[g]):
                found += mine[a * width + b]
                mine[a * width + b] = found
    cuda.syncthreads()
    n_left = n_rows - missing[q]
    for j in range(t, n_slots, THREADS):
        b = j
        if ordered[g] and missing[g] and j == n_slots - 1:
            b = n_slots
        found = np.int64(0)
        for s in range(n_rows):
            if not ordered[q]:
                found = mine[s * width + b]
            elif s < n_left:
                found += mine[s * width + b]
            else:
                found = mine[(s + 1) * width + b]
            out[s, place[k] + j] = found * unit
