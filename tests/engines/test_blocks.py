"""Blocks of runs: threads share them out, and iterations that are cut off leave no trace."""

import threading

import numpy as np
import pytest

from rgboost import Stumps
from rgboost.engines.base import Block, RunPool
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


class Counting:
    """A block that counts, and waits once before iteration ``waits_at``."""

    def __init__(self, n: int, waits_at: int = -1) -> None:
        self.n = n
        self.done = 0
        self.waits_at = waits_at
        self.waits = False
        self.calls: list[tuple[int, int, int]] = []

    def go_on(self, until: int) -> None:
        begin = self.done
        self.waits = False
        while self.done < until:
            if self.done == self.waits_at:
                self.waits_at, self.waits = -1, True
                break
            self.done += 1
        self.calls.append((begin, self.done, threading.get_ident()))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_blocks", [1, 2, 5])
@pytest.mark.parametrize("waits_at", [-1, 0, 1, 4, 9])
def test_all_blocks_are_done_with_after_they_waited(n_threads, n_blocks, waits_at):
    blocks = [Counting(10, waits_at) for _ in range(n_blocks)]
    pool = RunPool(n_threads)
    pool.go_on(blocks)
    assert [block.done for block in blocks] == [10 if waits_at < 0 else waits_at] * n_blocks
    assert [block.waits for block in blocks] == [waits_at >= 0] * n_blocks
    if waits_at >= 0:
        pool.go_on(blocks)
    pool.close()
    assert [block.done for block in blocks] == [10] * n_blocks
    for block in blocks:
        assert [begin for begin, _, _ in block.calls[1:]] == [end for _, end, _ in block.calls[:-1]]


def test_one_thread_alone_compiles():
    """The first iteration is that of the caller; the others begin when it is done."""
    first, second = Counting(10), Counting(10)
    pool = RunPool(2)
    pool.go_on([first, second])
    pool.close()
    assert first.calls[0] == (0, 1, threading.get_ident())
    assert all(thread != threading.get_ident() for _, _, thread in second.calls)
    more = Counting(10), Counting(10)
    pool = RunPool(2)
    pool.go_on([first, second])
    pool.go_on(more)  # compiled by now
    pool.close()
    assert [end for _, end, _ in more[0].calls] == [10]


def test_odd_blocks_are_done_in_pieces():
    blocks = [Counting(10) for _ in range(3)]
    pool = RunPool(2)
    pool.go_on(blocks)
    pool.close()
    assert [len(block.calls) for block in blocks] == [3, 1, 1]
