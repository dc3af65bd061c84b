"""What `fit` saw of its input, so that other rows are read the same way.

Rows of any kind become a matrix of float32 or float64: numbers as they are, labels of categories
as the numbers 0, 1, ... in sorted order of the labels, the next number where a label is unknown,
NaN where a value is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.one_line import one_line
from ..._core.stored import check_arrays, require
from .labels import (
    are_strings,
    as_numbers,
    encode_labels,
    find_labels,
    kind_of,
    missing_objects,
    refuse_dates,
    wrong_type,
)
from .names import check_same_names, check_same_number, check_unique, feature_mask, string_names


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


@one_line
@dataclass(frozen=True)
class InputSchema:
    """Names and categories of the features.

    ``labels[g]`` are the labels of feature g's categories, strings or numbers in sorted order;
    features whose numbers are taken as they are have none. ``categorical[g]`` tells that feature g
    is categorical: it has labels, or its numbers are the categories.
    """

    names: NDArray[np.object_] | None
    categorical: NDArray[np.bool_]
    labels: Mapping[int, NDArray]

    @property
    def n_features(self) -> int:
        return len(self.categorical)

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`. A feature takes a bit of the file: the number of features is
        what the file has room for, whatever it says."""
        check_arrays(self, "input_", {"categorical": "bool features", "names": "O? features"}, {})
        claimed, room = fitted["n_features_in_"], self.n_features
        require(claimed == room, "n_features_in_", f"is {claimed:,} in a file of {room:,} features")
        texts = self.names is None or all(isinstance(name, str) for name in self.names)
        require(texts, "input_.names")
        require(isinstance(self.labels, dict), "input_.labels")
        for g, labels in self.labels.items():
            known = type(g) is int and 0 <= g < self.n_features and self.categorical[g]
            require(known, "input_.labels")
            texts = are_strings(labels) and all(isinstance(label, str) for label in labels)
            numbers = labels.dtype == np.float64
            require(labels.ndim == 1 and (texts or numbers), "input_.labels")


def learn_input(X: Any, categorical_features: Any) -> tuple[Any, InputSchema | None]:
    """(matrix, schema) of training rows. What is a matrix already is returned as it is, without a
    schema: its number of columns is not checked here; see `plain_schema`."""
    table = as_table(X)
    if table is None:
        return X, None
    n_features = len(table.columns)
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if by_type:
        mask = np.array([isinstance(c, ObjectColumn) and c.declared for c in table.columns], bool)
    else:
        mask = categorical_mask(categorical_features, n_features, table.names)
    labels = {
        g: find_labels(column.values, column.missing, table.title(g))
        for g, column in enumerate(table.columns)
        if isinstance(column, ObjectColumn) and mask[g]
    }
    schema = InputSchema(table.names, mask, labels)
    return _matrix(table, schema, advice_at_fit(table)), schema


def plain_schema(n_features: int, categorical_features: Any) -> InputSchema:
    """The schema of a matrix without names."""
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    mask = categorical_mask(None if by_type else categorical_features, n_features, None)
    return InputSchema(None, mask, {})


def read_input(X: Any, schema: InputSchema, who: str) -> Any:
    """The matrix of other rows, or an error that says how their columns differ from fit's."""
    table = as_table(X)
    has_labels = bool(schema.labels)
    if table is None:
        check_same_names(schema.names, None, who)
        if has_labels:
            _refuse_plain(schema)
        return X
    check_same_names(schema.names, table.names, who)
    check_same_number(schema.n_features, len(table.columns), who)
    return _matrix(table, schema, "and held numbers at fit; turn it into numbers, as it was then.")


def advice_at_fit(table: ColumnTable) -> str:
    """What to do with strings in a column that is not categorical."""
    advice = "and is not categorical; name it in categorical_features, or turn it into numbers"
    if table.names is None:  # made by a ColumnTransformer, most often
        advice += (
            "; or give a data frame, whose columns of strings are categorical (scikit-learn's "
            "transformers make one after set_output(transform='pandas'))"
        )
    return f"{advice}."


def _refuse_plain(schema: InputSchema) -> None:
    g = min(schema.labels)
    name = g if schema.names is None else repr(schema.names[g])
    raise ValueError(
        f"X is a matrix of numbers, but column {name} had labels of categories at fit; give a "
        "data frame, or an array of objects, with the columns of fit."
    )


def categorical_mask(
    features: Any, n_features: int, names: NDArray[np.object_] | None
) -> NDArray[np.bool_]:
    """The features that a list, or nothing, means."""
    parameter = "categorical_features"
    if features is None:
        return np.zeros(n_features, dtype=bool)
    if isinstance(features, str):
        raise ValueError(
            f"{parameter}={features!r} is not known; use 'from_dtype', None, a list of names or "
            "indices, or a mask."
        )
    return feature_mask(features, n_features, None if names is None else list(names), parameter)


def _matrix(table: ColumnTable, schema: InputSchema, advice: str) -> NDArray[np.floating]:
    """Columns side by side; float32 if all are. ``advice`` is for strings among the numbers."""
    numbers = [c for c in table.columns if not isinstance(c, ObjectColumn)]
    single = len(numbers) == len(table.columns) and all(c.dtype == np.float32 for c in numbers)
    out = np.empty(
        (table.n_rows, len(table.columns)), np.float32 if single else np.float64, order="F"
    )
    for g, column in enumerate(table.columns):
        out[:, g] = column_numbers(column, schema.labels.get(g), table.title(g), advice)
    return out


def column_numbers(
    column: Any, labels: NDArray | None, title: str, advice: str
) -> NDArray[np.floating]:
    """A column as numbers, its ``labels`` by their places; ``advice`` is for strings without."""
    if isinstance(column, ObjectColumn):
        if labels is not None:
            return encode_labels(column.values, column.missing, labels, title)
        if kind_of(column.values, column.missing, title) == "strings":
            row = int(np.argmin(column.missing))
            raise ValueError(
                f"{title} holds strings (in row {row} {column.values[row]!r:.40}), {advice}"
            )
        return as_numbers(column.values, column.missing, title)
    if labels is not None:
        values = column.astype(object)
        return encode_labels(values, np.isnan(column), labels, title)
    return column
