"""One run of boosting before it starts: everything that an engine needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners.base import Prepared
from ..losses import Loss
from ..model import Path
from ..selection import SelectionRule
from .callbacks import Callback
from .trace import Recorder


@dataclass(frozen=True)
class Validation:
    """Held-out rows whose loss is recorded in every iteration."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Snapshot:
    """A run as far as it got, for callbacks that want the model of the moment:
    ``prepared.model(path, start)``."""

    prepared: Prepared
    path: Path
    start: Any
    loss: Loss
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None


@dataclass
class Problem:
    """Prepared weak-learners, labels, rules, and the trace to write to.

    ``start`` is the constant score of the null model (one for each of several classes). ``held``
    are the validation rows, with ``held_arrays`` the weak-learners on them.
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

    def most_columns(self) -> int:
        """The most columns that a subset J can have."""
        layout = self.prepared.layout
        size, _ = self.selection.size(layout)
        if self.selection.type == 1:
            return min(size, len(layout.members))
        sizes = np.diff(layout.group_start)
        return int(np.sort(sizes)[::-1][:size].sum())

    def cells_per_iteration(self) -> float:
        """Entries of the data that the search of an average iteration reads."""
        size, of = self.selection.size(self.prepared.layout)
        if self.selection.type == 1:
            size, of = (
                min(size, len(self.prepared.layout.members)),
                len(self.prepared.layout.members),
            )
        return self.prepared.cells * size / max(1, of)

    def wants_to_stop(self) -> bool:
        """Tell the callbacks where the run stands; whether one of them asks to stop."""
        wishes = [callback(self.recorder.progress(self.snapshot)) for callback in self.callbacks]
        return any(wishes)

    def snapshot(self) -> Snapshot:
        """The run as far as it got."""
        recorder, n = self.recorder, self.recorder.done
        path = Path(
            recorder.learner[:n].copy(), recorder.left[:n].copy(), recorder.right[:n].copy()
        )
        return Snapshot(self.prepared, path, self.start, self.loss, self.y, self.weight)


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
