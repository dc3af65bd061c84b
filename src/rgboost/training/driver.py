"""The driver: block after block of iterations, for any engine and any number of runs.

Between two blocks it writes down what was done, tells callbacks where the runs stand, looks at the
rule of stopping, and notices Ctrl-C.
"""

from __future__ import annotations

import copy
import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.loading import working_seconds
from .._core.one_line import one_line
from ..engines.base import Runs
from ..engines.problem import Problem, with_offset
from ..learners.base import Prepared
from ..losses import Loss
from ..model import Path
from .callbacks import Callback
from .state import RunState, fingerprint, settings_of
from .stopping import EarlyStopping
from .trace import Recorder

BLOCK_SECONDS = 0.05
"""How long a block should last: callbacks and Ctrl-C wait no longer than about that."""

_BLOCK_ENTRIES = 1 << 20
"""Most columns of J that are drawn ahead."""


@one_line
@dataclass(frozen=True)
class Snapshot:
    """A run as far as it got, for callbacks that want the model of the moment:
    ``prepared.model(path, centre + start)``. ``y`` are the labels less ``centre``, and less the
    offset where that is a shift of them."""

    prepared: Prepared
    path: Path
    start: Any
    centre: float
    loss: Loss
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None = None


class BlockLength:
    """How many iterations the next block should have, by the time that the last one took."""

    def __init__(self, problem: Problem) -> None:
        self._most = max(1, _BLOCK_ENTRIES // max(1, problem.most_columns()))
        self._wish = 1

    def next(self, left_to_do: int) -> int:
        return min(self._wish, self._most, left_to_do)

    def learn(self, n: int, seconds: float) -> None:
        """A block of n iterations took this long."""
        self._wish = max(1, min(4 * n, int(n * BLOCK_SECONDS / max(seconds, 1e-9))))


class Driver:
    """A fit under way: its runs, what was recorded of them, and who is told."""

    def __init__(
        self,
        problem: Problem,
        runs: Runs,
        callbacks: Iterable[Callback],
        settings: dict[str, Any],
        resume: RunState | None = None,
    ) -> None:
        self.problem = problem
        self.runs = runs
        self.callbacks: list[Callback] = list(callbacks)
        self.settings = settings
        """The parameters that the iterations follow."""
        self.resume = resume
        self.recorder = Recorder(problem.n_iter, runs)
        self.starts = [run.start for run in runs.runs]
        self.start: Any = np.mean(self.starts, axis=0)
        """Where the mean of the models starts from."""
        if problem.n_classes is None:
            self.start = float(self.start)
        self.events: list[str] = []
        """What changed on the way."""
        self.asked_to_stop = False
        self._in_block = False
        self._fingerprint = ""
        self._text: dict[str, str] | None = None
        self._begun = runs.engine if resume is None else resume.begun
        if resume is not None:
            self._go_on_from(resume)
        self._point = (self.recorder.done, self._generator())
        """The iteration that the run can go on from, and the state of its generator there."""

    def _go_on_from(self, state: RunState) -> None:
        self.recorder.restore(state.trace)
        self.recorder.engine = state.label
        self._text = state.settings
        self.runs.runs[0].rng.bit_generator.state = state.rng
        self.runs.restore(state.rows)
        self.runs.finished = state.finished

    def _generator(self) -> Any:
        return dict(self.runs.runs[0].rng.bit_generator.state)

    def go(self, rule: EarlyStopping | None) -> bool:
        """Run to the end, or until a rule or a callback ends it; whether Ctrl-C did, with something
        done."""
        try:
            with DeferredInterrupt() as interrupt, ExitStack() as stack:
                stack.callback(lambda: self.runs.__exit__())
                self.callbacks.append(lambda progress: interrupt.requested)
                self._go(rule or EarlyStopping(self.problem.n_iter + 1))
        except KeyboardInterrupt:  # the second one, or one that a callback raised
            self.recorder.done = self.recorder.settled or self.recorder.done
            if not self.recorder.done:
                raise
            return True
        if interrupt.requested and not self.recorder.done:
            raise KeyboardInterrupt
        return interrupt.requested

    def _go(self, rule: EarlyStopping) -> None:
        recorder, begun = self.recorder, working_seconds()
        begun -= recorder.seconds[recorder.done]
        length, stop = BlockLength(self.problem), False
        if self.resume is not None and (self.runs.finished or self._tell()):
            return
        with rule:
            rule.observe(recorder.validation_losses().tolist())
            trial = copy.copy(rule)
            while recorder.left_to_do and rule.stop_at is None and not (stop or self.runs.finished):
                n, block_begun = self._next(length, trial), working_seconds()
                self._in_block = True
                records = self.runs.go_on(n)
                now = working_seconds()
                seen = recorder.done + 1
                recorder.write(records, now - begun)
                length.learn(n, now - block_begun)
                ends = trial.observe(recorder.validation_losses(seen).tolist())
                settled = self.runs.settle(ends or not recorder.left_to_do)
                if settled is None:  # callbacks are told of losses that are not exact yet
                    stop = self._tell()
                    if not stop:
                        continue
                    settled = self.runs.settle(True)
                    assert settled is not None
                first = recorder.settled
                if settled.kept:
                    recorder.settle(settled.losses)
                else:
                    recorder.go_back()
                if settled.natural:
                    self._point = (recorder.done, self._generator())
                if self.runs.used_up is not None:
                    self._hand_over()
                stop = stop or self._tell()
                stop &= recorder.done > 0  # something is to be there
                rule.observe(recorder.validation_losses(first + 1).tolist())
                trial = copy.copy(rule)

    def _next(self, length: BlockLength, rule: EarlyStopping) -> int:
        """Iterations of the next block."""
        left = self.recorder.left_to_do
        if self.runs.longest is None:
            return length.next(left)
        return min(rule.next_block(self.runs.longest), left)

    def _hand_over(self) -> None:
        """Another engine goes on."""
        recorder, runs = self.recorder, self.runs
        told = f"{recorder.engine} until iteration {recorder.done}, where {runs.used_up}; "
        paths = [recorder.path_of(k) for k in range(recorder.n_runs)]
        self.runs = runs.successor(paths)
        runs.__exit__()
        recorder.weigh(self.runs)
        recorder.engine = told + f"{self.runs.engine} from there"
        self.events.append(recorder.engine)
        self._point = (recorder.done, self._generator())

    def _tell(self) -> bool:
        """Tell the callbacks where the runs stand; whether one of them asks to stop."""
        self._in_block = False
        progress = self.recorder.progress(self.snapshot, self.state)
        wishes = [callback(progress) for callback in self.callbacks]
        self.asked_to_stop = any(wishes)
        return self.asked_to_stop

    def state(self) -> RunState | None:
        """The state to go on from; None in the middle of a block, and of several runs."""
        if self._in_block or len(self.runs.runs) > 1:
            return None
        done, generator = self._point
        finished = self.runs.finished and done == self.recorder.done
        text = settings_of(**self.settings) if self._text is None else self._text
        return RunState(
            self.runs.engine, self._begun, self.recorder.engine, finished, self.fingerprint(),
            text, generator, self.runs.keep(), self.recorder.keep(done),
        )  # fmt: skip

    def fingerprint(self) -> str:
        """A digest of all that a state belongs to: data, loss, weak-learners."""
        if not self._fingerprint:
            self._fingerprint = fingerprint_of(self.problem)
        return self._fingerprint

    def snapshot(self) -> Snapshot:
        """The runs as far as they got."""
        problem = self.problem
        return Snapshot(
            problem.prepared, self.recorder.path(), self.start, problem.centre, problem.loss,
            problem.y, problem.weight, problem.offset,
        )  # fmt: skip

    def end(self) -> None:
        """The fit is over: let go of what the engine kept (Gram rows are large), which would wait
        for the garbage collector in a circle with the callbacks."""
        self.callbacks.clear()
        del self.runs


def fingerprint_of(problem: Problem) -> str:
    """A digest of data, loss and weak-learners."""
    layout, held, lasting = problem.prepared.layout, problem.held, problem.prepared.lasting
    null_held = with_offset(problem.start, problem.held_rows.offset)
    return fingerprint(
        lasting(problem.prepared.arrays), layout.offsets, layout.group_start, layout.members,
        problem.y, problem.weight, problem.null_score, problem.centre, problem.loss,
        None if held is None else (lasting(problem.held_arrays), held.y, held.weight), null_held,
    )  # fmt: skip


def enter_all(stack: ExitStack, listeners: Iterable[Callable[..., Any]]) -> None:
    """Enter the callbacks that are context managers."""
    for listener in listeners:
        if isinstance(listener, AbstractContextManager):
            stack.enter_context(listener)


class DeferredInterrupt:
    """Within this context the first Ctrl-C only sets ``requested``; the second one interrupts.

    A run that is asked to stop finishes its block (about 50 milliseconds) and keeps what it has.
    Python delivers Ctrl-C to the main thread; elsewhere, and where somebody else handles it, this
    does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None

    def __enter__(self) -> DeferredInterrupt:
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
