"""How many bins a number of rows gets."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps


@pytest.mark.parametrize(
    ("max_bins", "shape", "bins"),
    [
        ("auto", (10, 3), 32), ("auto", (1649, 3), 32), ("auto", (1650, 3), 33),
        ("auto", (5000, 900), 100), ("auto", (13_000, 20), 255), ("auto", (13_000, 16), 260),
        ("auto", (20_000, 16), 300), ("auto", (20_000, 3), 400), ("auto", (100_000, 3), 512),
        ("auto", (100_001, 3), 2000), ("auto", (10**7, 0), 2047), ("paper", (10_000, 3), None),
        ("paper", (10_001, 3), 100), (None, (10**7, 3), None), (7, (10, 3), 7),
    ],
)  # fmt: skip
def test_bins(max_bins, shape, bins):
    assert Stumps(max_bins=max_bins).bins_for(np.broadcast_to(0.0, shape)) == bins


def test_many_rows_of_few_values_but_for_some_features():
    """Above 100,000 rows: 4,800 splits are shared out among features with more than 255 values."""
    X = np.random.default_rng(0).normal(size=(120_000, 4))
    X[:, 1:] = X[:, 1:].round(2)
    bins = Stumps(max_bins="auto").bins_for
    assert bins(X[:, :1]) == 2047
    assert bins(X[:, :3]) == 1600
    assert bins(np.round(X[:, 1:], 1)) == 2047
    assert bins(np.column_stack([X[:, :1]] * 20)) == 255
    assert bins(scipy.sparse.csr_array(X[:, :1])) == 255
    assert Stumps(max_bins="auto", categorical=(1, 2, 3)).bins_for(X) == 2047


def test_categories_and_missing_values_change_no_bins():
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    X[:, 2] = np.arange(30_000) % 7
    plain = Stumps(max_bins="auto").prepare(X[:, :2]).cuts
    X[0, 0] = np.nan
    mixed = Stumps(max_bins="auto", categorical=(2,)).prepare(X).cuts
    assert np.diff(plain.offsets).tolist() == [511, 511]
    assert mixed.n_values.tolist() == [512, 512, 7]
    np.testing.assert_array_equal(mixed.edges_of(1), plain.thresholds[511:])


def test_no_other_word():
    with pytest.raises(TypeError, match="max_bins must be an integer, got 'many'"):
        Stumps(max_bins="many")
