"""Decimal text to the nearest double: the kernels behind the LIBSVM reader.

A number is read as w 10^q with a 64-bit integer w. Three ways lead to the double nearest to it:

1. w <= 2^53 and |q| <= 22: both are doubles, one multiplication or division rounds right (Clinger).
2. Otherwise 5^q is taken from a table of 128-bit approximations; the leading 128 bits of the
   product w 5^q nearly always tell how to round (Lemire, "Number parsing at a gigabyte per second",
   2021). Text of more than 19 digits is done for w and w + 1: mostly they round to the same double.
3. What is left (about one number in 10^15, subnormal numbers, and text made to be hard) is
   *undecided*: the caller asks Python's ``float``.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel

LEAST_POWER, GREATEST_POWER = -342, 308
"""Outside of these powers of ten, w 10^q is 0 or infinite for every 64-bit w > 0."""

MOST_DIGITS = 19
"""More digits do not fit into 64 bits."""

DECIDED, UNDECIDED, NOT_A_NUMBER = 0, 1, 2

# Typed constants: in Numba uint64 and int64 meet in float64.
_0, _1, _3, _9, _10 = (np.uint64(k) for k in (0, 1, 3, 9, 10))
_32, _63 = np.uint64(32), np.uint64(63)
_LOW_HALF = np.uint64(2**32 - 1)
_NINE_BITS = np.uint64(2**9 - 1)
_ALL_BITS = np.uint64(2**64 - 1)
_TWO_52, _TWO_53 = np.uint64(2**52), np.uint64(2**53)
_PLUS, _MINUS, _POINT, _E, _SMALL_E, _DIGIT_0, _DIGIT_9 = (ord(c) for c in "+-.Ee09")
_MOST_EXPONENT = 100_000


@functools.cache
def powers_of_five() -> NDArray[np.uint64]:
    """The leading 128 bits of 5^q, high and low word, for q from `LEAST_POWER` on.

    Negative powers are rounded up, positive ones down: what the argument in the paper needs.
    """
    words = []
    for q in range(LEAST_POWER, GREATEST_POWER + 1):
        if q < 0:
            divisor = 5**-q
            bits = (divisor - 1).bit_length()
            value = 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // divisor + 1
        else:
            value = 5**q << 127
        value >>= value.bit_length() - 128
        words.append((value >> 64, value & (2**64 - 1)))
    table = np.array(words, dtype=np.uint64)
    table.setflags(write=False)
    return table


_EXACT_POWERS = np.array([10.0**q for q in range(23)])


@kernel()
def read_decimal(buffer, at, powers):
    """Read a decimal number at ``buffer[at]``: (state, value, end).

    ``buffer`` must have a byte after the number that is no part of it. The number is what matches
    ``[+-]? (digits [. digits?] | . digits) ([eE] [+-]? digits)?``; what follows is the caller's
    business.
    """
    negative = buffer[at] == _MINUS
    if negative or buffer[at] == _PLUS:
        at += 1
    mantissa = _0
    n_kept = 0
    exponent = 0
    has_digits = False
    has_point = False
    cut = False
    while True:
        c = buffer[at]
        if _DIGIT_0 <= c <= _DIGIT_9:
            has_digits = True
            if n_kept < MOST_DIGITS:
                mantissa = mantissa * _10 + np.uint64(c - _DIGIT_0)
                if mantissa != _0:  # leading zeros are not significant
                    n_kept += 1
                if has_point:
                    exponent -= 1
            else:
                cut = cut or c != _DIGIT_0
                if not has_point:
                    exponent += 1
        elif c == _POINT and not has_point:
            has_point = True
        else:
            break
        at += 1
    if not has_digits:
        return NOT_A_NUMBER, 0.0, at
    if c in (_E, _SMALL_E):
        power, at = read_exponent(buffer, at + 1)
        if at < 0:
            return NOT_A_NUMBER, 0.0, -at
        exponent += power
    state, value = nearest_double(mantissa, exponent, cut, powers)
    return state, -value if negative else value, at


@kernel()
def read_exponent(buffer, at):
    """The integer after the ``e`` and its end; the end is negative where there is no integer."""
    negative = buffer[at] == _MINUS
    if negative or buffer[at] == _PLUS:
        at += 1
    if not _DIGIT_0 <= buffer[at] <= _DIGIT_9:
        return 0, -at
    power = np.int64(0)
    while _DIGIT_0 <= buffer[at] <= _DIGIT_9:
        if power < _MOST_EXPONENT:
            power = 10 * power + np.int64(buffer[at] - _DIGIT_0)
        at += 1
    return -power if negative else power, at


@kernel()
def nearest_double(mantissa, exponent, cut, powers):
    """The double nearest to ``mantissa * 10**exponent``: (state, value).

    ``cut``: there were more digits, so that the number is between ``mantissa`` and
    ``mantissa + 1`` (times the power of ten).
    """
    if mantissa == _0:
        return DECIDED, 0.0
    if not cut and mantissa <= _TWO_53 and -22 <= exponent <= 22:
        if exponent < 0:
            return DECIDED, np.float64(mantissa) / _EXACT_POWERS[-exponent]
        return DECIDED, np.float64(mantissa) * _EXACT_POWERS[exponent]
    if exponent > GREATEST_POWER:
        return DECIDED, np.inf
    if exponent < LEAST_POWER - 1:
        return DECIDED, 0.0
    if exponent < LEAST_POWER:
        return UNDECIDED, 0.0
    decided, value = round_product(mantissa, exponent, powers)
    if decided and cut:
        above_decided, above = round_product(mantissa + _1, exponent, powers)
        decided = above_decided and above == value
    return DECIDED if decided else UNDECIDED, value


@kernel()
def round_product(w, q, powers):
    """The normal double nearest to ``w * 10**q`` by 128 bits of 5^q: (decided, value)."""
    shift = leading_zeros(w)
    w = w << np.uint64(shift)
    high, low = multiply(w, powers[q - LEAST_POWER, 0])
    if high & _NINE_BITS == _NINE_BITS:  # a carry could reach the bits that decide
        carry, _ = multiply(w, powers[q - LEAST_POWER, 1])
        if carry > _ALL_BITS - low:
            high += _1
            low = carry - (_ALL_BITS - low) - _1
        else:
            low += carry
    if low == _ALL_BITS:
        return False, 0.0
    upper = high >> _63
    bits = high >> (upper + _9)  # the 53 bits of a double and one to round by
    # floor(q log2(5)) + q: the place of the leading bit of the product
    power = ((217706 * q) >> 16) + 63 - shift + np.int64(upper)
    if power < -1022 or power > 1022:  # the last one could round up to infinity
        return False, 0.0
    if low <= _1 and -4 <= q <= 23 and bits & _3 == _1 and bits << (upper + _9) == high:
        bits -= _1  # exactly half-way: to even
    bits = (bits + (bits & _1)) >> _1
    return True, math.ldexp(np.float64(bits), int(power - 52))


@kernel()
def multiply(a, b):
    """The 128-bit product of two 64-bit numbers: (high, low)."""
    a_high, a_low = a >> _32, a & _LOW_HALF
    b_high, b_low = b >> _32, b & _LOW_HALF
    bottom = a_low * b_low
    middle = a_high * b_low + (bottom >> _32)
    other = a_low * b_high + (middle & _LOW_HALF)
    high = a_high * b_high + (middle >> _32) + (other >> _32)
    return high, (other << _32) | (bottom & _LOW_HALF)


@kernel()
def leading_zeros(w):
    """How many zero bits are above the leading one of ``w > 0``."""
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == _0:
            w = w << np.uint64(step)
            zeros += step
    return zeros
