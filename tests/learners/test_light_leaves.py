"""The least weight of a leaf."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Stumps
from rgboost.theory.certificates.training import training_of
from tests.data_strategies import problems
from tests.naive import naive_cuts


@given(problems(), st.sampled_from([0.0, 0.1, 0.34, 0.5]), st.booleans(), st.booleans())
def test_thresholds_with_too_little_on_a_side_are_left_out(problem, least, weighted, sparse):
    X, _, weight = problem
    data = scipy.sparse.csc_array(X) if sparse else X
    family = Stumps(max_bins=6, min_weight_fraction_leaf=least)
    prepared = family.prepare(data, weight if weighted else None)
    w = weight if weighted else np.ones(len(X))
    cuts = prepared.cuts
    for g in range(X.shape[1]):
        thresholds, left = naive_cuts(X[:, g], 6, "quantile", w)
        kept = np.minimum(left, w.sum() - left) >= least * w.sum()
        mine = slice(cuts.offsets[g], cuts.offsets[g + 1])
        np.testing.assert_array_equal(cuts.thresholds[mine], thresholds[kept])
        if not sparse:
            codes = (X[:, g][:, None] > thresholds[kept]).sum(axis=1)
            np.testing.assert_array_equal(prepared.arrays.codes[g, : len(X)], codes)


def test_estimators():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    model = RGBMRegressor(min_weight_fraction_leaf=0.2, max_iter=50, random_state=0).fit(X, y)
    for g, s in zip(model.model_.feature, model.model_.threshold, strict=True):
        assert 40 <= np.sum(X[:, g] <= s) <= 160


@pytest.mark.parametrize(
    ("kind", "n_rows", "more", "n_splits"),
    [
        (RGBMRegressor, 12_345, {}, 2),
        (RGBMRegressor, 12_345, {"min_weight_fraction_leaf": 0.0}, 3),
        (RGBMRegressor, 9_999, {}, 3),
        (RGBMRegressor, 12_345, {"loss": "huber"}, 3),
        (RGBMRegressor.paper, 12_345, {"max_bins": 255}, 3),
        (RGBMClassifier, 12_345, {}, 3),
    ],
)
def test_the_default_is_five_rows_where_there_are_many(kind, n_rows, more, n_splits):
    """Four rows have the largest value, five one of the two largest."""
    X = np.zeros((n_rows, 1))
    X[:40, 0], X[:5, 0], X[:4, 0] = 1, 2, 3
    y = np.arange(n_rows) % 2
    model = kind(max_iter=3, **more).fit(X, y)
    assert model.n_learners_ == n_splits


def test_rows_without_weight_do_not_count():
    X = np.zeros((12_000, 1))
    X[:4, 0], y, weight = 1, np.arange(12_000) % 2, np.ones(12_000)
    weight[9_990:] = 0
    assert RGBMRegressor(max_iter=3).fit(X, y).n_learners_ == 0
    model = RGBMRegressor(max_iter=3).fit(X, y, sample_weight=weight)
    assert model.n_learners_ == 1
    training = training_of(model, X, y, weight, None, 1)[0]
    assert training.prepared.layout.n_learners == 1  # what a certificate is about


def test_an_unknown_share():
    with pytest.raises(ValueError, match=r"min_weight_fraction_leaf='few' is not known; use a sh"):
        RGBMRegressor(min_weight_fraction_leaf="few").fit(np.eye(9), np.arange(9))


@pytest.mark.parametrize("least", [-0.1, 0.6])
def test_impossible_shares(least):
    with pytest.raises(ValueError, match=r"min_weight_fraction_leaf=.* must be from 0 to 0.5"):
        Stumps(min_weight_fraction_leaf=least)
