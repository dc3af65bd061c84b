"""Rows with labels, and what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.fitted.labelled import labelled

Vector = NDArray[np.float64]

ROOT, LOG_LOSS = "root of the mean squared error", "log-loss"

_LEAST = 1e-15
"""Probabilities below this count as so much: the logarithm of zero is no loss to show."""


@dataclass(frozen=True)
class Judged:
    """n rows, what they are and what a model predicts.

    ``predicted`` and ``truth`` are (n, K), in the order of ``outputs``: of a regression predictions
    and labels (K = 1, ``outputs`` is None); of two classes the probability of the second and
    whether a row is of it (K = 1); of more, the same for each of them.

    Attributes
    ----------
    X : the rows as a matrix; categories by their numbers.
    labels : the labels.
    losses : the loss of each row: the model's own, or of classes the log-loss.
    loss_name : what their mean is called. That of squared errors is told by its root, in the units
        of the labels; see `mean_loss`.
    weight : the weights of the rows; 1 without ``sample_weight``.
    offset : the offsets, or None.
    """

    X: Any
    labels: NDArray
    predicted: Vector
    truth: Vector
    losses: Vector
    loss_name: str
    weight: Vector
    outputs: tuple[str, ...] | None
    offset: Vector | None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def of_classes(self) -> bool:
        """Whether labels are classes."""
        return self.outputs is not None

    @property
    def columns(self) -> range:
        """K of them."""
        return range(self.truth.shape[1])

    def mean_loss(self, rows: Any = slice(None)) -> float:
        """The mean loss of some rows."""
        weight = self.weight[rows]
        if self.loss_name != ROOT:
            return float(np.average(self.losses[rows], weights=weight))
        off = self.truth[rows, 0] - self.predicted[rows, 0]
        return float(np.sqrt(np.average(off**2, weights=weight)))


def judge(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> Judged:
    """Check the rows, and predict them."""
    rows = labelled(model, X, y, sample_weight, offset)
    score = model.model_.score(rows.X)
    score = score if rows.offset is None else score + rows.offset
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    if hasattr(model, "classes_"):
        return _of_classes(model, rows, score, weight)
    predicted, losses = model.loss_.inverse_link(score), model.loss_.value(rows.y, score)
    return Judged(
        X=rows.X,
        labels=rows.y,
        predicted=predicted[:, None],
        truth=rows.y[:, None],
        losses=losses,
        loss_name=ROOT if model.loss_.quadratic else f"mean loss, {model.loss_!r}",
        weight=weight,
        outputs=None,
        offset=rows.offset,
    )


def _of_classes(model: Any, rows: Any, score: Vector, weight: Vector) -> Judged:
    two = len(model.classes_) == 2
    codes = (rows.y > 0 if two else rows.y).astype(np.intp)
    truth = (codes[:, None] == np.arange(len(model.classes_))).astype(np.float64)
    predicted = model._probabilities(score)
    own = predicted[np.arange(len(codes)), codes]
    shown = slice(1, None) if two else slice(None)
    return Judged(
        X=rows.X,
        labels=model.classes_[codes],
        predicted=predicted[:, shown],
        truth=truth[:, shown],
        losses=-np.log(np.maximum(own, _LEAST)),
        loss_name=LOG_LOSS,
        weight=weight,
        outputs=tuple(str(label) for label in model.classes_[shown].tolist()),
        offset=rows.offset,
    )
