"""Fits with pairs that Ctrl-C or a callback ends."""

import os
import signal

import numpy as np
import pytest

from rgboost import RGBMRegressor


def many_pairs(n=1000, p=5):
    """More pairs than are asked for: the strongest are fitted anew."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = sum(X[:, i] * X[:, i + 1] for i in range(p - 1))
    return X, y + rng.normal(size=n)


class Parts:
    """Counts the parts of a fit and the iterations in each, and may do something in one of them."""

    def __init__(self, part=0, act=lambda: None):
        self.part, self.act = part, act
        self.iterations = []

    def __enter__(self):
        self.iterations.append(0)

    def __exit__(self, *exc_info):
        pass

    def __call__(self, progress):
        self.iterations[-1] = progress.iteration
        if len(self.iterations) == self.part and progress.iteration > 5:
            self.part = 0
            return self.act()


def pairs_of(model):
    found = model.model_.wide.pairs
    return 0 if found is None else len(found)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("part", [2, 3])
def test_ctrl_c_in_pairs_ends_the_fit(part):
    X, y = many_pairs()
    parts = Parts(part, interrupt)
    model = RGBMRegressor(interactions=2, early_stopping=True, random_state=0, callbacks=[parts])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(parts.iterations) == part
    assert pairs_of(model) == 2
    assert ("not fitted anew" in model.plan_.events[-1]) == (part == 2)


@pytest.mark.parametrize("constraints", [None, {0: 1}])
def test_a_callback_that_stops_pairs_has_no_others_begun(constraints):
    X, y = many_pairs()
    parts = Parts(2, lambda: True)
    model = RGBMRegressor(
        interactions=2, early_stopping=True, random_state=0, callbacks=[parts],
        monotone_constraints=constraints,
    ).fit(X, y)  # fmt: skip
    assert len(parts.iterations) == 2
    assert "not fitted anew" in model.plan_.events[-1]
    if constraints is None:
        assert pairs_of(model) == 2
    else:  # those that are left out might leave something that falls
        assert pairs_of(model) > 2


def test_ctrl_c_before_pairs_are_fitted_anew(monkeypatch):
    from rgboost.estimators.pairs.stage import PairStage

    X, y = many_pairs()
    boost, calls = PairStage.boost, []

    def once(self, pairs):
        calls.append(len(pairs))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return boost(self, pairs)

    monkeypatch.setattr(PairStage, "boost", once)
    model = RGBMRegressor(interactions=2, early_stopping=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert calls == [10, 2]
    assert pairs_of(model) == 2
