"""Predictions for Dask collections: collections again, of which nothing is computed yet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.input import read_labels
from ..estimators.chunked.given import errors_name
from .cluster import Cluster, Tasks
from .partitions import Partition, is_frame, partitions_of


class Form(NamedTuple):
    """What predictions look like: of arrays, arrays; of data frames, a column, or a frame with one
    for each class, with the index of the rows."""

    frame: bool
    dtype: Any
    classes: NDArray | None
    """If there is a number for each class."""

    @classmethod
    def of(cls, X: Any, model: Any, method: str) -> Form:
        if method == "predict":
            classes = getattr(model, "classes_", None)
            return cls(is_frame(X), np.float64 if classes is None else classes.dtype, None)
        several = method == "predict_proba" or len(model.classes_) > 2
        return cls(is_frame(X), np.float64, model.classes_ if several else None)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what is predicted for a row."""
        return () if self.classes is None else (len(self.classes),)

    def give(self, values: NDArray, rows: Any) -> Any:
        """Predictions for some rows."""
        if not self.frame:
            return values
        import pandas

        if self.classes is None:
            return pandas.Series(values, index=rows.index)
        return pandas.DataFrame(values, index=rows.index, columns=self.classes)

    def none(self, rows: Any) -> Any:
        """Those for no rows."""
        return self.give(np.empty((0, *self.shape), self.dtype), rows)


def predict_part(X: Any, offset: Any, model: Any, *, method: str, form: Form, name: str) -> Any:
    """Predictions for a partition."""
    if X.shape[0] == 0:
        return form.none(X)
    with errors_name(name):
        return form.give(getattr(model, method)(X, offset), X)


def lazily(model: Any, method: str, X: Any, offset: Any) -> Any:
    """Predictions of a fitted model, partition by partition."""
    form, tasks = Form.of(X, model, method), Tasks()
    partitions = partitions_of("X offset", X, offset)
    shared = tasks.value("model", model)
    parts = [
        tasks.task(
            method.replace("_", "-"), predict_part, one.X, one.y, shared, method=method, form=form,
            name=f"partition {one.k}",
        )
        for one in partitions
    ]  # fmt: skip
    if form.frame:
        import dask.dataframe

        meta = form.none(X._meta.iloc[:0])
        return dask.dataframe.from_delayed(
            parts, meta=meta, divisions=X.divisions, verify_meta=False
        )
    import dask.array

    pieces = []
    for one, part in zip(partitions, parts, strict=True):
        n_rows = np.nan if one.n_rows is None else one.n_rows
        pieces.append(dask.array.from_delayed(part, (n_rows, *form.shape), form.dtype))
    return dask.array.concatenate(pieces, allow_unknown_chunksizes=True)


def compare_part(
    X: Any, y: Any, weight: Any, offset: Any, model: Any, *, name: str
) -> NDArray[np.float64] | None:
    """What the score of a partition is made of. Of classes, (weight, that of the rows that are
    right); of numbers, (weight, mean, sum of squares around it, sum of squared errors)."""
    if X.shape[0] == 0:
        return None
    with errors_name(name):
        predicted = model.predict(X, offset)
        labels = np.asarray(read_labels(y, "y")).ravel()
        w = np.ones(len(labels)) if weight is None else np.asarray(weight, np.float64)
        if len({len(predicted), len(labels), len(w)}) > 1:
            raise ValueError(
                f"it has {len(predicted)} rows, {len(labels)} labels and {len(w)} weights."
            )
    total = w.sum()
    if hasattr(model, "classes_"):
        return np.array([total, w[labels == predicted].sum()])
    mean = (w @ labels) / total if total else 0.0
    return np.array([total, mean, w @ (labels - mean) ** 2, w @ (labels - predicted) ** 2])


def score(model: Any, cluster: Cluster, X: Any, y: Any, weight: Any, offset: Any) -> float:
    """Accuracy, or R², of all rows; merged in the order of partitions."""
    partitions = partitions_of("X y sample_weight offset", X, y, weight, offset)
    shared = cluster.value("model", model)
    asked = [_compared(cluster, one, shared) for one in partitions]
    found = [one for one in cluster.results(cluster.start(asked)) if one is not None]
    if not found or not sum(one[0] for one in found):
        raise ValueError("X has no rows with a weight; there is nothing to score.")
    if hasattr(model, "classes_"):
        total, right = np.sum(found, axis=0)
        return float(right / total)
    total, mean, square, error = found[0]
    for more, other, its_square, its_error in found[1:]:
        both = total + more
        if both:
            square += its_square + (other - mean) ** 2 * total * more / both
            mean += (other - mean) * more / both
        total, error = both, error + its_error
    if square == 0.0:  # as scikit-learn's
        return 1.0 if error == 0.0 else 0.0
    return float(1.0 - error / square)


def _compared(cluster: Cluster, one: Partition, model: Any) -> Any:
    name = f"partition {one.k}"
    return cluster.task("score", compare_part, *one.parts, model, name=name)
