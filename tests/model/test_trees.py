"""A sum of trees: scores of rows that were not there at fit time, importances, fewer columns."""

import numpy as np
import pytest
import scipy.sparse

from rgboost.learners import Trees
from rgboost.losses import Softmax, Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep
from rgboost.training import Validation, boost


def walk(model, x, t):
    """The value of tree t for one row, split by split."""
    a, k = model.starts[t], 0
    if model.starts[t + 1] == a:
        return model.values[a + t]
    while k >= 0:
        at = a + k
        g, value = model.feature[at], x[model.feature[at]]
        if model.which_set[at] >= 0:
            j = list(model.category_features).index(g)
            known = list(model.categories[model.category_starts[j] : model.category_starts[j + 1]])
            code = known.index(value) if value in known else len(known)
            left = model.sets[model.which_set[at], code // 8] >> (code % 8) & 1
        elif np.isnan(value):
            left = model.missing_left[at]
        else:
            left = value <= model.threshold[at]
        k = model.children[at, 0 if left else 1]
    return model.values[a + t + ~k]


def fitted(kind, classes=1, n=300):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(n, 5)).astype(float)
    if kind != "numbers":
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=n)
    loss = Squared()
    if classes > 1:
        y, loss = (y * 3).astype(int) % classes * 1.0, Softmax(classes)
    family = Trees(
        max_leaf_nodes=9, min_samples_leaf=5, categorical=(1, 3) if kind == "categories" else ()
    )
    fit = boost(
        X, y, loss=loss, learner=family, selection=AllLearners(), step=ConstantStep(), n_iter=6,
        learning_rate=0.5, start_score=None,
    )  # fmt: skip
    return fit, X, rng


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
@pytest.mark.parametrize("classes", [1, 3])
def test_scores_are_what_a_walk_down_each_tree_finds(kind, classes):
    fit, X, rng = fitted(kind, classes)
    model = fit.model
    new = rng.integers(-2, 12, size=(150, 5)).astype(float)
    new[rng.random(new.shape) < 0.2] = np.nan
    for rows in (X[:50], new):
        known = [model.intercept + sum(walk(model, x, t) for t in range(6)) for x in rows]
        np.testing.assert_allclose(model.score(rows), known, atol=1e-12)
        np.testing.assert_array_equal(model.score(rows.astype(np.float32)), model.score(rows))
        filled = np.nan_to_num(rows) if kind == "numbers" else rows
        np.testing.assert_array_equal(
            model.score(scipy.sparse.csr_array(filled)), model.score(filled)
        )
    assert model.score(X[:0]).shape == ((0,) if classes == 1 else (0, classes))


@pytest.mark.kernel
def test_held_rows_are_scored_as_new_ones():
    fit, X, rng = fitted("categories")
    y = np.nan_to_num(X[:, 0]) - 4.0 + rng.normal(size=len(X))
    new = rng.integers(-2, 12, size=(80, 5)).astype(float)
    new[rng.random(new.shape) < 0.2] = np.nan
    again = boost(
        X, y, loss=Squared(), learner=fit.prepared.family, selection=AllLearners(),
        step=ConstantStep(), n_iter=6, learning_rate=0.5, start_score=None,
        validation=Validation(new, np.zeros(80)),
    )  # fmt: skip
    losses = [np.mean(s**2) / 2 for s in again.model.staged_score(new)]
    n = again.best_iteration
    np.testing.assert_allclose(again.trace.validation_loss[1 : n + 1], losses, rtol=1e-9)


def test_importances_are_shares_of_the_gain():
    fit, _, _ = fitted("numbers")
    found = fit.model.importances()
    assert found.sum() == pytest.approx(1.0)
    assert found.argmax() == 0
    model = fit.model
    mine = sum(g for g, f in zip(model.gain, model.feature, strict=True) if f == 0)
    assert found[0] == pytest.approx(mine / model.gain.sum())


def test_leaf_weights_are_those_of_the_training_rows():
    fit, X, _ = fitted("missing")
    model = fit.model
    for t in range(6):
        a, b = model.starts[t] + t, model.starts[t + 1] + t + 1
        assert model.weight[a:b].sum() == pytest.approx(len(X))
        assert (model.weight[a:b] >= 5).all()


def test_some_columns_among_others():
    fit, X, _ = fitted("categories")
    columns, wide = np.array([1, 3, 4, 7, 9]), np.full((len(X), 11), np.nan)
    wide[:, columns] = X
    np.testing.assert_array_equal(fit.model.among(columns, 11).score(wide), fit.model.score(X))
