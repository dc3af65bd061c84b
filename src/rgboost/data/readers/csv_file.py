"""CSV text into a data frame.

pandas parses. Every record passes `_records` on its way there, because pandas fills short lines
silently, cannot always say where a fault is, and takes lines of any length.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..._core.validation import check_count
from .compressed import limited_lines, open_binary, refuse_binary
from .errors import DataError, shorten
from .table import (
    Table,
    Target,
    check_names,
    find_target,
    nearest_doubles,
    no_rows,
    to_table,
)

DELIMITERS = ",;\t"
"""What ``delimiter=None`` chooses from."""

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
"""Cells that are missing values unless the caller says otherwise."""

_SAMPLE = 1 << 16
_WHOLE_NUMBER = re.compile(r"\s*[+-]?\d+\s*")
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d[\d.]*,\d+([eE][+-]?\d+)?\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


@dataclass(frozen=True)
class CsvOptions:
    """How to read a CSV file.

    Parameters
    ----------
    header : bool
        Whether the first record has the names; otherwise columns are called x0, x1, ...
    delimiter : str or None
        One ASCII character. None: the one of comma, semicolon and tab that the first records
        agree on.
    missing_values : sequence of str
        Cells that are missing values. The empty cell always is.
    decimal : {".", ","} or None
        None: a comma where the first records have numbers with commas, none with a point, and
        another delimiter. A column of numbers with commas that were not read as numbers is an
        error that asks for it.
    encoding : str
        An encoding that Python knows. A byte order mark is skipped.
    skip_lines : int
        Lines to leave out before the first record.
    dtypes : mapping of column name to type, or None
        Types of columns where they shall not be inferred. Batches infer types one by one, so that
        a column with few texts among numbers needs its type here.
    """

    header: bool = True
    delimiter: str | None = None
    missing_values: tuple[str, ...] = MISSING
    decimal: Literal[".", ","] | None = None
    encoding: str = "utf-8"
    skip_lines: int = 0
    dtypes: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and not (
            len(delimiter) == 1 and delimiter.isascii() and delimiter not in ' "\r\n\0'
        ):
            raise ValueError(
                f"delimiter={delimiter!r} must be one ASCII character (no blank, no quote)."
            )
        if self.decimal not in (".", ",", None):
            raise ValueError(f"decimal={self.decimal!r} must be '.' or ','.")
        check_count(self.skip_lines, "skip_lines")


class Layout(NamedTuple):
    """What a file looks like, given or found out."""

    names: list[str]
    delimiter: str
    decimal: str


def iter_csv(
    path: Path, target: Target, options: CsvOptions, batch_rows: int | None
) -> Iterator[Table]:
    """Read a file in batches of ``batch_rows`` rows, or as a whole."""
    import pandas

    layout = find_layout(path, options)
    check_names(layout.names, path)
    target = find_target(layout.names, target, path)
    row = 0
    with _open_text(path, options) as text:
        feed = _Feed(_rows(text, path, layout, options))
        try:
            parts = pandas.read_csv(feed, chunksize=batch_rows, **_pandas_settings(layout, options))
            for frame in [parts] if batch_rows is None else parts:
                if len(frame) == 0:
                    break
                _check_decimals(frame, path, options, layout)
                yield to_table(frame, target, path, "csv", row)
                row += len(frame)
        except pandas.errors.EmptyDataError:
            pass
        except ValueError as error:
            if isinstance(error, DataError | UnicodeError):
                raise
            what = f"{str(error).strip()}, correct the file or the dtypes"
            raise DataError(what, path=path) from error
    if row == 0:
        raise no_rows(path)


def _pandas_settings(layout: Layout, options: CsvOptions) -> dict[str, Any]:
    return {
        "sep": layout.delimiter,
        "names": layout.names,
        "header": None,
        "index_col": False,
        "skipinitialspace": True,
        "keep_default_na": False,
        "na_values": ["", *options.missing_values],
        "decimal": layout.decimal,
        "dtype": None if options.dtypes is None else dict(options.dtypes),
        "low_memory": False,  # one type for the whole column
        **nearest_doubles(),
    }


@contextlib.contextmanager
def _open_text(path: Path, options: CsvOptions) -> Iterator[io.TextIOWrapper]:
    """The text of a file. What is not in the encoding, also while reading, is a `DataError`."""
    _check_encoding(options.encoding, path)
    is_utf8 = options.encoding.lower() in ("utf-8", "utf8")
    try:
        with open_binary(path) as stream:
            encoding = "utf-8-sig" if is_utf8 else options.encoding
            yield io.TextIOWrapper(stream, encoding, newline="")
    except UnicodeError as error:
        raise _undecodable(path, options.encoding) from error


def _check_encoding(encoding: str, path: Path) -> None:
    """Raise if there is no such encoding of texts."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:  # ValueError: there is, but it encodes nothing
        what = f"encoding={encoding!r} is not known, give one of Python's (encoding='cp1252')"
        raise DataError(what, path=path, line=1) from error


