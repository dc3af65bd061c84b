"""From the parameters of `boost` to a problem that an engine can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.direct.step_length import make_rule
from ..engines.problem import Problem, Validation, rows_of, with_offset
from ..learners import LearnerFamily
from ..losses import Loss, Softmax
from ..selection import SelectionRule
from ..steps import LeafStep, StepRule
from .callbacks import Callback
from .state import RunState, check_settings, settings_of
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
    offset: NDArray[np.float64] | None = None,
    resume: RunState | None = None,
) -> Problem:
    """Prepare the weak-learners on the rows; see `boost` for the parameters."""
    rule = make_rule(step, loss, learning_rate, len(y))
    settings = settings_of(
        learning_rate=learning_rate, step=step, selection=selection, random_state=random_state
    )
    if resume is not None:
        check_settings(resume, settings)
    if weight is not None and (weight == 0).any():  # such rows are not there
        kept = weight > 0
        X, y, weight, learner = X[kept], y[kept], weight[kept], learner.restricted_to(kept)
        offset = rows_of(offset, kept)
    loss.check_labels(y)
    if validation is not None:
        validation = validation.with_positive_weight()
    centre = 0.0
    if loss.translation_invariant:  # an offset is a shift of the labels
        y, offset = y if offset is None else y - offset, None
        validation = None if validation is None else validation.shifted()
        if start_score is None:
            y, validation, centre = centred(y, validation)
    start = start_of(loss, y, weight, start_score, offset)
    check_scale(loss, y, weight, start, offset)
    if validation is not None:
        check_held_scale(loss, validation, start)
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
        centre=centre,
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
        settings=settings,
        offset=offset,
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
    offset: NDArray[np.float64] | None = None,
) -> Any:
    """The score of the null model, with several classes one for each; infinite where sums
    overflow."""
    if start_score is None:
        beside = {} if offset is None else {"offset": offset}
        with np.errstate(over="ignore", invalid="ignore"):
            return loss.best_constant(y, weight, **beside)
    if isinstance(loss, Softmax):
        return np.full(loss.n_classes, float(start_score))
    return float(start_score)


def centred(
    y: NDArray[np.float64], validation: Validation | None
) -> tuple[NDArray[np.float64], Validation | None, float]:
    """Labels less one in their middle, and that one: differences of neighbours are exact."""
    centre = float(np.partition(y, len(y) // 2)[len(y) // 2])
    with np.errstate(over="ignore"):
        if validation is not None:
            validation = replace(validation, y=validation.y - centre)
        return y - centre, validation, centre


_LEAST_SQUARE = float(np.finfo(float).tiny / np.finfo(float).eps ** 2)
"""Of the largest sum of residuals: one of 1e-16 of it still has a square of full precision."""


def check_scale(
    loss: Loss,
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    start: Any,
    offset: NDArray[np.float64] | None = None,
) -> None:
    """Weak-learners are compared by squares of sums of residuals: raise if these overflow, or
    vanish although residuals do not."""
    total = total_weight(y, weight)
    residual, value = _largest_at(start, loss, y, offset)
    with np.errstate(all="ignore"):
        square = np.square(total * residual)
        finite = np.isfinite([np.sum(start), square, total * value]).all()
    if finite and (residual == 0.0 or square >= _LEAST_SQUARE):
        return
    much, happens, way = ("small", "vanish", "up") if finite else ("large", "overflow", "down")
    beside = "" if offset is None else f", the offsets (up to {np.abs(offset).max():g})"
    raise ValueError(
        f"y (up to {np.abs(y).max():g} in magnitude){beside} and the weights (in sum {total:g}) "
        f"are too {much} for {loss!r}: sums of squares {happens}. Scale them {way}."
    )


def check_held_scale(loss: Loss, held: Validation, start: Any) -> None:
    """The same for validation rows, which only have losses."""
    _, value = _largest_at(start, loss, held.y, held.offset)
    with np.errstate(all="ignore"):
        total = total_weight(held.y, held.weight) * np.float64(value)
    if not np.isfinite(total):
        raise ValueError(
            f"y_val, or what is held out of y, (up to {np.abs(held.y).max():g} in magnitude) is "
            f"too large for {loss!r}: sums of losses overflow. Scale y and y_val down."
        )


def _largest_at(
    start: Any, loss: Loss, y: NDArray[np.float64], offset: NDArray[np.float64] | None
) -> tuple[float, float]:
    """The largest residual and the largest loss of a row at the null model."""
    if isinstance(loss, Softmax) and offset is None:
        y = np.arange(float(loss.n_classes))
    score = np.full((len(y), *np.shape(start)), with_offset(start, offset))
    with np.errstate(all="ignore"):
        residual = np.abs(loss.residual(y, score)).max(initial=0.0)
        return float(residual), float(np.abs(loss.value(y, score)).max(initial=0.0))


def total_weight(y: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    return float(len(y)) if weight is None else float(weight.sum())
