"""While kernels are compiled or loaded, clocks stand still and Ctrl-C waits."""

import os
import signal
import threading
import time
from dataclasses import dataclass

import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from rgboost import Stumps, boost
from rgboost._core.loading import working_seconds
from rgboost.callbacks import Checkpoint, TimeLimit
from rgboost.losses import Logistic, Softmax, Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import RunState
from tests.conftest import JIT

LOAD = 0.4
"""Seconds of what stands for loading a kernel."""
ENGINES = {
    "direct": (Squared(), dict(engine="direct")),
    "gram": (Squared(), dict(engine="gram")),
    "quadratic": (Logistic(), dict(engine="quadratic", tol=0.0)),
    "classes": (Softmax(3), dict(engine="direct")),
    "mean": (Squared(), dict(engine="gram", mean=True)),
    "quadratic mean": (Logistic(), dict(engine="quadratic", step=NewtonStep(), mean=True)),
    "mean by rows": (Squared(), dict(engine="direct", mean=True)),
    "mean of classes": (Softmax(3), dict(engine="direct", mean=True)),
}
each = pytest.mark.parametrize("name", ENGINES)


@dataclass(frozen=True)
class SlowToLoad(RandomGroups):
    """Something in the first iterations waits for a kernel."""

    loaded: tuple = ()

    def subsets(self, layout, rng, n_draws):
        if not self.loaded:
            object.__setattr__(self, "loaded", (True,))
            with global_compiler_lock:
                time.sleep(LOAD)
        return super().subsets(layout, rng, n_draws)


def run(name, n_iter, selection, **more):
    loss, settings = ENGINES[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).round(1)
    y = X[:, 0] + rng.normal(size=len(X))
    if isinstance(loss, Logistic):
        y = np.where(y > 0, 1.0, -1.0)
    if isinstance(loss, Softmax):
        y = np.floor(np.abs(y)) % 3
    settings = {
        "learner": Stumps(max_bins=32), "step": ConstantStep(), "learning_rate": 0.1,
        "random_state": 0, "n_jobs": 1, "start_score": None, **settings,
    }  # fmt: skip
    if settings.pop("mean", False):
        settings["fold"] = np.arange(len(X)) % 3
    return boost(X, y, loss=loss, n_iter=n_iter, selection=selection, **settings, **more)


@each
def test_seconds_are_those_of_iterations(name):
    run(name, 5, RandomGroups(2))  # compiles
    begun = time.perf_counter()
    found = run(name, 5, SlowToLoad(2))
    assert time.perf_counter() - begun > LOAD
    assert found.trace.seconds[-1] < LOAD / 2


@pytest.mark.parametrize("name", ["direct", "gram", "classes"])  # the others have long blocks
def test_a_time_limit_does_not_count_kernels(name):
    found = run(name, 50, SlowToLoad(2), callbacks=[TimeLimit(LOAD / 2)])
    assert len(found.trace) > 1


def test_a_time_limit_does_not_count_the_run_before(tmp_path):
    path = tmp_path / "run.npz"
    spent = run("direct", 10**6, RandomGroups(2), callbacks=[TimeLimit(0.3), Checkpoint(path)])
    state = RunState.load(path)
    more = run("direct", 10**6, RandomGroups(2), resume=state, callbacks=[TimeLimit(0.1)])
    assert len(more.trace) > len(spent.trace)
    assert more.trace.seconds[-1] >= 0.4


@pytest.mark.skipif(not JIT, reason="compiles")
def test_the_clock_of_a_thread_stands_still():
    @numba.njit
    def double(x):
        return 2 * x

    times = {}

    def measure(name, work):
        begun, working = time.perf_counter(), working_seconds()
        work()
        times[name] = time.perf_counter() - begun, working_seconds() - working

    other = threading.Thread(target=measure, args=("other", lambda: time.sleep(0.2)))
    other.start()
    measure("compiles", lambda: double(np.ones(3)))
    other.join()
    real, working = times["compiles"]
    assert working < 0.5 * real
    assert times["other"][1] == pytest.approx(times["other"][0], abs=0.01)


def test_ctrl_c_waits_until_a_kernel_is_there():
    done = []

    def load():
        with global_compiler_lock:
            with global_compiler_lock:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
                done.append("inner")
            done.append("outer")
        done.append("too late")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done == ["inner", "outer"]
    assert not global_compiler_lock.is_locked()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(not JIT, reason="compiles")
def test_what_was_compiled_is_not_lost():
    @numba.njit
    def triple(x):
        return 3 * x

    class Press(event.Listener):
        def on_start(self, event):
            os.kill(os.getpid(), signal.SIGINT)

        def on_end(self, event):
            return

    with event.install_listener("numba:compile", Press()), pytest.raises(KeyboardInterrupt):
        triple(1.0)
    assert len(triple.signatures) == 1
    assert triple(2.0) == 6.0


def test_a_second_ctrl_c_waits_too():
    """Within a run, where the first one is only noted."""
    outcome = []

    @dataclass(frozen=True)
    class Pressed(RandomGroups):
        def subsets(self, layout, rng, n_draws):
            with global_compiler_lock:
                for _ in range(2):
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
                outcome.append("loaded")
            return super().subsets(layout, rng, n_draws)

    with pytest.raises(KeyboardInterrupt):
        run("direct", 1000, Pressed(2))
    assert outcome == ["loaded"]
