"""Small models of every kind, with the rows that they were fitted to."""

from functools import cache

import numpy as np
import pandas as pd

from rgboost import RGBMClassifier, RGBMRegressor

SETTINGS = {"max_iter": 40, "early_stopping": False, "max_bins": 8, "random_state": 0}
OF_PAIRS = {"max_bins": 8, "random_state": 0, "n_iter_no_change": 20}


def frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.normal(size=n).round(2),
            "c": rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2]),
            "d": rng.normal(size=n).round(2),
        }
    )
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X.loc[rng.random(n) < 0.05, "c"] = None
    score = np.nan_to_num(X.a) + (X.c == "red") * (1.0 + X.b) + np.nan_to_num(X.a) * X.b
    return X, score.to_numpy(float) + 0.3 * rng.normal(size=n)


@cache
def pairs():
    """Curves of numbers and of categories, missing values, pairs of both kinds."""
    X, y = frame()
    settings = {**OF_PAIRS, "interactions": [("a", "b"), ("b", "c")]}
    return RGBMRegressor(**settings).fit(X, y), X, y


@cache
def binary():
    """Two classes, rows of different weights, no pairs."""
    X, y = frame(seed=1)
    labels = np.where(y > 0.5, "yes", "no")
    weight = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    model = RGBMClassifier(**SETTINGS, interactions=0).fit(X, labels, sample_weight=weight)
    return model, X, labels


@cache
def classes():
    """Three classes, with a pair."""
    X, y = frame(seed=3)
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [0.0, 1.0])]
    settings = {**OF_PAIRS, "interactions": [("a", "b")], "early_stopping": True}
    return RGBMClassifier(**settings).fit(X, labels), X, labels


def scores(model, X):
    """Raw scores."""
    found = getattr(model, "decision_function", model.predict)(X)
    return np.asarray(found)
