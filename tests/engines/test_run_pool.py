"""Blocks of runs that threads share out."""

import threading

import pytest

from rgboost.engines.base import RunPool


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
