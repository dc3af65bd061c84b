"""The files that a model is fitted to: read as a whole, or in pieces where they are larger than the
memory that a fit may add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import memory_budget
from ...data.input.task import MOST_CODES
from ..errors import CommandError, ExitCode
from .numbers import check_labels
from .tables import (
    FormatChoice,
    check_column,
    check_header,
    column_names,
    file_format,
    read_feature_names,
    read_rows,
    read_rows_like,
    take_numbers,
    target_column,
)

if TYPE_CHECKING:
    from ...data.chunks import Chunks
    from ...data.readers import Table

COPIES, COMPRESSED = 2, 5
"""A CSV file takes about twice its bytes as a frame and a matrix, and about five times that if it
is compressed."""


@dataclass
class Asked:
    """What the command line says of the files."""

    target: str | None
    valid: Path | None
    ignore: Sequence[str]
    weight: str | None
    offset: str | None
    feature_names: Path | None
    format: FormatChoice | None
    options: dict[str, Any]


def training_files(train: Path, asked: Asked) -> WholeFiles | FilesInPieces:
    """The rows of the files, in memory if they fit."""
    if bytes_in_memory(train, asked.format) > memory_budget():
        return FilesInPieces(train, asked)
    return WholeFiles(train, asked)


def bytes_in_memory(path: Path, format: FormatChoice | None) -> int:
    """About how much memory the rows of a file take; 0 of files that are read as a whole, and of
    those that are not there, which is for the reader to say."""
    from ...data.readers.compressed import split_compression

    if not path.is_file():
        return 0
    kind, compressed = file_format(path, format), bool(split_compression(path)[1])
    if kind == "csv":
        return path.stat().st_size * COPIES * (COMPRESSED if compressed else 1)
    if kind == "libsvm" or compressed:
        return 0
    from ...data.readers.parquet_file import need_pyarrow

    described = need_pyarrow()[1].read_metadata(path)
    return int(described.num_rows * described.num_columns * 8 * COPIES)


class WholeFiles:
    """Rows in memory."""

    in_pieces = False

    def __init__(self, train: Path, asked: Asked) -> None:
        options, format = asked.options, asked.format
        self.asked = asked
        rows = read_rows(train, asked.target, asked.ignore, format, options)
        names = asked.feature_names
        self.names = None if names is None else read_feature_names(names, rows)
        held = None
        if asked.valid is not None:
            held = read_rows_like(rows, asked.valid, asked.target, format, options)
        self.rows, self.held = rows, held
        self.zero_based = rows.zero_based
        assert rows.y is not None  # LIBSVM always has labels, the others were given a target
        self.labels: NDArray = rows.y
        self.has_more_labels = False

    def check_numbers(self) -> None:
        """Refuse texts in the target of a regression."""
        for table in (self.rows, self.held):
            if table is not None:
                check_labels(table, self.asked.options)

    def arguments(self) -> dict[str, Any]:
        """What `fit` is given."""
        self.rows, given = self._beside(self.rows)
        given |= {"X": self.rows.X, "y": self.rows.y}
        if self.held is not None:
            held, of_held = self._beside(self.held)
            given |= {"X_val": held.X, "y_val": held.y}
            given |= {f"{name}_val": values for name, values in of_held.items()}
        return given

    def _beside(self, rows: Table) -> tuple[Table, dict[str, Any]]:
        """The features, and what else `fit` is given of the rows."""
        rows, weights = take_numbers(rows, self.asked.weight, "--weight")
        rows, offsets = take_numbers(rows, self.asked.offset, "--offset")
        return rows, {"sample_weight": weights, "offset": offsets}

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        return self.rows.n_features


class FilesInPieces:
    """Rows that are read piece by piece."""

    in_pieces = True
    names = zero_based = None

    def __init__(self, train: Path, asked: Asked) -> None:
        if asked.feature_names is not None:
            raise CommandError(
                f"--feature-names is for LIBSVM files, {train} has names", ExitCode.USAGE
            )
        kind = file_format(train, asked.format)
        if kind == "csv":
            check_header(train, asked.options)
        columns = column_names(train, kind, asked.options)
        self.target = target_column(train, asked.target, asked.ignore, columns)
        others = {"--weight": asked.weight, "--offset": asked.offset}
        for option, name in others.items():
            if name is not None:
                check_column(name, columns, train, f"{option} names")
        left_out = {self.target, asked.weight, asked.offset, *asked.ignore}
        self.asked = asked
        self.features = [name for name in columns if name not in left_out]
        self.chunks = self._chunks(train, self.features)
        self.held = None
        if asked.valid is not None:
            self.held = self._chunks(asked.valid, self.features)
        of_target = self._chunks(train, [])
        self.labels, self.has_more_labels = distinct_labels(of_target)

    def _chunks(self, path: Path, features: Sequence[str]) -> Chunks:
        from ...data.chunks import Chunks

        asked = self.asked
        given: Any = dict(features=features, weight=asked.weight, offset=asked.offset)
        if file_format(path, asked.format) == "parquet":
            return Chunks.from_parquet(path, self.target, **given)
        return Chunks.from_csv(path, self.target, **given, **asked.options)

    def check_numbers(self) -> None:
        """Labels are looked at when they are read."""

    def arguments(self) -> dict[str, Any]:
        """What `fit` is given."""
        return {"X": self.chunks} | ({} if self.held is None else {"X_val": self.held})

    @property
    def n_rows(self) -> int:
        return self.chunks.n_rows

    @property
    def n_features(self) -> int:
        return len(self.features)


def distinct_labels(chunks: Chunks) -> tuple[NDArray[Any], bool]:
    """Distinct labels, and whether there are more: no more are looked at than it takes to tell
    classes from numbers."""
    found: NDArray | None = None
    for piece in chunks:
        labels = np.unique(np.asarray(piece.y))
        found = labels if found is None else np.unique(np.concatenate([found, labels]))
        numbers = found.dtype.kind in "iuf"
        if not numbers or len(found) > MOST_CODES or (found != np.round(found)).any():
            return found, True
    assert found is not None  # files without rows are refused when they are read
    return found, False
