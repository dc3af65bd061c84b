"""The mean of k models, each fitted without one fold of the rows.

The mean of additive models is an additive model: on the same bins it is the sum of all their
weak-learners, each divided by k. Its variance is smaller than that of one model, and every row was
trained on by k - 1 runs, although every run had rows to tell where to stop. (Explainable Boosting
Machines average bags in the same way; Breiman, "Bagging predictors", 1996.)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.loading import working_seconds
from ..engines.direct.row_runs import RowRuns
from ..engines.gram.folds import FoldRuns, make_folds
from ..engines.record import Record
from .boost import Boosted, enter_all, interruptible, outcome
from .callbacks import Callback
from .stopping import EarlyStopping
from .trace import Recorder

Vector = NDArray[np.float64]
Runs = FoldRuns | RowRuns


def boost_mean(
    X: Any,
    y: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    n_iter: int,
    rule: EarlyStopping,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> Boosted | None:
    """k runs in turn, and the mean of their models; None where `make_folds` cannot have them.

    The runs end after ``n_iter`` iterations each, or when ``rule`` holds for the mean loss of the
    rows that they do not see; the model is the mean of theirs after as many iterations as have the
    smallest such loss. Iterations are rounds, of one iteration of every run, and the path has k
    entries for each. Losses of the trace are means over the runs: of the rows that a run is fitted
    to, and, as validation loss, of those that it is not.
    """
    with ExitStack() as stack:
        enter_all(stack, callbacks)
        runs = make_folds(X, y, fold, n_iter=n_iter, callbacks=tuple(callbacks), **settings)
        return None if runs is None else mean_of_runs(runs, n_iter, rule)


def mean_of_runs(runs: Runs, n_iter: int, rule: EarlyStopping) -> Boosted | None:
    """Let the runs go on to their end; None if Gram rows do not fit."""
    problem = runs.problem
    with runs:
        start = np.mean([one.start for one in runs.folds], axis=0)
        problem.start = float(start) if runs.n_classes is None else start
        problem.recorder = mean_recorder(runs, n_iter)
        fits: list[bool] = []
        begun = working_seconds()
        interrupted = interruptible(problem, lambda: fits.append(run_folds(runs, rule, begun)))
    problem.end()
    if fits == [False]:
        if interrupted:
            raise KeyboardInterrupt
        return None
    return outcome(problem, rule.stop_at, interrupted)


def mean_recorder(runs: Runs, n_iter: int) -> Recorder:
    """Room for ``n_iter`` iterations of every run."""
    prepared, n_folds, mass = runs.problem.prepared, len(runs.folds), runs.held_mass
    recorder = Recorder(
        n_iter, prepared.layout.offsets, mass, mass, prepared.set_bytes, runs.n_classes, n_folds
    )
    recorder.engine = f"{runs.engine}: the mean of {n_folds} runs"
    return recorder


def run_folds(runs: Runs, rule: EarlyStopping, begun: float) -> bool:
    """Run until the rule holds or a callback wants to stop; False if Gram rows do not fit.

    Seconds count from ``begun``.
    """
    problem, recorder = runs.problem, runs.problem.recorder
    with rule:
        rule.observe([sum(one.held_loss for one in runs.folds) / runs.held_mass])
        while recorder.left_to_do and rule.stop_at is None:
            records = runs.go_on(min(rule.next_block(runs.chunk), recorder.left_to_do))
            if records is None:
                return False
            rule.observe(record_block(runs, records, begun).tolist())
            runs.wants_to_stop = problem.wants_to_stop()
            if runs.wants_to_stop:
                break
    return True


def record_block(runs: Runs, records: list[Record], begun: float) -> Vector:
    """Write down what all runs did; the mean losses of rows that are held out after each of the
    iterations."""
    recorder, n = runs.problem.recorder, len(records[0].learner)
    recorder.make_room(n)
    _write_choices(recorder, records)
    masses: list[float] = [one.mass for one in runs.folds]
    losses = [record.loss / mass for record, mass in zip(records, masses, strict=True)]
    held = np.sum([record.held_loss for record in records], axis=0) / runs.held_mass
    end = recorder.done + n
    recorder.loss[recorder.done : end + 1] = np.mean(losses, axis=0) * recorder.weight
    recorder.held_loss[recorder.done : end + 1] = held * recorder.weight
    seconds = working_seconds() - begun
    recorder.finish_block(n, seconds, recorder.loss[end], recorder.held_loss[end])
    return held[1:]


def _write_choices(recorder: Recorder, records: list[Record]) -> None:
    """The next iterations of all runs in turn, each with its share of the mean."""
    n_folds = len(records)
    now = slice(n_folds * recorder.done, n_folds * (recorder.done + len(records[0].learner)))
    for k, one in enumerate(records):
        recorder.learner[now][k::n_folds] = one.learner
        recorder.left[now][k::n_folds] = one.left / n_folds
        recorder.right[now][k::n_folds] = one.right / n_folds
        recorder.gradient[now][k::n_folds] = one.gradient
        recorder.sets[now][k::n_folds] = one.sets
