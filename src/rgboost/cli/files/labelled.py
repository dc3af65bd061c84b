"""Rows with labels for a stored model, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import CommandError, ExitCode
from .columns import ModelColumns
from .tables import FormatChoice, check_header, column_names, file_format, target_column


def labelled_rows(
    estimator: Any,
    path: Path,
    target: str | None,
    format: FormatChoice | None,
    options: dict[str, Any],
) -> tuple[Any, Any]:
    """The model's columns, found by their names, and the target; of a LIBSVM file its labels."""
    from ...data.readers import read_table

    kind = file_format(path, format)
    if kind == "csv":
        check_header(path, options)
    column = None
    if kind != "libsvm":
        column = target_column(path, target, (), column_names(path, kind, options))
    elif target is not None:
        raise CommandError(
            "--target names a column, and LIBSVM files have none, leave it out", ExitCode.USAGE
        )
    columns = ModelColumns(estimator, path, kind, None, None, options)
    table = read_table(path, column, kind, **columns.options)
    return columns.split(table).table.X, table.y
