"""Decimal numbers that a parser may round wrong."""

from fractions import Fraction


def hard_numbers(rng):
    """Texts of finite numbers: shortest ones, long ones, half-way between two doubles, small."""
    doubles = rng.normal(size=500) * 10.0 ** rng.uniform(-300, 300, size=500)
    texts = [repr(x) for x in doubles.tolist()]
    texts += [
        "5e-324",
        "1e-310",
        "1e-400",
        "1.7976931348623157e308",
        "1e23",
        "8.98846567431158e307",
    ]
    texts += [
        f"{2**53 + 1}.{'0' * 40}1",
        f"{2**53 + 1}.{'0' * 30}",
        "9" * 19,
        "18446744073709551615",
    ]
    texts += ["+.5", "-7.", "-0", "00012", "1E+5", "0." + "0" * 50 + "123"]
    texts += [f"{w}e{q}" for q in range(-20, 24) for w in range(2**53 + 1, 2**53 + 10)]
    for mantissa, power in zip(
        rng.integers(2**52, 2**53, 300).tolist(), rng.integers(-80, 80, 300).tolist(), strict=True
    ):
        middle = Fraction(2 * mantissa + 1) * Fraction(2) ** power
        n_places = middle.denominator.bit_length() - 1
        digits = int(middle * 10**n_places) * 10
        texts += [f"{digits + off}e{-n_places - 1}" for off in (-1, 0, 1)]
    return texts
