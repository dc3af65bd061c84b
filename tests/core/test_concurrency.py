"""Fits at once in threads, in processes and after a fork give the same bits as one alone."""

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from joblib import Parallel, delayed

from rgboost import RGBMClassifier
from rgboost._core.jit import kernel, ready
from rgboost._core.team import (
    Seat,
    Team,
    check_n_jobs,
    lone_seat,
    map_ranges,
    row_chunks,
    wait_for_all,
)


def fit_and_score(n_jobs, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30_000, 6))
    y = X[:, 0] + rng.normal(size=30_000) > 0
    model = RGBMClassifier(max_iter=40, max_bins=32, n_jobs=n_jobs, random_state=0).fit(X, y)
    return model.decision_function(X)


def _in_child(queue):
    queue.put(fit_and_score(2))


@pytest.fixture(scope="module")
def alone():
    return fit_and_score(1)


def test_many_python_threads(alone):
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(fit_and_score, [1, 2, 3, 4] * 2):
            np.testing.assert_array_equal(scores, alone)


def test_joblib_processes(alone):
    for scores in Parallel(n_jobs=2)(delayed(fit_and_score)(n) for n in (1, 2)):
        np.testing.assert_array_equal(scores, alone)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(alone):
    np.testing.assert_array_equal(fit_and_score(2), alone)  # threads have run in the parent
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    scores = queue.get(timeout=120)
    child.join(timeout=30)
    assert child.exitcode == 0
    np.testing.assert_array_equal(scores, alone)


@kernel()
def count_in_turns(turns, out, seat):
    """Each thread adds to its own cell, and reads all cells after every barrier."""
    goal = 0
    worst = 0
    for turn in range(turns):
        out[seat.rank] += 1
        goal = wait_for_all(seat, goal)
        for other in range(seat.size):
            worst = max(worst, abs(out[other] - (turn + 1)))
        goal = wait_for_all(seat, goal)
    return worst


@pytest.mark.parametrize("size", [1, 2, 5])
def test_nobody_passes_the_barrier_early(size):
    out = np.zeros(size, dtype=np.int64)
    with Team(size) as team:
        assert team.run(count_in_turns, 300, out) == 0
    assert (out == 300).all()


def test_a_team_survives_an_interrupt():
    """If the first thread cannot start, the others must not wait for it for ever."""

    def work(seat: Seat) -> int:
        if seat.rank == 0:
            raise KeyboardInterrupt
        return count_in_turns(10, np.zeros(2, dtype=np.int64), seat)

    with Team(2) as team, pytest.raises(KeyboardInterrupt):
        team.run(work)


@pytest.mark.parametrize("n", [1, 7, 4096, 8191, 8192, 100_001, 370_972])
def test_row_chunks(n):
    chunks = row_chunks(n)
    assert chunks[0] == 0
    assert chunks[-1] == n
    assert (np.diff(chunks) > 0).all()
    assert (chunks[:-1] % 8 == 0).all()
    assert len(chunks) - 1 == min(2 ** int(np.log2(max(n // 4096, 1))), 16)


def test_n_jobs():
    everyone = check_n_jobs(None)
    assert check_n_jobs(-1) == everyone
    assert check_n_jobs(3) == 3
    assert check_n_jobs(-1000) == 1
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match="is not a number of threads"):
            check_n_jobs(wrong)


def test_map_ranges_covers_everything_once():
    for n, n_jobs in [(0, 1), (1, 4), (10, 3), (1000, 2)]:
        seen = np.zeros(n, dtype=int)

        def add(a, b, seen=seen):
            seen[a:b] += 1

        map_ranges(add, n, n_jobs)
        assert (seen == 1).all()


@kernel()
def first_of(pair, seat):
    return pair[0][0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_are_compiled_before_threads_call_them():
    """For the arguments that they are called with: nothing is compiled twice."""
    pairs = [(np.ones(2), 1), (np.ones(2, np.float32), 1), (np.ones(4)[::2], 1)]
    for n, pair in enumerate(pairs, start=1):
        ready(first_of, pair, lone_seat())
        assert len(first_of.signatures) == n
        with Team(2) as team:
            assert team.run(first_of, pair) == 1.0
        assert len(first_of.signatures) == n
