"""LIBSVM (SVMlight) text into a sparse matrix.

A line is ``label index:value index:value ...``. The file is parsed in chunks by compiled code, into
arrays that grow: reading takes little more memory than the matrix.

Rules
-----
- Indices grow along a line; unsorted or repeated ones are an error. They start at 1, or at 0 if a
  0 appears anywhere in the file (``zero_based="auto"``) or if the caller says so.
- Values and labels are finite numbers, rounded to the nearest double like Python's ``float``.
- A zero that is written out is not stored (``keep_zeros=True`` stores it), but its index counts
  for the number of features: files fix their width this way.
- ``qid:N`` after the label is kept in `Table.query_ids`; all lines have one or none.
- ``#`` begins a comment; blank lines and lines with only a comment are no rows. A line with only
  a label is a row of zeros. CRLF, a byte order mark and a missing last newline do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from . import libsvm_kernels as k
from .compressed import line_chunks, open_binary
from .decimals import powers_of_five
from .errors import DataError
from .libsvm_messages import describe, index_above, token_at
from .table import Table

ZeroBased = bool | Literal["auto"]

_CHUNK_BYTES = 1 << 20
_MOST_FEATURES = 2**31 - 1
_NO_LIMIT = 2**62


@dataclass(frozen=True)
class LibsvmOptions:
    """How to read a LIBSVM file.

    Parameters
    ----------
    n_features : int or None
        The width of the matrix; an index beyond it is an error. None: the largest index.
    zero_based : bool or "auto"
        Whether indices start at 0. "auto": if the file has an index 0.
    dtype : numpy.float64 or numpy.float32
        Type of the values. Labels are always float64.
    keep_zeros : bool
        Store zeros that are written out.
    """

    n_features: int | None = None
    zero_based: ZeroBased = "auto"
    dtype: type[np.floating] = np.float64
    keep_zeros: bool = False

    def __post_init__(self) -> None:
        if self.n_features is not None and not 1 <= self.n_features <= _MOST_FEATURES:
            raise ValueError(
                f"n_features={self.n_features} must be between 1 and {_MOST_FEATURES}."
            )
        if self.zero_based not in (True, False, "auto"):
            raise ValueError(f"zero_based={self.zero_based!r} must be True, False or 'auto'.")
        if np.dtype(self.dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype={self.dtype!r} must be numpy.float64 or numpy.float32.")

    def rules(self) -> k.Rules:
        most = self.n_features or _MOST_FEATURES
        return k.Rules(
            least_index=1 if self.zero_based is False else 0,
            most_index=most - 1 if self.zero_based is True else most,
            most_value=float(np.finfo(self.dtype).max),
            keep_zeros=self.keep_zeros,
        )


def read_libsvm(path: Path, options: LibsvmOptions) -> Table:
    """Read a whole file."""
    parser = _Parser(path, options)
    rows = _Rows(options.dtype)
    for _ in parser.run(rows, _NO_LIMIT):
        pass
    if rows.n_rows == 0:
        raise _no_rows(path)
    return rows.table(path, parser.is_zero_based(), parser.width(), options.keep_zeros)


def iter_libsvm(path: Path, options: LibsvmOptions, batch_rows: int) -> Iterator[Table]:
    """Read a file in batches of ``batch_rows`` rows.

    Where the options leave the width or the first index open, the file is read once before to
    find them: all batches have the same columns.
    """
    if options.n_features is None or options.zero_based == "auto":
        scout = _Parser(path, options)
        rows = _Rows(options.dtype)
        for _ in scout.run(rows, batch_rows):
            rows.clear()
        zero_based, width = scout.is_zero_based(), scout.width()
    else:
        zero_based, width = options.zero_based, options.n_features
    rows = _Rows(options.dtype)
    is_empty = True
    for is_full in _Parser(path, options).run(rows, batch_rows):
        is_empty = is_empty and rows.n_rows == 0
        if is_full:
            yield rows.table(path, zero_based, width, options.keep_zeros)
            rows.clear()
    if rows.n_rows:
        yield rows.table(path, zero_based, width, options.keep_zeros)
    if is_empty:
        raise _no_rows(path)


def _no_rows(path: Path) -> DataError:
    return DataError("the file has no rows, check that this is the right file", path=path)


class _Parser:
    """One pass over a file."""

    def __init__(self, path: Path, options: LibsvmOptions) -> None:
        self.path = path
        self.options = options
        self.rules = options.rules()
        self.state = np.zeros(k.STATE_SIZE, dtype=np.int64)
        self.state[k.WIDEST] = -1
        self.edge_column = 0

    def run(self, rows: _Rows, batch_rows: int) -> Iterator[bool]:
        """Parse into ``rows``; yields after each piece whether ``rows`` has ``batch_rows`` rows.

        The caller may clear ``rows`` between pieces.
        """
        powers = powers_of_five()
        sink = k.make_sink(_CHUNK_BYTES + 1, self.options.dtype)
        with open_binary(self.path) as stream:
            for buffer, at, stop in line_chunks(stream, self.path, _CHUNK_BYTES):
                if buffer.size > 2 * sink.labels.size:
                    sink = k.make_sink(buffer.size, self.options.dtype)
                while at < stop:
                    room = batch_rows - rows.n_rows
                    status, at = k.parse_lines(
                        buffer, at, stop, room, self.rules, powers, sink, self.state
                    )
                    self._round_hard_numbers(buffer, at, status, sink, rows)
                    if status != k.OK:
                        self._fail(status, buffer, at)
                    self._note_edge(buffer)
                    rows.take(sink, self.state)
                    yield rows.n_rows == batch_rows
        if self.is_zero_based() and self.edge_column and self.options.zero_based == "auto":
            raise DataError(
                index_above(self.rules.most_index, self.options.n_features),
                path=self.path,
                line=int(self.state[k.EDGE_LINE]),
                column=self.edge_column,
            )

    def is_zero_based(self) -> bool:
        if self.options.zero_based == "auto":
            return bool(self.state[k.HAS_ZERO])
        return bool(self.options.zero_based)

    def width(self) -> int:
        if self.options.n_features is not None:
            return self.options.n_features
        return max(0, int(self.state[k.WIDEST]) + (1 if self.is_zero_based() else 0))

    def _round_hard_numbers(
        self, buffer: NDArray[np.uint8], stop: int, outcome: int, sink: k.Sink, rows: _Rows
    ) -> None:
        """Let Python round the few numbers that the kernel could not; it has come to ``stop``."""
        # With a fault later on, the line of that fault is begun but not ended.
        n_ended = int(self.state[k.LINE]) - (1 if outcome != k.OK else 0)
        for slot, at in sink.hard[: self.state[k.HARD]].tolist():
            value = float(token_at(buffer.data, at))
            if slot < 0:
                sink.labels[-1 - slot] = value
                status = k.OK if np.isfinite(value) else k.LABEL_TOO_LARGE
            elif abs(value) <= self.rules.most_value:
                sink.values[slot] = value
                rows.has_zeros |= sink.values[slot] == 0
                status = k.OK
            else:
                status = k.VALUE_TOO_LARGE
            if status != k.OK:
                n_ends = int(np.count_nonzero(buffer[at:stop] == 10))
                self._fail(status, buffer, at, line=n_ended - n_ends + 1)

    def _fail(
        self, status: int, buffer: NDArray[np.uint8], at: int, line: int | None = None
    ) -> None:
        token = token_at(buffer.data, at)
        raise DataError(
            describe(status, token, self.rules, self.options.n_features),
            path=self.path,
            line=int(self.state[k.LINE]) if line is None else line,
            column=_column(buffer, at),
        )

    def _note_edge(self, buffer: NDArray[np.uint8]) -> None:
        if self.state[k.EDGE_LINE] and not self.edge_column:
            self.edge_column = _column(buffer, int(self.state[k.EDGE_AT]))


def _column(buffer: NDArray[np.uint8], at: int) -> int:
    return at - (buffer[:at].tobytes().rfind(b"\n") + 1) + 1


class _Rows:
    """Rows parsed so far, as the arrays of a sparse matrix."""

    def __init__(self, dtype: type[np.floating]) -> None:
        self.dtype = dtype
        self.clear()

    def clear(self) -> None:
        self.labels = _Growing(np.float64)
        self.row_ends = _Growing(np.int64)
        self.query_ids = _Growing(np.int64)
        self.indices = _Growing(np.int32)
        self.values = _Growing(self.dtype)
        self.has_zeros = False

    @property
    def n_rows(self) -> int:
        return self.labels.size

    def take(self, sink: k.Sink, state: NDArray[np.int64]) -> None:
        n_rows, n_entries = int(state[k.ROWS]), int(state[k.ENTRIES])
        self.labels.append(sink.labels[:n_rows])
        self.row_ends.append(sink.row_ends[:n_rows] + self.indices.size)
        if state[k.QUERIES] == 1:
            self.query_ids.append(sink.query_ids[:n_rows])
        self.indices.append(sink.indices[:n_entries])
        self.values.append(sink.values[:n_entries])

    def table(self, path: Path, zero_based: bool, width: int, keep_zeros: bool) -> Table:
        """The rows as a table; they are used up."""
        index_type = np.int32 if self.indices.size <= np.iinfo(np.int32).max else np.int64
        indptr = np.zeros(self.n_rows + 1, dtype=index_type)
        indptr[1:] = self.row_ends.finish()
        indices: NDArray[Any] = self.indices.finish()
        indices = indices.astype(index_type, copy=False)
        if not zero_based:
            np.subtract(indices, 1, out=indices)
        shape = (self.n_rows, width)
        X = scipy.sparse.csr_array((self.values.finish(), indices, indptr), shape=shape)
        X.has_canonical_format = True  # the parser has checked that indices grow
        if self.has_zeros and not keep_zeros:
            X.eliminate_zeros()
        query_ids = self.query_ids.finish() if self.query_ids.size else None
        return Table(X, self.labels.finish(), None, path, "libsvm", query_ids, zero_based)


class _Growing:
    """An array that grows at its end.

    Large arrays are moved by the operating system when they grow, not copied, so that a quarter of
    spare room is all that they take beyond their size.
    """

    def __init__(self, dtype: type) -> None:
        self.array: NDArray[Any] = np.empty(0, dtype=dtype)
        self.size = 0

    def append(self, values: NDArray[Any]) -> None:
        size = self.size + len(values)
        if size > len(self.array):
            self.array.resize(max(size, 5 * len(self.array) // 4), refcheck=False)
        self.array[self.size : size] = values
        self.size = size

    def finish(self) -> NDArray[Any]:
        """The array at its size; it is no longer this object's."""
        array, self.array = self.array, np.empty(0, dtype=self.array.dtype)
        array.resize(self.size, refcheck=False)
        return array
