"""Blocks of runs: iterations that are cut off leave no trace."""

import numpy as np
import pytest

from rgboost import Stumps
from rgboost.engines.base import Block
from rgboost.engines.direct.runs import DirectRuns
from rgboost.losses import Logistic
from rgboost.selection import RandomGroups, RandomLearners
from rgboost.steps import ConstantStep
from rgboost.training.make_problem import make_problem


def runs_of(selection):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    problem = make_problem(
        X, np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0), loss=Logistic(),
        learner=Stumps(max_bins=9), selection=selection, step=ConstantStep(), n_iter=100,
        learning_rate=0.5, start_score=None, groups=None, names=None, weight=None, validation=None,
        random_state=3, n_jobs=1, gram_memory=0, fold=rng.integers(0, 3, 200),
    )  # fmt: skip
    return DirectRuns(problem)


@pytest.mark.parametrize("selection", [RandomGroups(2), RandomLearners(7)], ids=str)
@pytest.mark.parametrize("n", [0, 1, 11, 40])
def test_a_block_that_is_cut_is_a_shorter_block(selection, n):
    runs, short = runs_of(selection), runs_of(selection)
    block = Block(runs, runs.runs[1], 40)
    block.go_on(17)
    block.go_on(40)
    assert block.done == 40
    found = block.cut(n)
    expected = Block(short, short.runs[1], n)
    expected.go_on(n)
    for one, same in zip(found, expected.finish(), strict=True):
        np.testing.assert_array_equal(one, same)
    assert len(found.loss) == len(found.held_loss) == n + 1
    draws = [some.runs[1].rng.integers(1 << 30, size=5).tolist() for some in (runs, short)]
    assert draws[0] == draws[1]


class Waiting(DirectRuns):
    """Run k has to wait before iteration ``until[k]``, and what it waits for does not come."""

    until = (9, 4, 6)

    def advance(self, run, subsets, record, begin):
        self.stop = self.until[self.runs.index(run)]
        end = min(len(record.learner), self.stop)
        part = record._make(values[:end] for values in record)
        return super().advance(run, subsets, part, begin)

    def waits(self, run):
        return True

    def supply(self, waiting):
        self.used_up = "nothing comes"
        return False


def test_where_something_is_missing_all_runs_end_at_the_same_iteration():
    waiting, whole = Waiting(runs_of(RandomGroups(2)).problem), runs_of(RandomGroups(2))
    records, expected = waiting.go_on(20), whole.go_on(4)
    for one, same in zip(records, expected, strict=True):
        for values, same_values in zip(one, same, strict=True):
            np.testing.assert_array_equal(values, same_values)
    for one, same in zip(waiting.runs, whole.runs, strict=True):
        assert one.rng.bit_generator.state == same.rng.bit_generator.state
