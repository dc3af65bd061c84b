"""The folds of cross-validation for the estimators."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
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
)

from .._core.validation import check_count
from ..engines.problem import rows_of
from ..engines.quadratic.runs import loss_obstacle
from ..selection import SelectionRule
from ..steps import NewtonGain
from ..training import Boosted, EarlyStopping, boost
from ..training.callbacks import Callback
from ..training.means import can_be_plain, rows_are_faster
from .holdout import StoppingPlan, TrainingRows, count_rarest

MOST_ITERATIONS, MOST_ROUNDS = 20_000, 100_000
"""Of fits that stop by themselves, and of cross-validation; and of means of several runs, whose
iterations cost little."""

FEW_ROWS = 30
FEW_ITERATIONS = 100
"""Fewer rows than that are not shared out among folds: so many iterations."""


@dataclass(frozen=True)
class FoldPlan:
    """Where a fit ends: by a number, by rows that are held out, or by folds."""

    max_iter: Any
    cv: Any
    stratified: bool
    stopping: StoppingPlan
    seed: int

    def __post_init__(self) -> None:
        if isinstance(self.cv, Iterator):  # folds are asked for more than once
            object.__setattr__(self, "cv", list(self.cv))

    def hold_out(self, rows: TrainingRows) -> bool:
        """Whether some of the rows are held out: as `StoppingPlan` says, or where a class is too
        rare for folds."""
        if self.stopping.holds_out(rows, self.max_iter, self.stratified):
            return True
        if self.max_iter != "auto" or self.stopping.early_stopping != "auto":
            return False
        if rows.validation is not None or self._enough(rows):
            return False
        return len(rows.present) >= FEW_ROWS and self.stopping.can_share(rows, self.stratified)

    def n_iter(self, rows: TrainingRows) -> int | None:
        """A number of iterations, or None if cross-validation is to choose it."""
        if type(self.max_iter) is not str:
            return check_count(self.max_iter, "max_iter", at_least=1)
        if self.max_iter not in ("auto", "cv"):
            raise ValueError(
                f"max_iter={self.max_iter!r} is not known; use a number, 'auto' or 'cv'."
            )
        if self.max_iter == "cv":
            return None
        if self.hold_out(rows) or rows.validation is not None:
            return MOST_ITERATIONS
        return None if self._enough(rows) else FEW_ITERATIONS

    def _enough(self, rows: TrainingRows) -> bool:
        """Whether the rows can be shared out among folds."""
        if len(rows.present) < FEW_ROWS:
            return False
        if not isinstance(self.cv, numbers.Integral):
            return True
        return min(count_rarest(rows, self.stratified), rows.n_groups) >= self.cv

    def want_mean(self, rows: TrainingRows) -> bool:
        """Whether the mean of the folds' models is wanted, if it can be had."""
        if self.n_iter(rows) is None:
            return True
        by_itself = self.max_iter == "auto" and self.stopping.early_stopping == "auto"
        return by_itself and self.hold_out(rows) and self._enough(rows)

    def best_mean(
        self,
        rows: TrainingRows,
        ways: Sequence[dict[str, Any]],
        callbacks: Sequence[Callback],
    ) -> tuple[Boosted, NDArray[np.float64], SelectionRule] | None:
        """Of the means that ``ways`` are the settings of, the one with the smallest loss of rows
        that are held out, its losses and its selection rule; None if none can be had."""
        best = None
        for settings in ways:
            try:
                found = self.mean(rows, settings, callbacks)
            except KeyboardInterrupt:  # before the first iteration
                if best is None:
                    raise
                return replace(best[0], interrupted=True), *best[1:]
            if found is None:
                continue
            boosted, losses = found
            if best is None or losses.min() < best[1].min():
                best = boosted, losses, settings["selection"]
            if boosted.interrupted or boosted.asked_to_stop:
                return replace(best[0], interrupted=boosted.interrupted), *best[1:]
        return best

    def mean(
        self, rows: TrainingRows, settings: dict[str, Any], callbacks: Sequence[Callback]
    ) -> tuple[Boosted, NDArray[np.float64]] | None:
        """The mean of the folds' models and their losses; None if it cannot be had."""
        rule = self.stopping.rule_of_mean(rows, settings["learning_rate"])
        folds = {**self._folds(rows, settings, rule), "n_iter": MOST_ROUNDS}
        way = self._way(rows, settings)
        if way is None:
            return None
        if way["engine"] == "direct" and scipy.sparse.issparse(folds["X"]):
            folds["X"] = folds["X"].toarray()
        boosted = boost(callbacks=callbacks, **{**folds, **way})
        losses = boosted.trace.validation_loss
        assert losses is not None
        return boosted, losses.copy()

    def _way(self, rows: TrainingRows, settings: dict[str, Any]) -> dict[str, Any] | None:
        """The engine and the step of a mean; None if there is none."""
        loss, learner, engine = settings["loss"], settings["learner"], settings["engine"]
        how = ("selection", "loss", "step", "learning_rate", "engine")
        plain = learner.by_statistics and loss.terms is not None
        plain = plain and engine in ("auto", "direct") and can_be_plain(rows.X, learner)
        why = loss_obstacle(loss, settings["step"], settings["learning_rate"])
        newton = why is None and loss.newton
        newton &= learner.by_statistics and learner.free_leaves and engine == "auto"
        step = NewtonGain() if newton and settings["selection"].by_learner else settings["step"]
        by_rows = {"engine": "direct", "step": step}
        if plain and rows_are_faster(rows.X.shape, *(settings[name] for name in how)):
            return by_rows
        if learner.by_statistics and loss.quadratic and engine in ("auto", "gram"):
            n_sums = rows.X.shape[1] * ((learner.bins_for(rows.X) or len(rows.y)) - 1)
            cell = 8 if rows.weight is not None else 2
            fits = 6 * cell * n_sums**2 <= settings["gram_memory"] or engine == "gram"
            return {"engine": "gram" if fits else "quadratic"}
        if newton:
            return {"engine": "auto"}
        return by_rows if plain and self.n_iter(rows) is None else None

    def losses(self, rows: TrainingRows, settings: dict[str, Any]) -> tuple[Any, bool]:
        """Mean losses of held-out rows after 0, 1, ... iterations; and whether they come from
        statistics."""
        rule = self.stopping.make_rule(settings["learning_rate"])
        if settings["engine"] == "auto" and not settings["loss"].quadratic:
            settings = {**settings, "engine": "direct"}  # as many iterations are to follow there
        found = boost(**self._folds(rows, settings, rule))
        if found.interrupted:
            raise KeyboardInterrupt
        return found.trace.validation_loss, found.trace.engine.startswith("gram")

    def _folds(
        self, rows: TrainingRows, settings: dict[str, Any], rule: EarlyStopping
    ) -> dict[str, Any]:
        """Arguments of `boost`, without the rows that have no weight."""
        if rows.validation is not None:
            raise ValueError(
                "max_iter='cv' chooses the number of iterations without validation rows; "
                "leave out X_val and y_val, or give max_iter as a number."
            )
        fold = assign_folds(rows, self.cv, self.stratified, self.seed)
        X, y, weight, offset = rows.X, rows.y, rows.weight, rows.offset
        if weight is not None and len(rows.present) < len(y):
            present = weight > 0
            X, y, weight, fold = X[present], y[present], weight[present], fold[present]
            offset = rows_of(offset, present)
            settings = {**settings, "learner": settings["learner"].restricted_to(present)}
        fold = (np.cumsum(np.bincount(fold) > 0) - 1)[fold]  # of folds that have such rows
        if fold.max() < 1:
            raise ValueError(
                "cv has all rows with a positive sample_weight in one fold; use folds that have "
                "such rows in at least two."
            )
        if settings["loss"].outputs > 1:
            check_classes_of_folds(y.astype(np.int64), fold)
        return {
            "X": X,
            "y": y,
            "fold": fold,
            "n_iter": MOST_ITERATIONS,
            "early_stopping": rule,
            "weight": weight,
            "offset": offset,
            **settings,
        }


def assign_folds(rows: TrainingRows, cv: Any, stratified: bool, seed: int) -> NDArray[np.int64]:
    """The number of each row's fold; -1 where a row has no weight and no fold."""
    if not isinstance(cv, numbers.Integral):
        return _folds_of_splits(cv, rows.y, rows.groups)
    n_folds = check_count(cv, "cv", at_least=2)
    rarest = count_rarest(rows, stratified)
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


def check_classes_of_folds(label: NDArray[np.int64], fold: NDArray[np.int64]) -> None:
    """Raise if all rows of a class are in one fold: who does not see it cannot learn it."""
    count = np.zeros((int(fold.max()) + 1, int(label.max()) + 1), np.int64)
    np.add.at(count, (fold, label), 1)
    alone = (count == count.sum(axis=0)).any(axis=0) & (count.sum(axis=0) > 0)
    if alone.any():
        raise ValueError(
            f"all rows of the class number {np.argmax(alone)} (from 0, as in classes_) are in one "
            "fold of cv; use folds that share them, or give a number as max_iter."
        )


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
