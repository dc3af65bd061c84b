"""The direct engine on a card: the iterates of that in memory, choice by choice."""

from functools import cache

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.cuda.card import SIMULATED
from rgboost.learners import Pairs, Stumps

N_ROWS, N_ITER = (30, 2) if SIMULATED else (20_000, 1000)
BINS = 4 if SIMULATED else 50
BASE = dict(engine="direct", max_iter=N_ITER, interactions=0, random_state=0)
GROUPS = dict(selection="groups", subset_size=2)
LEARNERS = dict(selection="learners", subset_size=5)


@cache
def rows():
    """Numbers, one of them missing here and there; labels; weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    score = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    X[rng.random(N_ROWS) < 0.2, 1] = np.nan
    return X, score + 0.1 * rng.normal(size=N_ROWS), rng.uniform(0.5, 2.0, N_ROWS)


def stumps(**parameters):
    return Stumps(max_bins=BINS, **parameters)


def pairs(**parameters):
    return Pairs(max_bins=BINS, stumps=True, **parameters)


REGRESSION = {
    "groups": dict(learner=stumps(), **GROUPS),
    "all, whole steps along b": dict(learner=stumps(), selection="all", step="line-search"),
    "single ones": dict(learner=stumps(), **LEARNERS),
    "thresholds": dict(learner=stumps(), selection="thresholds", subset_size=6),
    "signed": dict(learner=stumps(leaves="signed"), **GROUPS),
    "huber": dict(learner=stumps(), loss="huber", **GROUPS),
    "poisson, newton": dict(learner=stumps(), loss="poisson", step="newton", **GROUPS),
    "pairs": dict(learner=pairs(), **GROUPS),
    "single pairs": dict(learner=pairs(), **LEARNERS),
    "held out": dict(learner=stumps(), early_stopping=True, validation_fraction=0.3, **GROUPS),
}
CLASSES = {
    "groups": dict(learner=stumps(), **GROUPS),
    "newton": dict(learner=stumps(), step="newton", **GROUPS),
    "pairs, newton": dict(learner=pairs(min_weight_fraction_leaf=0.05), step="newton", **GROUPS),
}


def compare(kind, settings, y, **beside):
    """The same choices and, but for rounding, the same losses and values on both devices."""
    X = rows()[0]
    fits = [kind(**BASE, device=d, **settings).fit(X, y, **beside) for d in ("cpu", "cuda")]
    here, there = fits
    assert there.plan_["engine"].value == "direct"
    assert here.n_iter_ == there.n_iter_
    np.testing.assert_allclose(there.trace_.train_loss, here.trace_.train_loss, rtol=1e-12)
    if here.trace_.validation_loss is not None:
        held = there.trace_.validation_loss, here.trace_.validation_loss
        np.testing.assert_allclose(*held, rtol=1e-12)
    paths = [fit.trace_.path(fit.n_iter_).choices for fit in fits]
    assert (paths[0]["learner"] == paths[1]["learner"]).all()
    for name in paths[0].dtype.names:
        if name == "sets":
            assert (paths[0][name] == paths[1][name]).all()
        else:
            np.testing.assert_allclose(paths[1][name], paths[0][name], rtol=1e-9, atol=1e-12)
    new = np.random.default_rng(1).normal(size=(50, 3))
    new[::5, 0] = np.nan  # never missing in training
    scores = [fit.model_.score(new) for fit in fits]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REGRESSION)
def test_regressions(name):
    y = rows()[1]
    if name.startswith("poisson"):
        y = np.round(np.exp(np.clip(y, -2.0, 2.0)))
    if name == "held out":
        y = rows()[0][:, 0]  # few iterations gain something, too
    compare(RGBMRegressor, REGRESSION[name], y)


@pytest.mark.parametrize("name", CLASSES)
def test_two_classes_with_weights_and_offsets(name):
    _, y, weight = rows()
    offset = np.random.default_rng(3).normal(size=N_ROWS)
    compare(RGBMClassifier, CLASSES[name], y > 0.0, sample_weight=weight, offset=offset)


def test_the_same_bits_again():
    X, y, weight = rows()
    settings = {**BASE, **REGRESSION["pairs"], "device": "cuda"}
    fits = [RGBMRegressor(**settings).fit(X, y, sample_weight=weight) for _ in range(2)]
    assert (fits[0].trace_.train_loss == fits[1].trace_.train_loss).all()
    assert (fits[0].predict(X) == fits[1].predict(X)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(step="leaf-search"), "looks at all rows several times"),
        (dict(categorical_features=[2]), "categories are sorted anew"),
        (dict(max_iter="cv"), "one run on a card"),
        (dict(interactions=2, max_iter="auto", early_stopping=True), "pairs are fitted by sums"),
        (dict(learner=pairs(search_cuts=3)), "search_cuts"),
    ],
)
def test_what_it_cannot_do_is_told(settings, message):
    X, y, _ = rows()
    X = np.column_stack([X[:, :2], np.arange(len(X)) % 3])
    with pytest.raises(ValueError, match=message):
        RGBMRegressor(**{**BASE, "device": "cuda", "max_bins": BINS, **settings}).fit(X, y)


def test_three_classes_are_told():
    X, y, _ = rows()
    with pytest.raises(ValueError, match="several classes have several scores a row"):
        RGBMClassifier(**BASE, device="cuda").fit(X, np.digitize(y, [-0.5, 0.5]))