def _undecodable(path: Path, encoding: str) -> DataError:
    """Find the line and column at which the text is not in the encoding."""
    decoder, line, column = codecs.getincrementaldecoder(encoding)(), 1, None
    utf_16 = encoding.lower().replace("_", "-").startswith("utf-16")
    what = (
        f"the text is not {encoding}, give its encoding (such as encoding='cp1252') or save it as "
        "UTF-8"
    )
    with open_binary(path) as stream:
        texts = enumerate(limited_lines(stream, path), 1)
        try:
            for line, text in texts:
                if line == 1 and not utf_16 and text.startswith((b"\xff\xfe", b"\xfe\xff")):
                    what = "the text is UTF-16, say so (encoding='utf-16') or save it as UTF-8"
                    break
                decoder.decode(text)
            else:
                decoder.decode(b"", final=True)
        except UnicodeError as error:  # some encodings do not say where
            column = error.start + 1 if isinstance(error, UnicodeDecodeError) else None
    return DataError(what, path=path, line=line, column=column)


def _records(
    text: io.TextIOBase, path: Path, delimiter: str, skip_lines: int
) -> Iterator[tuple[int, str]]:
    """The line on which each record begins, and its text; all have as many cells as the first."""
    lines = enumerate(limited_lines(text, path), 1)
    blanks = " \t\r\n".replace(delimiter, "")
    n_expected = 0
    for number, record in itertools.islice(lines, skip_lines, None):
        if '"' in record:
            n_cells, record = _quoted_record(number, record, lines, path, delimiter)
        else:
            n_cells = record.count(delimiter) + 1
            if n_cells == 1 and not record.strip(blanks):
                continue
        if "\0" in record:
            raise refuse_binary(path, number)
        if n_cells != n_expected:
            if n_expected:
                raise _wrong_count(path, number, n_cells, n_expected)
            n_expected = n_cells
        yield number, record


def _quoted_record(
    number: int, line: str, lines: Iterator[tuple[int, str]], path: Path, delimiter: str
) -> tuple[int, str]:
    """How many cells a record with quotes has, and its text, maybe of several lines."""
    held = [line]

    def following() -> Iterator[str]:
        yield line
        for _, more in lines:
            held.append(more)
            yield more

    try:
        cells = next(_parser(following(), delimiter, strict=True))
    except csv.Error as error:
        if "expected after" in str(error):
            what = "there is text after a closing quote, double the quotes inside of a quoted cell"
        else:
            what = "a quote is opened here and never closed, close it or double the quote"
        raise DataError(what, path=path, line=number) from error
    return len(cells), "".join(held)


