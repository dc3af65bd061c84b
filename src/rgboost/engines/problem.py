"""One run of boosting before it starts: everything that an engine needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from ..learners.base import Prepared
from ..losses import Loss
from ..model import Path
from ..selection import SelectionRule
from ..training.callbacks import Callback
from ..training.state import Arrays, RunState, fingerprint
from ..training.trace import Recorder


@one_line
@dataclass(frozen=True)
class Validation:
    """Held-out rows whose loss is recorded in every iteration."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    offset: NDArray[np.float64] | None = None
    """A known part of the score of every row; see `rgboost.training.boost`."""

    def with_positive_weight(self) -> Validation:
        """Without the rows that have no weight."""
        if self.weight is None or (self.weight > 0).all():
            return self
        kept = self.weight > 0
        return Validation(self.X[kept], self.y[kept], self.weight[kept], rows_of(self.offset, kept))

    def shifted(self) -> Validation:
        """The offset as a shift of the labels."""
        return self if self.offset is None else replace(self, y=self.y - self.offset, offset=None)


def rows_of(values: NDArray[np.float64] | None, rows: NDArray) -> NDArray[np.float64] | None:
    """Weights or offsets of some rows; None stays None."""
    return None if values is None else values[rows]


def with_offset(start: Any, offset: NDArray[np.float64] | None) -> Any:
    """The scores of the rows at the null model; ``start`` itself if all have the same."""
    return start if offset is None else start + offset


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


