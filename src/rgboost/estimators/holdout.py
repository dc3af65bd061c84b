"""Validation rows for early stopping: given ones, or a share of the training rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from .._core.validation import check_count, check_not_negative, check_option, check_real
from ..data.sparse_columns import take_columns
from ..engines.problem import rows_of
from ..training import EarlyStopping, Validation

AUTO_ROWS = 2000
"""``early_stopping="auto"`` holds rows out from so many rows on."""


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on, and rows to validate on if there are any. Rows of one of the ``groups``
    (0, 1, ...) stay together. ``kept`` marks the training rows among those that were given; None:
    all of them."""

    X: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    validation: Validation | None = None
    offset: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    kept: NDArray[np.bool_] | None = None

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


def _take(X: Any, columns: NDArray[np.int64]) -> Any:
    return take_columns(X, columns) if scipy.sparse.issparse(X) else X[:, columns]


def count_rarest(rows: TrainingRows, stratified: bool) -> int:
    """How many rows the rarest class has; all rows if there are no classes."""
    if not stratified:
        return len(rows.present)
    return int(np.unique(rows.y[rows.present], return_counts=True)[1].min())


PATIENCE, USUAL_STEPS = 200, 0.075
"""``n_iter_no_change="auto"``: so many iterations with such a learning rate or a greater one, and
more in proportion with a smaller one, up to a limit."""
PATIENCE_OF_MEAN, ROWS_OF_MEAN = 400, 10_000
"""At least so many for means of several runs, from so many rows on: iterations cost little."""
LONGEST_WAIT = 1e6


@dataclass(frozen=True)
class StoppingPlan:
    """The parameters of early stopping, checked."""

    early_stopping: str | bool
    validation_fraction: float
    n_iter_no_change: int | str
    tol: float

    def __post_init__(self) -> None:
        check_option(self.early_stopping, "early_stopping", ["auto", True, False])
        if not 0.0 < check_real(self.validation_fraction, "validation_fraction") < 1.0:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} must lie between 0 and 1: "
                "it is the share of the training rows that is held out."
            )
        if type(self.n_iter_no_change) is str:
            check_option(self.n_iter_no_change, "n_iter_no_change", ["auto"])
        else:
            check_count(self.n_iter_no_change, "n_iter_no_change", at_least=1)
        check_not_negative(self.tol, "tol")

    def rule(self, rows: TrainingRows, learning_rate: float) -> EarlyStopping | None:
        """The rule that ends the fit; None where there is nothing to judge by, or no wish to."""
        if self.early_stopping is False or rows.validation is None:
            return None
        return self.make_rule(learning_rate)

    def rule_of_mean(self, rows: TrainingRows, learning_rate: float) -> EarlyStopping:
        """The rule that ends several runs, whose mean is wanted."""
        many = len(rows.present) >= ROWS_OF_MEAN
        return self.make_rule(learning_rate, PATIENCE_OF_MEAN if many else PATIENCE)

    def make_rule(self, learning_rate: float, patience: int = PATIENCE) -> EarlyStopping:
        if not isinstance(self.n_iter_no_change, str):
            return EarlyStopping(self.n_iter_no_change, self.tol)
        steps = min(USUAL_STEPS / learning_rate, LONGEST_WAIT)
        return EarlyStopping(max(patience, math.ceil(PATIENCE * steps)), self.tol)

    def holds_out(self, rows: TrainingRows, max_iter: Any, stratified: bool) -> bool:
        """Whether some of the rows are held out."""
        if rows.validation is not None or max_iter == "cv":
            return False
        if self.early_stopping == "auto":
            if max_iter != "auto":
                return False
            return len(rows.present) >= AUTO_ROWS and self.can_share(rows, stratified)
        return bool(self.early_stopping)

    def can_share(self, rows: TrainingRows, stratified: bool) -> bool:
        """Whether there are rows to hold out: of two groups or more, if there are groups; else of
        two classes or more, if there are classes."""
        if rows.groups is not None:
            return rows.n_groups >= 2
        if not stratified:
            return len(rows.present) * self.validation_fraction >= 1.0
        return len(self._common_classes(rows.y[rows.present])) >= 2

    def _common_classes(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The classes that have enough rows to hold some out."""
        labels, counts = np.unique(y, return_counts=True)
        return labels[(counts * self.validation_fraction >= 1.0) & (counts > 1)]

    def split(self, rows: TrainingRows, stratified: bool, seed: int) -> TrainingRows:
        """Hold out a share of the rows with positive weight: whole groups, if there are any; else
        of each class the same share. Rows of a class that is too rare for that stay.
        """
        if rows.groups is not None:
            return self._hold(rows, *self._split_groups(rows, stratified, seed))
        y, present = rows.y, rows.present
        shared, rare = present, present[:0]
        if stratified and self.can_share(rows, stratified):
            common = np.isin(y[present], self._common_classes(y[present]))
            shared, rare = present[common], present[~common]
        try:
            train, held = train_test_split(
                shared,
                test_size=self.validation_fraction,
                random_state=seed,
                stratify=y[shared] if stratified else None,
            )
        except ValueError as fault:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {len(present)} rows cannot be "
                f"held out ({fault}) Use another fraction, early_stopping=False, or X_val, y_val."
            ) from fault
        return self._hold(rows, np.concatenate([train, rare]), held)

    def _split_groups(
        self, rows: TrainingRows, stratified: bool, seed: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Training rows and whole groups of rows to hold out, in a random order as many as fit into
        the share, or the smallest one. No class loses its last training row."""
        present, groups = rows.present, rows.groups
        assert groups is not None
        _, group = np.unique(groups[present], return_inverse=True)
        _, label = np.unique(rows.y[present], return_inverse=True)
        if not stratified:
            label = np.zeros(len(present), np.intp)
        count = np.zeros((int(group.max()) + 1, int(label.max()) + 1), np.int64)
        np.add.at(count, (group, label), 1)
        size, left = count.sum(axis=1), count.sum(axis=0)
        held = np.zeros(len(count), dtype=bool)
        room = self.validation_fraction * len(present)
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

    def _hold(
        self, rows: TrainingRows, train: NDArray[np.intp], held: NDArray[np.intp]
    ) -> TrainingRows:
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
        )
