"""Predictions as CSV or Parquet, batch by batch."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from ..._core.atomic import atomic_file
from ..errors import CommandError, ExitCode, writing

Columns = Mapping[str, NDArray[Any]]
Write = Callable[[Columns], None]


def output_format(path: Path | None) -> tuple[str, str]:
    """Format and compression by the end of the name; standard output gets CSV."""
    from ...data.readers.compressed import split_compression

    if path is None or (path.exists() and not path.is_file()):
        return "csv", ""
    stem, compression = split_compression(path)
    ending = Path(stem).suffix.lower()
    if ending == ".csv" and compression != ".zip":
        return "csv", compression
    if ending in (".parquet", ".pq") and not compression:
        return "parquet", ""
    raise CommandError(
        f"--out {path} must end in .csv (also .csv.gz, .csv.bz2, .csv.xz), .parquet or .pq",
        ExitCode.USAGE,
    )


@contextmanager
def open_predictions(path: Path | None) -> Iterator[Write]:
    """A function that writes a batch; the file appears when all batches are written."""
    kind, compression = output_format(path)
    with writing(path):
        if path is None:
            yield _csv_writer(sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with atomic_file(path) as stream, _compressed(stream, compression) as packed:
            if kind == "csv":
                yield _csv_writer(packed)
            else:
                with _parquet_writer(packed) as write:
                    yield write


@contextmanager
def _compressed(stream: BinaryIO, compression: str) -> Iterator[Any]:
    if not compression:
        yield stream
        return
    from ...data.readers.compressed import OPENERS

    with OPENERS[compression](stream, "wb") as packed:
        yield packed


def _csv_writer(stream: Any) -> Write:
    is_first = True

    def write(columns: Columns) -> None:
        nonlocal is_first
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        if is_first:
            rows.writerow(columns)
            is_first = False
        rows.writerows(zip(*(_cells(values) for values in columns.values()), strict=True))
        stream.write(text.getvalue().encode())

    return write


def _cells(values: NDArray[Any]) -> list[Any]:
    """Numbers with all their digits; missing ones are empty cells."""
    cells = values.tolist()
    if values.dtype.kind in "OfU":
        return ["" if cell is None or cell != cell else cell for cell in cells]
    return cells


@contextmanager
def _parquet_writer(stream: Any) -> Iterator[Write]:
    from ...data.readers.parquet_file import need_pyarrow

    pyarrow, parquet = need_pyarrow()
    writer: Any = None

    def write(columns: Columns) -> None:
        nonlocal writer
        batch = pyarrow.table({name: pyarrow.array(v) for name, v in columns.items()})
        if writer is None:
            writer = parquet.ParquetWriter(stream, batch.schema)
        writer.write_table(batch.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
