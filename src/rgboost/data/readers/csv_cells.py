"""Where a cell of a CSV file is: found only when there is something wrong with it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .compressed import open_binary
from .csv_file import CsvOptions, is_record, read_names, skip_head, text_encoding


def locate_cell(path: Path, row: int, name: str, options: CsvOptions) -> tuple[int, int]:
    """Line and column, in bytes and from 1, at which a cell begins; ``row`` counts from 0."""
    names, delimiter = read_names(path, options)
    before = row + (1 if options.header else 0)
    with open_binary(path) as stream:
        skip_head(stream, options)
        lines = _Lines(io.TextIOWrapper(stream, text_encoding(options.encoding), newline=""))
        cells = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        for _ in filter(is_record, lines.records(cells)):
            if before == 0:
                break
            before -= 1
    text = "".join(lines.last).encode(options.encoding)
    at = _cell_start(text, names.index(name), ord(delimiter))
    line = options.skip_lines + lines.count - len(lines.last) + 1 + text.count(b"\n", 0, at)
    return line, at - text.rfind(b"\n", 0, at)


class _Lines:
    """Lines for a CSV parser that remembers the ones of its last record."""

    def __init__(self, text: Any) -> None:
        self.text = text
        self.count = 0
        self.last: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for line in self.text:
            self.count += 1
            self.last.append(line)
            yield line

    def records(self, parser: Iterator[list[str]]) -> Iterator[list[str]]:
        while True:
            self.last = []
            try:
                yield next(parser)
            except StopIteration:
                return


def _cell_start(record: bytes, index: int, delimiter: int) -> int:
    """Where in a record the cell begins: after as many delimiters outside quotes."""
    at, quoted = 0, False
    while index:
        byte = record[at]
        if byte == ord('"'):
            quoted = not quoted
        elif byte == delimiter and not quoted:
            index -= 1
        at += 1
    return at
