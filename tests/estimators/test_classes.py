"""Labels: their kinds, several classes, weights of classes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from rgboost import Dictionary, RGBMClassifier
from rgboost.losses import (
    Softmax,
)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def test_three_classes(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RGBMClassifier(max_iter=150, random_state=0).fit(X[:100], names[:100])
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.loss_ == Softmax(3, 1e-4)
    assert model.score(X[100:], names[100:]) > 0.9
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (150, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-10)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[-1], scores, rtol=1e-9, atol=1e-12)
    for stage, probability, label in zip(
        stages, model.staged_predict_proba(X), model.staged_predict(X), strict=True
    ):
        np.testing.assert_allclose(probability, softmax(stage, axis=1), rtol=1e-12)
        np.testing.assert_array_equal(label, model.classes_[stage.argmax(axis=1)])
    table = model.model_.table(2)
    assert table[1].shape == (len(table[0]) + 1, 3)


def test_sparse_rows_of_three_classes(iris):
    X, y = iris
    X = np.where(X > 2, X, 0.0)
    dense = RGBMClassifier(max_iter=60, random_state=0).fit(X, y)
    sparse = RGBMClassifier(max_iter=60, random_state=0).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.trace_.learner, sparse.trace_.learner)
    np.testing.assert_allclose(
        dense.predict_proba(X), sparse.predict_proba(scipy.sparse.csc_matrix(X)), rtol=1e-8
    )


def test_labels_of_three_classes_of_many_kinds(iris):
    X, y = iris
    expected = RGBMClassifier(max_iter=5, random_state=0).fit(X, y).decision_function(X)
    for labels in (y * 3 - 1, y.astype(str), y.astype(str).astype(object), pd.Series(y)):
        model = RGBMClassifier(max_iter=5, random_state=0).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(X), expected)
        assert set(model.predict(X)) <= set(labels)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_are_weights_of_rows(iris, n_classes):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    kept = (y > 0) | (np.arange(len(y)) % 3 == 0)
    X, y = X[kept], y[kept]
    times = np.random.default_rng(0).integers(1, 4, size=len(y))
    share = np.bincount(y, times)
    for class_weight, factor in [
        ("balanced", (share.sum() / (n_classes * share))[y]),
        ({1: 2.5}, np.where(y == 1, 2.5, 1.0)),
    ]:
        a = RGBMClassifier(max_iter=10, class_weight=class_weight, random_state=0)
        b = RGBMClassifier(max_iter=10, random_state=0)
        np.testing.assert_allclose(
            a.fit(X, y, times).decision_function(X),
            b.fit(X, y, times * factor).decision_function(X),
            rtol=1e-9,
        )
        rows = np.repeat(np.arange(len(y)), times)
        np.testing.assert_allclose(
            a.decision_function(X), clone(a).fit(X[rows], y[rows]).decision_function(X), rtol=1e-9
        )


def test_rows_without_weight_do_not_make_a_class(iris):
    X, y = iris
    weight = np.where(y == 1, 0.0, 1.0)
    for learner in ("stumps", Dictionary(X)):  # a dictionary knows the rows that it was made for
        model = RGBMClassifier(learner=learner, max_iter=5, random_state=0).fit(X, y, weight)
        assert list(model.classes_) == [0, 2]
        assert model.trace_.left.shape == (5,)


def test_balanced_classes_start_even(cancer):
    X, y = cancer
    model = RGBMClassifier(max_iter=1, class_weight="balanced").fit(X, y)
    assert model.intercept_ == pytest.approx(0.0, abs=1e-9)


def test_labels_of_many_kinds(cancer):
    X, y = cancer
    expected = RGBMClassifier(max_iter=5, random_state=0).fit(X, y).decision_function(X)
    for labels in (y.astype(bool), y * 2 - 1, y.astype(str), pd.Series(y), y.astype(np.int8)):
        model = RGBMClassifier(max_iter=5, random_state=0).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(X), expected)


@pytest.mark.parametrize(("n", "rare"), [(300, 1), (300, 3), (2500, 1), (2500, 9)])
def test_rare_classes_stay_in_training(n, rare):
    """A class that cannot be shared out does not keep a fit from stopping where it should."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.5])
    y[:rare] = 3
    model = RGBMClassifier(random_state=0).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    losses = model.trace_.validation_loss
    assert model.best_iteration_ == losses.argmin() < len(losses) - 1
    assert model.score(X, y) > 0.5


def test_early_stopping_that_is_asked_for_with_a_class_of_one_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    y[7] = "c"
    model = RGBMClassifier(early_stopping=True, max_iter=60, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.isfinite(model.trace_.validation_loss).all()
