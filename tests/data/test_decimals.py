"""Decimal text to doubles: the same double as Python's ``float``, or undecided."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rgboost.data.readers.decimals import (
    DECIDED,
    NOT_A_NUMBER,
    UNDECIDED,
    leading_zeros,
    multiply,
    powers_of_five,
    read_decimal,
)

pytestmark = pytest.mark.kernel

DIGITS = st.text("0123456789", min_size=1, max_size=30)


def read(text):
    buffer = np.frombuffer(f"{text} ".encode(), dtype=np.uint8).copy()
    return read_decimal(buffer, 0, powers_of_five())


def check(text):
    state, value, end = read(text)
    assert end == len(text)
    assert state != NOT_A_NUMBER
    if state == DECIDED:
        assert value == float(text)
        assert math.copysign(1, value) == math.copysign(1, float(text))
    return state


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.0)
@example(-0.0)
@example(1e23)
@example(8.98846567431158e307)
@example(2.2250738585072014e-308)
def test_shortest_text_of_a_double(x):
    state = check(repr(x))
    if x == 0 or 1e-300 < abs(x) < 1e300:
        assert state == DECIDED


@given(st.sampled_from(["", "+", "-"]), DIGITS, DIGITS, st.integers(-400, 400))
@example("", "9" * 19, "0", 0)
@example("", "18446744073709551615", "0", 0)
@example("", "1", "0", 309)
@example("", "1", "0", -343)
@example("", "0" * 30, "0", 0)
def test_any_text(sign, whole, fraction, exponent):
    check(f"{sign}{whole}.{fraction}e{exponent}")
    check(f"{sign}{whole}E{exponent:+d}")
    check(f"{sign}.{fraction}")
    check(f"{sign}{whole}.")


@given(st.integers(2**52, 2**53 - 1), st.integers(-80, 80), st.integers(-1, 1))
def test_half_way_between_two_doubles(mantissa, power, off):
    """The hardest text there is: exactly between two doubles, or one digit off."""
    middle = Fraction(2 * mantissa + 1) * Fraction(2) ** power
    n_places = middle.denominator.bit_length() - 1
    digits = int(middle * 10**n_places) * 10 + off
    check(f"{digits}e{-n_places - 1}")


@pytest.mark.parametrize("q", range(-20, 24))
def test_half_way_in_few_digits(q):
    """What fits into 19 digits is decided, to even."""
    for w in range(2**53 + 1, 2**53 + 30):
        assert check(f"{w}e{q}") == DECIDED


@pytest.mark.parametrize("text", ["", ".", "+", "-", "-.", "e5", "x", ".e1", "nan", "inf"])
def test_no_digits(text):
    assert read(text)[0] == NOT_A_NUMBER


@pytest.mark.parametrize("text", ["1e", "1e+", "1.5e-", "1E", "1e-x"])
def test_no_exponent(text):
    assert read(text)[0] == NOT_A_NUMBER


@pytest.mark.parametrize(("text", "end"), [("1_0", 1), ("1.2.3", 3), ("0x10", 1), ("1:2", 1)])
def test_stops_at_what_is_no_part(text, end):
    state, _, found = read(text)
    assert (state, found) == (DECIDED, end)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e310", np.inf), ("-1e99999999999999", -np.inf), ("1e-99999999999999", 0.0)],
)
def test_far_out_of_range(text, value):
    assert read(text)[:2] == (DECIDED, value)


@pytest.mark.parametrize("text", ["5e-324", "1e-310", "1.7976931348623157e308", "9e-343"])
def test_left_to_python(text):
    assert read(text)[0] == UNDECIDED


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@example(2**64 - 1, 2**64 - 1)
def test_multiply(a, b):
    high, low = multiply(np.uint64(a), np.uint64(b))
    assert (int(high) << 64) + int(low) == a * b


@given(st.integers(1, 2**64 - 1))
def test_leading_zeros(w):
    assert leading_zeros(np.uint64(w)) == 64 - w.bit_length()
