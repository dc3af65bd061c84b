"""The rows of a fit are laid into bins once, however many fits it takes; and a fit that lays them
anew each time comes to the same."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier, RGBMRegressor, Stumps
from rgboost.estimators import carry_out
from rgboost.learners.pairs import family
from rgboost.learners.stumps.some_rows import PreparedBins
from rgboost.training.plan.rules import HELD


def rows(kind="numbers", n=1200):
    """(X, y, weight, parameters): the product of two features counts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.sin(2 * X[:, 0]) + 1.5 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    weight, parameters = None, {}
    if kind in ("missing", "mixed"):
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "mixed":
        X[:, 3] = rng.integers(0, 9, n)
        parameters["categorical_features"] = [3]
    if kind == "weights":
        weight = rng.integers(0, 3, n).astype(float)
    if kind == "sparse":
        X = scipy.sparse.csr_array(np.where(X > 0, X, 0.0))
    if kind == "monotone":
        parameters["monotone_constraints"] = [1, 0, 0, 0]
    return X, y, weight, parameters


@pytest.fixture
def looks(monkeypatch):
    """What laid rows into bins: the curves, and the pairs."""
    seen = {"curves": 0, "pairs": 0}
    prepare, encode_axes = Stumps.prepare, family.encode_axes

    def counted(self, *args, **more):
        seen["curves"] += 1
        return prepare(self, *args, **more)

    def encode(*args):
        seen["pairs"] += 1
        return encode_axes(*args)

    monkeypatch.setattr(Stumps, "prepare", counted)
    monkeypatch.setattr(family, "encode_axes", encode)
    return seen


def made_anew(monkeypatch):
    """Nothing is handed on."""
    boost = carry_out.boost
    monkeypatch.setattr(carry_out, "boost", lambda *a, **m: boost(*a, **{**m, "prepared": None}))
    monkeypatch.setattr(PreparedBins, "bins_of_rows", lambda self: None)


CV, ONE_RUN = {"max_iter": "cv", "ensemble": False}, {"ensemble": False, "early_stopping": True}

CURVES = {  # how often rows are laid into bins, and how often if nothing is handed on
    "two means": (RGBMRegressor, "missing", {"max_bins": 40}, 1, 2),
    "two means, weights": (RGBMRegressor, "mixed", {"max_bins": 40}, 1, 2),
    "two means of other bins": (RGBMRegressor, "missing", {}, 2, 2),
    "one mean": (RGBMClassifier, "numbers", {}, 1, 1),
    "folds, then one run": (RGBMRegressor, "numbers", CV, 1, 2),
    "weights of 0": (RGBMRegressor, "weights", CV, 1, 2),
    "monotone": (RGBMRegressor, "monotone", {}, 1, 2),
    "missing values": (RGBMRegressor, "missing", CV, 1, 2),
    "categories": (RGBMClassifier, "mixed", CV, 1, 2),
    "sparse": (RGBMClassifier, "sparse", CV, 1, 2),
    "a family": (RGBMRegressor, "numbers", {"learner": Stumps(leaves="signed"), **CV}, 1, 2),
}


def fit(made, kind, parameters, **more):
    X, y, weight, own = rows(kind)
    y = y > 0 if made is RGBMClassifier else y
    model = made(random_state=0, n_iter_no_change=20, **{**own, **parameters, **more})
    return X, model.fit(X, y, weight)


def raw(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("case", CURVES)
def test_curves(case, looks, monkeypatch):
    made, kind, parameters, once, anew = CURVES[case]
    X, model = fit(made, kind, parameters, interactions=0)
    assert looks["curves"] == once
    made_anew(monkeypatch)
    _, other = fit(made, kind, parameters, interactions=0)
    assert looks["curves"] == once + anew
    np.testing.assert_array_equal(raw(model, X), raw(other, X))
    np.testing.assert_array_equal(model.trace_.train_loss, other.trace_.train_loss)


PAIRS = {
    "numbers": (RGBMRegressor, "numbers", {}),
    "a count of pairs": (RGBMRegressor, "numbers", {"interactions": 2}),
    "missing values": (RGBMRegressor, "missing", {}),
    "categories": (RGBMRegressor, "mixed", {}),
    "weights": (RGBMRegressor, "weights", {}),
    "monotone": (RGBMRegressor, "monotone", ONE_RUN),
    "few bins": (RGBMClassifier, "numbers", {"max_bins": 12}),
    "many bins": (RGBMRegressor, "numbers", {"max_bins": 600, "engine": "direct"}),
    "one run": (RGBMRegressor, "weights", ONE_RUN),
}


@pytest.mark.parametrize("case", PAIRS)
def test_pairs(case, looks, monkeypatch):
    made, kind, parameters = PAIRS[case]
    X, model = fit(made, kind, parameters)
    assert model.model_.pairs is not None
    # A count is fitted anew with the strongest, and constraints without pairs that do not stay.
    boosted = 2 if "count" in case or case == "monotone" else 1
    held = boosted if model.plan_.judge == HELD else 0  # rows that were in no bins before
    assert looks["pairs"] == held
    made_anew(monkeypatch)
    _, other = fit(made, kind, parameters)
    assert looks["pairs"] == 2 * held + 1 + boosted
    np.testing.assert_array_equal(raw(model, X), raw(other, X))
    assert model.pair_scores_ == other.pair_scores_
