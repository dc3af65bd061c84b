"""From the parameters of `boost` to a problem that an engine can run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners import LearnerFamily
from ..losses import Loss, Softmax
from ..selection import SelectionRule
from ..steps import LeafStep, StepRule
from .callbacks import Callback
from .problem import Problem, Validation
from .state import RunState
from .step_length import make_rule
from .trace import Recorder


def make_problem(
    X: Any,
    y: NDArray[np.float64],
    *,
    loss: Loss,
    learner: LearnerFamily,
    selection: SelectionRule,
    step: StepRule,
    n_iter: int,
    learning_rate: float,
    start_score: float | None,
    groups: Any,
    names: Sequence[str] | None,
    weight: NDArray[np.float64] | None,
    validation: Validation | None,
    random_state: int | np.random.Generator | None,
    n_jobs: int,
    callbacks: tuple[Callback, ...],
    resume: RunState | None = None,
) -> Problem:
    """Prepare the weak-learners on the rows; see `boost` for the parameters."""
    rule = make_rule(step, loss, learning_rate, len(y))
    loss.check_labels(y)
    if weight is not None and (weight == 0).any():  # such rows are not there
        kept = weight > 0
        X, y, weight, learner = X[kept], y[kept], weight[kept], learner.restricted_to(kept)
    if validation is not None:
        validation = validation.with_positive_weight()
    start = start_of(loss, y, weight, start_score)
    check_scale(loss, y, weight, start)
    prepared = learner.prepare(X, weight, groups=groups, names=names, n_jobs=n_jobs)
    if isinstance(loss, Softmax):
        if not prepared.free_leaves:
            raise ValueError(
                f"{loss!r} needs stumps with free leaves, without monotone constraints."
            )
    elif isinstance(step, LeafStep) and not prepared.free_leaves:
        raise ValueError(
            f"step={step!r} needs stumps with free leaves, without monotone constraints."
        )
    selection.size(prepared.layout)  # an impossible t raises here
    held_arrays = prepared.arrays
    if validation is not None:
        held_arrays = prepared.arrays_for(validation.X, n_jobs)
    problem = Problem(
        prepared=prepared,
        y=y,
        weight=weight,
        start=start,
        loss=loss,
        selection=selection,
        rule=rule,
        held=validation,
        held_arrays=held_arrays,
        rng=np.random.default_rng(random_state),
        recorder=Recorder(
            n_iter,
            prepared.layout.offsets,
            total_weight(y, weight),
            None if validation is None else total_weight(validation.y, validation.weight),
            prepared.set_bytes,
            loss.n_classes if isinstance(loss, Softmax) else None,
        ),
        n_jobs=n_jobs,
        callbacks=callbacks,
        resume=resume,
    )
    if resume is not None and resume.fingerprint != problem.fingerprint():
        raise ValueError(
            "The run to go on with had other data, another loss or other weak-learners; "
            "give those of that run, or begin anew."
        )
    return problem


def start_of(
    loss: Loss,
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    start_score: float | None,
) -> Any:
    """The score of the null model, with several classes one for each; infinite where sums
    overflow."""
    if start_score is None:
        with np.errstate(over="ignore", invalid="ignore"):
            return loss.best_constant(y, weight)
    if isinstance(loss, Softmax):
        return np.full(loss.n_classes, float(start_score))
    return float(start_score)


def check_scale(
    loss: Loss, y: NDArray[np.float64], weight: NDArray[np.float64] | None, start: Any
) -> None:
    """Weak-learners are compared by squares of sums of residuals: raise if these overflow."""
    with np.errstate(all="ignore"):
        labels = np.arange(float(loss.n_classes)) if isinstance(loss, Softmax) else y
        score = np.full((len(labels), *np.shape(start)), start)
        total = total_weight(y, weight)
        worst = float(np.abs(loss.residual(labels, score)).max(initial=0.0))
        most = float(np.abs(loss.value(labels, score)).max(initial=0.0))
        fine = np.isfinite([np.sum(start), total * total * worst * worst, total * most]).all()
    if not fine:
        raise ValueError(
            f"y (up to {np.abs(y).max():g} in magnitude) and the weights (in sum {total:g}) are "
            f"too large for {loss!r}: sums of squares overflow. Scale them down."
        )


def total_weight(y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    return float(len(y)) if weight is None else float(weight.sum())
