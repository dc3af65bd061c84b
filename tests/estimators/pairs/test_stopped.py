"""Fits with pairs that Ctrl-C or a callback ends."""

import logging
import os
import signal
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rgboost import RGBMRegressor
from rgboost.callbacks import LogProgress, Progress, ProgressBar, TimeLimit
from rgboost.training.callbacks import in_parts


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

    def once(self, pairs, *part):
        calls.append(len(pairs))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return boost(self, pairs, *part)

    monkeypatch.setattr(PairStage, "boost", once)
    model = RGBMRegressor(interactions=2, early_stopping=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert calls == [10, 2]
    assert pairs_of(model) == 2


def test_callbacks_are_told_which_part_it_is(caplog):
    X, y = many_pairs()
    seen, models = {}, {}

    def note(progress):
        first, _ = seen.get(progress.part, (progress, None))
        seen[progress.part] = first, progress
        if progress.part == "pairs again":
            models["pairs"] = progress.snapshot()

    with caplog.at_level(logging.INFO, "rgboost"):
        model = RGBMRegressor(
            interactions=2, early_stopping=True, random_state=0, callbacks=[note, LogProgress(0)]
        ).fit(X, y)
    assert list(seen) == ["curves", "pairs", "pairs again"]
    befores = [last.seconds_of_parts for _, last in seen.values()]
    assert befores[0] == 0.0
    ends = [last.seconds + last.seconds_of_parts for _, last in seen.values()]
    assert (np.array(befores[1:]) >= np.array(ends[:-1]) - 0.01).all()
    said = [message.split("iteration")[0] for message in caplog.messages]
    assert list(dict.fromkeys(said)) == ["", "pairs: ", "pairs again: "]
    snapshot = models["pairs"]
    pairs = snapshot.prepared.model(snapshot.path, snapshot.centre + snapshot.start)
    assert len(pairs.wide.pairs) == pairs_of(model) == 2


def test_the_bar_names_the_part():
    bar = ProgressBar("boosting")
    with bar:
        for part in ("curves", "pairs"):
            bar(Progress(3, 10, 1.5, None, 0.25, *[None] * 4, part=part))
            shown = bar._bar.tasks[0].description
            assert shown == ("boosting" if part == "curves" else "boosting, pairs")


def test_a_time_limit_is_that_of_the_fit():
    now = Progress(3, 10, 1.5, None, 0.25, *[None] * 4, seconds_of_parts=0.5)
    assert TimeLimit(0.7)(now)
    assert not TimeLimit(0.8)(now)
    (first,), told = in_parts([lambda progress: told.append(progress)]), []
    second = first.of("pairs")
    with first:
        first(Progress(1, 10, 1.5, None, 0.0, *[None] * 4))
    time.sleep(0.05)
    with second:
        second(Progress(1, 10, 1.5, None, 0.02, *[None] * 4))
    assert told[0].seconds_of_parts == 0.0
    assert 0.02 < told[1].seconds_of_parts < 5.0


@pytest.mark.parametrize("act", [interrupt, lambda: True])
def test_curves_that_are_stopped_have_no_pairs_and_say_so(act):
    X, y = many_pairs()
    parts = Parts(1, act)
    model = RGBMRegressor(interactions=2, early_stopping=True, random_state=0, callbacks=[parts])
    if act is interrupt:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert len(parts.iterations) == 1
    assert model.pair_scores_ == {}
    assert "stopped the curves" in model.plan_.events[-1]


def test_a_model_of_pairs_alone_is_no_constant(recwarn):
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(2500, 3))
    model = RGBMRegressor(interactions=1, random_state=0).fit(X, X[:, 0] * X[:, 1])
    assert model.score(X, X[:, 0] * X[:, 1]) > 0.99
    assert not [one for one in recwarn if "constant" in str(one.message)]


def test_pairs_that_end_at_their_limit_say_so(monkeypatch):
    monkeypatch.setattr("rgboost.training.plan.pair_rules.MOST_PAIR_ROUNDS", 5)
    X, y = many_pairs()
    with pytest.warns(ConvergenceWarning, match="Pairs ended at their limit of 5 rounds"):
        RGBMRegressor(interactions="all", early_stopping=True, random_state=0).fit(X, y)


def test_too_few_features_with_several_values():
    X, y = many_pairs()
    X[:, 1:] = 1.0
    model = RGBMRegressor(early_stopping=True, random_state=0).fit(X, y)
    assert "fewer than two features have several values" in model.plan_.events[-1]
