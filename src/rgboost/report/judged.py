"""Rows with labels, and what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from ..data.input import read_labels
from ..estimators.rows import check_weight

Vector = NDArray[np.float64]

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
    labels : the labels as they were given.
    score : the raw scores, with offsets.
    losses : the loss of each row: the model's own, or of classes the log-loss.
    weight : the weights of the rows; 1 without ``sample_weight``.
    offset : the offsets as they were given, or None.
    """

    X: Any
    labels: NDArray
    predicted: Vector
    truth: Vector
    score: Vector
    losses: Vector
    weight: Vector
    outputs: tuple[str, ...] | None
    offset: Any = None

    @property
    def of_classes(self) -> bool:
        return self.outputs is not None

    def __len__(self) -> int:
        return len(self.labels)


def judge(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> Judged:
    """Check the rows, and predict them."""
    if offset is None and getattr(model, "has_offset_", False):
        raise ValueError("the model was fitted with offsets; give those of these rows as offset.")
    rows = model._check_rows(X)
    labels = np.asarray(column_or_1d(read_labels(y, "y"), warn=True))
    if rows.shape[0] != len(labels):
        raise ValueError(
            f"X has {rows.shape[0]} rows and y {len(labels)} labels; give one label for each row."
        )
    given = check_weight(sample_weight, len(labels), "sample_weight")
    weight = np.ones(len(labels)) if given is None else given
    score = model._score(X, offset)
    found: Any = dict(X=rows, labels=labels, score=score, weight=weight, offset=offset)
    if hasattr(model, "classes_"):
        return _of_classes(model, found)
    numbers = labels.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("y has labels that are not finite numbers; leave out these rows.")
    model.loss_.check_labels(numbers)
    return Judged(
        **found,
        predicted=model.loss_.inverse_link(score)[:, None],
        truth=numbers[:, None],
        losses=model.loss_.value(numbers, score),
        outputs=None,
    )


def _of_classes(model: Any, found: dict[str, Any]) -> Judged:
    labels, classes = found["labels"], model.classes_
    unknown = [label for label in np.unique(labels).tolist() if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"y has the class {unknown[0]!r}, and the model knows {classes.tolist()}; leave out "
            "its rows, or check that the labels are written as they were for fit."
        )
    probabilities = model._probabilities(found["score"])
    codes = model._class_codes(labels)
    truth = (codes[:, None] == np.arange(len(classes))).astype(np.float64)
    own = probabilities[np.arange(len(codes)), codes]
    shown = slice(1, None) if len(classes) == 2 else slice(None)
    return Judged(
        **found,
        predicted=probabilities[:, shown],
        truth=truth[:, shown],
        losses=-np.log(np.maximum(own, _LEAST)),
        outputs=tuple(str(label) for label in classes[shown].tolist()),
    )
