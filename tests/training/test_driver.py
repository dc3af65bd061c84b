"""The driver, on runs that count: what is settled, dropped, handed over and interrupted."""

import os
import signal

import numpy as np
import pytest

from rgboost import Stumps
from rgboost.engines.base import Losses, Run, Runs, Settled
from rgboost.losses import Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep
from rgboost.training import EarlyStopping
from rgboost.training.driver import Driver
from rgboost.training.make_problem import make_problem

BLOCK = 5
START, FALL, HELD = 1000.0, 2.0, 0.5


def problem_of(n_iter):
    X = np.arange(12.0)[:, None]
    return make_problem(
        X, X[:, 0], loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(),
        n_iter=n_iter, learning_rate=1.0, start_score=0.0, groups=None, names=None, weight=None,
        validation=None, random_state=0, n_jobs=1, gram_memory=0,
    )  # fmt: skip


class Counting(Runs):
    """A run whose loss falls by `FALL` in every iteration, in blocks of `BLOCK`.

    ``script`` says for every block: None if it is not certain yet, True if it is kept, False if all
    since the last certain point is dropped; then all are kept. Losses turn out to be larger by
    ``lacking`` for each iteration that was not certain.
    """

    engine = "counting"
    longest = BLOCK

    def __init__(self, problem, script=(), lacking=0.0, used_up_at=None):
        rng = np.random.default_rng(0)
        super().__init__(problem, [Run(0.0, 10.0, 5.0, rng, START)])
        self.script, self.lacking, self.used_up_at = list(script), lacking, used_up_at
        self.since, self.certain, self.asked = 0, START, []

    def losses(self, run):
        return Losses(run.state, HELD * run.state)

    def advance(self, run, subsets, record, begin):
        for m in range(begin, len(record.learner)):
            record.loss[m], record.held_loss[m] = run.state, HELD * run.state
            record.learner[m] = record.left[m] = record.right[m] = record.gradient[m] = 0
            run.state -= FALL
        self.since += len(record.learner) - begin
        return len(record.learner)

    def settle(self, ending):
        self.asked.append(ending)
        kept = self.script.pop(0) if self.script else True
        if kept is None and not ending:
            return None
        run, natural = self.runs[0], kept is not None
        if kept is False:
            run.state = self.certain
        else:
            run.state += self.lacking * self.since
            self.certain = run.state
        if self.used_up_at is not None and self.certain <= START - FALL * self.used_up_at:
            self.used_up = "it was tired"
        self.since = 0
        return Settled([self.losses(run)], kept=kept is not False, natural=natural)

    def successor(self, paths):
        (path,) = paths
        self.handed = len(path.learner)
        other = Counting(self.problem)
        other.runs[0].state = self.runs[0].state
        return other


def drive(n_iter=30, callbacks=(), rule=None, resume=None, **script):
    problem = problem_of(n_iter)
    driver = Driver(problem, Counting(problem, **script), callbacks, {}, resume)
    return driver, driver.go(rule)


def falling(n, rate=FALL):
    return (START - rate * np.arange(n + 1)) / 10.0


def test_losses_of_what_was_not_certain_are_made_exact():
    driver, interrupted = drive(15, script=[None, None, True], lacking=0.5)
    assert not interrupted
    trace = driver.recorder.trace()
    np.testing.assert_allclose(trace.train_loss, falling(15, FALL - 0.5))
    np.testing.assert_allclose(trace.validation_loss, 2 * HELD * falling(15, FALL - 0.5))
    assert driver.recorder.settled == 15


def test_what_is_dropped_leaves_no_trace():
    seen = []
    driver, _ = drive(
        20, [lambda progress: seen.append(progress.iteration)], script=[True, None, False, True]
    )
    trace = driver.recorder.trace()
    assert len(trace) == 20
    np.testing.assert_allclose(trace.train_loss, falling(20))
    assert seen == [5, 10, 5, 10, 15, 20]
    assert (np.diff(trace.seconds) >= 0).all()


def test_the_last_block_ends_a_stretch():
    driver, _ = drive(8, script=[None, None])
    assert driver.runs.asked == [False, True]
    assert len(driver.recorder.trace()) == 8


def test_a_callback_that_stops_ends_a_stretch():
    driver, interrupted = drive(
        30, [lambda progress: progress.iteration >= 10], script=[None] * 9, lacking=1.0
    )
    assert (driver.recorder.done, interrupted, driver.asked_to_stop) == (10, False, True)
    np.testing.assert_allclose(driver.recorder.trace().train_loss, falling(10, 1.0))


def test_a_callback_cannot_stop_before_something_is_there():
    """The first stretch is dropped: another one follows."""
    driver, _ = drive(30, [lambda progress: True], script=[None, False])
    assert driver.recorder.done == BLOCK


def press(times, at):
    def callback(progress):
        if progress.iteration >= at:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

    return callback


def test_one_ctrl_c_ends_the_stretch_and_keeps_it():
    driver, interrupted = drive(30, [press(1, at=10)], script=[None] * 9, lacking=1.0)
    assert interrupted
    assert driver.recorder.done == driver.recorder.settled == 10
    np.testing.assert_allclose(driver.recorder.trace().train_loss, falling(10, 1.0))


def test_two_leave_what_is_certain():
    driver, interrupted = drive(30, [press(2, at=15)], script=[True, None, None])
    assert interrupted
    assert driver.recorder.done == 5
    np.testing.assert_allclose(driver.recorder.trace().train_loss, falling(5))
    assert driver.state().done == 5


def test_ctrl_c_before_the_first_iteration_raises():
    problem = problem_of(10)

    class Pressed(Counting):
        def go_on(self, n):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Driver(problem, Pressed(problem), [], {}).go(None)


def test_a_rule_sees_exact_losses_only():
    """Uncertain losses fall; the exact ones do not: the rule ends it at the first of them."""
    driver, _ = drive(
        1000, rule=EarlyStopping(3, 0.0), script=[None, True] * 100, lacking=FALL
    )  # fmt: skip
    assert driver.recorder.done == 2 * BLOCK
    np.testing.assert_allclose(driver.recorder.trace().train_loss, np.full(11, START / 10.0))


def test_another_engine_goes_on():
    driver, _ = drive(30, script=[None, True], used_up_at=10)
    assert driver.events == ["counting until iteration 10, where it was tired; counting from there"]
    trace = driver.recorder.trace()
    np.testing.assert_allclose(trace.train_loss, falling(30))
    assert trace.engine == driver.events[0]


def test_it_goes_on_from_the_last_natural_point():
    """Not from where it only ended because no more was asked for."""
    driver, _ = drive(13, script=[True, True, None])
    state = driver.state()
    assert (driver.recorder.done, state.done) == (13, 10)
    assert state.label == "counting"
    np.testing.assert_allclose(state.trace["loss"], falling(10))
