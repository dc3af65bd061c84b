"""Tables against the path they were collapsed from."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.data.cuts import Cuts
from rgboost.model import Path, StumpModel


def naive_score(model, X):
    """Walk the path, one stump after the other."""
    score = np.full(X.shape[0], model.intercept)
    for g, s, left, right in zip(
        model.feature, model.threshold, model.left, model.right, strict=True
    ):
        if g >= 0:  # a quarter of the weight is on the left: see `random_model`
            value = np.where(X[:, g] <= s, left, right)
            score += np.where(np.isnan(X[:, g]), 0.25 * left + 0.75 * right, value)
    return score


def random_model(rng, p, n_cuts, n_iter):
    thresholds = [np.sort(rng.normal(size=k)) for k in n_cuts]
    offsets = np.concatenate([[0], np.cumsum(n_cuts)]).astype(np.int64)
    cuts = Cuts(offsets, np.concatenate(thresholds), np.ones(int(offsets[-1])))
    learner = rng.integers(-1, offsets[-1], size=n_iter)
    path = Path.of(learner=learner, left=rng.normal(size=n_iter), right=rng.normal(size=n_iter))
    return StumpModel.collapse(cuts, path, 0.7, 4.0)


@pytest.mark.kernel
@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([np.float32, np.float64]))
def test_scores(seed, n_iter, dtype):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 5)
    model = random_model(rng, p, rng.integers(1, 60, size=p), n_iter)
    X = (rng.normal(size=(20, p)) * (rng.random((20, p)) < 0.7)).astype(dtype)
    X[rng.random((20, p)) < rng.choice([0.0, 0.2])] = np.nan
    expected = naive_score(model, X)
    np.testing.assert_allclose(model.score(X), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.score(scipy.sparse.csr_array(X)), expected, atol=1e-12)
    np.testing.assert_allclose(model.score(scipy.sparse.csc_array(X)), expected, atol=1e-12)
    if n_iter:
        np.testing.assert_allclose(list(model.staged_score(X))[-1], expected, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_rows_and_threads(n_jobs, order):
    rng = np.random.default_rng(0)
    model = random_model(rng, 4, [3, 200, 1, 30], 500)
    X = np.asarray(rng.normal(size=(3001, 4)), order=order)
    expected = naive_score(model, X)
    np.testing.assert_allclose(model.score(X, n_jobs), expected, atol=1e-11)
    np.testing.assert_allclose(model.score(scipy.sparse.csr_array(X), n_jobs), expected, atol=1e-11)


def test_tables_are_step_functions():
    cuts = Cuts(np.array([0, 2, 3]), np.array([1.0, 2.0, 5.0]), np.ones(3))
    path = Path.of(learner=[1, 0, 1], left=[1.0, 10.0, 100.0], right=[2.0, 20.0, 200.0])
    model = StumpModel.collapse(cuts, path, 0.5, 4.0)
    edges, values = model.table(0)
    np.testing.assert_array_equal(edges, [1.0, 2.0])
    np.testing.assert_array_equal(values, [111.0, 121.0, 222.0])
    edges, values = model.table(1)
    assert len(edges) == 0
    np.testing.assert_array_equal(values, [0.0])
    np.testing.assert_array_equal(
        model.score(np.array([[1.0, 9], [1.5, 9], [3, 9]])), 0.5 + np.array([111, 121, 222])
    )
