"""LIBSVM (SVMlight) text into a sparse matrix.

A line is ``label index:value index:value ...``. scikit-learn parses it, in blocks, so that no more
than twice the matrix is held. What it takes without a word (nan and 1e400 as numbers, 2,000,000,000
as a width) is checked here, and `libsvm_faults` finds the place of a fault.

Rules
-----
- Indices grow along a line; unsorted or repeated ones are an error. They start at 1, or at 0 if a
  0 appears anywhere in the file (``zero_based=None``) or if the caller says so.
- Values and labels are finite numbers, rounded to the nearest double like Python's ``float``.
- A zero that is written out is not stored, but its index counts for the number of features: files
  fix their width this way.
- A file that has more features than `FREE_WIDTH` and than values needs ``n_features``: a wrong
  index would otherwise ask for all the memory.
- ``qid:N`` after the label is passed over.
- ``#`` begins a comment; blank lines and lines with only a comment are no rows. A line with only
  a label is a row of zeros. CRLF, a byte order mark and a missing last newline do no harm.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .compressed import limited_lines, open_binary, refuse_binary
from .errors import DataError
from .libsvm_faults import find_fault
from .table import Table, Target, no_rows

FREE_WIDTH = 1 << 20
"""So many features need no saying, however few of them have a value."""

MOST_FEATURES = 2**31 - 1

_BLOCK_BYTES = 1 << 22
_NO_LIMIT = 1 << 62
_QUERY = re.compile(rb"^(\S+)[^\S\n]+qid:\d+(?!\S)", re.MULTILINE)
_NOT_MEANT = re.compile(rb"_|qid")
"""What scikit-learn takes without a word: 1_0 for 10, and any query id."""


@dataclass(frozen=True)
class LibsvmOptions:
    """How to read a LIBSVM file.

    Parameters
    ----------
    n_features : int or None
        The width of the matrix; an index beyond it is an error. None: the largest index.
    zero_based : bool or None
        Whether indices start at 0. None: if the file has an index 0.
    """

    n_features: int | None = None
    zero_based: bool | None = None

    def __post_init__(self) -> None:
        if self.n_features is not None and not 1 <= self.n_features <= MOST_FEATURES:
            raise ValueError(f"n_features={self.n_features} must be between 1 and {MOST_FEATURES}.")
        if self.zero_based not in (True, False, None):
            raise ValueError(f"zero_based={self.zero_based!r} must be True, False or None.")

    @property
    def least_index(self) -> int:
        return 1 if self.zero_based is False else 0

    @property
    def most_index(self) -> int:
        return (self.n_features or MOST_FEATURES) - (1 if self.zero_based else 0)


def iter_libsvm(
    path: Path, target: Target, options: LibsvmOptions, batch_rows: int | None
) -> Iterator[Table]:
    """Read a file in batches of ``batch_rows`` rows, or as a whole.

    Where the options leave the width or the first index open, the file is read once before the
    batches to find them: all have the same columns.
    """
    if target is not None:
        raise DataError(
            f"read as LIBSVM, which has no column {target!r}: the label begins each line, "
            "leave the target out or give the format",
            path=path,
        )
    if batch_rows is None:
        yield _read_whole(path, options)
        return
    if options.n_features is None or options.zero_based is None:
        width = _find_width(path, options, _read(path, options, batch_rows, _BLOCK_BYTES))
    else:
        width = _Width(options.n_features, options.zero_based)
    for part in _read(path, options, batch_rows, _NO_LIMIT):
        yield part.table(path, width)


def _read_whole(path: Path, options: LibsvmOptions) -> Table:
    parts = list(_read(path, options, _NO_LIMIT, _BLOCK_BYTES))
    width = _find_width(path, options, parts)
    # Array by array, each let go when it is joined: that takes less than two copies of all.
    labels = np.concatenate([part.labels for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    indices = [part.indices for part in parts]
    values = [part.values for part in parts]
    parts.clear()
    joined = np.concatenate(indices)
    indices.clear()
    rows = _Rows(labels, counts, joined, np.concatenate(values), 0, 0)
    return rows.table(path, width)


class _Width(NamedTuple):
    n_features: int
    zero_based: bool


class _Rows(NamedTuple):
    """Some rows as the arrays of a sparse matrix, with the indices of the file."""

    labels: NDArray[np.float64]
    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    least: int
    most: int

    def table(self, path: Path, width: _Width) -> Table:
        """The rows as a table; the indices are used up."""
        if not width.zero_based:
            np.subtract(self.indices, 1, out=self.indices)
        # Both in one type: the smaller one, unless there are too many entries.
        type_ = np.int32 if len(self.indices) <= np.iinfo(np.int32).max else np.int64
        row_ends = np.concatenate([[0], np.cumsum(self.counts)]).astype(type_)
        indices = self.indices.astype(type_, copy=False)
        shape = (len(self.labels), width.n_features)
        X = scipy.sparse.csr_array((self.values, indices, row_ends), shape=shape)
        return Table(X, self.labels, None, path, "libsvm", zero_based=width.zero_based)


def _read(path: Path, options: LibsvmOptions, most_rows: int, most_bytes: int) -> Iterator[_Rows]:
    """Parse a file in blocks of about so many bytes, none of more than so many rows."""
    rows: list[bytes] = []
    n_bytes, first_line, is_empty = 0, 1, True
    with open_binary(path) as stream:
        for number, line in enumerate(limited_lines(stream, path), 1):
            if b"\0" in line:
                raise refuse_binary(path, number)
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if b"#" in line:
                line = line.partition(b"#")[0]
            if row := line.strip():
                rows.append(row)
                n_bytes += len(row)
            if len(rows) == most_rows or n_bytes >= most_bytes:
                yield _parse(rows, path, first_line, options)
                rows, n_bytes, first_line, is_empty = [], 0, number + 1, False
    if rows:
        yield _parse(rows, path, first_line, options)
    elif is_empty:
        raise no_rows(path)


def _parse(rows: list[bytes], path: Path, first_line: int, options: LibsvmOptions) -> _Rows:
    try:
        X, labels = _numbers(rows)
    except (ValueError, OverflowError) as error:
        raise _fault(path, first_line, options) from error
    least, most = (X.indices.min(), X.indices.max()) if X.nnz else (1, 0)
    is_finite = np.isfinite(labels).all() and np.isfinite(X.data).all()
    if not is_finite or least < options.least_index or most > options.most_index:
        raise _fault(path, first_line, options)
    X.eliminate_zeros()
    indices = X.indices.astype(np.int32)
    return _Rows(labels, np.diff(X.indptr), indices, X.data, int(least), int(most))


def _fault(path: Path, first_line: int, options: LibsvmOptions) -> DataError:
    return find_fault(path, first_line, options.least_index, options.most_index, options.n_features)


def _numbers(rows: list[bytes]) -> tuple[Any, NDArray[np.float64]]:
    """The rows as a matrix whose columns have the numbers of the file, and their labels."""
    from sklearn.datasets import load_svmlight_file

    text = b"\n".join(rows)
    if b"qid" in text:
        text = _QUERY.sub(rb"\1", text)
    if _NOT_MEANT.search(text):
        raise ValueError("read as something else than is written")
    return load_svmlight_file(io.BytesIO(text), zero_based=True)


def _find_width(path: Path, options: LibsvmOptions, parts: Any) -> _Width:
    """Where indices start and how many features there are."""
    least, most, n_values = 1, 0, 0
    for part in parts:
        least, most = min(least, part.least), max(most, part.most)
        n_values += len(part.values)
    zero_based = least == 0 if options.zero_based is None else options.zero_based
    found = most + (1 if zero_based and least <= most else 0)
    if options.n_features is not None and found > options.n_features:  # a late 0 has moved all
        raise find_fault(path, 1, 0, options.n_features - 1, options.n_features)
    if options.n_features is None and found > max(FREE_WIDTH, n_values):
        what = (
            f"the largest feature index is {most:,}, and the file has {n_values:,} values; if this "
            f"is right, give n_features={found}, else correct the index"
        )
        place = find_fault(path, 1, 0, most - 1, None)
        raise DataError(what, path=path, line=place.line, column=place.column)
    return _Width(options.n_features or found, zero_based)
