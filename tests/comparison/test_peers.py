"""Peers: what they are told, and what is read from them. Models of scikit-learn stand in."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Huber, Quantile, Tweedie

rng = np.random.default_rng(0)
N = 120
X = pd.DataFrame({"a": rng.normal(size=N), "town": rng.choice(["A", "B"], N)})
Y = X["a"].to_numpy() + 0.1 * rng.normal(size=N)
HALVES = [(np.arange(60), np.arange(60, N)), (np.arange(60, N), np.arange(60))]


class Booster:
    """What LightGBM's estimators hold."""

    def __init__(self, model):
        self.model = model

    def predict(self, X, raw_score):
        assert raw_score
        scores = getattr(self.model, "decision_function", self.model.predict)
        return scores(X)

    def num_trees(self):
        return 7

    def model_to_string(self):
        return "tree" * 10


class StandIn(BaseEstimator):
    """LightGBM's face: it keeps what it is told, in `told`."""

    def __init__(self, n_jobs=None, verbose=0, random_state=None, objective=None, alpha=None):
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state
        self.objective, self.alpha = objective, alpha

    def fit(self, X, y, **more):
        told.append({**self.get_params(), **more, "n_rows": len(y), "labels": set(y)})
        model = self.kind(max_iter=5, random_state=self.random_state)
        self.booster_ = Booster(model.fit(X, y, sample_weight=more.get("sample_weight")))
        return self


class Numbers(StandIn):
    kind = HistGradientBoostingRegressor


class Labels(StandIn):
    kind = HistGradientBoostingClassifier


told: list[dict] = []


@pytest.fixture
def lightgbm(monkeypatch):
    told.clear()
    module = types.ModuleType("lightgbm")
    module.LGBMRegressor = Numbers
    module.LGBMClassifier = Labels
    monkeypatch.setitem(sys.modules, "lightgbm", module)
    return module


def few(kind, **more):
    return kind(max_iter=3, **more)


