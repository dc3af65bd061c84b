"""Files as pieces of rows."""

from __future__ import annotations

import glob
import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..readers.errors import DataError, shorten
from ..readers.read import iter_tables
from ..readers.table import names_like
from .piece import Piece

PathLike = str | os.PathLike[str]

BATCH_ROWS = 65_536
"""Rows of a piece."""

_HEAD = 1 << 20
"""Bytes that the length of a line is estimated by."""


def find_paths(paths: PathLike | Sequence[PathLike]) -> list[Path]:
    """Files and folders; a text may be a pattern."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = []
    for one in given:
        text = os.fspath(one)
        matching = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else [text]
        if not matching or not all(map(os.path.exists, matching)):
            raise FileNotFoundError(f"There is no file {text!r}; check the path or the pattern.")
        found += [Path(path) for path in matching]
    if not found:
        raise ValueError("paths is empty; give at least one file.")
    return found


@dataclass(frozen=True)
class Files:
    """Files with the same columns: names of the target, the weights and the offsets, and of the
    features (None: all others)."""

    paths: Any
    target: str | None
    weight: str | None
    offset: str | None
    features: Sequence[str] | None
    batch_rows: int

    def features_of(self, names: Sequence[str], path: Path) -> list[str]:
        """The features among the columns, in the order of the file; an error names a column that
        is not there."""
        special = [name for name in (self.target, self.weight, self.offset) if name is not None]
        for name in [*special, *(self.features or ())]:
            if name not in names:
                raise DataError(
                    f"there is no column {shorten(name)}, {names_like(name, names)}", path=path
                )
        if self.features is None:
            return [name for name in names if name not in special]
        return list(self.features)


class ParquetFiles(Files):
    """Parquet files, by pyarrow's datasets."""

    @cached_property
    def _files(self) -> Any:
        try:
            datasets = importlib.import_module("pyarrow.dataset")
        except ImportError as error:
            raise ImportError(
                "Parquet files need pyarrow: pip install 'rgboost[frames]'"
            ) from error
        paths = find_paths(self.paths)
        if len(paths) > 1:
            files: Any = [str(p) for path in paths for p in _files_of(path)]
        else:
            files = str(paths[0])
        found = datasets.dataset(files, format="parquet", partitioning="hive")
        self._check_types(found)
        return found

    def _check_types(self, files: Any) -> None:
        """All files have the columns that are read, with the same types."""
        names = files.schema.names
        features = self.features_of(names, Path(files.files[0]))
        first: dict[str, tuple[Any, str]] = {}
        for part in files.get_fragments():
            schema = part.physical_schema
            for name in features if first else [n for n in features if n in schema.names]:
                if name in first and name not in schema.names:
                    raise DataError(
                        f"there is no column {shorten(name)}, which other files have; add it, or "
                        "leave it out of features",
                        path=part.path,
                    )
                if name not in schema.names:  # a part of the path
                    continue
                kind, path = first.setdefault(name, (schema.field(name).type, part.path))
                if schema.field(name).type != kind:
                    raise DataError(
                        f"the column {shorten(name)} is {schema.field(name).type} here and {kind} "
                        f"in {path}; convert it in one of them",
                        path=part.path,
                    )

    @cached_property
    def n_bytes(self) -> int:
        """What one pass reads: the bytes of the columns, as they are stored."""
        return sum(os.path.getsize(path) for path in self._files.files)

    def __call__(self) -> Iterator[Any]:
        arrow = importlib.import_module("pyarrow")
        files = self._files
        features = self.features_of(files.schema.names, Path(files.files[0]))
        others = [name for name in (self.target, self.weight, self.offset) if name is not None]
        columns = list(dict.fromkeys([*features, *others]))
        per_row = self.n_bytes / max(1, files.count_rows())
        # Groups of rows are what takes memory: one at a time, and not all of its bytes at once.
        scan = importlib.import_module("pyarrow.dataset").ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )
        batches = files.to_batches(
            columns=columns, batch_size=self.batch_rows, batch_readahead=2, fragment_readahead=1,
            fragment_scan_options=scan,
        )  # fmt: skip
        for batch in batches:
            rows = arrow.Table.from_batches([batch])
            known = {name: None if name is None else rows[name] for name in [None, *others]}
            y = None if self.target is None else rows[self.target]
            yield Piece(
                rows.select(features), y, known[self.weight], known[self.offset],
                round(batch.num_rows * per_row),
            )  # fmt: skip


def _files_of(path: Path) -> list[Path]:
    """The files of a folder; or the file itself."""
    return sorted(path.rglob("*.parquet")) if path.is_dir() else [path]


@dataclass(frozen=True)
class CsvFiles(Files):
    """CSV files, one after the other."""

    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _paths(self) -> list[Path]:
        return find_paths(self.paths)

    @cached_property
    def n_bytes(self) -> int:
        """What one pass reads."""
        return sum(path.stat().st_size for path in self._paths)

    def __call__(self) -> Iterator[Any]:
        for path in self._paths:
            per_row = _bytes_of_line(path)
            left = path.stat().st_size
            tables = iter_tables(
                path, self.target, "csv", batch_rows=self.batch_rows, **self.options
            )
            for table in tables:
                features = self.features_of([*table.X.columns, *filter(None, [self.target])], path)
                X = table.X
                weight, offset = (
                    None if name is None else X[name].to_numpy()
                    for name in (self.weight, self.offset)
                )
                read = min(left, round(per_row * table.n_rows))
                left -= read
                yield Piece(X[features], table.y, weight, offset, read)


def _bytes_of_line(path: Path) -> float:
    """About how many bytes of the file a row takes."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    return len(head) / max(1, head.count(b"\n"))
