"""Kernels: what runs on the card.

Sums over rows are exact: values become whole multiples of a unit, with 64 bits, whose sums do not
depend on the order in which threads come by. In the memory that the threads of a block share, such
a number is two words of 32 bits, the carry from the low one to the high one counted by hand: cards
add words at once, and longer numbers only in turns (490 against 230 billion additions a second on
an H200).

A block has a ``stretch`` of rows and one column, or a tile of its cells: what it adds up fits into
the memory that its threads share.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, types

from ..losses.softmax import curvature_of_row
from .card import SIMULATED
from .compiled import on_card

THREADS = 8 if SIMULATED else 256
"""Of a block: a power of two."""
STRETCH = 64 if SIMULATED else 1 << 15
"""Rows of a block, at least."""
WORDS = 12_288
"""Words of 32 bits that a block has: 48 KiB."""
LONGS = WORDS // 2
"""Sums of 64 bits in them."""

_LOW = 0xFFFFFFFF


def grid(n: int) -> Any:
    """Blocks for n threads, and their size."""
    return max(1, -(-n // THREADS)), THREADS


def stretches(n_rows: int, n_blocks: int = 1) -> tuple[int, int]:
    """(stretches, their length) of so many rows, beside ``n_blocks`` other blocks for each: enough
    to fill the card, and no more than is worth the sums that each one hands over."""
    wanted = max(1, 4096 // max(1, n_blocks))
    length = max(STRETCH, -(-n_rows // wanted))
    return max(1, -(-n_rows // length)), length


# Numba's simulator counts in Python, where words do not overflow as on a card: there, a long is one
# number.

if SIMULATED:
    _LONG_TYPE, _WORD_TYPE, _PARTS = types.int64, types.int64, 1

    @cuda.jit(device=True)
    def add_long(room, cell, value):
        cuda.atomic.add(room, cell, np.int64(value))

    @cuda.jit(device=True)
    def long_at(room, cell):
        return room[cell]

else:
    _LONG_TYPE, _WORD_TYPE, _PARTS = types.uint32, types.uint32, 2

    @cuda.jit(device=True)
    def add_long(room, cell, value):
        """``room`` has the low and the high word of each sum."""
        low = np.uint32(value & _LOW)
        high = np.uint32((value >> 32) & _LOW)
        before = cuda.atomic.add(room, 2 * cell, low)
        if before > np.uint32(_LOW) - low:
            high = np.uint32(high + np.uint32(1))
        if high != np.uint32(0):
            cuda.atomic.add(room, 2 * cell + 1, high)

    @cuda.jit(device=True)
    def long_at(room, cell):
        return (np.int64(np.int32(room[2 * cell + 1])) << 32) | np.int64(room[2 * cell])


@cuda.jit(device=True)
def in_units(value, scale):
    """A value as a whole number of units; ``scale`` of them make 1."""
    return np.int64(math.floor(value * scale + 0.5))


@cuda.jit
def clear(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 0


@cuda.jit
def fill_scores(codes, first_cell, used, table, start, offset, lo, hi, score):
    """Scores of the rows lo..hi: the start, the offset, and the tables of the ``used`` features."""
    i = lo + cuda.grid(1)
    if i < hi:
        found = start
        if offset.shape[0] > 0:
            found += offset[i]
        for k in range(used.shape[0]):
            g = used[k]
            found += table[first_cell[g] + codes[g, i]]
        score[i] = found


@cuda.jit
def add_cell_scores(codes, features, first_bin, bin_of, n_bins, start, begin, end, table, lo, hi,
                    score):  # fmt: skip
    """Add the tables of the columns begin..end (`rgboost.statistics.cells.Cells`) to scores."""
    i = lo + cuda.grid(1)
    if i < hi:
        found = score[i]
        for k in range(begin, end):
            g, h = features[k, 0], features[k, 1]
            cell = np.int64(bin_of[first_bin[g] + codes[g, i]])
            if h >= 0:
                cell = cell * n_bins[h] + bin_of[first_bin[h] + codes[h, i]]
            found += table[start[k] + cell]
        score[i] = found


@cuda.jit(device=True)
def block_sum(value, room):
    """The sum of the values of all threads of a block, always in the same order."""
    t = cuda.threadIdx.x
    room[t] = value
    cuda.syncthreads()
    n = THREADS // 2
    while n > 0:
        if t < n:
            room[t] += room[t + n]
        cuda.syncthreads()
        n //= 2
    found = room[0]
    cuda.syncthreads()
    return found


@cuda.jit(device=True)
def block_largest(value, room):
    """The largest of the values of all threads of a block; NaN if there is one."""
    t = cuda.threadIdx.x
    room[t] = value
    cuda.syncthreads()
    n = THREADS // 2
    while n > 0:
        if t < n and not (room[t] >= room[t + n]) and room[t] == room[t]:
            room[t] = room[t + n]
        cuda.syncthreads()
        n //= 2
    found = room[0]
    cuda.syncthreads()
    return found


@cuda.jit(device=True)
def hand_over_sum(value, room, partial, k):
    """Write the sum of the values of all threads down, as entry k of the block."""
    found = block_sum(value, room)
    if cuda.threadIdx.x == 0:
        partial[k, cuda.blockIdx.x] = found


@cuda.jit(device=True)
def hand_over_largest(value, room, partial, k):
    """The same of the largest value."""
    found = block_largest(value, room)
    if cuda.threadIdx.x == 0:
        partial[k, cuda.blockIdx.x] = found


LOSS, TOTAL, CURVED, SQUARE, WEIGHED_SQUARE, MOST, MOST_CURVED = range(7)
"""What `make_evaluate` adds up: weighted losses, residuals w r, curvatures w h, (w r)^2 and w r^2;
and the largest |w r| and w h."""


def make_evaluate(loss: Any) -> Any:
    """The kernel that looks at rows with a loss (`compiled.loss_on_card`)."""

    @cuda.jit
    def evaluate_rows(terms, flat, shortest, y, weight, score, lo, hi, length, residual, curvature,
                      value_out, partial):  # fmt: skip
        """Residuals of the rows lo..hi, curvatures and losses if there is room for them, and the
        sums of each stretch. h is ``flat``, if this is not 0, or at least |r| times ``shortest``.
        """
        room = cuda.shared.array(THREADS, types.float64)
        t = cuda.threadIdx.x
        first = lo + cuda.blockIdx.x * length
        last = min(first + length, hi)
        value_sum, total, curved, square, weighed = 0.0, 0.0, 0.0, 0.0, 0.0
        most, most_curved = 0.0, 0.0
        for i in range(first + t, last, THREADS):
            value, r, h = loss(terms, y[i], score[i])
            h = flat if flat > 0.0 else max(h, abs(r) * shortest)
            w = 1.0
            if weight.shape[0] > 0:
                w = weight[i]
            weighed += w * r * r
            value, r, h = w * value, w * r, w * h
            residual[i] = r
            if curvature.shape[0] > 0:
                curvature[i] = h
            if value_out.shape[0] > 0:
                value_out[i] = value
            value_sum += value
            total += r
            curved += h
            most_curved = max(most_curved, h)
            square += r * r
            if not (abs(r) <= most) and most == most:
                most = abs(r)
        hand_over_sum(value_sum, room, partial, LOSS)
        hand_over_sum(total, room, partial, TOTAL)
        hand_over_sum(curved, room, partial, CURVED)
        hand_over_sum(square, room, partial, SQUARE)
        hand_over_sum(weighed, room, partial, WEIGHED_SQUARE)
        hand_over_largest(most, room, partial, MOST)
        hand_over_largest(most_curved, room, partial, MOST_CURVED)

    return evaluate_rows


_curvature_of_row = on_card(curvature_of_row, {})


@cuda.jit
def evaluate_classes(terms, y, weight, score, lo, hi, length, residual, curvature, value_out,
                     partial):  # fmt: skip
    """`evaluate_rows` for `rgboost.losses.Softmax`: scores and residuals are (classes, rows), and
    ``partial[TOTAL + c]`` are sums of the residuals of class c, behind which the others come."""
    room = cuda.shared.array(THREADS, types.float64)
    t = cuda.threadIdx.x
    n_classes, ridge = score.shape[0], terms.ridge
    first = lo + cuda.blockIdx.x * length
    last = min(first + length, hi)
    value_sum, curved, square, weighed, most, most_curved = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(first + t, last, THREADS):
        own = np.int64(y[i])
        top = score[0, i]
        for c in range(1, n_classes):
            top = max(top, score[c, i])
        total, squares, ridged = 0.0, 0.0, 0.0
        for c in range(n_classes):
            e = math.exp(score[c, i] - top)
            total += e
            squares += e * e
            ridged += score[c, i] * score[c, i]
        w = 1.0
        if weight.shape[0] > 0:
            w = weight[i]
        value = w * (math.log(total) + (top - score[own, i]) + 0.5 * ridge * ridged)
        largest_p = 1.0 / total
        h = w * _curvature_of_row(terms, total, squares, score[own, i] - top, n_classes)
        for c in range(n_classes):
            r = -math.exp(score[c, i] - top) * largest_p - ridge * score[c, i]
            if c == own:
                r += 1.0
            weighed += w * r * r
            r = w * r
            residual[c, i] = r
            square += r * r
            if not (abs(r) <= most) and most == most:
                most = abs(r)
        if curvature.shape[0] > 0:
            curvature[i] = h
        if value_out.shape[0] > 0:
            value_out[i] = value
        value_sum += value
        curved += h
        most_curved = max(most_curved, h)
    hand_over_sum(value_sum, room, partial, LOSS)
    for c in range(n_classes):
        mine = 0.0
        for i in range(first + t, last, THREADS):
            mine += residual[c, i]
        hand_over_sum(mine, room, partial, TOTAL + c)
    rest = n_classes - 1
    hand_over_sum(curved, room, partial, CURVED + rest)
    hand_over_sum(square, room, partial, SQUARE + rest)
    hand_over_sum(weighed, room, partial, WEIGHED_SQUARE + rest)
    hand_over_largest(most, room, partial, MOST + rest)
    hand_over_largest(most_curved, room, partial, MOST_CURVED + rest)


@cuda.jit
def sum_falls(before, after, unit, lo, hi, length, partial):
    """Sums of what losses fell by, in units, and of its squares."""
    room = cuda.shared.array(THREADS, types.float64)
    t = cuda.threadIdx.x
    first = lo + cuda.blockIdx.x * length
    last = min(first + length, hi)
    total, square = 0.0, 0.0
    for i in range(first + t, last, THREADS):
        fall = before[i] / unit - after[i] / unit
        total += fall
        square += fall * fall
    hand_over_sum(total, room, partial, 0)
    hand_over_sum(square, room, partial, 1)


@cuda.jit
def fill_units(curvature, least, unit, up, lo, hi, out):
    """Curvatures as whole numbers of units, rounded ``up`` or to the nearest."""
    i = lo + cuda.grid(1)
    if i < hi:
        units = max(curvature[i], least) / unit
        out[i] = math.ceil(units) if up else math.floor(units + 0.5)


@cuda.jit
def add_to_bins(codes, first_cell, values, scale, lo, hi, length, out):
    """Sums of values in the bins of every feature; each counts 1 if there are none. A block has a
    stretch of rows and a feature."""
    room = cuda.shared.array(WORDS, _LONG_TYPE)
    t, g = cuda.threadIdx.x, cuda.blockIdx.y
    n_bins = first_cell[g + 1] - first_cell[g]
    for b in range(t, _PARTS * n_bins, THREADS):
        room[b] = 0
    cuda.syncthreads()
    first = lo + cuda.blockIdx.x * length
    last = min(first + length, hi)
    for i in range(first + t, last, THREADS):
        value = np.int64(1)
        if values.shape[0] > 0:
            value = in_units(values[i], scale)
        add_long(room, np.int64(codes[g, i]), value)
    cuda.syncthreads()
    for b in range(t, n_bins, THREADS):
        found = long_at(room, b)
        if found != 0:
            cuda.atomic.add(out, first_cell[g] + b, found)


@cuda.jit
def add_to_cells(codes, features, first_bin, bin_of, n_bins, start, values, scale, lo, hi, length,
                 out):  # fmt: skip
    """Sums of values in the cells of columns (`rgboost.statistics.cells.Cells`). A block has a
    stretch of rows, a column, and a tile of its cells."""
    room = cuda.shared.array(WORDS, _LONG_TYPE)
    t, k = cuda.threadIdx.x, cuda.blockIdx.y
    g, h = features[k, 0], features[k, 1]
    low = cuda.blockIdx.z * LONGS
    n_cells = min(LONGS, start[k + 1] - start[k] - low)
    if n_cells > 0:
        for c in range(t, _PARTS * n_cells, THREADS):
            room[c] = 0
    cuda.syncthreads()
    first = lo + cuda.blockIdx.x * length
    last = min(first + length, hi)
    for i in range(first + t, last, THREADS):
        cell = np.int64(bin_of[first_bin[g] + codes[g, i]])
        if h >= 0:
            cell = cell * n_bins[h] + bin_of[first_bin[h] + codes[h, i]]
        cell -= low
        if 0 <= cell < n_cells:
            value = np.int64(1)
            if values.shape[0] > 0:
                value = in_units(values[i], scale)
            add_long(room, cell, value)
    cuda.syncthreads()
    for c in range(t, n_cells, THREADS):
        found = long_at(room, c)
        if found != 0:
            cuda.atomic.add(out, start[k] + low + c, found)


@cuda.jit(device=True)
def edges_below(edges, first, last, x):
    """How many of the ascending edges first..last are below x."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low - first


@cuda.jit
def bin_rows(X, categorical, edge_start, edges, others, first_row, codes):
    """Bins of rows as numbers (rows, features), by `rgboost.data.mixed_bins.MixedCuts`: how many
    thresholds are below a value, or the place of a category. ``others[g]`` is where unknown
    categories go; missing values have the bin behind those of values."""
    j = cuda.grid(1)
    if j < X.shape[0] * X.shape[1]:
        i, g = j // X.shape[1], j % X.shape[1]
        x = np.float64(X[i, g])
        first, last = edge_start[g], edge_start[g + 1]
        n_values = last - first
        if not categorical[g]:
            n_values += 1
        found = edges_below(edges, first, last, x)
        if x != x:
            found = n_values
        elif categorical[g] and (first + found == last or edges[first + found] != x):
            found = others[g]
        codes[g, first_row + i] = found


@cuda.jit
def take(values, order, out):
    """Values in another order."""
    i = cuda.grid(1)
    if i < order.shape[0]:
        out[i] = values[order[i]]
