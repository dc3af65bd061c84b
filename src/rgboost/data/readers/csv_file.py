"""CSV text into a data frame.

pandas parses; a compiled check (`csv_kernels`) runs over the same bytes first, because pandas
fills short lines silently and cannot always say where a fault is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from ..._core.validation import check_count
from . import csv_kernels as k
from .compressed import open_binary, text_start
from .errors import DataError
from .frames import Target, check_names, find_target, need, to_table
from .table import Table

DELIMITERS = ",;\t"
"""What ``delimiter="auto"`` chooses from."""

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that are gaps unless the caller says otherwise."""

_SAMPLE_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True)
class CsvOptions:
    """How to read a CSV file.

    Parameters
    ----------
    header : bool
        Whether the first record has the names; otherwise columns are called x0, x1, ...
    delimiter : str
        One ASCII character, or "auto": the one of comma, semicolon and tab that the first
        records agree on.
    missing_values : sequence of str
        Cells that are gaps. The empty cell always is.
    decimal : {".", ","}
    encoding : str
        An encoding that contains ASCII. A byte order mark is skipped.
    skip_lines : int
        Lines to leave out before the first record.
    dtypes : mapping of column name to type, or None
        Types of columns where they shall not be inferred. Batches infer types one by one, so that
        a column with few texts among numbers needs its type here.
    """

    header: bool = True
    delimiter: str = "auto"
    missing_values: tuple[str, ...] = MISSING
    decimal: Literal[".", ","] = "."
    encoding: str = "utf-8"
    skip_lines: int = 0
    dtypes: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        one = len(self.delimiter) == 1 and self.delimiter.isascii()
        if self.delimiter != "auto" and (not one or self.delimiter in ' "\r\n\0'):
            raise ValueError(
                f"delimiter={self.delimiter!r} must be one ASCII character (no blank, no quote) "
                "or 'auto'."
            )
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal={self.decimal!r} must be '.' or ','.")
        check_count(self.skip_lines, "skip_lines")


def read_csv(path: Path, target: Target, options: CsvOptions) -> Table:
    """Read a whole file."""
    tables = list(_read(path, target, options, None))
    return tables[0]


def iter_csv(path: Path, target: Target, options: CsvOptions, batch_rows: int) -> Iterator[Table]:
    """Read a file in batches of ``batch_rows`` rows."""
    return _read(path, target, options, batch_rows)


def _read(
    path: Path, target: Target, options: CsvOptions, batch_rows: int | None
) -> Iterator[Table]:
    pandas = need("pandas", "CSV files", "pandas")
    names, delimiter = read_names(path, options)
    check_names(names, path)
    target = find_target(names, target, path)
    row = 0
    try:
        with open_binary(path) as stream:
            skip_head(stream, options)
            checked = io.BufferedReader(
                _Checked(stream, path, delimiter, options.skip_lines), _BUFFER_BYTES
            )
            settings = _pandas_settings(names, delimiter, options)
            if _version(pandas) < (3, 1):  # later ones always take the nearest double
                settings["float_precision"] = "round_trip"
            parts = pandas.read_csv(checked, chunksize=batch_rows, **settings)
            for frame in [parts] if batch_rows is None else parts:
                if len(frame) == 0:
                    break
                yield to_table(frame, target, path, "csv", row)
                row += len(frame)
    except UnicodeDecodeError as error:
        raise _undecodable(path, options.encoding) from error
    except pandas.errors.ParserError as error:
        raise DataError(f"{str(error).strip()}, correct the file", path=path) from error
    if row == 0:
        raise DataError("the file has no rows, check that this is the right file", path=path)


def _pandas_settings(names: list[str], delimiter: str, options: CsvOptions) -> dict[str, Any]:
    return {
        "sep": delimiter,
        "names": names,
        "header": 0 if options.header else None,
        "index_col": False,
        "skipinitialspace": True,
        "keep_default_na": False,
        "na_values": ["", *options.missing_values],
        "decimal": options.decimal,
        "encoding": text_encoding(options.encoding),
        "dtype": None if options.dtypes is None else dict(options.dtypes),
        "low_memory": False,  # one type for the whole column
    }


def skip_head(stream: BinaryIO, options: CsvOptions) -> None:
    for _ in range(options.skip_lines):
        stream.readline()


def _version(package: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in package.__version__.split(".")[:2])


