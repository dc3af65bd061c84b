"""From the parameters of `boost` to a problem that an engine can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.direct.few_rows_loop import few_rows_rule
from ..engines.problem import (
    Problem,
    RowSet,
    Validation,
    rows_of,
    start_of,
    total_weight,
    with_offset,
)
from ..learners import LearnerFamily
from ..learners.base import Prepared
from ..losses import Loss
from ..selection import SelectionRule
from ..statistics.base import Facts, Source, labels_less
from ..steps import LeafStep, NewtonGain, StepRule, check_step_of_classes, make_rule


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
    gram_memory: int,
    offset: NDArray[np.float64] | None = None,
    fold: Any = None,
    tol: float = 0.0,
    prepared: Prepared | None = None,
) -> Problem:
    """Prepare the weak-learners on the rows; see `boost` for the parameters."""
    if loss.outputs > 1:
        check_step_of_classes(step)
    rule = make_rule(step, loss, learning_rate, len(y))
    if weight is not None and (weight == 0).any():  # such rows are not there
        kept = weight > 0
        X, y, weight, learner = X[kept], y[kept], weight[kept], learner.restricted_to(kept)
        offset, fold = rows_of(offset, kept), None if fold is None else fold[kept]
    loss.check_labels(y)
    if validation is not None:
        validation = validation.with_positive_weight()
    centre = 0.0
    if loss.translation_invariant:  # an offset is a shift of the labels
        y, offset = y if offset is None else y - offset, None
        validation = None if validation is None else validation.shifted()
        if start_score is None:
            y, validation, centre = centred(y, validation)
    start = start_of(loss, RowSet(y, weight, offset), start_score)
    check_scale(loss, y, weight, start, offset)
    if validation is not None:
        check_held_scale(loss, validation, start)
    if prepared is None:
        prepared = learner.prepare(X, weight, groups=groups, names=names, n_jobs=n_jobs)
    if not prepared.free_leaves and (loss.outputs > 1 or isinstance(step, LeafStep)):
        what = f"{loss!r}" if loss.outputs > 1 else f"step={step!r}"
        raise ValueError(f"{what} needs stumps with free leaves, without monotone constraints.")
    obstacle = prepared.selection_obstacle(selection)
    if obstacle is not None:
        raise ValueError(f"selection={selection!r} cannot be had: {obstacle}.")
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
        step=step,
        rule=rule,
        learning_rate=learning_rate,
        held=validation,
        held_arrays=held_arrays,
        random_state=random_state,
        n_iter=n_iter,
        n_jobs=n_jobs,
        gram_memory=gram_memory,
        offset=offset,
        centre=centre,
        best_start=start_score is None,
        fold=fold,
        tol=tol,
    )
    if isinstance(step, NewtonGain):
        problem.rule = few_rows_rule(problem)
    return problem


def problem_of_source(
    source: Source,
    X: Any,
    y: Any,
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
    weight: Any,
    offset: Any,
    validation: Any,
    fold: Any,
    random_state: Any,
    n_jobs: int,
    gram_memory: int,
    tol: float,
    prepared: Prepared | None = None,
) -> Problem:
    """The problem of rows that are elsewhere."""
    if any(given is not None for given in (X, y, weight, offset, validation)):
        raise ValueError(
            "statistics have the rows: give None for X and y, and no weight, offset or validation."
        )
    facts = source.cuts(loss.labels_are_classes)
    loss.check_labels(facts.labels)
    if prepared is None:
        of_all: Any = {} if facts.counted is None else {"counted": facts.counted}
        prepared = learner.prepare(
            facts.X, facts.weight, groups=groups, names=names, n_jobs=n_jobs, **of_all
        )
    selection.size(prepared.layout)
    shifts, centre = loss.translation_invariant, 0.0
    if shifts and start_score is None:
        y, _ = labels_less(facts.y, facts.offset, 0.0, shifts)
        centre = middle_of(y)
    start = start_of_source(facts, loss, start_score)
    if shifts:
        y, _ = labels_less(facts.y, facts.offset, centre, shifts)
        share = facts.n_rows / len(y)
        weight = np.full(len(y), share) if facts.weight is None else share * facts.weight
        check_scale(loss, y, weight, 0.0 if start is None else start)
    return Problem(
        prepared=prepared,
        y=np.empty(0),
        weight=None,
        start=start,
        loss=loss,
        selection=selection,
        step=step,
        rule=make_rule(step, loss, learning_rate, 0),
        learning_rate=learning_rate,
        held=None,
        held_arrays=prepared.arrays,
        random_state=random_state,
        n_iter=n_iter,
        n_jobs=n_jobs,
        gram_memory=gram_memory,
        centre=centre,
        best_start=start_score is None,
        tol=tol,
        source=source,
        facts=facts,
        n_folds=fold or 1,
    )


def start_of_source(facts: Facts, loss: Loss, start_score: float | None) -> Any:
    """Where runs on the rows of a source start from; None: that is for them to find out.

    Several classes with offsets start from what is best for the rows that are known.
    """
    known = RowSet(facts.labels, facts.label_weights, None)
    if start_score is not None:
        return start_of(loss, known, start_score)
    if not loss.labels_are_classes:
        return None
    if facts.offset is None:
        return start_of(loss, known, None)
    several = loss.outputs > 1
    return loss.best_constant(facts.y, facts.weight, offset=facts.offset) if several else None


def centred(
    y: NDArray[np.float64], validation: Validation | None
) -> tuple[NDArray[np.float64], Validation | None, float]:
    """Labels less one in their middle, and that one: differences of neighbours are exact."""
    centre = middle_of(y)
    with np.errstate(over="ignore"):
        if validation is not None:
            validation = replace(validation, y=validation.y - centre)
        return y - centre, validation, centre


def middle_of(y: NDArray[np.float64]) -> float:
    return float(np.partition(y, len(y) // 2)[len(y) // 2])


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
    if loss.outputs > 1 and offset is None:
        y = np.arange(float(loss.outputs))
    score = np.full((len(y), *np.shape(start)), with_offset(start, offset))
    with np.errstate(all="ignore"):
        residual = np.abs(loss.residual(y, score)).max(initial=0.0)
        return float(residual), float(np.abs(loss.value(y, score)).max(initial=0.0))
