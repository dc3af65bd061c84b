"""A number of pairs, or a list of them, is what the model has; what held-out rows gain does not
count."""

import numpy as np
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.estimators.pairs.stage import PairStage, selection_of, with_every_pair
from rgboost.selection import Layout, RandomGroups
from rgboost.training.stopping import best_iteration


def noise(n=400, p=6, seed=0):
    """Nothing acts together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + rng.normal(size=n)


def pairs_of(model):
    found = model.model_.wide.pairs
    return [] if found is None else [tuple(pair) for pair in found.features.tolist()]


@pytest.mark.parametrize("early_stopping", ["auto", True])
@pytest.mark.parametrize("wish", [1, 4, 15])
@pytest.mark.parametrize("made", [RGBMRegressor, RGBMClassifier])
def test_a_number_is_kept_also_where_there_is_nothing(made, wish, early_stopping):
    X, y = noise()
    y = y if made is RGBMRegressor else y > 0
    settings = {"early_stopping": early_stopping, "random_state": 0}
    model = made(interactions=wish, **settings).fit(X, y)
    assert len(pairs_of(model)) == wish
    assert f"{wish} kept of 15" in model.plan_.events[-1]
    assert pairs_of(made(**settings).fit(X, y)) == []  # by itself nothing enters


def test_the_pairs_of_a_list_are_kept_also_where_they_say_nothing():
    X, y = noise()
    model = RGBMRegressor(interactions=[(4, 5), (1, 3)], random_state=0).fit(X, y)
    assert sorted(pairs_of(model)) == [(1, 3), (4, 5)]


def test_rounds_go_on_until_every_pair_was_chosen_and_no_longer(monkeypatch):
    seen = []

    def watch(self, pairs, part="pairs"):
        seen.append(boost(self, pairs, part))
        return seen[-1]

    boost = PairStage.boost
    monkeypatch.setattr(PairStage, "boost", watch)
    X, y = noise()
    RGBMRegressor(interactions=4, random_state=0).fit(X, y)
    boosted = seen[-1]
    found = with_every_pair(boosted)
    prepared, trace = boosted.prepared, boosted.trace

    def pairs_by(m):
        columns = np.searchsorted(prepared.arrays.offsets, trace.path(m).learner, side="right") - 1
        return {k for k in columns.tolist() if k >= 0 and prepared.columns_[k, 1] >= 0}

    by_round = [len(pairs_by(m)) for m in range(len(trace) + 1)]
    least = by_round.index(4)
    assert boosted.best_iteration < least <= found.best_iteration
    assert found.best_iteration == least + best_iteration(trace.validation_loss[least:])
    last = boosted.stopped_at(len(trace))
    assert last.best_iteration == len(trace)
    assert with_every_pair(last) is last


def test_the_pairs_that_say_something_are_those_that_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = 2.0 * (X[:, 0] > 0) * (X[:, 1] > 0) - 2.0 * (X[:, 2] > 0) * (X[:, 3] > 0.2)
    y += 0.1 * rng.normal(size=1500)
    model = RGBMRegressor(interactions=2, random_state=0).fit(X, y)
    assert sorted(pairs_of(model)) == [(0, 1), (2, 3)]
    assert "standard errors" in model.plan_.events[-1]


def test_a_pair_among_many_features_is_looked_at():
    """Features by themselves are drawn less often where there are fewer pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 400))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1000)
    model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True, random_state=0)
    model.fit(X[:600], y[:600])
    assert pairs_of(model) == [(0, 1)]
    assert model.score(X[600:], y[600:]) > 0.6


def test_groups_are_drawn_evenly_where_pairs_are_many():
    assert selection_of(8, 30, 30) == RandomGroups(8)
    layout = Layout.make(np.arange(104))  # 100 features, and three pairs
    drawn = selection_of(8, 3, 100).draw(layout, np.random.default_rng(0), 2000)
    assert drawn.shape == (2000, 3)
    assert 1.2 < (drawn >= 100).sum(axis=1).mean() < 1.5
