"""The direct engine: prepare, then run Algorithm 2 block by block."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._team import Team
from ..learners import LearnerFamily
from ..learners.base import Additive, Prepared
from ..losses import Loss
from ..model import Path
from ..selection import SelectionRule
from ..steps import StepRule
from .callbacks import Callback
from .loop import Record, Rule, Work, run_block
from .python_loss import run_block_with_python_loss
from .rows import Rows, make_rows, start_rows
from .trace import Recorder, Trace

_BLOCK_SECONDS = 0.05
"""How long a block should last: callbacks and Ctrl-C wait no longer than about that."""

_BLOCK_ENTRIES = 1 << 20
"""Most columns of J that are drawn ahead."""

_PARTIAL_BYTES = 64 << 20
"""Most memory for sums per chunk of rows; above it columns are searched whole."""

_ROW_CELLS = 5
"""What a row's new residual costs, in entries: 2 nanoseconds if the loss needs an exponential."""

_CELLS_PER_THREAD = 20_000
"""Entries of the data per iteration and thread (about 8 microseconds) that make a thread pay."""


@dataclass(frozen=True)
class Boosted:
    """The outcome of a run."""

    model: Additive
    trace: Trace
    prepared: Prepared


@dataclass(frozen=True)
class Validation:
    """Held-out rows whose loss is recorded in every iteration."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None

    @property
    def total_weight(self) -> float:
        return float(len(self.y)) if self.weight is None else float(self.weight.sum())


def boost(
    X: Any,
    y: NDArray[np.float64],
    *,
    loss: Loss,
    learner: LearnerFamily,
    selection: SelectionRule,
    step: StepRule,
    n_iter: int,
    learning_rate: float = 1.0,
    start_score: float | None = 0.0,
    groups: Any = None,
    names: Sequence[str] | None = None,
    weight: NDArray[np.float64] | None = None,
    validation: Validation | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
) -> Boosted:
    """Run Algorithm 2 (RGBM) with the direct engine.

    The estimators check their input and call this; call it directly to bring your own loop around
    it. X is a 2-D float array or a sparse matrix, y float labels that suit the loss, weights are
    not negative. ``start_score=None`` starts from the loss's best constant.
    """
    rho = step.constant(loss)
    loss.check_labels(y)
    if weight is not None and (weight == 0).any():  # such rows are not there
        kept = weight > 0
        X, y, weight, learner = X[kept], y[kept], weight[kept], learner.restricted_to(kept)
    prepared = learner.prepare(X, weight, groups=groups, names=names, n_jobs=n_jobs)
    size, of = selection.size(prepared.layout)
    start = loss.best_constant(y, weight) if start_score is None else float(start_score)
    rows = make_rows(y, weight, start)
    held, held_arrays = make_rows(np.empty(0), None, start), prepared.arrays
    if validation is not None:
        held = make_rows(validation.y, validation.weight, start)
        held_arrays = prepared.arrays_for(validation.X, n_jobs)
    run = _Run(
        prepared=prepared,
        loss=loss,
        selection=selection,
        rule=Rule(rho is None, rho or 0.0, learning_rate),
        rows=rows,
        held=held,
        held_arrays=held_arrays,
        rng=np.random.default_rng(random_state),
        recorder=Recorder(
            n_iter,
            prepared.layout.offsets,
            float(len(y)) if weight is None else float(weight.sum()),
            None if validation is None else validation.total_weight,
        ),
        team_size=team_size(n_jobs, prepared.cells * size / max(1, of) + _ROW_CELLS * len(y)),
    )
    run.go(tuple(callbacks))
    trace = run.recorder.trace()
    path = Path(trace.learner, trace.left, trace.right)
    return Boosted(prepared.model(path, start), trace, prepared)


def team_size(n_jobs: int, cells: float) -> int:
    """Threads that pay for this much work in an iteration."""
    return max(1, min(n_jobs, int(cells / _CELLS_PER_THREAD)))


@dataclass
class _Run:
    """One run of the loop: everything that lasts from block to block."""

    prepared: Prepared
    loss: Loss
    selection: SelectionRule
    rule: Rule
    rows: Rows
    held: Rows
    held_arrays: Any
    rng: np.random.Generator
    recorder: Recorder
    team_size: int

    def go(self, callbacks: Sequence[Callback]) -> None:
        compiled = self.loss.terms is not None
        block = run_block if compiled else run_block_with_python_loss
        terms = self.loss.terms if compiled else self.loss
        if compiled:
            start_rows(terms, self.rows)
            start_rows(terms, self.held)
        n_columns = self._most_columns()
        work = self._work(n_columns)
        recorder = self.recorder
        most = max(1, _BLOCK_ENTRIES // max(1, n_columns))
        n = 1
        begun = time.perf_counter()
        with Team(self.team_size if compiled else 1) as team:
            while recorder.left_to_do:
                n = min(n, most, recorder.left_to_do)
                block_begun = time.perf_counter()
                subsets = self.selection.subsets(self.prepared.layout, self.rng, n)
                learners, held_learners = self.prepared.arrays, self.held_arrays
                record = self._record(n)
                team.run(
                    block, learners, terms, self.rule, subsets, self.rows, held_learners,
                    self.held, record, work,
                )  # fmt: skip
                now = time.perf_counter()
                recorder.finish_block(
                    n, now - begun, self.rows.loss_sums.sum(), self.held.loss_sums.sum()
                )
                n = next_block(n, now - block_begun)
                wishes = [callback(recorder.progress()) for callback in callbacks]
                if any(wishes):
                    break

    def _most_columns(self) -> int:
        """The most columns that a subset J can have."""
        size, _ = self.selection.size(self.prepared.layout)
        sizes = np.diff(self.prepared.layout.group_start)
        if self.selection.type == 1:
            return min(size, len(self.prepared.layout.members))
        return int(np.sort(sizes)[::-1][:size].sum())

    def _work(self, n_columns: int) -> Work:
        n_chunks = len(self.rows.chunks) - 1
        most_bins = int(np.diff(self.prepared.layout.offsets).max(initial=0)) + 1
        by_rows = self.prepared.sums_by_rows and n_chunks > 1 and self.loss.terms is not None
        if 8 * n_chunks * n_columns * most_bins > _PARTIAL_BYTES:
            by_rows = False
        shape = (n_chunks, n_columns, most_bins) if by_rows else (0, 0, 0)
        return Work(
            partial=np.empty(shape),
            score=np.empty(n_columns),
            learner=np.empty(n_columns, np.int64),
            inner=np.empty(n_columns),
            search=np.empty((2, 2, n_chunks)),
        )

    def _record(self, n: int) -> Record:
        recorder = self.recorder
        now = slice(recorder.done, recorder.done + n)
        return Record(
            recorder.loss[now],
            recorder.held_loss[now],
            recorder.learner[now],
            recorder.left[now],
            recorder.right[now],
            recorder.gradient[now],
        )


def next_block(n: int, seconds: float) -> int:
    """How many iterations the next block should have, after n of them took this long."""
    return max(1, min(4 * n, int(n * _BLOCK_SECONDS / max(seconds, 1e-9))))