def _parser(lines: Any, delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _wrong_count(path: Path, line: int, n_cells: int, n_expected: int) -> DataError:
    return DataError(
        f"this record has {n_cells} cells, the first has {n_expected}, correct the line (quote "
        "cells that contain the delimiter), give the delimiter, or leave out lines before the "
        "first record (such as skip_lines=1)",
        path=path,
        line=line,
    )


def _rows(
    text: io.TextIOBase, path: Path, layout: Layout, options: CsvOptions
) -> Iterator[tuple[int, str]]:
    """The records that are rows."""
    records = _records(text, path, layout.delimiter, options.skip_lines)
    return itertools.islice(records, 1 if options.header else 0, None)


class _Feed:
    """Records as a file that pandas reads from."""

    def __init__(self, records: Iterator[tuple[int, str]]) -> None:
        self.records = records

    def read(self, size: int = -1) -> str:
        parts, n_read = [], 0
        for _, record in self.records:
            parts.append(record)
            n_read += len(record)
            if 0 <= size <= n_read:
                break
        return "".join(parts)

    def __iter__(self) -> Iterator[str]:  # what pandas takes for a file has lines
        return (record for _, record in self.records)


def find_layout(path: Path, options: CsvOptions) -> Layout:
    """Column names, delimiter and decimal sign."""
    with _open_text(path, options) as text:
        for _ in range(options.skip_lines):
            text.readline(_SAMPLE)
        sample = text.read(_SAMPLE)
    is_whole = len(sample) < _SAMPLE
    delimiter = options.delimiter or _find_delimiter(sample, is_whole)
    decimal = options.decimal or _find_decimal(sample, delimiter)
    with _open_text(path, options) as text:
        _, first = next(_records(text, path, delimiter, options.skip_lines), (0, ""))
    if not first:
        raise DataError("the file is empty, check that this is the right file", path=path)
    cells = next(_parser(io.StringIO(first, newline=""), delimiter))
    if not options.header:
        return Layout([f"x{i}" for i in range(len(cells))], delimiter, decimal)
    # A nameless column is mostly the row number that some programs write.
    names = [name.strip() or f"column_{i + 1}" for i, name in enumerate(cells)]
    return Layout(names, delimiter, decimal)


def _sample_cells(sample: str, delimiter: str) -> Iterator[list[str]]:
    try:
        for cells in _parser(io.StringIO(sample, newline=""), delimiter):
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield cells
    except csv.Error:
        pass  # the sample ends within a quoted cell


def _find_delimiter(sample: str, is_whole: bool) -> str:
    """The delimiter that splits the first record, preferably all the same way, into most cells."""
    best, best_rank = ",", (False, 1)
    for delimiter in DELIMITERS:
        counts = [len(cells) for cells in _sample_cells(sample, delimiter)]
        if not is_whole and len(counts) > 1:
            counts.pop()  # cut off
        if counts and counts[0] > 1:
            rank = (len(set(counts)) == 1, counts[0])
            if rank > best_rank:
                best, best_rank = delimiter, rank
    return best


def _find_decimal(sample: str, delimiter: str) -> str:
    """A comma if numbers have commas, and not only where thousands could have them."""
    if delimiter == ",":
        return "."
    cells = list(itertools.chain.from_iterable(_sample_cells(sample, delimiter)))
    commas = [cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)]
    if any(map(_POINT_NUMBER.fullmatch, cells)) or all(map(_THOUSANDS.fullmatch, commas)):
        return "."
    return ","


def _check_decimals(frame: Any, path: Path, options: CsvOptions, layout: Layout) -> None:
    """Ask about columns of numbers that have commas, but were read as texts."""
    import pandas

    if options.decimal is not None:
        return
    for name in frame.columns.difference(list(options.dtypes or ()), sort=False):
        if pandas.api.types.is_numeric_dtype(frame[name]):
            continue
        some = frame[name].dropna()
        some = some[:: max(1, len(some) // 1000)]  # from end to end: tables may be sorted
        with_comma = [bool(_COMMA_NUMBER.fullmatch(str(value))) for value in some]
        n_whole = sum(bool(_WHOLE_NUMBER.fullmatch(str(value))) for value in some)
        if not any(with_comma) or 2 * (sum(with_comma) + n_whole) <= len(some):
            continue
        at = with_comma.index(True)
        line, column = locate_cell(path, int(some.index[at]), name, options)
        remedy = "leave out signs between thousands" if layout.decimal == "," else "say decimal=','"
        raise DataError(
            f"{shorten(str(some.iloc[at]))} in the column {shorten(name)} looks like a number with "
            f"a comma; if it is one, {remedy}, else say dtypes={{{name!r}: 'str'}}",
            path=path,
            line=line,
            column=column,
        )


def locate_cell(path: Path, row: int, name: str, options: CsvOptions) -> tuple[int, int]:
    """Line and column, in bytes and from 1, at which a cell begins; ``row`` counts from 0."""
    layout = find_layout(path, options)
    with _open_text(path, options) as text:
        rows = _rows(text, path, layout, options)
        line, record = next(itertools.islice(rows, row, None))
    before = _before_cell(record, layout.names.index(name), layout.delimiter)
    lines = re.split(r"\r\n|\r|\n", before)
    return line + len(lines) - 1, len(lines[-1].encode(options.encoding)) + 1


def _before_cell(record: str, index: int, delimiter: str) -> str:
    """The text of a record before a cell: it has as many delimiters outside of quotes."""
    is_quoted = False
    for at, character in enumerate(record):
        if index == 0:
            return record[:at]
        if character == '"':
            is_quoted = not is_quoted
        elif character == delimiter and not is_quoted:
            index -= 1
    return record
