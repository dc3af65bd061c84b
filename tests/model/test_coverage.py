"""Every family of stumps says where its training rows lie."""

import numpy as np
import pytest

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2)).round(1)
y = X[:, 0] + np.abs(X[:, 1])
MISSING = np.where(rng.random(X.shape) < 0.2, np.nan, X)


@pytest.mark.parametrize(
    ("model", "rows", "labels"),
    [
        (RGBMRegressor(max_iter=5, monotone_constraints=[1, 0]), X, y),
        (RGBMClassifier(max_iter=5), X, np.digitize(y, [0.5, 1.5])),
        (RGBMRegressor(max_iter=5), MISSING, y),
    ],
    ids=["monotone", "classes", "missing"],
)
def test_weights_of_steps_and_of_missing_values(model, rows, labels):
    model.fit(rows, labels)
    shape = getattr(model.model_, "wide", model.model_)
    found = model.coverage_
    for k, g in enumerate(shape.features):
        a, b = shape.starts[k], shape.starts[k + 1]
        known = rows[:, g][~np.isnan(rows[:, g])]
        counted = np.bincount(np.searchsorted(shape.cuts[a:b], known), minlength=b - a + 1)
        np.testing.assert_array_equal(found.weights[a + k : b + k + 1], counted)
        assert found.missing[k] == 120 - len(known)
    assert found.total == 120


def test_categories():
    codes = np.column_stack([rng.integers(0, 4, 120), X[:, 0]]).astype(float)
    codes[::9, 0] = np.nan
    effect = np.array([0.0, 3.0, 1.0, 2.0, 5.0])[np.nan_to_num(codes[:, 0], nan=4).astype(int)]
    model = RGBMRegressor(max_iter=5, selection="all", categorical_features=[0]).fit(codes, effect)
    found = model.coverage_
    np.testing.assert_array_equal(
        found.category_weights, np.bincount(codes[~np.isnan(codes[:, 0]), 0].astype(int))
    )
    np.testing.assert_array_equal(found.category_missing, [np.isnan(codes[:, 0]).sum()])


def test_dictionaries_have_none():
    model = RGBMRegressor(max_iter=2, learner=Dictionary.from_functions([lambda X: X])).fit(X, y)
    assert model.coverage_ is None
