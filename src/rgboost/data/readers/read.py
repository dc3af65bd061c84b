"""One door to all formats."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._core.validation import check_count, check_option
from .compressed import open_binary, split_compression
from .csv_file import CsvOptions, iter_csv, read_csv
from .errors import DataError
from .libsvm_file import LibsvmOptions, iter_libsvm, read_libsvm
from .parquet_file import ParquetOptions, iter_parquet, read_parquet
from .table import Format, Table, Target

PathLike = str | os.PathLike[str]

_FORMAT_OF_ENDING: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
}
_OPTIONS: dict[Format, type[Any]] = {
    "csv": CsvOptions,
    "parquet": ParquetOptions,
    "libsvm": LibsvmOptions,
}
_LIBSVM_LINE = re.compile(rb"\s*[-+.\d][^\s:,;]*(\s+qid:\d+)?(\s+\d+:\S*)+\s*(#.*)?")
_LABEL_LINE = re.compile(rb"\s*[-+.\d][^\s:,;]*\s*(#.*)?")
_HEAD_BYTES = 1 << 16


def read_table(
    path: PathLike, target: Target = None, format: Format | None = None, **options: Any
) -> Table:
    """Read a file of data.

    Parameters
    ----------
    path : path
        A file; ``.gz``, ``.bz2`` and ``.xz`` are unpacked.
    target : str, int or None
        The column to predict, by name or position (CSV and Parquet). None: there is none. LIBSVM
        files have their label at the beginning of each line; leave ``target`` out.
    format : {"csv", "parquet", "libsvm"} or None
        None: by the end of the name (.csv, .tsv, .parquet, .pq, .svm, .libsvm, .svmlight), else
        by the first lines.
    **options
        Of the format: see `CsvOptions`, `LibsvmOptions`. Parquet has none.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file cannot be read: where the fault is and what to do.
    ImportError
        If the format needs a package that is not installed (Parquet: pyarrow).
    """
    path = Path(path)
    kind, settings = _prepare(path, target, format, options)
    if kind == "csv":
        return read_csv(path, target, settings)
    if kind == "parquet":
        return read_parquet(path, target, settings)
    return read_libsvm(path, settings)


def iter_tables(
    path: PathLike,
    target: Target = None,
    format: Format | None = None,
    batch_rows: int = 65_536,
    **options: Any,
) -> Iterator[Table]:
    """Read a file in batches of ``batch_rows`` rows (the last one is shorter).

    Memory stays at the size of a batch, save for Parquet files that are compressed as a whole.
    Parameters as in `read_table`. A fault is raised when its batch is asked for. CSV infers the
    types of columns batch by batch (fix them by ``dtypes``).
    """
    path = Path(path)
    check_count(batch_rows, "batch_rows", at_least=1)
    kind, settings = _prepare(path, target, format, options)
    if kind == "csv":
        return iter_csv(path, target, settings, batch_rows)
    if kind == "parquet":
        return iter_parquet(path, target, settings, batch_rows)
    return iter_libsvm(path, settings, batch_rows)


def detect_format(path: PathLike) -> Format:
    """The format of a file by the end of its name, or by its first lines."""
    path = Path(path)
    ending = Path(split_compression(path)[0]).suffix.lower()
    if ending in _FORMAT_OF_ENDING:
        return _FORMAT_OF_ENDING[ending]
    with open_binary(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = head.removeprefix(b"\xef\xbb\xbf").splitlines()
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    for line in lines:  # lines with only a label do not tell
        if _LIBSVM_LINE.match(line):
            return "libsvm"
        if not _LABEL_LINE.fullmatch(line):
            return "csv"
    return "csv"


def _prepare(
    path: Path, target: Target, format: Format | None, options: dict[str, Any]
) -> tuple[Format, Any]:
    check_option(format, "format", (None, *_OPTIONS))
    kind = detect_format(path) if format is None else format
    if kind == "libsvm" and target is not None:
        raise DataError(
            f"read as LIBSVM, which has no column {target!r}: the label begins each line, "
            "leave the target out or give the format",
            path=path,
        )
    known = {field.name for field in dataclasses.fields(_OPTIONS[kind])}
    for name in options:
        if name not in known:
            owners = [
                other
                for other, settings in _OPTIONS.items()
                if name in {field.name for field in dataclasses.fields(settings)}
            ]
            belongs = f"it is one of {owners[0]} files" if owners else "no format has it"
            raise TypeError(f"{name} is not an option of {kind} files ({path}): {belongs}.")
    return kind, _OPTIONS[kind](**options)
