"""The choice of engine: what it weighs, and where it turns."""

import numpy as np
import pytest

from rgboost.engines.direct.step_length import ConstantRule
from rgboost.engines.problem import Problem
from rgboost.learners import Stumps
from rgboost.losses import Huber, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training import boost
from rgboost.training.cost import (
    TYPICAL_ITERATIONS,
    choose_engine,
    direct_nanoseconds,
    expected_iterations,
    gram_bytes,
    gram_nanoseconds,
)

PLENTY = 1 << 40


def problem(n=2000, p=6, max_bins=20, n_iter=100, selection=None, loss=None, weight=None):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    prepared = Stumps(max_bins=max_bins).prepare(X, weight)
    return Problem(
        prepared=prepared, y=y, weight=weight, start=0.0, loss=loss or Squared(),
        selection=selection or AllLearners(), step=ConstantStep(), rule=ConstantRule(1.0, 1.0),
        learning_rate=1.0, held=None, held_arrays=prepared.arrays, random_state=0, n_iter=n_iter,
        n_jobs=1, gram_memory=PLENTY,
    )  # fmt: skip


def test_cost_grows_with_what_it_should():
    base = problem()
    direct, gram = direct_nanoseconds(base, 100), gram_nanoseconds(base, 100)
    assert direct_nanoseconds(problem(n=4000), 100) == pytest.approx(2 * direct)
    assert direct_nanoseconds(base, 200) == pytest.approx(2 * direct)
    fewer = problem(selection=RandomGroups(3))
    assert direct_nanoseconds(fewer, 100) < 0.7 * direct
    assert gram_nanoseconds(problem(n=200_000), 100) < 200 * gram
    assert gram_nanoseconds(problem(max_bins=40), 100) > 1.5 * gram
    assert gram_bytes(base) == (6 * 19) ** 2 * 2
    assert gram_bytes(problem(n=70_000)) == (6 * 19) ** 2 * 4
    assert gram_bytes(problem(weight=np.ones(2000))) == (6 * 19) ** 2 * 8
    assert gram_bytes(problem(n_iter=2)) == 2 * 19 * 6 * 19 * 2


def test_where_it_turns():
    """Few iterations on the rows, many on statistics; the turn is where the costs cross."""
    chosen = []
    for n_iter in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        case = problem(n_iter=n_iter)
        engine = choose_engine(case, may_end=False)
        cheaper = gram_nanoseconds(case, n_iter) < direct_nanoseconds(case, n_iter)
        assert engine == ("gram" if cheaper else "direct")
        chosen.append(engine)
    assert chosen[0] == "direct"
    assert chosen[-1] == "gram"
    assert chosen == sorted(chosen)


def test_a_run_that_may_stop_early_is_expected_to():
    """Many splits on few rows: Gram rows pay for 100,000 iterations, not for the typical 2,000."""
    case = problem(n=800, p=20, max_bins=200, n_iter=100_000)
    assert expected_iterations(case, may_end=False) == 100_000
    assert choose_engine(case, may_end=False) == "gram"
    assert expected_iterations(case, may_end=True) == TYPICAL_ITERATIONS
    assert choose_engine(case, may_end=True) == "direct"
    assert expected_iterations(problem(n_iter=100), may_end=True) == 100


def test_memory_decides_at_the_byte():
    case = problem(n_iter=10_000)
    needed = int(gram_bytes(case))
    for memory, engine in ((needed, "gram"), (needed - 1, "direct")):
        case.gram_memory = memory
        assert choose_engine(case, may_end=False) == engine


def test_only_what_the_gram_engine_can_do():
    assert choose_engine(problem(n_iter=10_000, loss=Huber(1.0)), may_end=False) == "direct"
    wide = problem(n_iter=10_000, max_bins=None)
    assert choose_engine(wide, may_end=False) == "direct"


def test_auto_uses_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.normal(size=3000)
    for n_iter, engine in ((2, "direct"), (2000, "gram")):
        boosted = boost(
            X, y, loss=Squared(), learner=Stumps(max_bins=16), selection=AllLearners(),
            step=ConstantStep(), n_iter=n_iter,
        )  # fmt: skip
        assert boosted.trace.engine == engine
