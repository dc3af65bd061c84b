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
from numpy.typing import NDArray

from ..._core.one_line import one_line
from ..._core.stored import check_arrays, require
from .frames import ColumnTable, ObjectColumn, as_table
from .labels import are_strings, as_numbers, encode_labels, find_labels, kind_of
from .names import check_same_names, check_same_number, feature_mask


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
        mask = _listed(categorical_features, n_features, table.names)
    labels = {
        g: find_labels(column.values, column.missing, table.title(g))
        for g, column in enumerate(table.columns)
        if isinstance(column, ObjectColumn) and mask[g]
    }
    schema = InputSchema(table.names, mask, labels)
    return _matrix(table, schema, _advice_at_fit(table)), schema


def plain_schema(n_features: int, categorical_features: Any) -> InputSchema:
    """The schema of a matrix without names."""
    by_type = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    mask = _listed(None if by_type else categorical_features, n_features, None)
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


def _advice_at_fit(table: ColumnTable) -> str:
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


def _listed(features: Any, n_features: int, names: NDArray[np.object_] | None) -> NDArray[np.bool_]:
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
        out[:, g] = _numbers(column, schema.labels.get(g), table.title(g), advice)
    return out


def _numbers(column: Any, labels: NDArray | None, title: str, advice: str) -> NDArray[np.floating]:
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
