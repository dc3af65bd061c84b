"""Pairs of features of rows that are read piece by piece."""

import re

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.statistics import chunks as provider
from rgboost.training.plan import pair_memory

from .rows import chunks_of, folds_of_chunks, mixed_frame

X, SCORE = mixed_frame(2400)
TOWN = X["town"].fillna("none").str[-1].astype(str).map(lambda one: ord(one) % 3).to_numpy()
SCORE = SCORE + 1.5 * X["height"].to_numpy() * (TOWN == 1) + 0.02 * (X["age"] - 50) * X["height"]
SCORE = SCORE.to_numpy()
Y = np.round(4 * SCORE)
WEIGHT = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
SHORT = dict(random_state=0, selection="learners", learning_rate=1.0, tol=1e-3)


def in_memory(interactions, weight=None, **parameters):
    cv = folds_of_chunks(len(X), 0)
    model = RGBMRegressor(**SHORT, interactions=interactions, cv=cv, engine="auto", **parameters)
    return model.fit(X, Y, **({} if weight is None else {"sample_weight": weight}))


WISHES = ["auto", 2, [("age", "height"), ("income", "height")]]


@pytest.mark.parametrize(
    ("interactions", "weight"),
    [*((wish, None) for wish in WISHES), ("all", WEIGHT)],
    ids=["auto", "two", "a list", "all, with weights"],
)
def test_the_pairs_of_rows_in_memory(interactions, weight):
    """All rows are in the sample: sums are exact, and so are the rounds of the squared loss."""
    here = in_memory(interactions, weight)
    parts = (X, Y) if weight is None else (X, Y, weight)
    there = RGBMRegressor(**SHORT, interactions=interactions).fit(chunks_of(*parts, size=997))
    assert there.term_names_ == here.term_names_
    assert any(" x " in name for name in there.term_names_)
    assert list(there.pair_scores_) == list(here.pair_scores_)
    np.testing.assert_allclose(
        list(there.pair_scores_.values()), list(here.pair_scores_.values()), rtol=1e-9
    )
    losses = there.pair_trace_.validation_loss, here.pair_trace_.validation_loss
    np.testing.assert_allclose(*losses, rtol=1e-9)
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-7, atol=1e-7)
    told = [model.plan_.events[-1 - (model is there)] for model in (here, there)]
    assert told[0].split(", by")[0] == told[1].split(", by")[0]


def test_the_size_of_pieces_changes_no_bit(monkeypatch):
    """Not with several blocks, pairs that are screened some at a time, and a sample of the rows."""
    monkeypatch.setattr(provider, "block_rows", lambda n_features: 512)
    monkeypatch.setattr(pair_memory, "BLOCK_CELLS", 3000)
    y = SCORE  # no whole numbers
    one, other = (
        RGBMRegressor(**SHORT, interactions=2).fit(chunks_of(X, y, size=size, sample_rows=900))
        for size in (len(X), 311)
    )
    assert one.term_names_ == other.term_names_
    assert one.predict(X).tobytes() == other.predict(X).tobytes()
    assert one.pair_trace_.train_loss.tobytes() == other.pair_trace_.train_loss.tobytes()
    curves = RGBMRegressor(**SHORT, interactions=0).fit(chunks_of(X, y, sample_rows=900))
    assert one.score(X, y) > curves.score(X, y) + 0.02


@pytest.mark.parametrize("kind", ["two", "three"])
def test_classes(kind):
    """Other losses are on quadratic models."""
    y = np.where(SCORE > 0.5, "yes", "no") if kind == "two" else np.digitize(SCORE, [0.0, 1.5])
    settings = dict(random_state=0, max_bins=32, tol=1e-3, n_iter_no_change=20)
    curves = RGBMClassifier(**settings, interactions=0).fit(chunks_of(X, y))
    pairs = RGBMClassifier(**settings, interactions=3).fit(chunks_of(X, y, size=1234))
    losses = [log_loss(model, y) for model in (curves, pairs)]
    assert sum(" x " in name for name in pairs.term_names_) == 3
    assert losses[1] < 0.95 * losses[0]


def log_loss(model, y):
    place = np.searchsorted(model.classes_, y)
    return -np.log(model.predict_proba(X)[np.arange(len(y)), place]).mean()


def test_validation_rows():
    now, rest = slice(0, 600), slice(600, None)
    chunks, held = chunks_of(X[rest], Y[rest]), chunks_of(X[now], Y[now], size=400)
    model = RGBMRegressor(random_state=0, interactions=2).fit(chunks, X_val=held)
    here = RGBMRegressor(random_state=0, interactions=2, engine="auto")
    here.fit(X[rest], Y[rest], X_val=X[now], y_val=Y[now])
    assert model.term_names_ == here.term_names_
    scores = [one.score(X[now], Y[now]) for one in (model, here)]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_a_share_is_held_out():
    model = RGBMRegressor(random_state=0, early_stopping=True, interactions=1)
    model.fit(chunks_of(X, Y))
    assert sum(" x " in name for name in model.term_names_) == 1
    assert model.plan_.judge == "held-out rows"


def test_sets_that_may_act_together():
    model = RGBMRegressor(
        **SHORT, interactions="all", interaction_constraints=[["age", "height"], ["town"]]
    ).fit(chunks_of(X, Y))
    assert [name for name in model.term_names_ if " x " in name] == ["age x height"]


def test_too_little_memory():
    model = RGBMRegressor(random_state=0, interactions=2)
    plan = model.plan(chunks_of(X, Y))
    assert plan.pairs.candidates == 6
    with pytest.raises(ValueError, match="Use 0 to 6"):
        RGBMRegressor(interactions=7).fit(chunks_of(X, Y))


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_very_large_and_very_small_labels(scale):
    model = RGBMRegressor(random_state=0, interactions="auto").fit(chunks_of(X, scale * Y))
    assert model.model_.wide.pairs is not None
    assert model.score(X, scale * Y) > 0.8
    much = "large" if scale > 1.0 else "small"
    with pytest.raises(ValueError, match=f"are too {much} for Squared.*Scale them"):
        RGBMRegressor(random_state=0).fit(chunks_of(X, scale**1.6 * Y))


def test_every_run_takes_memory(monkeypatch):
    """The plan counts the tables of all runs of a mean."""
    monkeypatch.setattr("rgboost.estimators.chunked.rows.memory_budget", lambda: 1_000_000)

    def megabytes(**parameters):
        with pytest.raises(ValueError, match="takes too much memory: up to") as fault:
            RGBMRegressor(interactions=2, gram_memory=10**7, **parameters).plan(chunks_of(X, Y))
        return int(re.search(r"up to ([\d,]+) MB", str(fault.value))[1].replace(",", ""))

    assert megabytes() > 3 * megabytes(early_stopping=True, ensemble=False)
