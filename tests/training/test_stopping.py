"""Early stopping, callbacks and Ctrl-C, in every engine."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

from rgboost import Stumps, boost
from rgboost.callbacks import EarlyStopping, LogProgress, ProgressBar, TimeLimit
from rgboost.engines.quadratic.runs import FIRST_STRETCH
from rgboost.losses import Logistic, Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training import Validation
from rgboost.training.stopping import SHORTEST_BLOCK

ENGINES = [("direct", Squared()), ("gram", Squared()), ("direct", Logistic()),
           ("quadratic", Logistic())]  # fmt: skip


def data(loss, n=600):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=n)
    return X, y if isinstance(loss, Squared) else np.where(y > 0, 1.0, -1.0)


@pytest.mark.parametrize("longest", [20, 100, 1000])
@pytest.mark.parametrize("last_fall", [0, 7, 250])
def test_blocks_end_where_the_rule_holds(last_fall, longest):
    losses = [1.0 / (1 + min(m, last_fall)) for m in range(5000)]
    rule = EarlyStopping(150, 0.0)
    rule.observe(losses[:1])
    done = 0
    while rule.stop_at is None:
        n = rule.next_block(longest)
        assert 0 < n <= longest
        rule.observe(losses[done + 1 : done + 1 + n])
        done += n
    assert rule.stop_at == last_fall + 150
    assert rule.stop_at <= done < rule.stop_at + SHORTEST_BLOCK


def run(engine, loss, *, n_iter=2000, **more):
    X, y = data(loss)
    settings = dict(
        loss=loss, learner=Stumps(max_bins=64), selection=RandomGroups(2), step=ConstantStep(),
        n_iter=n_iter, learning_rate=0.5, random_state=0, engine=engine,
        validation=Validation(X[400:], y[400:]),
    )  # fmt: skip
    return boost(X[:400], y[:400], **{**settings, **more})


def naive_stop(losses, patience, tol):
    """The iteration at which the rule first holds, looked at from the whole curve."""
    best, last = np.inf, 0
    for m, loss in enumerate(losses):
        if loss < best:
            best, last = loss - tol * abs(loss), m
        elif m - last >= patience:
            return m
    return len(losses) - 1


@pytest.mark.parametrize(("engine", "loss"), ENGINES, ids=str)
@pytest.mark.parametrize(("patience", "tol"), [(5, 0.0), (40, 1e-3)])
def test_stops_where_the_rule_first_holds(engine, loss, patience, tol):
    whole = run(engine, loss)
    stopped = run(engine, loss, early_stopping=EarlyStopping(patience, tol))
    losses = stopped.trace.validation_loss
    if engine == "quadratic":  # the last stretch is a shorter one: losses in it differ
        n = naive_stop(np.append(losses, losses[-1]), patience, tol)
        np.testing.assert_allclose(losses, whole.trace.validation_loss[: n + 1], rtol=0.03)
    else:
        n = naive_stop(whole.trace.validation_loss, patience, tol)
        np.testing.assert_array_equal(losses, whole.trace.validation_loss[: n + 1])
    assert len(stopped.trace) == n < 2000
    np.testing.assert_array_equal(stopped.trace.choices, whole.trace.choices[:n])
    assert stopped.best_iteration == np.argmin(losses)


@pytest.mark.parametrize(("engine", "loss"), ENGINES, ids=str)
def test_the_model_is_that_of_the_best_iteration(engine, loss):
    X, y = data(loss)
    boosted = run(engine, loss)
    assert 0 < boosted.best_iteration < len(boosted.trace)
    value = loss.value(y[400:], boosted.model.score(X[400:])).mean()
    told = boosted.trace.validation_loss
    # Within a stretch of the quadratic engine losses are what its model tells.
    assert value == pytest.approx(told.min(), rel=1e-2 if engine == "quadratic" else 1e-9)
    last = boosted.prepared.model(boosted.trace.path(), boosted.model.intercept)
    value = loss.value(y[400:], last.score(X[400:])).mean()
    assert value == pytest.approx(told[-1], rel=1e-9)
    assert len(list(boosted.model.staged_score(X[:2]))) == boosted.best_iteration


def test_a_rule_can_be_used_again():
    rule = EarlyStopping(5, 0.0)
    first, second = (run("direct", Squared(), early_stopping=rule) for _ in range(2))
    assert len(first.trace) == len(second.trace)


def test_early_stopping_needs_validation_rows():
    with pytest.raises(ValueError, match="early_stopping needs validation rows"):
        run("direct", Squared(), early_stopping=EarlyStopping(), validation=None)
    with pytest.raises(ValueError, match="n_iter_no_change=0 must be 1 or greater"):
        EarlyStopping(0)
    with pytest.raises(ValueError, match="tol=-1 must be 0 or greater"):
        EarlyStopping(5, -1)


@pytest.mark.parametrize(("engine", "loss"), ENGINES, ids=str)
def test_a_callback_stops_the_run(engine, loss):
    seen = []

    def stop(progress):
        seen.append(progress.iteration)
        return len(seen) == 2

    boosted = run(engine, loss, callbacks=[stop], validation=None)
    assert len(boosted.trace) == seen[-1] == boosted.best_iteration < 2000


@pytest.mark.parametrize(("engine", "loss"), ENGINES, ids=str)
def test_memory_follows_the_iterations_that_are_done(engine, loss):
    """Not the number that is allowed, which may be a way to say: until the time is up."""
    run(engine, loss, n_iter=10)  # compiles
    tracemalloc.start()
    try:
        run(engine, loss, n_iter=10**12, callbacks=[lambda progress: progress.iteration >= 3000])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_time_limit():
    begun = time.perf_counter()
    boosted = run("direct", Squared(), n_iter=10**6, callbacks=[TimeLimit(0.2)])
    assert time.perf_counter() - begun >= 0.2
    assert 1 <= len(boosted.trace) < 10**6
    with pytest.raises(ValueError, match="seconds=0 must be greater"):
        TimeLimit(0)


def test_logging(caplog):
    with caplog.at_level(logging.INFO, logger="rgboost"):
        run("direct", Squared(), n_iter=300, callbacks=[LogProgress(3600)])
    assert len(caplog.messages) == 2
    assert caplog.messages[-1].startswith("iteration 300 of 300  train ")
    assert "valid" in caplog.messages[-1]
    caplog.clear()
    run("direct", Squared(), n_iter=50, callbacks=[LogProgress(3600)])  # level WARNING: quiet
    assert caplog.messages == []


VERBOSE = """
import logging, sys
import numpy as np
from rgboost import RGBMRegressor
if sys.argv[1:]:
    logging.basicConfig(level=sys.argv[1], format="%(name)s logs %(message)s")
