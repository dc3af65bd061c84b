"""Files of data as the commands read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ..errors import CommandError, ExitCode
from ..options import literal

if TYPE_CHECKING:
    from ...data.readers import Table
    from ...data.readers.table import Format as FileFormat


class FormatChoice(StrEnum):
    """How a file is written."""

    CSV = "csv"
    PARQUET = "parquet"
    LIBSVM = "libsvm"


Format = Annotated[
    FormatChoice | None, typer.Option(help="Default: by the name, else by the first lines.")
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="How to read the file, such as header=false, delimiter=;, skip_lines=1, "
        "encoding=cp1252, 'missing_values=[\"?\"]', zero_based=true. Repeatable.",
    ),
]

NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line of a CSV file is a row, not names."),
]


def reader_options(pairs: Sequence[str] | None, no_header: bool = False) -> dict[str, Any]:
    """The options of the readers from texts NAME=VALUE."""
    found: dict[str, Any] = {"header": False} if no_header else {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise CommandError(f"--read {pair} has no value, write NAME=VALUE", ExitCode.USAGE)
        keep = name in ("delimiter", "encoding", "decimal")
        found[name] = value if keep else literal(value, name)
    return found


def file_format(path: Path, choice: FormatChoice | None) -> FileFormat:
    """The format of a file, found or given."""
    from ...data.readers import detect_format

    return detect_format(path) if choice is None else choice.value


def read_rows(
    path: Path,
    target: str | None,
    ignore: Sequence[str],
    format: FormatChoice | None,
    options: dict[str, Any],
) -> Table:
    """Features and target of a whole file."""
    from ...data.readers import read_table
    from .numbers import check_mostly_numbers

    kind = file_format(path, format)
    if kind == "csv":
        check_header(path, options)
    if kind == "libsvm":
        if ignore:
            raise CommandError(
                "--ignore names columns, and LIBSVM files have none, leave it out", ExitCode.USAGE
            )
        return read_table(path, target, kind, **options)
    column = target_column(path, target, ignore, column_names(path, kind, options))
    table = without(read_table(path, column, kind, **options), ignore)
    if kind == "csv":  # a Parquet file says itself what is text
        check_mostly_numbers(table, options)
    return table


def target_column(
    path: Path, target: str | None, ignore: Sequence[str], names: Sequence[str]
) -> str:
    """The name of the target among the columns of a file, none of which is to be ignored."""
    from ...data.readers.table import find_target

    if target is None:
        some = ", ".join(map(repr, names[:10]))
        raise CommandError(
            f"{path}: the target is missing, name it by --target; the columns are {some}",
            ExitCode.USAGE,
        )
    column = find_target(names, _name_or_position(target, names), path)
    for name in ignore:
        check_column(name, names, path, "--ignore names")
    if column in ignore:
        raise CommandError(
            f"--ignore names {column!r}, which is the target; leave it out", ExitCode.USAGE
        )
    assert column is not None
    return column


def column_names(path: Path, format: FileFormat, options: dict[str, Any]) -> tuple[str, ...]:
    """The columns of a CSV or Parquet file."""
    from ...data.readers import iter_tables

    first = next(iter_tables(path, None, format, batch_rows=1, **options))
    assert first.feature_names is not None
    return first.feature_names


def check_header(path: Path, options: dict[str, Any]) -> None:
    """Ask if a CSV file has names at all where most of them are numbers, unless that was said."""
    from ...data.readers import CsvOptions, DataError
    from ...data.readers.csv_file import find_layout

    if "header" in options:
        return
    known = {field.name for field in dataclasses.fields(CsvOptions)}
    settings = CsvOptions(**{name: options[name] for name in options if name in known})
    names = find_layout(path, settings).names
    numbers = [name for name in names if _is_number(name)]
    if 2 * len(numbers) > len(names):
        raise DataError(
            f"the names of the columns are mostly numbers, such as {numbers[0]}; if the first line "
            "is a row of data, say so by --no-header, else by --read header=true",
            path=path,
            line=settings.skip_lines + 1,
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _name_or_position(target: str, names: Sequence[str]) -> str | int:
    """A number is the position of the column, unless a column is called so."""
    try:
        return target if target in names else int(target)
    except ValueError:
        return target


def without(table: Table, ignore: Sequence[str]) -> Table:
    """The table less some columns."""
    names = table.feature_names or ()
    return with_columns(table, [name for name in names if name not in ignore])


def with_columns(table: Table, names: Sequence[str]) -> Table:
    """The table with these columns, in this order."""
    return dataclasses.replace(table, X=table.X[list(names)], feature_names=tuple(names))


def take_numbers(table: Table, name: str | None, option: str) -> tuple[Table, Any]:
    """The table without a column, and the numbers of that column; as it is if there is no name.
    ``option`` names it."""
    if name is None:
        return table, None
    numbers = numbers_of(table, name, option)
    return without(table, [name]), numbers


def numbers_of(table: Table, name: str, option: str) -> NDArray[np.float64]:
    """The numbers of a column that an option names."""
    from ...data.readers import DataError

    if table.feature_names is None:
        raise CommandError(
            f"{option} names a column, and LIBSVM files have none, leave it out", ExitCode.USAGE
        )
    check_column(name, table.feature_names, table.path, f"{option} names")
    column = table.X[name]
    if column.dtype.kind not in "biuf":
        raise DataError(f"the column {name!r}, which {option} names, has texts", path=table.path)
    return column.to_numpy(dtype=np.float64)


def check_column(name: str, names: Sequence[str], path: Path, who: str) -> None:
    """Raise if there is no such column; ``who`` wants it."""
    from ...data.readers import DataError
    from ...data.readers.errors import shorten
    from ...data.readers.table import names_like

    if name in names:
        return
    raise DataError(
        f"there is no column {shorten(name)}, which {who}; {names_like(name, names)}", path=path
    )


def read_feature_names(path: Path, table: Table) -> list[str]:
    """Names for the features of a LIBSVM table, which becomes as wide as there are names."""
    from ...data.readers import DataError

    if table.format != "libsvm":
        raise CommandError(
            f"--feature-names is for LIBSVM files, {table.path} has names", ExitCode.USAGE
        )
    try:
        names = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except OSError as error:
        raise DataError(f"cannot be read ({error}), check the path", path=path) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = "the text is not utf-8, save it as UTF-8"
        raise DataError(what, path=path, line=line) from error
    for line, name in enumerate(names, 1):
        if not name or name in names[: line - 1]:
            what = "there is no name" if not name else f"the name {name!r} is there twice"
            raise DataError(f"{what}, give each feature a name of its own", path=path, line=line)
    if len(names) < table.n_features:
        raise DataError(
            f"there are {len(names):,} names, and {table.path} has {table.n_features:,} features; "
            "give a name for each",
            path=path,
        )
    table.X.resize((table.n_rows, len(names)))
    return names


WIDEST = 2**31 - 1
"""Read a LIBSVM file with so many features, and none is refused for its number."""


def narrow(table: Table, n_features: int) -> bool:
    """Give a LIBSVM table its width; whether some features beyond it were left out."""
    beyond = bool(table.X.indices.size and table.X.indices.max() >= n_features)
    table.X.resize((table.n_rows, n_features))
    return beyond


def read_rows_like(
    first: Table,
    path: Path,
    target: str | None,
    format: FormatChoice | None,
    options: dict[str, Any],
) -> Table:
    """Features and target of another file, with the columns of the first one."""
    kind = file_format(path, format)
    if (kind == "libsvm") != (first.format == "libsvm"):
        raise CommandError(
            f"{path}: LIBSVM files have no names of columns, the others have; give a file of the "
            f"kind of {first.path}",
            ExitCode.DATA,
        )
    if kind == "libsvm":
        options = {**options, "n_features": WIDEST, "zero_based": first.zero_based}
        table = read_rows(path, None, (), format, options)
        if narrow(table, first.n_features):
            warn_beyond(path, first.n_features)
        return table
    names = first.feature_names or ()
    if kind == "csv":
        options = with_texts(options, [name for name in names if _is_text(first.X[name])])
    table = read_rows(path, target, (), format, options)
    for name in names:
        check_column(name, table.feature_names or (), path, f"{first.path} has")
    return with_columns(table, names)


def with_texts(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Options of CSV files: these columns are texts, also where they look like numbers."""
    dtypes = {**dict.fromkeys(names, "str"), **(options.get("dtypes") or {})}
    return {**options, "dtypes": dtypes} if dtypes else options


def _is_text(column: Any) -> bool:
    import pandas

    return bool(pandas.api.types.is_string_dtype(column))


def warn_beyond(path: Path, n_features: int) -> None:
    typer.echo(f"rgboost: {path}: features beyond the first {n_features:,} are left out", err=True)
