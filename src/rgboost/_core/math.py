"""exp and log1p that the compiler can vectorise.

The C library's functions are opaque calls: a loop over them runs one row at a time. These are
straight-line polynomials, so a loop over them runs eight rows at a time where the machine can.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import kernel, scalar

_LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has 21 trailing zero bits, so k * _LN2_HIGH is exact for |k| < 2**21.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52

EXPONENT_MIN, EXPONENT_MIN_SINGLE = -700.0, np.float32(-87.0)
"""Below this nobody asks `exp` (exp(-700) is about 1e-304) and `exp_single`."""


@scalar()
def exp(x):
    """e**x for x in [-700, 700], to about one unit in the last place.

    x = k ln 2 + r with |r| <= ln(2)/2; e**r by its Taylor polynomial of degree 13 (remainder
    below 5e-18); times 2**k, whose bits are written directly.
    """
    k = np.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


_SINGLE = np.float32
_LOG2_E_SINGLE, _HALF_SINGLE = _SINGLE(_LOG2_E), _SINGLE(0.5)
# ln 2 in two parts; the first has 15 trailing zero bits.
_LN2_HIGH_SINGLE, _LN2_LOW_SINGLE = _SINGLE(0.693359375), _SINGLE(-2.12194440e-4)
_T0, _T1, _T2, _T3, _T4, _T5, _T6, _T7 = (_SINGLE(1 / math.factorial(k)) for k in range(8))


@scalar()
def exp_single(x):
    """e**x for x in [-87, 87] in single precision: as `exp`, by a polynomial of degree 7."""
    k = np.floor(x * _LOG2_E_SINGLE + _HALF_SINGLE)
    r = (x - k * _LN2_HIGH_SINGLE) - k * _LN2_LOW_SINGLE
    p = _T7
    p = p * r + _T6
    p = p * r + _T5
    p = p * r + _T4
    p = p * r + _T3
    p = p * r + _T2
    p = p * r + _T1
    p = p * r + _T0
    return p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)


@scalar()
def twice_artanh(z):
    """log((1 + z) / (1 - z)) for |z| <= 1/3, accurate relative to the result also for tiny z.

    With z = u / (2 + u) it is log(1 + u). The series in z**2 <= 1/9 is cut after z**33 (remainder
    below 1e-17).
    """
    s = z * z
    p = 1.0 / 33.0
    p = p * s + 1.0 / 31.0
    p = p * s + 1.0 / 29.0
    p = p * s + 1.0 / 27.0
    p = p * s + 1.0 / 25.0
    p = p * s + 1.0 / 23.0
    p = p * s + 1.0 / 21.0
    p = p * s + 1.0 / 19.0
    p = p * s + 1.0 / 17.0
    p = p * s + 1.0 / 15.0
    p = p * s + 1.0 / 13.0
    p = p * s + 1.0 / 11.0
    p = p * s + 1.0 / 9.0
    p = p * s + 1.0 / 7.0
    p = p * s + 1.0 / 5.0
    p = p * s + 1.0 / 3.0
    return 2.0 * z * (p * s + 1.0)


@scalar()
def log(x):
    """The natural logarithm of a normal number x > 0, to about one unit in the last place.

    x = 2**k m with m between sqrt(1/2) and sqrt(2), read from the bits of x.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits >> 52) - 1023
    m = np.int64((bits & _MANTISSA) | _ONE).view(np.float64)
    if m > 1.4142135623730951:
        m *= 0.5
        k += 1
    z = (m - 1.0) / (m + 1.0)
    return k * _LN2_HIGH + (k * _LN2_LOW + twice_artanh(z))


@kernel()
def blocked_sum(values, n):
    """Sum of ``values[:n]`` in eight lanes: fast, the same on every run, and less rounding."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += values[i]
        s1 += values[i + 1]
        s2 += values[i + 2]
        s3 += values[i + 3]
        s4 += values[i + 4]
        s5 += values[i + 5]
        s6 += values[i + 6]
        s7 += values[i + 7]
    rest = 0.0
    for i in range(whole, n):
        rest += values[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest


MOST_FACTORS = 1000
"""Factors of at most 2 whose product is finite."""


@kernel()
def log_of_product(values, n):
    """log(``values[0] * ... * values[n - 1]``), in eight lanes as `blocked_sum`."""
    p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = 1.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        p0 *= values[i]
        p1 *= values[i + 1]
        p2 *= values[i + 2]
        p3 *= values[i + 3]
        p4 *= values[i + 4]
        p5 *= values[i + 5]
        p6 *= values[i + 6]
        p7 *= values[i + 7]
    rest = 1.0
    for i in range(whole, n):
        rest *= values[i]
    return math.log(((p0 * p1) * (p2 * p3)) * ((p4 * p5) * (p6 * p7)) * rest)


@kernel()
def largest(values, n):
    """The largest of ``values[:n]``, which are not negative; -1 if there are none.

    Eight running maxima, which the compiler keeps in one vector register.
    """
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = -1.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        m0 = values[i] if values[i] > m0 else m0
        m1 = values[i + 1] if values[i + 1] > m1 else m1
        m2 = values[i + 2] if values[i + 2] > m2 else m2
        m3 = values[i + 3] if values[i + 3] > m3 else m3
        m4 = values[i + 4] if values[i + 4] > m4 else m4
        m5 = values[i + 5] if values[i + 5] > m5 else m5
        m6 = values[i + 6] if values[i + 6] > m6 else m6
        m7 = values[i + 7] if values[i + 7] > m7 else m7
    best = max(max(max(m0, m1), max(m2, m3)), max(max(m4, m5), max(m6, m7)))
    for i in range(whole, n):
        best = max(best, values[i])
    return best
