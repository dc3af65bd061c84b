"""Means from quadratic models under way: callbacks, seconds, Ctrl-C."""

import os
import signal

import numpy as np
import pytest

from rgboost import RGBMClassifier
from rgboost.callbacks import Checkpoint, TimeLimit
from rgboost.engines.quadratic.runs import FIRST_STRETCH, LONGER
from rgboost.theory import RecordCertificates, StopAtGap
from rgboost.training import EarlyStopping
from tests.engines.quadratic.test_quadratic_mean import data


def test_callbacks_of_one_run_have_one_run(tmp_path):
    X, y, _ = data(400)
    for callback in (
        Checkpoint(tmp_path / "state", every=0.0), StopAtGap(0.1), RecordCertificates(at=[5]),
        EarlyStopping(5),
    ):  # fmt: skip
        model = RGBMClassifier(
            selection="learners", random_state=0, max_iter="cv", callbacks=[callback]
        ).fit(X, y)
        assert "mean" not in model.trace_.engine
    assert (tmp_path / "state").exists()


def test_seconds_go_on_from_stretch_to_stretch():
    X, y, _ = data(1500)
    seen = []
    model = RGBMClassifier(
        selection="learners", random_state=0, interactions=0, callbacks=[lambda p: seen.append(p)]
    ).fit(X, y)
    assert (np.diff([progress.iteration for progress in seen]) > 0).all()
    assert (np.diff([progress.seconds for progress in seen]) > 0).all()
    assert (np.diff(model.trace_.seconds) >= 0).all()


def test_ctrl_c_twice_leaves_the_last_whole_stretch():
    X, y, _ = data(1500)

    def press(progress):
        if progress.iteration > FIRST_STRETCH:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    model = RGBMClassifier(selection="learners", random_state=0, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == (1 + LONGER) * FIRST_STRETCH  # the second stretch was done
    assert model.score(X, y) > 0.7


def test_ctrl_c_leaves_the_mean_of_what_was_done():
    X, y, _ = data(1500)
    model = RGBMClassifier(
        selection="learners", random_state=0, max_bins=16, n_iter_no_change=10**6
    )

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[press]).fit(X, y)
    assert model.n_iter_ == FIRST_STRETCH
    assert model.score(X, y) > 0.7


def test_a_callback_ends_all_stretches():
    X, y, _ = data(1500)
    calls = []

    def stop(progress):
        calls.append(progress.iteration)
        return True

    model = RGBMClassifier(selection="learners", random_state=0, callbacks=[stop]).fit(X, y)
    assert calls == [FIRST_STRETCH]
    assert model.n_iter_ == FIRST_STRETCH
    model.set_params(callbacks=[TimeLimit(0.001)]).fit(X, y)
    assert model.score(X, y) > 0.7
