"""Rows with labels, given to a fitted estimator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..class_weight import apply_class_weight
from ..rows import check_held_rows

Vector = NDArray[np.float64]


class Labelled(NamedTuple):
    """Checked rows: ``y`` are labels as the loss has them."""

    X: Any
    y: Vector
    weight: Vector | None
    offset: Vector | None


def labelled(estimator: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> Labelled:
    """Rows as a matrix, and their labels, or an error that says what is wrong with them."""
    check_is_fitted(estimator)
    if offset is None and getattr(estimator, "has_offset_", False):
        raise ValueError("the model was fitted with offsets; give those of these rows as offset.")
    rows, labels, weight = check_held_rows(estimator, X, y, sample_weight, suffix="")
    if not len(labels):
        raise ValueError("X has no rows; give one at least.")
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise ValueError(
                f"y has the class {unknown.tolist()[0]!r}, which is none of {classes.tolist()}."
            )
        labels = estimator._encode_labels(labels)
    labels = labels.astype(np.float64)
    estimator.loss_.check_labels(labels)
    return Labelled(rows, labels, weight, estimator._check_offset(offset, len(labels)))


def to_fit(estimator: Any, given: Any) -> Labelled:
    """Rows that a part of the model is fitted to; weights of classes count, as in ``fit``."""
    rows = labelled(estimator, given.X, given.y, given.sample_weight, given.offset)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return rows
    codes = (rows.y > 0.0 if len(classes) == 2 else rows.y).astype(np.intp)
    weight = apply_class_weight(estimator.class_weight, classes, codes, rows.weight)
    return rows._replace(weight=weight)


def mean_loss(estimator: Any, rows: Labelled, score: Vector) -> float:
    """The mean loss of rows with these scores, without their offsets."""
    score = score if rows.offset is None else score + rows.offset
    return float(np.average(estimator.loss_.value(rows.y, score), weights=rows.weight))
