"""Settings that were given and have no effect: the plan says so, and says so of no others.

A sweep: to small configurations one setting after the other is added. Where the fit is the same to
the last bit, the plan says that the setting has no effect; where the plan says so, it is.
"""

import warnings

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.learners import Stumps
from rgboost.losses import Huber

FAST = dict(random_state=0, interactions=0)
FEW = dict(max_iter=12)
STOPS = dict(n_iter_no_change=12, tol=1e-3)
LONG = dict(max_iter=200, learning_rate=1.0, **STOPS)
ONE = dict(max_iter="cv", **STOPS)

CONFIGURATIONS = {
    "defaults": (RGBMRegressor, {}),
    "classes": (RGBMClassifier, {}),
    "three classes": (RGBMClassifier, {}),
    "a number": (RGBMRegressor, FEW),
    "a number, two classes": (RGBMClassifier, FEW),
    "all": (RGBMRegressor, dict(FEW, selection="all")),
    "group": (RGBMRegressor, dict(FEW, selection="group")),
    "groups": (RGBMRegressor, dict(FEW, selection="groups", subset_size=2)),
    "held out": (RGBMRegressor, dict(LONG, early_stopping=True)),
    "one run after folds": (RGBMRegressor, dict(ONE, ensemble=False, loss=Huber(1.0))),
    "monotone": (RGBMRegressor, dict(ONE, monotone_constraints={0: 1})),
    "validation rows": (RGBMRegressor, LONG),
    "few rows": (RGBMRegressor, {}),
    "a family": (RGBMRegressor, dict(FEW, learner=Stumps(max_bins=9))),
    "every value": (RGBMRegressor, dict(FEW, max_bins=None)),
}

SETTINGS = {
    "ridge": 0.1, "init": "zero", "max_bins": 6, "binning": "hybrid",
    "min_weight_fraction_leaf": 0.2, "interaction_constraints": [[0, 1]],
    "subset_size": 7, "groups": [[0, 1], [2], [3]], "step": "newton", "learning_rate": 0.11,
    "early_stopping": False, "cv": 3, "ensemble": False, "validation_fraction": 0.3,
    "n_iter_no_change": 3, "tol": 0.9, "gram_memory": 1000, "random_state": 1,
}  # fmt: skip
"""Another value of each setting."""

ASKS_FOR_WHAT_IS_SO = {
    ("early_stopping", "a number"), ("early_stopping", "a number, two classes"),
    ("early_stopping", "all"), ("early_stopping", "group"), ("early_stopping", "groups"),
    ("early_stopping", "a family"), ("early_stopping", "every value"),
    ("early_stopping", "few rows"), ("ensemble", "one run after folds"),
    ("step", "three classes"),
}  # fmt: skip
"""The same bits, and no word of it: the fit does what was asked for with or without."""


def rows(name):
    rng = np.random.default_rng(0)
    n = 25 if name == "few rows" else 120
    X = rng.normal(size=(n, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * X[:, 2] + 0.2 * rng.normal(size=n)
    if name == "three classes":
        y = np.digitize(y, [-0.6, 0.6])
    elif "classes" in name:
        y = (y > 0).astype(int)
    given = {}
    if name == "validation rows":
        X, y, given = X[:80], y[:80], {"X_val": X[80:], "y_val": y[80:]}
    return X, y, given


def outcome(kind, name, parameters):
    """(predictions and path, what has no effect) of a fit; an error is one, too."""
    X, y, given = rows(name)
    model = kind(**{**FAST, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, **given)
        except ValueError:
            return None, set()
    score = model.predict(X) if kind is RGBMRegressor else model.decision_function(X)
    idle = {entry.name for entry in model.plan_.entries if entry.idle}
    return (score.tobytes(), model.trace_.learner.tobytes(), model.trace_.left.tobytes()), idle


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_no_effect_is_told_where_there_is_none(name):
    kind, parameters = CONFIGURATIONS[name]
    before, _ = outcome(kind, name, parameters)
    wrong = []
    for setting, value in SETTINGS.items():
        if parameters.get(setting, FAST.get(setting)) == value:
            continue
        found, idle = outcome(kind, name, {**parameters, setting: value})
        if found is None or (setting, name) in ASKS_FOR_WHAT_IS_SO:
            continue
        same, told = found == before, setting in idle
        if same != told:
            wrong.append((setting, "is the same" if same else "differs", idle))
    assert wrong == []


@pytest.mark.parametrize("name", sorted({name for _, name in ASKS_FOR_WHAT_IS_SO}))
def test_exceptions_are_the_same(name):
    kind, parameters = CONFIGURATIONS[name]
    before, _ = outcome(kind, name, parameters)
    for setting in (s for s, where in ASKS_FOR_WHAT_IS_SO if where == name):
        found, _ = outcome(kind, name, {**parameters, setting: SETTINGS[setting]})
        assert found == before, setting