@dataclass
class Problem:
    """Prepared weak-learners, labels, rules, and the trace to write to.

    ``start`` is the constant score of the null model (one for each of several classes), to which
    the ``offset`` of a row is added. ``held`` are the validation rows, with ``held_arrays`` the
    weak-learners on them. Labels and scores are counted from ``centre``: sums of labels that are
    far from zero would lose what tells them apart.
    """

    prepared: Prepared
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    start: Any
    loss: Loss
    selection: SelectionRule
    rule: Any
    held: Validation | None
    held_arrays: Any
    rng: np.random.Generator
    recorder: Recorder
    n_jobs: int
    callbacks: tuple[Callback, ...]
    settings: dict[str, str] = field(default_factory=dict)
    """The parameters that the iterations follow; see `rgboost.training.state.settings_of`."""
    offset: NDArray[np.float64] | None = None
    resume: RunState | None = None
    """The state to go on from."""
    centre: float = 0.0
    running: str = "direct"
    """The engine that is at work."""
    finished: bool = False
    """Whether the engine came to an end by itself."""
    asked_to_stop: bool = False
    """Whether a callback asks to stop."""

    def __post_init__(self) -> None:
        self._in_block = False
        self._mark: tuple[int, Any] = (0, self._rng_state())
        self._keep: Callable[[], tuple[int, Arrays]] | None = None
        self._fingerprint = ""
        if self.resume is not None:
            self.recorder.restore(self.resume.trace)
            self.recorder.engine = self.resume.label
            self.settings = self.resume.settings
            self.rng.bit_generator.state = self.resume.rng

    @property
    def null_score(self) -> Any:
        """The scores of the rows at the null model; one number if all have the same."""
        return with_offset(self.start, self.offset)

    @property
    def null_score_held(self) -> Any:
        """The same of the validation rows."""
        return self.start if self.held is None else with_offset(self.start, self.held.offset)

    def _rng_state(self) -> dict[str, Any]:
        return dict(self.rng.bit_generator.state)

    def begin(self, engine: str, keep: Callable[[], tuple[int, Arrays]]) -> None:
        """An engine begins; ``keep`` gives (iterations done, what it needs to go on from there),
        between blocks."""
        self.running, self._keep = engine, keep

    def end(self) -> None:
        """The run is over: let go of what the engine kept (Gram rows are large), which would wait
        for the garbage collector in a circle with this problem."""
        self._keep = None
        self.callbacks = ()

    def rows_to_resume(self, engine: str) -> Arrays | None:
        """What an engine kept in the run before; None if it begins."""
        if self.resume is None or self.resume.engine != engine:
            return None
        return self.resume.rows

    def begin_block(self) -> None:
        """Before subsets are drawn for a block."""
        self._in_block = True
        self._mark = (self.recorder.done, self._rng_state())

    def rewind(self, n: int) -> None:
        """Only n iterations of the block were done: as if no more subsets had been drawn."""
        self.rng.bit_generator.state = self._mark[1]
        self.selection.subsets(self.prepared.layout, self.rng, n)

    def state(self) -> RunState | None:
        """The state to go on from; None in the middle of a block."""
        if self._keep is None:
            return self.resume
        if self._in_block:
            return None
        done, rows = self._keep()
        rng = self._mark[1] if done == self._mark[0] else self._rng_state()
        return RunState(
            self.running, self.recorder.engine, self.finished, self.fingerprint(), self.settings,
            rng, rows, self.recorder.keep(done),
        )  # fmt: skip

    def fingerprint(self) -> str:
        """A digest of all that a state belongs to: data, loss, weak-learners."""
        if not self._fingerprint:
            layout, held, lasting = self.prepared.layout, self.held, self.prepared.lasting
            self._fingerprint = fingerprint(
                lasting(self.prepared.arrays), layout.offsets, layout.group_start, layout.members,
                self.y, self.weight, self.null_score, self.centre, self.loss,
                None if held is None else (lasting(self.held_arrays), held.y, held.weight),
                self.null_score_held,
            )  # fmt: skip
        return self._fingerprint

    def most_columns(self) -> int:
        """The most columns that a subset J can have."""
        layout = self.prepared.layout
        size, _ = self.selection.size(layout)
        if self.selection.by_learner:
            return min(size, len(layout.members))
        sizes = np.diff(layout.group_start)
        return int(np.sort(sizes)[::-1][:size].sum())

    def cells_per_iteration(self) -> float:
        """Entries of the data that the search of an average iteration reads."""
        size, of = self.selection.size(self.prepared.layout)
        if self.selection.by_learner:
            size, of = (
                min(size, len(self.prepared.layout.members)),
                len(self.prepared.layout.members),
            )
        return self.prepared.cells * size / max(1, of)

    def wants_to_stop(self) -> bool:
        """Tell the callbacks where the run stands; whether one of them asks to stop."""
        self._in_block = False
        progress = self.recorder.progress(self.snapshot, self.state)
        wishes = [callback(progress) for callback in self.callbacks]
        self.asked_to_stop = any(wishes)
        return self.asked_to_stop

    def snapshot(self) -> Snapshot:
        """The run as far as it got."""
        recorder, n = self.recorder, self.recorder.n_runs * self.recorder.done
        path = Path(
            recorder.learner[:n].copy(),
            recorder.left[:n].copy(),
            recorder.right[:n].copy(),
            recorder.sets[:n].copy() if self.prepared.set_bytes else None,
        )
        return Snapshot(
            self.prepared,
            path,
            self.start,
            self.centre,
            self.loss,
            self.y,
            self.weight,
            self.offset,
        )


BLOCK_SECONDS = 0.05
"""How long a block should last: callbacks and Ctrl-C wait no longer than about that."""

_BLOCK_ENTRIES = 1 << 20
"""Most columns of J that are drawn ahead."""


class BlockLength:
    """How many iterations the next block should have."""

    def __init__(self, problem: Problem) -> None:
        self._most = max(1, _BLOCK_ENTRIES // max(1, problem.most_columns()))
        self._wish = 1

    def next(self, left_to_do: int) -> int:
        return min(self._wish, self._most, left_to_do)

    def learn(self, n: int, seconds: float) -> None:
        """A block of n iterations took this long."""
        self._wish = max(1, min(4 * n, int(n * BLOCK_SECONDS / max(seconds, 1e-9))))
