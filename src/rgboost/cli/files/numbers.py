"""Texts in columns of numbers: a fault of the file, and where it is."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...data.readers import CsvOptions, DataError, Table
from ...data.readers.csv_file import locate_cell
from ...data.readers.errors import shorten
from ..typed import read_option


def check_mostly_numbers(table: Table, options: dict[str, Any]) -> None:
    """Refuse columns that mix a few texts into numbers: they would all become categories.

    A column whose type the user has given (``dtypes``) is as it should be.
    """
    import pandas

    given = options.get("dtypes") or {}
    columns = {str(name): table.X[name] for name in table.X.columns}
    if table.target is not None:
        columns[table.target] = pandas.Series(table.y)
    for name, column in columns.items():
        texts = _texts(column)
        if name in given or not texts.any():
            continue
        n_numbers = int(column.notna().sum() - texts.sum())
        if n_numbers <= texts.sum():
            continue
        row = int(texts.argmax())
        missing = read_option("missing_values", [str(column.iloc[row])])
        types = read_option("dtypes", {name: "str"})
        what = (
            f"{shorten(str(column.iloc[row]))} is not a number, but {n_numbers:,} other values of "
            f"the column {shorten(name)} are; correct it, or say that it is missing "
            f"({missing}) or that these are categories ({types})"
        )
        raise _fault(table, row, name, options, what)


def check_labels(table: Table, options: dict[str, Any]) -> None:
    """Refuse texts in the target of a regression."""
    import pandas

    texts = _texts(pandas.Series(table.y))
    if texts.any():
        assert table.y is not None
        assert table.target is not None  # files without names of columns have no texts
        row = int(texts.argmax())
        what = (
            f"{shorten(str(table.y[row]))} is not a number, which a regression needs in the target "
            f"{shorten(table.target)}; correct it, or fit classes (--task classification)"
        )
        raise _fault(table, row, table.target, options, what)


def check_numbers(
    table: Table, names: Collection[str], rows_before: int, options: dict[str, Any]
) -> None:
    """Refuse texts in columns that the model takes for numbers."""
    for name in names:
        texts = _texts(table.X[name])
        if texts.any():
            row = int(texts.argmax())
            what = (
                f"{shorten(str(table.X[name].iloc[row]))} is not a number, which the model needs "
                f"in the column {shorten(name)}; correct it"
            )
            raise _fault(table, rows_before + row, name, options, what)


def _texts(column: Any) -> Any:
    """Where a column has a text that is not a number."""
    import numpy
    import pandas

    if pandas.api.types.is_numeric_dtype(column) or pandas.api.types.is_bool_dtype(column):
        return numpy.zeros(len(column), dtype=bool)
    parsed = pandas.to_numeric(column, errors="coerce")
    return (parsed.isna() & column.notna()).to_numpy(dtype=bool)


def _fault(table: Table, row: int, name: str, options: dict[str, Any], what: str) -> DataError:
    if table.format != "csv":
        return DataError(f"row {row + 1}: {what}", path=table.path)
    line, column = locate_cell(table.path, row, name, CsvOptions(**options))
    return DataError(what, path=table.path, line=line, column=column)
