"""Rows for the tests of cards, arrays there, and fits that several tests look at."""

from functools import cache

import numpy as np
from numba import cuda

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.cuda.card import SIMULATED, Card

N_ROWS = 40 if SIMULATED else 20_000
"""Numba's simulator takes a second for what a card does in a microsecond."""
MAX_BINS = 4 if SIMULATED else 64
CATEGORICAL = [2]
FAST = dict(max_bins=MAX_BINS, random_state=0, categorical_features=CATEGORICAL)


def card():
    return Card("cuda")


def send(values):
    """An array on the card."""
    return cuda.to_device(np.asarray(values))


@cache
def mixed_rows(n_rows=N_ROWS):
    """Numbers, missing values and categories; and a score of every row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)).round(2)
    X[:, 2] = rng.integers(0, 3, n_rows)
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    score = X[:, 0] + np.nan_to_num(X[:, 1], nan=1.0) + (X[:, 2] == 1)
    return X, score + 0.3 * rng.normal(size=n_rows)


@cache
def weights(n_rows=N_ROWS):
    return np.random.default_rng(1).uniform(0.5, 2.0, n_rows)


@cache
def new_rows():
    """Missing where none was at fit, and categories that were not there."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(37, 3))
    X[:, 2] = rng.integers(-1, 5, 37)
    X[rng.random((37, 3)) < 0.2] = np.nan
    return X


def labels(kind):
    _, score = mixed_rows()
    if kind == "regression":
        return score
    return np.digitize(score, {"two classes": [0.5], "three classes": [0.0, 1.0]}[kind]) + 4


KINDS = ["regression", "two classes", "three classes"]


def estimator(kind, **parameters):
    made = RGBMRegressor if kind == "regression" else RGBMClassifier
    return made(**{**FAST, **parameters})


@cache
def with_pairs(kind):
    """A model of curves and a pair, fitted in memory."""
    X, y = mixed_rows()[0], labels(kind)
    found = estimator(kind, interactions=[(0, 1)], early_stopping=True, validation_fraction=0.3)
    return found.fit(X, y)


def raw(model, X):
    return model.model_.score(X)
