"""The rows that models are compared on: as they were given, checked, and shared out in folds."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone

from .._core.validation import check_count
from ..data.input import InputSchema, read_labels
from ..estimators.base import _Given
from ..estimators.chunked import in_pieces
from ..estimators.held_out import TrainingRows, assign_folds
from ..losses import Loss

FEWEST_ROWS = 40
"""Fewer rows say nothing about differences between models."""

FOLDS = ((5_000, 5), (20_000, 3))
"""Below so many rows, so many folds. Not a rule of a plan: that is of one fit, and knows no others.
"""
PARTS_OF_MANY, FEWEST_GROUPS = 4, 40
"""Of more rows, one of so many parts is held out, once; but where fewer groups of rows than that
stay together, a part of them tells too little, and folds go on."""


@dataclass(frozen=True)
class Rows:
    """X, y and what else `fit` takes, as they were given; ``checked`` has labels and weights as
    the estimator understands them, ``loss`` is what held-out rows are judged by."""

    X: Any
    beside: dict[str, Any]
    checked: TrainingRows
    loss: Loss
    schema: InputSchema
    classes: NDArray | None

    def __len__(self) -> int:
        return len(self.checked.y)

    @property
    def weight(self) -> NDArray[np.float64]:
        weight = self.checked.weight
        return np.ones(len(self)) if weight is None else weight

    def arguments(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """What `fit` is given of some rows."""
        taken = {name: None if v is None else v[rows] for name, v in self.beside.items()}
        return {"X": take_rows(self.X, rows), **taken}

    def scores_of(self, estimator: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The raw scores that a fitted estimator gives some rows."""
        given = self.beside["offset"]
        offset = None if given is None else given[rows]
        return np.asarray(estimator._score(take_rows(self.X, rows), offset))

    def losses(self, scores: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The loss of each of some rows."""
        return np.asarray(self.loss.value(self.checked.y[rows], scores))


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Rows:
    """Rows that are fit for the estimator, or the error that its `fit` would raise.

    The loss is that of the estimator without a ridge on the scores, which is no loss of the rows.
    """
    if in_pieces(X):
        raise TypeError(
            "X is Chunks, and models are compared on rows in memory: give the X and y of a sample "
            "of the rows."
        )
    if y is None:
        raise ValueError("y is missing: give the labels of the rows.")
    judge = clone(estimator).set_params(callbacks=None, verbose=0)
    if isinstance(judge.loss, str):
        judge.set_params(ridge=0.0)
    given = _Given(offset, groups, None, None, None, None)
    checked = judge._training_rows(X, y, sample_weight, given, None)
    loss = judge._resolve_loss(checked)
    checked.check_labels(loss)
    n_rows = len(checked.present)
    if n_rows < FEWEST_ROWS:
        has_weight = "" if checked.weight is None else " with a positive weight"
        raise ValueError(
            f"X has {n_rows} rows{has_weight}, too few to hold some out and compare models; give "
            f"at least {FEWEST_ROWS}."
        )
    present = checked.y[checked.present]
    if loss.outputs == 1 and (present == present[0]).all():
        raise ValueError(f"y is {present[0]:g} in every row: there is nothing to predict.")
    if scipy.sparse.issparse(X):
        X = X.tocsr()
    beside = {
        "y": np.asarray(read_labels(y, "y")).reshape(-1),
        "sample_weight": _column(sample_weight, len(checked.y)),
        "offset": None if offset is None else np.asarray(offset, dtype=np.float64),
        "groups": None if groups is None else checked.groups,
    }
    return Rows(X, beside, checked, loss, judge.input_, getattr(judge, "classes_", None))


def _column(weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as an array; a single number is that of every row."""
    if weight is None:
        return None
    return np.array(np.broadcast_to(np.asarray(weight, dtype=np.float64), n_rows))


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array, a sparse matrix, a list, or a frame of any library."""
    import narwhals.stable.v2 as nw

    if isinstance(X, list | tuple):
        return [X[k] for k in rows.tolist()]
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else X[rows]


Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to fit, and rows to judge by."""


def splits(rows: Rows, cv: Any, seed: int) -> list[Split]:
    """What is fitted and what is held out, fold by fold."""
    checked, used = rows.checked, None
    if cv is None:
        cv, used = default_folds(checked)
    if isinstance(cv, numbers.Integral):
        checked = without_rare(checked, check_count(cv, "cv", at_least=2), rows.classes)
    fold = assign_folds(checked, cv, seed)
    held_out = [np.flatnonzero((fold == k) & (rows.weight > 0)) for k in range(fold.max() + 1)]
    found = [(np.flatnonzero(fold != k), held) for k, held in enumerate(held_out) if len(held)]
    found = found[:used]
    for train, _ in found:
        check_classes(rows, train)
    return found


def default_folds(checked: TrainingRows) -> tuple[int, int | None]:
    """(how many folds, how many of them are held out; None: all)."""
    n_rows, n_groups = len(checked.present), checked.n_groups
    if n_groups < 2:
        raise ValueError("groups has one group: give rows of at least two, which can be parted.")
    most = FOLDS[-1][1] if n_groups < FEWEST_GROUPS else None
    folds = next((count for limit, count in FOLDS if n_rows < limit), most)
    return (PARTS_OF_MANY, 1) if folds is None else (min(folds, n_groups), None)


def without_rare(checked: TrainingRows, n_folds: int, classes: NDArray | None) -> TrainingRows:
    """Rows of classes with fewer rows than folds lose their weight: they are fitted always, and
    never held out."""
    if not checked.stratified:
        return checked
    present = checked.present
    labels, counts = np.unique(checked.y[present], return_counts=True)
    rare = labels[counts < n_folds]
    if not len(rare):
        return checked
    if len(labels) - len(rare) < 2:
        assert classes is not None
        least = classes[int(np.argmin(counts))]
        raise ValueError(
            f"the class {str(least)!r} has {counts.min()} rows, and each of cv={n_folds} folds "
            "needs one; give more rows of it, or fewer folds."
        )
    weight = np.ones(len(checked.y)) if checked.weight is None else checked.weight
    return replace(checked, weight=np.where(np.isin(checked.y, rare), 0.0, weight))


def check_classes(rows: Rows, train: NDArray[np.intp]) -> None:
    """Raise if a class is nowhere but in the rows that are held out."""
    checked = rows.checked
    if not checked.stratified:
        return
    assert rows.classes is not None
    every, fitted = np.unique(checked.y[checked.present]), checked.y[train][rows.weight[train] > 0]
    missing = np.setdiff1d(every, fitted)
    if len(missing):
        label = rows.classes[np.searchsorted(every, missing[0])]
        raise ValueError(
            f"all rows of the class {str(label)!r} are in one fold, and who does not see it cannot "
            "learn it; give other groups or other folds (cv)."
        )
