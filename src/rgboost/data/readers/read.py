"""One door to all formats."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..._core.validation import check_count, check_option
from .compressed import open_binary, split_compression
from .csv_file import CsvOptions, iter_csv
from .libsvm_file import LibsvmOptions, iter_libsvm
from .parquet_file import ParquetOptions, iter_parquet
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
_READERS: dict[Format, tuple[Callable[..., Iterator[Table]], type[Any]]] = {
    "csv": (iter_csv, CsvOptions),
    "parquet": (iter_parquet, ParquetOptions),
    "libsvm": (iter_libsvm, LibsvmOptions),
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
    return next(_tables(Path(path), target, format, options, None))


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
    check_count(batch_rows, "batch_rows", at_least=1)
    return _tables(Path(path), target, format, options, batch_rows)


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


def _tables(
    path: Path,
    target: Target,
    format: Format | None,
    options: dict[str, Any],
    batch_rows: int | None,
) -> Iterator[Table]:
    check_option(format, "format", (None, *_READERS))
    kind = detect_format(path) if format is None else format
    read, settings = _READERS[kind]
    known = {of: {field.name for field in dataclasses.fields(s)} for of, (_, s) in _READERS.items()}
    for name in options:
        if name not in known[kind]:
            owners = [other for other in known if name in known[other]]
            belongs = f"it is one of {owners[0]} files" if owners else "no format has it"
            raise TypeError(f"{name} is not an option of {kind} files ({path}): {belongs}.")
    return read(path, target, settings(**options), batch_rows)
