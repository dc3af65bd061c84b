"""What the readers of data frames share: packages on demand, column names, the target."""

from __future__ import annotations

import difflib
import importlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import DataError, shorten
from .table import Format, Table

Target = str | int | None


def need(module: str, what: str, packages: str) -> Any:
    """Import a package that only some files need."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"Reading {what} needs {packages}: pip install {packages}") from error


def check_names(names: Sequence[str], path: Path) -> None:
    """Column names must differ: the target and the model's features are found by name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        first = [i + 1 for i, name in enumerate(names) if name == repeated[0]]
        raise DataError(
            f"{len(repeated)} column name(s) are repeated (first: {shorten(repeated[0])} in "
            f"columns {', '.join(map(str, first))}), rename the columns",
            path=path,
        )


def find_target(names: Sequence[str], target: Target, path: Path) -> str | None:
    """The name of the target column; ``target`` is a name or a position (-1 is the last)."""
    if target is None:
        return None
    if isinstance(target, int):
        if not -len(names) <= target < len(names):
            raise DataError(
                f"there is no column number {target} among {len(names)}, "
                f"name the target or take a number from 0 to {len(names) - 1}",
                path=path,
            )
        return names[target]
    if target in names:
        return target
    raise DataError(
        f"there is no target column {shorten(target)}, {names_like(target, names)}", path=path
    )


def names_like(name: str, names: Sequence[str]) -> str:
    """What columns there are for somebody who asked for one that is not there."""
    by_lower = {known.lower(): known for known in reversed(names)}
    near = difflib.get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.4)
    if near:
        return f"the nearest names are {', '.join(repr(by_lower[known]) for known in near)}"
    more = ", ..." if len(names) > 10 else ""
    return f"the columns are {', '.join(map(repr, names[:10]))}{more}"


def to_table(frame: Any, target: str | None, path: Path, kind: Format, first_row: int = 0) -> Table:
    """Split a frame, which is used up, into features and target.

    ``first_row`` is the number of rows before it, for messages.
    """
    y = None
    if target is not None:
        column = frame.pop(target)
        missing = column.isna().to_numpy()
        if missing.any():
            row = first_row + int(missing.argmax()) + 1
            raise DataError(
                f"the target {shorten(target)} is missing in {int(missing.sum())} row(s) (first: "
                f"row {row}), remove these rows or fill the gaps",
                path=path,
            )
        y = column.to_numpy()
    return Table(frame, y, tuple(frame.columns), path, kind)