def text_encoding(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding


def read_names(path: Path, options: CsvOptions) -> tuple[list[str], str]:
    """Column names and delimiter."""
    try:
        with open_binary(path) as stream:
            skip_head(stream, options)
            head = stream.read(_SAMPLE_BYTES)
        start = text_start(head[:512], path)
        delimiter = options.delimiter
        if delimiter == "auto":
            sample = head[start:].decode(options.encoding, "replace")
            delimiter = _choose_delimiter(sample, whole=len(head) < _SAMPLE_BYTES)
        with open_binary(path) as stream:
            skip_head(stream, options)
            text = io.TextIOWrapper(stream, text_encoding(options.encoding), newline="")
            first = next(filter(is_record, _records(text, delimiter)), None)
    except UnicodeDecodeError as error:
        raise _undecodable(path, options.encoding) from error
    except csv.Error as error:
        raise DataError(
            f"the first record cannot be read ({error}), look for a quote that is not closed",
            path=path,
            line=options.skip_lines + 1,
        ) from error
    if first is None:
        raise DataError("the file is empty, check that this is the right file", path=path)
    if not options.header:
        return [f"x{i}" for i in range(len(first))], delimiter
    # A nameless column is mostly the row number that some programs write.
    return [name.strip() or f"column_{i + 1}" for i, name in enumerate(first)], delimiter


def _records(text: Any, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(text, delimiter=delimiter, skipinitialspace=True)


def is_record(cells: list[str]) -> bool:
    return len(cells) > 1 or (len(cells) == 1 and bool(cells[0].strip()))


def _choose_delimiter(sample: str, whole: bool) -> str:
    """The delimiter that splits the first record, preferably all the same way, into most cells."""
    best, best_rank = ",", (False, 1)
    for delimiter in DELIMITERS:
        counts = []
        try:
            for cells in filter(is_record, _records(io.StringIO(sample, newline=""), delimiter)):
                counts.append(len(cells))
        except csv.Error:
            pass  # the sample ends within a quoted cell
        if not whole and len(counts) > 1:
            counts.pop()  # cut off
        if counts and counts[0] > 1:
            rank = (len(set(counts)) == 1, counts[0])
            if rank > best_rank:
                best, best_rank = delimiter, rank
    return best


def _undecodable(path: Path, encoding: str) -> DataError:
    """Find the line and column at which the text is not in the encoding."""
    with open_binary(path) as stream:
        for line, text in enumerate(stream, 1):
            try:
                text.decode(encoding)
            except UnicodeDecodeError as error:
                return DataError(
                    f"the text is not {encoding}, give its encoding (such as encoding='cp1252') "
                    "or save it as UTF-8",
                    path=path,
                    line=line,
                    column=error.start + 1,
                )
    return DataError(f"the text is not {encoding}, give its encoding", path=path)


class _Checked(io.RawIOBase):
    """The bytes of a stream, each checked before it is passed on."""

    def __init__(self, stream: BinaryIO, path: Path, delimiter: str, lines_before: int) -> None:
        self.stream = stream
        self.path = path
        self.delimiter = ord(delimiter)
        self.state = np.zeros(k.STATE_SIZE, dtype=np.int64)
        self.state[[k.CELLS, k.IS_BLANK]] = 1
        self.state[[k.LINE, k.RECORD_LINE]] = lines_before + 1

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_read = int(self.stream.readinto(buffer))  # type: ignore[attr-defined]
        if n_read == 0:
            self._check_end()
            return 0
        data = np.frombuffer(buffer, dtype=np.uint8, count=n_read)
        skip = text_start(data[:512].tobytes(), self.path) if self.state[k.OFFSET] == 0 else 0
        status, at = k.check_records(data[skip:], n_read - skip, self.delimiter, self.state)
        if status != k.OK:
            self._fail(status, at)
        return n_read

    def _check_end(self) -> None:
        if self.state[k.MODE] == k.IN_QUOTES:
            raise DataError(
                "a quote is opened here and never closed, close it or double the quote",
                path=self.path,
                line=int(self.state[k.QUOTE_LINE]),
                column=int(self.state[k.QUOTE_COLUMN]),
            )
        if k.end_record(self.state, self.state[k.OFFSET]) != k.OK:
            self._fail(k.WRONG_COUNT, 0)

    def _fail(self, status: int, at: int) -> None:
        state = self.state
        line, column = int(state[k.LINE]), int(state[k.OFFSET] + at - state[k.LINE_START]) + 1
        if status == k.WRONG_COUNT:
            raise DataError(
                f"this record has {state[k.CELLS]} cells, the first has {state[k.EXPECTED]}, "
                "correct the line (quote cells that contain the delimiter), give the delimiter, or "
                "leave out lines before the first record (skip_lines)",
                path=self.path,
                line=int(state[k.RECORD_LINE]),
            )
        if status == k.TEXT_AFTER_QUOTE:
            what = "there is text after a closing quote, double the quotes inside of a quoted cell"
        else:
            what = "there is a NUL byte, check that this is a text file"
        raise DataError(what, path=self.path, line=line, column=column)
