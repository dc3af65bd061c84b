"""The contract of an engine: k runs of Algorithm 2 that go on block by block.

An engine has a name and `Runs`. Whoever drives them (`rgboost.training.driver`) asks for some more
iterations of all runs, writes down the `Record` of each, tells callbacks, and decides when to stop.
A single fit is the case k = 1. The mean of k runs has a run for every fold, fitted to all rows but
those of its fold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import Path
from ..selection import Subsets
from .problem import Problem

Arrays = dict[str, NDArray]


class Record(NamedTuple):
    """What compiled code writes down in a block of iterations; losses are sums over rows.

    There is room for n choices, and for n losses: those before each iteration. A finished record
    has n + 1 losses. ``sets`` are the bits of `rgboost.learners.kernels.note_set`, no bytes if
    there are none.
    """

    loss: NDArray[np.float64]
    held_loss: NDArray[np.float64]
    learner: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    gradient: NDArray[np.float64]
    sets: NDArray[np.uint8]


def make_record(n: int, set_bytes: int, n_classes: int | None = None) -> Record:
    """Room for n iterations; with several classes, steps are (n, classes)."""
    steps = (n,) if n_classes is None else (n, n_classes)
    return Record(
        loss=np.empty(n),
        held_loss=np.empty(n),
        learner=np.empty(n, np.int64),
        left=np.empty(steps),
        right=np.empty(steps),
        gradient=np.empty(n),
        sets=np.empty((n, set_bytes), np.uint8),
    )


class Losses(NamedTuple):
    """Sums of losses of a run: over the rows that it is fitted to, and over those that it is not
    (validation rows, or its fold)."""

    train: float
    held: float


class Settled(NamedTuple):
    """Where the runs stand for certain: their losses, exactly; None if those on record are.

    ``kept``: whether the iterations since the last such point are. ``natural``: whether a run that
    has more iterations left to do comes by here as well, so that it can go on from `Runs.keep`.
    """

    losses: list[Losses] | None = None
    kept: bool = True
    natural: bool = True


@dataclass
class Run:
    """One run: where it starts from, the weight of the rows that it is fitted to and of those that
    are held out (what losses are divided by to have means), its generator of subsets, and where it
    stands, which only its engine knows."""

    start: Any
    mass: float
    held_mass: float
    rng: np.random.Generator
    state: Any


class Runs(ABC):
    """k runs of a problem that go on block by block."""

    engine: str
    longest: int | None = None
    """The most iterations of a block, where results may depend on it; None: as the clock says."""
    n_threads: int = 1
    """Threads that work on one run."""

    def __init__(self, problem: Problem, runs: list[Run]) -> None:
        self.problem = problem
        self.runs = runs
        self.finished = False
        """Whether the engine came to an end by itself."""
        self.used_up: str | None = None
        """Why the runs cannot go on here; `successor` goes on with them."""
        self.pool = RunPool(min(problem.n_jobs, problem.n_runs))

    @property
    def label(self) -> str:
        """The engine, in the words of the trace."""
        k = len(self.runs)
        return self.engine if k == 1 else f"{self.engine}: the mean of {k} runs"

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.pool.close()

    @abstractmethod
    def losses(self, run: Run) -> Losses:
        """The losses of a run where it stands."""

    @abstractmethod
    def advance(self, run: Run, subsets: Subsets, record: Record, begin: int) -> int:
        """Run the iterations of the record from ``begin`` on; returns the iteration that it came
        to."""

    def make_record(self, n: int) -> Any:
        """Room for n iterations."""
        return make_record(n, self.problem.prepared.set_bytes, self.problem.n_classes)

    def waits(self, run: Run) -> bool:
        """Whether a run cannot go on before `supply` has made something."""
        return False

    def supply(self, waiting: Sequence[Block]) -> bool:
        """Make what runs wait for; False if that is not possible."""
        raise AssertionError("nothing is ever missing")

    def go_on(self, n: int) -> list[Record]:
        """n iterations of every run, with the losses before and after them.

        Runs go on side by side until something is missing, which is made when all have come that
        far: results do not depend on which thread is faster. Where it cannot be made there are
        fewer iterations, equally many of every run, and ``used_up`` says why.
        """
        blocks = [Block(self, run, n) for run in self.runs]
        waiting = blocks
        while waiting:
            self.pool.go_on(waiting)
            waiting = [block for block in waiting if block.waits]
            if waiting and not self.supply(waiting):
                done = min(block.done for block in blocks)
                return [block.cut(done) for block in blocks]
        return [block.finish() for block in blocks]

    def correct(self, run: Run, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Training losses of a block, where compiled code left them to be made exact."""
        return losses

    def settle(self, ending: bool) -> Settled | None:
        """After a block: None if what was recorded since the last time is not certain yet.
        ``ending``: no block is going to follow."""
        return Settled()

    def keep(self) -> Arrays:
        """What the runs need to go on from where they last were `Settled.natural`."""
        return {}

    def restore(self, kept: Arrays) -> None:
        """Go on from what `keep` gave."""
        raise NotImplementedError

    def successor(self, paths: Sequence[Path]) -> Runs:
        """Runs of another engine that go on from the models of these paths."""
        raise NotImplementedError


class Block:
    """Some iterations of a run under way."""

    def __init__(self, runs: Runs, run: Run, n: int) -> None:
        self.runs = runs
        self.run = run
        self.n = n
        self.done = 0
        self.waits = False
        """Whether it cannot go on, because something is missing."""
        self.record = runs.make_record(n)
        self._subsets: Subsets | None = None
        self._before = run.rng.bit_generator.state

    def go_on(self, until: int) -> None:
        """Run until so many iterations are done, or something is missing."""
        selection, layout = self.runs.problem.selection, self.runs.problem.prepared.layout
        if self._subsets is None:  # not before: threads draw side by side
            self._subsets = selection.subsets(layout, self.run.rng, self.n)
        record = self.record._make(part[:until] for part in self.record)
        self.done = self.runs.advance(self.run, self._subsets, record, self.done)
        self.waits = self.runs.waits(self.run)

    def finish(self) -> Record:
        """What was done, with the losses after the last iteration."""
        last = self.runs.losses(self.run)
        done = self.record._make(part[: self.done] for part in self.record)
        losses = np.append(done.loss, last.train)
        return done._replace(
            loss=self.runs.correct(self.run, losses),
            held_loss=np.append(done.held_loss, last.held),
        )

    def cut(self, n: int) -> Record:
        """The first n iterations, as if no more subsets had been drawn."""
        record = self.finish()
        selection, layout = self.runs.problem.selection, self.runs.problem.prepared.layout
        self.run.rng.bit_generator.state = self._before
        selection.subsets(layout, self.run.rng, n)
        choices: list[Any] = [part[:n] for part in record[2:]]
        return type(record)(record.loss[: n + 1], record.held_loss[: n + 1], *choices)


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
