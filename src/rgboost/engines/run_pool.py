"""Runs that do not need each other, shared out to threads block by block."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol


class Block(Protocol):
    """Some iterations of a run under way."""

    n: int
    done: int
    waits: bool
    """Whether it cannot go on, because something is missing."""

    def go_on(self, until: int) -> None:
        """Run until so many iterations are done, or the block has to wait."""


class RunPool:
    """Threads that go on with blocks of runs."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads, "rgboost")
        self._compiled = False

    def close(self) -> None:
        self._pool.shutdown()

    def go_on(self, blocks: Sequence[Block]) -> None:
        """Go on with all blocks, some of them in pieces, so that it comes out even for the threads:
        with two threads and blocks a to e, one does a1 c e and the other b d a2."""
        if not self._compiled and self.n_threads > 1:  # by one thread, see `_core.jit.ready`
            first, *others = blocks
            first.go_on(first.done + 1)
            blocks = blocks if not first.waits else others
            self._compiled = True
        n_threads = min(self.n_threads, len(blocks))
        if n_threads <= 1:
            for block in blocks:
                block.go_on(block.n)
            return
        over = len(blocks) % n_threads
        free = deque((block, n_threads if k < over else 1) for k, block in enumerate(blocks))

        def work() -> None:
            while True:
                try:
                    block, pieces_left = free.popleft()
                except IndexError:  # the others are at work on what is left
                    return
                block.go_on(block.done + -(-(block.n - block.done) // pieces_left))
                if pieces_left > 1 and not block.waits:
                    free.append((block, pieces_left - 1))

        list(self._pool.map(lambda _: work(), range(n_threads)))
