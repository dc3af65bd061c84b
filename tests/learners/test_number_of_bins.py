"""Bins of features are chosen by themselves, whatever other features are."""

import numpy as np
import pytest

from rgboost import Stumps


def test_categories_and_missing_values_change_no_bins():
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    X[:, 2] = np.arange(30_000) % 7
    plain = Stumps(max_bins=512).prepare(X[:, :2]).cuts
    X[0, 0] = np.nan
    mixed = Stumps(max_bins=512, categorical=(2,)).prepare(X).cuts
    assert np.diff(plain.offsets).tolist() == [511, 511]
    assert mixed.n_values.tolist() == [512, 512, 7]
    np.testing.assert_array_equal(mixed.edges_of(1), plain.thresholds[511:])


def test_no_other_word():
    with pytest.raises(TypeError, match="max_bins must be an integer, got 'many'"):
        Stumps(max_bins="many")
