"""The least weight of a leaf."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMRegressor
from rgboost.learners import Stumps
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


@pytest.mark.parametrize("least", [-0.1, 0.6])
def test_impossible_shares(least):
    with pytest.raises(ValueError, match=r"min_weight_fraction_leaf=.* must be from 0 to 0.5"):
        Stumps(min_weight_fraction_leaf=least)
