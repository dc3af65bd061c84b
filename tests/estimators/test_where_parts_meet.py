"""Faults between two features that are right by themselves."""

import os
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

from rgboost import RGBMRegressor
from rgboost.callbacks import Checkpoint
from rgboost.engines.gram.runs import GramRuns


def mixed(n=400):
    """A category of three levels beside a number."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(3, size=n), rng.normal(size=n)])
    return X, X[:, 1] + X[:, 0] + 0.3 * rng.normal(size=n)


def test_a_callback_that_does_nothing_changes_no_model_of_empty_columns():
    rng = np.random.default_rng(0)
    X = np.zeros((300, 200))
    X[:, ::10] = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.5)
    y, X = X[:, 10] + 0.1 * rng.normal(size=300), scipy.sparse.csr_array(X)
    plain = RGBMRegressor(random_state=0).fit(X, y)
    heard = RGBMRegressor(random_state=0, callbacks=[lambda progress: None]).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), heard.predict(X))


class PressInRun:
    """Ctrl-C at the first block of a run: callbacks are entered anew for each."""

    def __init__(self, number):
        self.number = number
        self.runs = 0

    def __enter__(self):
        self.runs += 1

    def __exit__(self, *exc_info):
        pass

    def __call__(self, progress):
        if self.runs == self.number:
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_in_the_second_of_two_means():
    X, y = mixed()
    press = PressInRun(2)
    model = RGBMRegressor(categorical_features=[0], random_state=0, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert press.runs == 2
    assert model.score(X, y) > 0.8


def test_folds_from_an_iterator_are_kept_for_both_means():
    X, y = mixed()
    once = RGBMRegressor(categorical_features=[0], cv=KFold(4).split(X), random_state=0).fit(X, y)
    kept = RGBMRegressor(categorical_features=[0], cv=KFold(4), random_state=0).fit(X, y)
    np.testing.assert_array_equal(once.predict(X), kept.predict(X))


def test_memory_that_is_refused_in_cross_validation(monkeypatch):
    def refuse(*args, **settings):
        raise MemoryError

    X, y = mixed()
    monkeypatch.setattr(GramRuns, "__init__", refuse)
    model = RGBMRegressor(max_iter="cv", ensemble=False, engine="gram", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


def test_rows_without_weight_have_no_say_in_a_scale():
    X, _ = mixed()
    y = np.where(np.arange(400) % 10 == 0, 1.0, 0.0)
    weight = np.ones(400)
    weight[300:] = 0.0
    far = np.where(weight == 0, 1e6, y)
    scales = [
        RGBMRegressor(loss="huber", max_iter=1).fit(X, labels, weight).loss_.delta
        for labels in (y, far)
    ]
    alone = RGBMRegressor(loss="huber", max_iter=1).fit(X[:300], y[:300]).loss_.delta
    assert scales == pytest.approx([alone, alone])
    twice = np.where(np.arange(300) < 100, 2.0, 1.0)
    again = np.concatenate([np.arange(300), np.arange(100)])
    weighted = RGBMRegressor(loss="huber", max_iter=1).fit(X[:300], y[:300], twice).loss_.delta
    repeated = RGBMRegressor(loss="huber", max_iter=1).fit(X[again], y[again]).loss_.delta
    assert weighted == pytest.approx(repeated)


def test_a_generator_that_moved_on_does_not_keep_a_run_from_going_on(tmp_path):
    X, y = mixed()
    rng = np.random.RandomState(3)
    callbacks = [Checkpoint(tmp_path / "run", every=0.0)]
    RGBMRegressor(max_iter=20, random_state=rng, callbacks=callbacks).fit(X, y)
    whole = RGBMRegressor(max_iter=40, random_state=np.random.RandomState(3)).fit(X, y)
    gone_on = RGBMRegressor(max_iter=40, random_state=rng).fit(X, y, resume=tmp_path / "run")
    np.testing.assert_array_equal(gone_on.predict(X), whole.predict(X))


def test_a_warm_start_with_another_seed_is_refused():
    X, y = mixed()
    model = RGBMRegressor(max_iter=20, random_state=0, warm_start=True).fit(X, y)
    model.set_params(max_iter=40).fit(X, y)
    with pytest.raises(ValueError, match="random_state"):
        model.set_params(max_iter=60, random_state=1).fit(X, y)


def test_labels_that_are_all_the_same_are_no_reason_to_warn():
    X, _ = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RGBMRegressor(random_state=0).fit(X, np.ones(400))