def test_lightgbm(lightgbm):
    weight = np.where(np.arange(N) % 10 == 0, 0.0, 2.0)
    found = rgboost.compare(
        X, Y, weight, estimator=few(RGBMRegressor), peers="lightgbm", cv=HALVES, n_jobs=1
    )
    peer = found["LightGBM"]
    assert (peer.trees, peer.bytes, peer.is_peer, peer.things) == (7, 40, True, None)
    assert [one["n_rows"] for one in told] == [54, 54]  # those with a weight
    assert told[0]["objective"] == "regression"
    assert told[0]["categorical_feature"] == [1]
    assert (told[0]["n_jobs"], told[0]["verbose"]) == (1, -1)
    np.testing.assert_array_equal(told[0]["sample_weight"], 2.0)
    codes = np.column_stack([X["a"], X["town"] == "B"])
    losses = np.empty(N)
    for train, held in HALVES:
        mine = train[weight[train] > 0]
        model = HistGradientBoostingRegressor(max_iter=5, random_state=told[0]["random_state"])
        losses[held] = (model.fit(codes[mine], Y[mine]).predict(codes[held]) - Y[held]) ** 2
    expected = np.average(losses, weights=weight)
    variance = np.average((Y - np.average(Y, weights=weight)) ** 2, weights=weight)
    assert peer.loss == pytest.approx(expected / variance, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_lightgbm(lightgbm, n_classes):
    y = np.array(["no", "yes", "why"])[np.digitize(Y, [0.0, 0.7][: n_classes - 1])]
    found = rgboost.compare(
        X, y, estimator=few(RGBMClassifier), peers=["lightgbm"], cv=HALVES, loss="logistic"
    )
    assert told[0]["labels"] == set(range(n_classes))
    assert told[0]["objective"] == ("binary" if n_classes == 2 else "multiclass")
    assert found["LightGBM"].loss < found["constant"].loss


@pytest.mark.parametrize(
    ("loss", "objective", "alpha"),
    [(Huber(3), "huber", 3), (Quantile(0.9), "quantile", 0.9), ("absolute", "regression_l1", None)],
)
def test_losses_by_their_names(lightgbm, loss, objective, alpha):
    given = few(RGBMRegressor, loss=loss)
    rgboost.compare(X, Y, estimator=given, peers="lightgbm", cv=HALVES)
    assert (told[0]["objective"], told[0]["alpha"]) == (objective, alpha)


def test_offsets_are_beside_the_scores(lightgbm):
    """Told as init_score, and added to what comes back."""
    known = np.full(N, 100.0)
    given = dict(estimator=few(RGBMRegressor), peers="lightgbm", cv=HALVES)
    found = rgboost.compare(X, Y + 100.0, offset=known, **given)
    assert set(told[0]["init_score"]) == {100.0}
    shifted = np.empty(N)  # the stand-in makes nothing of them: it predicts Y + 100 by itself
    for train, held in HALVES:
        model = HistGradientBoostingRegressor(max_iter=5, random_state=told[0]["random_state"])
        codes = np.column_stack([X["a"], X["town"] == "B"])
        shifted[held] = model.fit(codes[train], Y[train] + 100.0).predict(codes[held]) + known[held]
    expected = np.mean((Y + 100.0 - shifted) ** 2) / np.var(Y)
    assert found["LightGBM"].loss == pytest.approx(expected, rel=1e-9)


def glassbox_of(monkeypatch, **classes):
    module, glassbox = types.ModuleType("interpret"), types.ModuleType("interpret.glassbox")
    vars(glassbox).update(classes)
    monkeypatch.setitem(sys.modules, "interpret", module)
    monkeypatch.setitem(sys.modules, "interpret.glassbox", glassbox)


class Additive(BaseEstimator):
    """EBM's face: three terms."""

    term_features_ = ((0,), (1,), (0, 1))

    def __init__(self, n_jobs=None, random_state=None, feature_types=None, objective=None):
        self.n_jobs, self.random_state = n_jobs, random_state
        self.feature_types, self.objective = feature_types, objective

    def fit(self, X, y, **more):
        told.append({**self.get_params(), **more})
        self.model_ = self.kind().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


class Counts(Additive):
    kind = PoissonRegressor


class Classes(Additive):
    kind = LogisticRegression


def test_ebm(monkeypatch):
    told.clear()
    glassbox_of(monkeypatch, ExplainableBoostingRegressor=Counts)
    y = np.floor(np.exp(Y))
    found = rgboost.compare(
        X, y, estimator=few(RGBMRegressor, loss="poisson"), peers="ebm", cv=HALVES
    )
    peer = found["EBM"]
    assert (peer.curves, peer.heat_maps, peer.trees, peer.things) == (2, 1, 0, 3)
    assert peer.bytes > 100
    assert told[0]["objective"] == "poisson_deviance"
    assert told[0]["feature_types"] == ["continuous", "nominal"]
    codes = np.column_stack([X["a"], X["town"] == "B"])
    mean = np.empty(N)
    for train, held in HALVES:
        mean[held] = PoissonRegressor().fit(codes[train], y[train]).predict(codes[held])
    from sklearn.metrics import d2_tweedie_score

    assert peer.loss == pytest.approx(1 - d2_tweedie_score(y, mean, power=1), rel=1e-9)


def test_classes_of_ebm(monkeypatch):
    glassbox_of(monkeypatch, ExplainableBoostingClassifier=Classes)
    found = rgboost.compare(
        X, Y > 0, estimator=few(RGBMClassifier), peers=["ebm", "ebm"], cv=HALVES
    )
    assert [one.is_peer for one in found.models].count(True) == 1
    assert found["EBM"].loss < found["constant"].loss


def test_losses_that_they_do_not_know(monkeypatch, lightgbm):
    glassbox_of(monkeypatch, ExplainableBoostingRegressor=Counts)
    with pytest.raises(ValueError, match=r"peers has 'ebm', which does not know AbsoluteError\(\)"):
        rgboost.compare(X, Y, loss="absolute", peers="ebm")
    with pytest.raises(ValueError, match="peers has 'lightgbm', which does not know LogCosh"):
        rgboost.compare(X, Y, loss="log-cosh", peers="lightgbm")


def test_no_sparse_rows_for_ebm(monkeypatch):
    from scipy.sparse import csr_array

    glassbox_of(monkeypatch, ExplainableBoostingRegressor=Counts)
    with pytest.raises(ValueError, match="takes no sparse rows; leave it out"):
        rgboost.compare(csr_array(X[["a"]].to_numpy()), Y, peers="ebm")


def test_tweedie_by_its_power(monkeypatch):
    told.clear()
    glassbox_of(monkeypatch, ExplainableBoostingRegressor=Counts)
    given = few(RGBMRegressor, loss=Tweedie(1.25))
    rgboost.compare(X, np.exp(Y), estimator=given, peers="ebm", cv=HALVES)
    assert told[0]["objective"] == "tweedie_deviance:variance_power=1.25"
