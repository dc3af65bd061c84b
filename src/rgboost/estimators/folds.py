"""Cross-validation of the number of iterations for the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from .._validation import check_count, check_option
from ..boosting.cross_validation import cross_validated_losses
from .holdout import StoppingPlan, TrainingRows, count_rarest

MOST_ITERATIONS = 20_000
"""Of fits that stop by themselves, and of cross-validation."""

FEW_ROWS = 100
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
    enough = count_rarest(rows, stratified) >= check_count(cv, "cv", at_least=2)
    return None if enough and len(rows.present) >= FEW_ROWS else FEW_ITERATIONS


def losses_of_folds(
    rows: TrainingRows,
    cv: Any,
    stratified: bool,
    plan: StoppingPlan,
    seed: int,
    settings: dict[str, Any],
) -> NDArray[np.float64]:
    """Mean losses of held-out rows after 0, 1, ... iterations."""
    if rows.validation is not None:
        raise ValueError(
            "max_iter='cv' chooses the number of iterations without validation rows; "
            "leave out X_val and y_val, or give max_iter as a number."
        )
    X, y, weight = rows.X, rows.y, rows.weight
    if weight is not None:
        present = weight > 0
        X, y, weight = X[present], y[present], weight[present]
        settings = {**settings, "learner": settings["learner"].restricted_to(present)}
    return cross_validated_losses(
        X,
        y,
        assign_folds(y, cv, stratified, seed),
        n_iter=MOST_ITERATIONS,
        rule=plan.make_rule(),
        weight=weight,
        **settings,
    )


def assign_folds(y: NDArray[np.float64], cv: Any, stratified: bool, seed: int) -> NDArray[np.int64]:
    """The number of each row's fold, at random; of each class about as many in every fold."""
    n_folds = check_count(cv, "cv", at_least=2)
    rarest = int(np.unique(y, return_counts=True)[1].min()) if stratified else len(y)
    if n_folds > rarest:
        what = "rows of the rarest class" if stratified else "rows"
        raise ValueError(f"cv={n_folds} is impossible: there are only {rarest} {what}.")
    kind = StratifiedKFold if stratified else KFold
    fold = np.empty(len(y), dtype=np.int64)
    split = kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for k, (_, held) in enumerate(split):
        fold[held] = k
    return fold
