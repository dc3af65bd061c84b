"""Fits to decide about: estimators with parameters, and rows of many shapes and kinds."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.model_selection import KFold

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Stumps
from rgboost.losses import Loss
from rgboost.selection import RandomThresholds
from rgboost.steps import ConstantStep, NewtonStep

GIB = 1 << 30


class PseudoHuber(Loss):
    """A loss in Python."""

    smoothness = 1.0

    def value(self, y, f):
        return np.sqrt(1 + (y - f) ** 2) - 1

    def residual(self, y, f):
        return (y - f) / np.sqrt(1 + (y - f) ** 2)


OBJECTS = {
    "PseudoHuber": PseudoHuber(), "KFold(4)": KFold(4), "ConstantStep(0.1)": ConstantStep(0.1),
    "NewtonStep(1.0)": NewtonStep(1.0), "RandomThresholds(7)": RandomThresholds(7),
    "Stumps(signed)": Stumps("signed", max_bins=31), "Stumps(paper)": Stumps(max_bins=50),
}  # fmt: skip
"""Parameters that JSON cannot hold, by what is written for them."""


def make_rows(n, p, kind, seed=0):
    """A matrix of a kind: what decisions look at, not what can be learned from it."""
    rng = np.random.default_rng(seed)
    if kind == "sparse":  # indicators, a tenth of them set
        return scipy.sparse.random_array((n, p), density=0.1, format="csr", rng=rng).ceil()
    if kind == "words":  # many values, few stored
        return scipy.sparse.random_array((n, p), density=0.05, format="csr", rng=rng)
    X = rng.normal(size=(n, p))
    if kind == "binary":
        return (X > 1.3).astype(float)
    if kind == "few":
        return X.round(1)
    if kind == "zeros":  # one value in most rows, and many others
        return np.where(X > 0.5, X, 0.0)
    if kind in ("missing", "both"):
        X[rng.random((n, p)) < 0.1] = np.nan
    if kind in ("categories", "both"):
        X[:, 0] = rng.integers(0, 12, n)
    if kind == "levels":
        X[:, 0] = rng.integers(0, 3000, n)
    return X


def make_fit(situation):
    """The estimator and the arguments of its ``fit``."""
    n, p, kind, task = (situation[name] for name in ("n", "p", "kind", "task"))
    X, rng = make_rows(n, p, kind), np.random.default_rng(1)
    parameters = dict(situation["parameters"])
    for name, value in parameters.items():
        if isinstance(value, str) and value in OBJECTS:
            parameters[name] = OBJECTS[value]
    if parameters.get("monotone_constraints"):
        parameters["monotone_constraints"] = {0: 1}
    if kind in ("categories", "both", "levels"):
        parameters["categorical_features"] = [0]
    if task == "regression":
        y = np.abs(rng.normal(size=n)) + 0.1
        estimator = RGBMRegressor(random_state=0, **parameters)
    else:
        y = rng.integers(0, task, n)
        if "rare" in situation["rows"]:
            y[y == 1] = 0
            y[:3] = 1
        estimator = RGBMClassifier(random_state=0, **parameters)
    given = {}
    for what in situation["rows"]:
        if what == "weight":
            given["sample_weight"] = rng.random(n) + 0.5
        elif what == "half":  # half of the rows are not there
            given["sample_weight"] = (np.arange(n) % 2).astype(float)
        elif what == "offset":
            given["offset"] = rng.normal(size=(n, task) if task not in ("regression", 2) else n)
        elif what == "groups":
            given["groups"] = np.arange(n) % 25
        elif what == "valid":
            given |= {
                "X_val": make_rows(300, p, kind, 2),
                "y_val": y[:300] if n >= 300 else y[np.arange(300) % n],
            }
    return estimator, (X, y), given
