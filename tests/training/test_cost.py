"""The choice of engine by `boost`: what it weighs, and where it turns."""

import numpy as np
import pytest

from rgboost.learners import Stumps
from rgboost.losses import Huber, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training import boost
from rgboost.training.plan.costs import Bins, Work, gram_bytes_of
from rgboost.training.plan.engines import engine_of
from rgboost.training.plan.facts import facts_of

PLENTY = 1 << 40


def facts(n=2000, p=6, loss=None, weight=None):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    return facts_of(X, y, loss or Squared(), weight=weight)


def work(max_bins=20, selection=None, **more):
    return Work.of(facts(**more), Bins(max_bins), selection or AllLearners())


def engine(n_iter, max_bins=20, stops=False, memory=PLENTY, **more):
    learner = Stumps(max_bins=max_bins)
    rules = learner, AllLearners(), ConstantStep(), 1.0
    return engine_of(facts(**more), *rules, n_iter, stops, memory)


def test_cost_grows_with_what_it_should():
    base = work()
    direct, gram = base.direct_seconds(100), base.gram_seconds(100)
    assert work(n=4000).direct_seconds(100) == pytest.approx(2 * direct)
    assert base.direct_seconds(200) == pytest.approx(2 * direct)
    assert work(selection=RandomGroups(3)).direct_seconds(100) < 0.7 * direct
    assert work(n=200_000).gram_seconds(100) < 200 * gram
    assert work(max_bins=40).gram_seconds(100) > 1.5 * gram
    assert base.gram_bytes(100, 2) == (6 * 19) ** 2 * 2
    assert base.gram_bytes(2, 2) == 2 * 19 * 6 * 19 * 2
    kinds = [(2000, False), (70_000, False), (2000, True)]
    assert [gram_bytes_of(*kind) for kind in kinds] == [2, 4, 8]


def test_where_it_turns():
    """Few iterations on the rows, many on statistics; the turn is where the costs cross."""
    chosen = []
    for n_iter in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        cheaper = work().gram_seconds(n_iter) < work().direct_seconds(n_iter)
        assert engine(n_iter) == ("gram" if cheaper else "direct")
        chosen.append(engine(n_iter))
    assert chosen[0] == "direct"
    assert chosen[-1] == "gram"
    assert chosen == sorted(chosen)


def test_a_run_that_may_stop_early_is_expected_to():
    """Many splits on few rows: Gram rows pay for 100,000 iterations, not for the typical 2,000."""
    case = dict(n=800, p=20, max_bins=200)
    assert engine(100_000, **case) == "gram"
    assert engine(100_000, stops=True, **case) == "direct"


def test_memory_decides_at_the_byte():
    needed = int(work().gram_bytes(10_000, 2))
    assert engine(10_000, memory=needed) == "gram"
    assert engine(10_000, memory=needed - 1) == "direct"


def test_only_what_the_gram_engine_can_do():
    assert engine(10_000, loss=Huber(1.0)) == "direct"
    assert engine(10_000, n=3000, max_bins=None) == "direct"


def test_auto_uses_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.normal(size=3000)
    for n_iter, expected in ((2, "direct"), (2000, "gram")):
        boosted = boost(
            X, y, loss=Squared(), learner=Stumps(max_bins=16), selection=AllLearners(),
            step=ConstantStep(), n_iter=n_iter,
        )  # fmt: skip
        assert boosted.trace.engine == expected
