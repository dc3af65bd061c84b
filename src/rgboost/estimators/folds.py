"""Cross-validation of the number of iterations for the estimators."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from .._validation import check_count, check_option
from ..boosting.cross_validation import cross_validate
from .holdout import StoppingPlan, TrainingRows, count_rarest

MOST_ITERATIONS = 20_000
"""Of fits that stop by themselves, and of cross-validation."""

FEW_ROWS = 30
FEW_ITERATIONS = 100
"""Fewer rows than that are not shared out among folds: so many iterations."""


def resolve_max_iter(
    max_iter: Any, rows: TrainingRows, holds_out: bool, cv: Any, stratified: bool
) -> int | None:
    """A number of iterations, or None if cross-validation is to choose it."""
    if type(max_iter) is not str:
        return check_count(max_iter, "max_iter", at_least=1)
    if check_option(max_iter, "max_iter", ["auto", "cv"]) == "cv":
        return None
    if holds_out or rows.validation is not None:
        return MOST_ITERATIONS
    enough = not isinstance(cv, numbers.Integral) or count_rarest(rows, stratified) >= cv
    return None if enough and len(rows.present) >= FEW_ROWS else FEW_ITERATIONS


def losses_of_folds(
    rows: TrainingRows,
    cv: Any,
    stratified: bool,
    plan: StoppingPlan,
    seed: int,
    settings: dict[str, Any],
) -> tuple[NDArray[np.float64], bool]:
    """Mean losses of held-out rows after 0, 1, ... iterations; whether from statistics."""
    if rows.validation is not None:
        raise ValueError(
            "max_iter='cv' chooses the number of iterations without validation rows; "
            "leave out X_val and y_val, or give max_iter as a number."
        )
    fold = assign_folds(rows, cv, stratified, seed)
    X, y, weight = rows.X, rows.y, rows.weight
    if weight is not None:
        present = weight > 0
        X, y, weight, fold = X[present], y[present], weight[present], fold[present]
        settings = {**settings, "learner": settings["learner"].restricted_to(present)}
    return cross_validate(
        X,
        y,
        np.unique(fold, return_inverse=True)[1],
        n_iter=MOST_ITERATIONS,
        rule=plan.make_rule(),
        weight=weight,
        **settings,
    )


def assign_folds(rows: TrainingRows, cv: Any, stratified: bool, seed: int) -> NDArray[np.int64]:
    """The number of each row's fold; -1 where a row has no weight and no fold."""
    if not isinstance(cv, numbers.Integral):
        return _folds_of_splits(cv, rows.y)
    n_folds = check_count(cv, "cv", at_least=2)
    rarest = count_rarest(rows, stratified)
    if n_folds > rarest:
        what = "rows of the rarest class" if stratified else "rows"
        raise ValueError(f"cv={n_folds} is impossible: there are only {rarest} {what}.")
    kind = StratifiedKFold if stratified else KFold
    present = rows.present
    fold = np.full(len(rows.y), -1, dtype=np.int64)
    y = rows.y[present]
    split = kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for k, (_, held) in enumerate(split):
        fold[present[held]] = k
    return fold


def _folds_of_splits(cv: Any, y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Folds from a splitter of scikit-learn, or from pairs of training and test rows."""
    times, fold = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    n_folds = 0
    for train, held in check_cv(cv).split(np.zeros(len(y)), y):
        times[held] += 1
        fold[held] = n_folds
        n_folds += 1
        times[held] += np.isin(held, train)  # held out and trained on
    if n_folds < 2 or (times != 1).any():
        raise ValueError(
            "cv must hold out every row exactly once, in at least two folds; "
            "use a number of folds, KFold, GroupKFold or the like."
        )
    return fold
