"""Rows that are held out: given ones, a share of the training rows, or fold by fold."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    train_test_split,
)

from .._core.validation import check_count
from ..data.sparse_columns import take_columns
from ..engines.problem import rows_of
from ..losses import Loss
from ..training import Validation
from ..training.plan import Facts, facts_of
from .rows import columns_to_fit


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on, and rows to validate on if there are any. Rows of one of the ``groups``
    (0, 1, ...) stay together, those of a class (``stratified``) are shared out. ``kept`` marks the
    training rows among those that were given; None: all of them."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    validation: Validation | None = None
    offset: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    kept: NDArray[np.bool_] | None = None
    stratified: bool = False

    @property
    def present(self) -> NDArray[np.intp]:
        """The rows that have a weight."""
        if self.weight is None:
            return np.arange(len(self.y))
        return np.flatnonzero(self.weight > 0)

    @property
    def n_groups(self) -> int:
        """How many groups there are among the rows that have a weight; rows, if there are none."""
        if self.groups is None:
            return len(self.present)
        return len(np.unique(self.groups[self.present]))

    def of_columns(self, columns: NDArray[np.int64]) -> TrainingRows:
        """The same rows with some of their columns."""
        validation = self.validation
        if validation is not None:
            validation = replace(validation, X=_take(validation.X, columns))
        return replace(self, X=_take(self.X, columns), validation=validation)

    @property
    def sample(self) -> TrainingRows:
        """Some of the rows; here, all."""
        return self

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def has_offset(self) -> bool:
        return self.offset is not None

    def check_labels(self, loss: Loss) -> None:
        """Raise if the loss is not defined for a label of a row that has a weight."""
        loss.check_labels(self.y[self.present])
        if self.validation is None:
            return
        try:
            loss.check_labels(self.validation.with_positive_weight().y)
        except ValueError as fault:
            raise ValueError(f"y_val: {fault}") from fault

    def columns_to_fit(self, estimator: Any, resume: Any) -> NDArray[np.int64] | None:
        """See `rows.columns_to_fit`."""
        return columns_to_fit(estimator, self.X, resume)

    def facts(self, loss: Loss, categorical: NDArray[np.bool_], **more: Any) -> Facts:
        """What a plan is made of; ``more`` are other facts."""
        return facts_of(
            self.X, self.y, loss, weight=self.weight, groups=self.groups, categorical=categorical,
            classes=self.stratified, validation=self.validation, **more,
        )  # fmt: skip

    def shared_out(self, facts: Facts, cv: Any, seed: int) -> tuple[NDArray[np.int64], Facts]:
        """The number of each row's fold, and the facts with them."""
        fold = assign_folds(self, cv, seed)
        return fold, facts.with_folds(fold, self.weight)

    def held_out(self, share: float, seed: int) -> TrainingRows:
        """See `hold_out`."""
        return hold_out(self, share, seed)

    def for_learner(self, learner: Any) -> Any:
        """A family of weak-learners for the rows that are kept."""
        return learner if self.kept is None else learner.restricted_to(self.kept)

    def in_folds(self, fold: NDArray[np.int64], settings: dict[str, Any]) -> dict[str, Any]:
        """Arguments of `boost` for several runs, without the rows that have no weight."""
        X, y, weight, offset = self.X, self.y, self.weight, self.offset
        if weight is not None and len(self.present) < len(y):
            present = weight > 0
            X, y, weight, fold = X[present], y[present], weight[present], fold[present]
            offset = rows_of(offset, present)
            settings = {**settings, "learner": settings["learner"].restricted_to(present)}
        fold = check_folds(fold, y if settings["loss"].outputs > 1 else None)
        return {"X": X, "y": y, "fold": fold, "weight": weight, "offset": offset, **settings}

    def for_boost(self) -> dict[str, Any]:
        """Arguments of `boost` for one run."""
        names = ("X", "y", "weight", "offset", "validation")
        return {name: getattr(self, name) for name in names}

    def close(self) -> list[str]:
        """The fit is over; what there is to tell of it."""
        return []


def _take(X: Any, columns: NDArray[np.int64]) -> Any:
    return take_columns(X, columns) if scipy.sparse.issparse(X) else X[:, columns]


def count_rarest(rows: TrainingRows) -> int:
    """How many rows the rarest class has; all rows if there are no classes."""
    if not rows.stratified:
        return len(rows.present)
    return int(np.unique(rows.y[rows.present], return_counts=True)[1].min())


def hold_out(rows: TrainingRows, share: float, seed: int) -> TrainingRows:
    """Hold out a share of the rows with positive weight: whole groups, if there are any; else of
    each class the same share. Rows of a class that is too rare for that stay.
    """
    if rows.groups is not None:
        return _hold(rows, *_split_groups(rows, share, seed))
    y, present = rows.y, rows.present
    shared, rare = present, present[:0]
    if rows.stratified:
        labels, counts = np.unique(y[present], return_counts=True)
        common = labels[(counts * share >= 1.0) & (counts > 1)]
        if len(common) >= 2:
            has_many = np.isin(y[present], common)
            shared, rare = present[has_many], present[~has_many]
    try:
        train, held = train_test_split(
            shared,
            test_size=share,
            random_state=seed,
            stratify=y[shared] if rows.stratified else None,
        )
    except ValueError as fault:
        raise ValueError(
            f"validation_fraction={share} of {len(present)} rows cannot be "
            f"held out ({fault}) Use another fraction, early_stopping=False, or X_val, y_val."
        ) from fault
    return _hold(rows, np.concatenate([train, rare]), held)


def _split_groups(
    rows: TrainingRows, share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training rows and whole groups of rows to hold out, in a random order as many as fit into
    the share, or the smallest one. No class loses its last training row."""
    present, groups = rows.present, rows.groups
    assert groups is not None
    _, group = np.unique(groups[present], return_inverse=True)
    _, label = np.unique(rows.y[present], return_inverse=True)
    if not rows.stratified:
        label = np.zeros(len(present), np.intp)
    count = np.zeros((int(group.max()) + 1, int(label.max()) + 1), np.int64)
    np.add.at(count, (group, label), 1)
    size, left = count.sum(axis=1), count.sum(axis=0)
    held = np.zeros(len(count), dtype=bool)
    room = share * len(present)
    for g in np.random.default_rng(seed).permutation(len(count)):
        if size[g] <= room and (left > count[g]).all():
            held[g] = True
            room -= size[g]
            left = left - count[g]
    if not held.any():
        possible = np.flatnonzero((left > count).all(axis=1))
        if not len(possible):
            raise ValueError(
                f"no group of rows can be held out: there are {len(count)}, and each has all "
                "rows, or all of a class. Use early_stopping=False with a number as max_iter, "
                "or X_val, y_val."
            )
        held[possible[np.argmin(size[possible])]] = True
    return present[~held[group]], present[held[group]]


def _hold(rows: TrainingRows, train: NDArray[np.intp], held: NDArray[np.intp]) -> TrainingRows:
    """The training rows among these, with others to validate on."""
    train, held = np.sort(train), np.sort(held)
    kept = np.zeros(len(rows.y), dtype=bool)
    kept[train] = True
    weight, offset = rows.weight, rows.offset
    return TrainingRows(
        rows.X[train],
        rows.y[train],
        rows_of(weight, train),
        Validation(rows.X[held], rows.y[held], rows_of(weight, held), rows_of(offset, held)),
        rows_of(offset, train),
        kept=kept,
        stratified=rows.stratified,
    )


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
