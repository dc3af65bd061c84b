"""How many bins a number of rows gets."""

import pytest

from rgboost import Stumps


@pytest.mark.parametrize(
    ("max_bins", "n_rows", "bins"),
    [
        ("auto", 10, 32), ("auto", 1649, 32), ("auto", 1650, 33), ("auto", 5000, 100),
        ("auto", 12_750, 255), ("auto", 10**7, 255), ("paper", 10_000, None),
        ("paper", 10_001, 100), (None, 10**7, None), (7, 10, 7),
    ],
)  # fmt: skip
def test_bins(max_bins, n_rows, bins):
    assert Stumps(max_bins=max_bins).bins_for(n_rows) == bins


def test_no_other_word():
    with pytest.raises(TypeError, match="max_bins must be an integer, got 'many'"):
        Stumps(max_bins="many")
