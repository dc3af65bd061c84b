"""Monotone constraints hold for the whole model: curves and pairs together, everywhere."""

import numpy as np
import pandas as pd
import pytest

from rgboost import RGBMRegressor


def together(seed, n=1500, p=4, missing=False):
    """Features that go together, and effects of pairs that do not respect any order."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    X = 0.8 * common * np.where(rng.random(p) < 0.5, -1, 1) + 0.6 * rng.normal(size=(n, p))
    if missing:
        X[rng.random((n, p)) < 0.1] = np.nan
    a, b, c, d = np.nan_to_num(X).T[:4]
    y = a + 0.2 * b**3 + 2 * (a > 0) * (b < 0.3) + 1.5 * np.sin(2 * c) * (a > 0.5) - d * c
    return X, y + 0.5 * rng.normal(size=n)


def largest_fall(model, X, constraints, change=lambda rows: rows):
    """Along the constrained features, at every threshold, with other features as in rows of X."""
    rng, wide, largest = np.random.default_rng(0), model.model_.wide, 0.0
    edges = np.concatenate([wide.cuts, wide.pairs.edges])
    values = np.unique(np.concatenate([edges, edges + 1e-9]))
    for g, sign in constraints.items():
        rows = np.column_stack([rng.choice(X[:, j], 80) for j in range(X.shape[1])])
        probe = np.repeat(change(rows), len(values), axis=0)
        probe[:, g] = np.tile(values, 80)
        steps = np.diff(model.model_.score(probe).reshape(80, -1), axis=1)
        largest = max(largest, float((-sign * steps).max()))
    return largest


@pytest.mark.parametrize("seed", [2, 4, 5, 9])
def test_pairs_that_are_left_out_leave_nothing_behind(seed, monkeypatch):
    """What they explain by single features need not keep the order."""
    monkeypatch.setattr("rgboost.estimators.pairs.judge.SHARE_OF_GAIN", 0.6)
    X, y = together(seed, missing=True)
    constraints = {0: 1, 1: 1, 2: -1} if seed % 2 else {0: 1, 3: -1}
    model = RGBMRegressor(
        monotone_constraints=constraints, early_stopping=True, random_state=0
    ).fit(X, y)
    assert 0 < len(model.model_.wide.pairs) < 6
    assert largest_fall(model, X, constraints) < 1e-12


@pytest.mark.parametrize("other", [1, 2])
def test_values_that_never_were_missing(other):
    """A purified curve by itself may fall where the table has the rest of the rise."""
    X, y = together(0)
    constraints = {0: 1, 3: -1}
    model = RGBMRegressor(
        monotone_constraints=constraints, interactions=2, early_stopping=True, random_state=0
    ).fit(X, y)

    def without(rows):
        rows = rows.copy()
        rows[:, other] = np.nan
        return rows

    assert largest_fall(model, X, constraints, without) < 1e-12
    local = model.explain_local(without(X[:40]))
    score = local.intercept + local.contributions.sum(axis=1)
    np.testing.assert_allclose(score, model.predict(without(X[:40])), atol=1e-12)


def test_categories_that_never_were():
    rng = np.random.default_rng(0)
    n = 2000
    size = rng.normal(size=n)
    town = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * size)), "oslo", "rome")
    X = pd.DataFrame({"size": size, "town": pd.Categorical(town, ["oslo", "rome", "riga"])})
    y = np.where(town == "oslo", 0.0, 3.0) + (size > 0) * 0.3 + 2 * (size > 1) * (town == "rome")
    model = RGBMRegressor(
        monotone_constraints={"size": 1}, interactions=1, early_stopping=True, random_state=0
    ).fit(X, y + 0.3 * rng.normal(size=n))
    assert len(model.model_.wide.pairs) == 1
    for town in ("oslo", "rome", "riga", None):
        probe = pd.DataFrame({"size": np.linspace(-3, 3, 1000)})
        probe["town"] = pd.Categorical([town] * 1000, ["oslo", "rome", "riga"])
        assert np.diff(model.predict(probe)).min() > -1e-12
