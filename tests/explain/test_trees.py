"""SHAP values of trees: by the tree explainer of shap, and by all subsets of features."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes, load_wine

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Trees

pytest.importorskip("shap")
SMALL = Trees(max_leaf_nodes=6, min_samples_leaf=5)


def made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    known = np.nan_to_num(X)
    return X, known[:, 0] * known[:, 1] + known[:, 2] + 0.1 * rng.normal(size=200)


def expected(model, t, x, known, k=0):
    """The mean score of tree t by the weights of its leaves, with these features known."""
    a, first = model.starts[t], model.starts[t] + t
    if k < 0:
        return model.values[first + ~k], model.weight[first + ~k]
    g = model.feature[a + k]
    sides = [expected(model, t, x, known, c) for c in model.children[a + k]]
    weight = sides[0][1] + sides[1][1]
    if g in known:
        left = model.missing_left[a + k] if np.isnan(x[g]) else x[g] <= model.threshold[a + k]
        return sides[0 if left else 1][0], weight
    return (sides[0][0] * sides[0][1] + sides[1][0] * sides[1][1]) / weight, weight


def shapley(model, x, p):
    """All subsets of features."""

    def worth(known):
        return sum(expected(model, t, x, known)[0] for t in range(model.n_trees))

    found = np.zeros(p)
    for g in range(p):
        others = [h for h in range(p) if h != g]
        for size in range(p):
            share = factorial(size) * factorial(p - size - 1) / factorial(p)
            for known in combinations(others, size):
                found[g] += share * (worth({*known, g}) - worth(set(known)))
    return found


def test_they_are_shapley_values():
    X, y = made()
    model = RGBMRegressor(learner=SMALL, selection="all", max_iter=5).fit(X, y)
    found = model.explain_local(X[:5])
    assert found.names == ["x0", "x1", "x2", "x3"][: len(found.names)]
    for i in range(5):
        known = shapley(model.model_, X[i], 4)
        np.testing.assert_allclose(found.contributions[i], known[found.features], atol=1e-6)
        assert np.abs(known).max() > 0.05


def test_they_add_up_to_the_score():
    X, y = made()
    model = RGBMRegressor(learner=Trees(), random_state=0).fit(X, y)
    assert model.trace_.n_runs == 5
    np.testing.assert_allclose(model.explain_local(X).score(), model.predict(X), atol=1e-6)
    assert "SHAP" not in repr(model.explain_local(X))
    assert model.explain_local(X[:2])._repr_html_()
    assert model.explain_local(X[:2]).to_shap().values.shape == (2, 4)


def test_of_two_classes_and_of_several():
    rows, labels = load_wine(return_X_y=True)
    model = RGBMClassifier(learner=SMALL, selection="all", max_iter=8).fit(rows, labels)
    found = model.explain_local(rows)
    np.testing.assert_allclose(found.score(), model.decision_function(rows), atol=1e-6)
    assert found.of_class(model.classes_[1]).contributions.ndim == 2
    two = RGBMClassifier(learner=SMALL, selection="all", max_iter=8).fit(rows, labels > 0)
    found = two.explain_local(rows)
    np.testing.assert_allclose(found.score(), two.decision_function(rows), atol=1e-6)
    assert "log-odds" in str(found.scale)


def test_of_sparse_rows_and_of_trees_without_splits():
    X, y = load_diabetes(return_X_y=True)
    rows = np.where(np.abs(X) < 0.03, 0.0, X)
    model = RGBMRegressor(learner=SMALL, selection="all", max_iter=5).fit(rows, y)
    sparse = model.explain_local(scipy.sparse.csr_array(rows[:20]))
    np.testing.assert_array_equal(
        sparse.contributions, model.explain_local(rows[:20]).contributions
    )
    flat = RGBMRegressor(learner=Trees(min_samples_leaf=300), selection="all", max_iter=3)
    found = flat.fit(X, y).explain_local(X[:4])
    np.testing.assert_allclose(found.score(), flat.predict(X[:4]))


@pytest.mark.parametrize(
    ("learner", "match"),
    [(Trees(leaves="linear"), "linear functions"), (Trees(categorical=(3,)), "sets of categories")],
)
def test_what_shap_cannot_say(learner, match):
    X, y = made()
    X[:, 3] = np.arange(len(X)) % 5
    y = y + X[:, 3] % 2
    categories = [3] if learner.categorical else None
    model = RGBMRegressor(
        learner=learner, selection="all", max_iter=5, categorical_features=categories
    )
    with pytest.raises(TypeError, match=match):
        model.fit(X, y).explain_local(X)
