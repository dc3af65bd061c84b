"""Data frames of any library that narwhals reads, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .labels import kind_of, missing_objects, refuse_dates, wrong_type
from .names import check_unique, string_names


@dataclass(frozen=True)
class ObjectColumn:
    """A column of Python objects. ``declared`` tells that its type says that it is categorical."""

    values: NDArray[np.object_]
    missing: NDArray[np.bool_]
    declared: bool


Column = NDArray[np.floating] | ObjectColumn
"""A column of numbers (NaN where missing), or of objects."""


@dataclass(frozen=True)
class ColumnTable:
    """Columns with their names. Names are None if the input has none that are strings."""

    names: NDArray[np.object_] | None
    columns: list[Column]
    n_rows: int

    def title(self, g: int) -> str:
        """How messages call column g."""
        return f"column {g} of X" if self.names is None else f"column {self.names[g]!r} of X"


def as_table(X: Any) -> ColumnTable | None:
    """The columns of a frame or of an array of objects; None for what is already a matrix."""
    if scipy.sparse.issparse(X):
        return None
    if isinstance(X, list | tuple):
        X = _array_of(X)
    if isinstance(X, np.ndarray):
        refuse_dates(X.dtype, "X")
        return _object_array(X) if X.dtype.kind in "OUS" and X.ndim == 2 else None
    return _frame(X)


def _array_of(rows: Any) -> NDArray:
    """Rows that are lists; numbers beside strings stay numbers."""
    try:
        array = np.array(rows)
        return np.array(rows, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:  # of different lengths, which scikit-learn has words for
        return np.empty(0)


def _object_array(X: NDArray) -> ColumnTable:
    objects = X.astype(object)
    columns: list[Column] = []
    for g in range(X.shape[1]):
        values = objects[:, g]
        columns.append(ObjectColumn(values, missing_objects(values), False))
    return ColumnTable(None, columns, X.shape[0])


def _frame(X: Any) -> ColumnTable | None:
    import narwhals.stable.v2 as nw

    check_unique(_names(X))  # before narwhals stumbles over them
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    names = string_names(frame.columns)
    columns = [_column(c, f"column {c.name!r} of X") for c in frame.iter_columns()]
    return ColumnTable(names, columns, len(frame))


def _names(X: Any) -> list[Any]:
    if hasattr(X, "column_names"):  # pyarrow
        return list(X.column_names)
    if hasattr(X, "collect"):  # lazy: its names are not known yet, but they differ
        return []
    return list(getattr(X, "columns", []))


def _column(series: Any, title: str) -> Column:
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype == nw.Float32:
        return np.asarray(series.to_numpy(), dtype=np.float32)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype in (nw.Categorical, nw.Enum, nw.String):
        return _objects(series, True)
    if dtype in (nw.Object, nw.Unknown):
        column = _objects(series, False)
        kind = kind_of(column.values, column.missing, title)
        return ObjectColumn(column.values, column.missing, kind == "strings")
    raise wrong_type(dtype, title)


def _objects(series: Any, declared: bool) -> ObjectColumn:
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = np.asarray(series.to_numpy(), dtype=object)
    return ObjectColumn(values, missing, declared)
