"""The folds of cross-validation for the estimators."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from .._core.validation import check_count
from .holdout import TrainingRows, count_rarest


def assign_folds(rows: TrainingRows, cv: Any, seed: int) -> NDArray[np.int64]:
    """The number of each row's fold; -1 where a row has no weight and no fold."""
    if not isinstance(cv, numbers.Integral):
        return _folds_of_splits(cv, rows.y, rows.groups)
    n_folds = check_count(cv, "cv", at_least=2)
    rarest, stratified = count_rarest(rows), rows.stratified
    if n_folds > rarest:
        what = "rows of the rarest class" if stratified else "rows"
        raise ValueError(f"cv={n_folds} is impossible: there are only {rarest} {what}.")
    present = rows.present
    fold = np.full(len(rows.y), -1, dtype=np.int64)
    y = rows.y[present]
    if rows.groups is None:
        kind, groups = StratifiedKFold if stratified else KFold, None
    else:
        kind, groups = StratifiedGroupKFold if stratified else GroupKFold, rows.groups[present]
        if n_folds > rows.n_groups:
            raise ValueError(f"cv={n_folds} is impossible: there are only {rows.n_groups} groups.")
    split = kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y, groups)
    for k, (_, held) in enumerate(split):
        fold[present[held]] = k
    return fold


def check_folds(fold: NDArray[np.int64], label: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """Folds of rows that have a weight, numbered 0, 1, ...; or an error if there is only one, or if
    all rows of a class are in one: who does not see it cannot learn it."""
    fold = (np.cumsum(np.bincount(fold) > 0) - 1)[fold]
    if fold.max() < 1:
        raise ValueError(
            "cv has all rows with a positive sample_weight in one fold; use folds that have "
            "such rows in at least two."
        )
    if label is None:
        return fold
    labels = label.astype(np.int64)
    count = np.zeros((int(fold.max()) + 1, int(labels.max()) + 1), np.int64)
    np.add.at(count, (fold, labels), 1)
    alone = (count == count.sum(axis=0)).any(axis=0) & (count.sum(axis=0) > 0)
    if alone.any():
        raise ValueError(
            f"all rows of the class number {np.argmax(alone)} (from 0, as in classes_) are in one "
            "fold of cv; use folds that share them, or give a number as max_iter."
        )
    return fold


def _folds_of_splits(
    cv: Any, y: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Folds from a splitter of scikit-learn, or from pairs of training and test rows."""
    times, fold = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    n_folds = 0
    for train, held in _splits(cv, y, groups):
        train, held = _row_numbers(train, len(y)), _row_numbers(held, len(y))
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


def _splits(cv: Any, y: NDArray[np.float64], groups: NDArray[np.int64] | None) -> list[Any]:
    try:
        return list(check_cv(cv).split(np.zeros(len(y)), y, groups))
    except ValueError as fault:
        if groups is not None or "groups" not in str(fault):
            raise
        raise ValueError(
            f"cv={cv!r} needs the group of every row; pass groups=... to fit."
        ) from fault


def _row_numbers(rows: Any, n_rows: int) -> NDArray[np.intp]:
    numbers = np.asarray(rows)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise ValueError(
            f"cv has rows of the type {numbers.dtype} in {numbers.ndim} dimension(s); use pairs of "
            "arrays of row numbers, for training and to hold out."
        )
    wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
    if len(wrong):
        raise ValueError(
            f"cv has the row {wrong[0]}, but X has {n_rows} rows; use numbers from 0 to "
            f"{n_rows - 1}."
        )
    return numbers
