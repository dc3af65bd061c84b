"""Fits that end where they should not say so; scales of losses follow the labels."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Huber, LogCosh
from rgboost.training.plan import rules


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("loss", ["huber", "log-cosh"])
def test_scales_follow_the_spread_of_the_labels(loss):
    X, y = rows()
    models = [RGBMRegressor(loss=loss, random_state=0).fit(X, unit * y) for unit in (1.0, 2.0**20)]
    assert models[0].score(X, y) > 0.9
    np.testing.assert_allclose(models[1].predict(X), 2.0**20 * models[0].predict(X), rtol=1e-6)


def test_the_scale_is_the_spread_about_the_median():
    X, y = rows()
    found = RGBMRegressor(loss="huber", max_iter=1).fit(X, y).loss_
    spread = 1.4826 * np.quantile(np.abs(y - np.quantile(y, 0.5, method="inverted_cdf")), 0.5,
                                  method="inverted_cdf")  # fmt: skip
    assert isinstance(found, Huber)
    assert found.delta == pytest.approx(spread)
    weight = np.where(np.arange(len(y)) < 200, 2.0, 1.0)
    repeated = np.concatenate([np.arange(400), np.arange(200)])
    weighted = RGBMRegressor(loss="log-cosh", max_iter=1).fit(X, y, sample_weight=weight).loss_
    again = RGBMRegressor(loss="log-cosh", max_iter=1).fit(X[repeated], y[repeated]).loss_
    assert isinstance(weighted, LogCosh)
    assert weighted.scale == pytest.approx(again.scale)


def test_labels_that_are_mostly_the_same_have_a_spread():
    X, y = rows()
    few = np.where(y > np.quantile(y, 0.8), y, 0.0)
    assert RGBMRegressor(loss="huber", max_iter=1).fit(X, few).loss_.delta == pytest.approx(
        few.std(), rel=1e-6
    )
    assert RGBMRegressor(loss="huber", max_iter=1).fit(X, np.ones(400)).loss_.delta == 1.0


@pytest.mark.parametrize("settings", [{}, {"ensemble": False}, {"max_iter": "cv"}])
def test_a_fit_that_ends_at_its_limit_warns(monkeypatch, settings):
    monkeypatch.setattr(rules, "MOST_ITERATIONS", 50)
    monkeypatch.setattr(rules, "MOST_ROUNDS", 50)
    X, y = rows(3000)
    with pytest.warns(ConvergenceWarning, match="limit of 50 iterations.*learning_rate") as caught:
        RGBMRegressor(learning_rate=0.01, random_state=0, **settings).fit(X, y)
    assert caught[0].filename == __file__


def test_a_number_of_iterations_that_is_given_is_no_limit():
    X, y = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RGBMRegressor(max_iter=50, learning_rate=0.01).fit(X, y)


def test_a_scale_that_does_not_suit_the_labels_is_named(monkeypatch):
    monkeypatch.setattr(rules, "MOST_ROUNDS", 500)
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match=r"Huber\(delta=1\) has a scale"):
        RGBMRegressor(loss=Huber(1.0), random_state=0).fit(X, 1e5 * y)


@pytest.mark.parametrize("kind", [RGBMRegressor, RGBMClassifier])
def test_nothing_learnt_warns(kind):
    X = np.random.default_rng(1).normal(size=(300, 2))
    y, y_val = X[:, 0], -X[:50, 0]  # what is learnt is wrong there
    if kind is RGBMClassifier:
        y, y_val = y > 0, y_val > 0
    model = kind(max_iter=20, random_state=0)
    with pytest.warns(ConvergenceWarning, match="No iteration lowered the loss"):
        model.fit(X, y, X_val=X[:50], y_val=y_val)
    assert model.best_iteration_ == 0
