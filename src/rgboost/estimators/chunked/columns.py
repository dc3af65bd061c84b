"""The columns of pieces, as numbers: which there are, and what categories they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ...data.chunks.levels import Levels
from ...data.input.labels import as_numbers, kind_of
from ...data.input.schema import (
    ColumnTable,
    InputSchema,
    ObjectColumn,
    advice_at_fit,
    as_table,
    categorical_mask,
    column_numbers,
)
from ...data.mixed_bins import OTHERS

Vector = NDArray[np.float64]


class ColumnReader:
    """Reads pieces for the first time, and learns from them what `InputSchema` knows.

    Labels of categories are numbered in the order in which they come; `renumbered` has the numbers
    of the schema.
    """

    def __init__(self, categorical_features: Any) -> None:
        self.given = categorical_features
        self.by_type = isinstance(categorical_features, str) and (
            categorical_features == "from_dtype"
        )
        self.names: NDArray[np.object_] | None = None
        self.n_features = -1
        self.categorical = np.zeros(0, bool)
        self.kinds: list[str | None] = []
        """Of each column, what it holds; None if all was missing so far."""
        self.levels: dict[int, Levels] = {}
        self.labelled: set[int] = set()
        """Columns whose categories have labels."""
        self.unknown: set[int] = set()
        """Columns that could hold categories or numbers where all values of a piece are missing."""
        self.plain: NDArray[np.int64] = np.empty(0, np.int64)
        """Columns that can only hold numbers, as the first piece tells."""

    def read(self, X: Any) -> NDArray[np.floating]:
        """A piece as a matrix."""
        table = as_table(X)
        is_first = self.n_features < 0
        if table is None:
            rows = check_array(
                X, dtype=(np.float64, np.float32), ensure_all_finite=False, input_name="X"
            )
            self._check_columns(None, rows.shape[1])
            if is_first:
                self.plain = np.arange(self.n_features)
            return rows
        self._check_columns(table.names, len(table.columns))
        rows = self._matrix(table)
        if is_first:
            self.plain = np.array([g for g, k in enumerate(self.kinds) if k == "numbers"], np.int64)
        return rows

    def _check_columns(self, names: NDArray[np.object_] | None, n_features: int) -> None:
        """The columns of the first piece, or an error that says how these differ from them."""
        if self.n_features < 0:
            self.names, self.n_features = names, n_features
            listed = None if self.by_type else self.given
            self.categorical = categorical_mask(listed, n_features, names)
            self.kinds = [None] * n_features
            return
        if (names is None) != (self.names is None):
            had, has = ("names", "none") if names is None else ("no names", "names")
            raise ValueError(
                f"the columns have {has}, and the first piece has {had}; give all pieces as frames "
                "with the same columns, or all as matrices."
            )
        if n_features != self.n_features:
            raise ValueError(
                f"it has {n_features} columns, and the first piece has {self.n_features}; all "
                "pieces need the same columns."
            )
        if names is not None and self.names is not None and list(names) != list(self.names):
            g = int(np.argmax(names != self.names))
            raise ValueError(
                f"column {g} is {names[g]!r}, and {self.names[g]!r} in the first piece; all pieces "
                "need the same columns in the same order."
            )

    def _matrix(self, table: ColumnTable) -> NDArray[np.floating]:
        """A frame as a matrix; float32 if all columns are."""
        columns = table.columns
        single = all(getattr(column, "dtype", None) == np.float32 for column in columns)
        out = np.empty((table.n_rows, len(columns)), np.float32 if single else np.float64, "F")
        for g, column in enumerate(columns):
            title = table.title(g)
            if not isinstance(column, ObjectColumn):
                if self.kinds[g] != "numbers" and not np.isnan(column).all():
                    self._note_kind(g, "numbers", title)
                out[:, g] = column
            elif self.categorical[g] if not self.by_type else column.declared:
                out[:, g] = self._categories(g, column, title)
            else:
                out[:, g] = column_numbers(column, None, title, advice_at_fit(table))
                if not column.missing.all():
                    self._note_kind(g, "numbers", title)
        return out

    def _note_kind(self, g: int, kind: str, title: str) -> None:
        before = self.kinds[g]
        if before is not None and before != kind:
            raise TypeError(
                f"{title} holds {kind}, and pieces before it hold {before} there; give it one type "
                "in all pieces (of CSV files: dtypes={name: 'str'})."
            )
        self.kinds[g] = kind

    def _categories(self, g: int, column: ObjectColumn, title: str) -> Vector:
        """The places of the labels of a column."""
        kind = kind_of(column.values, column.missing, title)
        out = np.full(len(column.values), np.nan)
        if kind is None:
            self.unknown.add(g)
        else:
            self.categorical[g] = True
            self.labelled.add(g)
            self._note_kind(g, f"categories that are {kind}", title)
            there = ~column.missing
            values: NDArray = column.values[there]
            if kind == "numbers":
                values = as_numbers(values, column.missing[there], title)
            out[there] = self._of(g).number_of(values)
        return out

    def _of(self, g: int) -> Levels:
        return self.levels.setdefault(g, Levels())

    def count(self, rows: NDArray[np.floating], weight: Vector | None) -> None:
        """Add the weights of some rows of `read` to those of their categories."""
        for g in np.flatnonzero(self.categorical).tolist():
            column = rows[:, g]
            there = ~np.isnan(column)
            w = None if weight is None else weight[there]
            if g in self.labelled:
                self._of(g).add(column[there].astype(np.int64), w)
            else:
                numbers = self._of(g).number_of(column[there].astype(np.float64))
                self._of(g).add(numbers, w)

    def merge(self, other: ColumnReader) -> Callable[[NDArray], NDArray]:
        """Add what was learned from other pieces; what gives their rows the numbers here."""
        self._check_columns(other.names, other.n_features)
        for g, kind in enumerate(other.kinds):
            if kind is not None:
                name = f"column {g if self.names is None else repr(self.names[g])} of X"
                self._note_kind(g, kind, name)
        self.categorical |= other.categorical
        self.labelled |= other.labelled
        self.unknown |= other.unknown
        numbers = {g: self._of(g).merge(levels) for g, levels in sorted(other.levels.items())}

        def renumbered(rows: NDArray) -> NDArray:
            rows = rows.copy()
            for g in sorted(other.labelled):
                there = ~np.isnan(rows[:, g])
                rows[there, g] = numbers[g][rows[there, g].astype(np.int64)]
            return rows

        return renumbered

    def schema(self) -> InputSchema:
        """What the pieces had. A column that never has a value may get any label later."""
        for g in self.unknown:
            if self.kinds[g] is None:
                self.categorical[g] = True
                self.labelled.add(g)
        labels = {g: self._of(g).found().levels for g in sorted(self.labelled)}
        return InputSchema(self.names, self.categorical, labels)

    def weights(self) -> dict[int, tuple[Vector, Vector]]:
        """The categories of each categorical feature, and their weights."""
        found = {}
        for g in np.flatnonzero(self.categorical).tolist():
            one = self._of(g).found()
            values = one.levels.astype(np.float64) if g not in self.labelled else one.places
            weights = one.weights
            if one.rest > 0.0:
                values, weights = np.append(values, OTHERS), np.append(weights, one.rest)
            there = weights > 0.0  # rows without weight are not there
            found[g] = values[there], weights[there]
        return found

    def renumbered(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """Rows of `read` with the numbers that labels have in the schema."""
        for g in sorted(self.labelled):
            place, column = self._of(g).found().place, rows[:, g]
            there = ~np.isnan(column)
            column[there] = place[column[there].astype(np.int64)]
        return rows
