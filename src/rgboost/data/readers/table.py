"""What the readers return: features, and the target, found by its name."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from ..._core.one_line import one_line
from .errors import DataError, shorten

Format = Literal["csv", "parquet", "libsvm"]
Target = str | int | None


@one_line
@dataclass(frozen=True)
class Table:
    """Rows of a file: features, and the target when there is one.

    Attributes
    ----------
    X : pandas.DataFrame or scipy.sparse.csr_array
        A data frame from CSV and Parquet, a sparse matrix from LIBSVM.
    y : array of shape (n_rows,) or None
        The target: float64 from LIBSVM, the column's own type from the others. None where no
        target was asked for (CSV, Parquet).
    feature_names : tuple of str or None
        Names of the columns of X; None for LIBSVM, whose features only have numbers.
    path : pathlib.Path
    format : {"csv", "parquet", "libsvm"}
    target : str or None
        The name of the column y.
    zero_based : bool or None
        Whether the feature numbers of a LIBSVM file start at 0; column 0 of X is the file's
        feature 0 then, and its feature 1 otherwise.
    """

    X: Any
    y: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    path: Path
    format: Format
    target: str | None = None
    zero_based: bool | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


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
                f"row {row}), remove these rows or fill in what is missing",
                path=path,
            )
        y = column.to_numpy()
    return Table(frame, y, tuple(frame.columns), path, kind, target)


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


def no_rows(path: Path) -> DataError:
    return DataError("the file has no rows, check that this is the right file", path=path)


def nearest_doubles() -> dict[str, Any]:
    """What pandas must be told before 3.1 to round as Python does."""
    import pandas

    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}