RGBMRegressor(max_iter=20, verbose=2).fit(np.arange(60.0).reshape(30, 2), np.arange(30.0))
"""


@pytest.mark.parametrize(
    ("level", "begins"),
    [
        ((), "rgboost: iteration "),
        (("WARNING",), "rgboost: iteration "),
        (("INFO",), "rgboost logs "),
    ],
)
def test_verbose_2_shows_whether_logging_is_set_up_or_not(level, begins):
    command = [sys.executable, "-c", VERBOSE, *level]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith(begins) for line in lines)
    assert "iteration 20 of 20  train " in lines[-1]


def interrupt_after(iterations):
    """A callback that presses Ctrl-C once."""
    pressed = []

    def press(progress):
        if progress.iteration >= iterations and not pressed:
            pressed.append(progress.iteration)
            os.kill(os.getpid(), signal.SIGINT)

    return press


@pytest.mark.parametrize(("engine", "loss"), ENGINES, ids=str)
def test_ctrl_c_keeps_what_was_done(engine, loss):
    whole = run(engine, loss)
    boosted = run(engine, loss, callbacks=[interrupt_after(100)])
    assert boosted.interrupted
    n = len(boosted.trace)
    assert 100 <= n < 2000
    np.testing.assert_array_equal(boosted.trace.choices, whole.trace.choices[:n])
    exact = FIRST_STRETCH if engine == "quadratic" else n  # the stretch under way is cut short
    found, expected = boosted.trace.train_loss, whole.trace.train_loss[: n + 1]
    np.testing.assert_array_equal(found[: exact + 1], expected[: exact + 1])
    np.testing.assert_allclose(found, expected, rtol=0.01)
    X, y = data(loss)
    last = boosted.prepared.model(boosted.trace.path(), boosted.model.intercept)
    assert loss.value(y[:400], last.score(X[:400])).mean() == pytest.approx(found[-1], rel=1e-9)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_second_ctrl_c_interrupts_at_once():
    def impatient(progress):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    boosted = run("direct", Squared(), n_iter=10**6, callbacks=[impatient])
    assert boosted.interrupted
    assert 1 <= len(boosted.trace) < 10**6


def test_other_threads_leave_signals_alone():
    results = []
    thread = threading.Thread(target=lambda: results.append(run("direct", Squared(), n_iter=20)))
    thread.start()
    thread.join()
    assert len(results[0].trace) == 20


def test_a_bar_can_be_used_again(capsys):
    bar = ProgressBar("boosting")
    for _ in range(2):
        run("direct", Squared(), n_iter=30, callbacks=[bar])
        out = capsys.readouterr().out
        assert "30/30" in out
        assert "valid" in out
