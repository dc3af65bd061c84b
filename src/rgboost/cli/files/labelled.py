"""Rows with labels for a stored model, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import CommandError, ExitCode
from .columns import ModelColumns
from .models import feature_names
from .tables import (
    FormatChoice,
    check_column,
    check_header,
    column_names,
    file_format,
    take_numbers,
    target_column,
)


def judged_rows(
    estimator: Any,
    path: Path,
    target: str | None,
    format: FormatChoice | None,
    options: dict[str, Any],
    *,
    by: str | None,
    weight: str | None,
    offset: str | None,
) -> dict[str, Any]:
    """Rows as `rgboost.report.write_report` takes them: X, y, by, sample_weight and offset.

    Without ``target`` it is the one column that nothing else is said of.
    """
    from ...data.readers import read_table

    kind = file_format(path, format)
    if kind == "csv":
        check_header(path, options)
    column = None
    if kind != "libsvm":
        names = column_names(path, kind, options)
        known = {*(feature_names(estimator) or names), by, weight, offset}
        others = [name for name in names if name not in known]
        if target is None and len(others) == 1:
            target = others[0]
        column = target_column(path, target, (), names)
        if by is not None:
            left = [name for name in names if name != column]
            check_column(by, left, path, "--by names")
    elif target is not None or by is not None:
        option = "--by" if target is None else "--target"
        raise CommandError(
            f"{option} names a column, and LIBSVM files have none, leave it out", ExitCode.USAGE
        )
    columns = ModelColumns(estimator, path, kind, None, offset, options)
    table = read_table(path, column, kind, **columns.options)
    levels = None if by is None else table.X[by]
    table, weights = take_numbers(table, weight, "--weight")
    batch = columns.split(table)
    return {
        "X": batch.table.X,
        "y": table.y,
        "by": levels,
        "sample_weight": weights,
        "offset": batch.offset,
    }
