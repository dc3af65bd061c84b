"""Files as pieces of rows."""

from __future__ import annotations

import glob
import importlib
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..._core.validation import check_count
from ..readers.compressed import OPENERS, open_binary, split_compression
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


def files_of(path: Path, wanted: Callable[[Path], bool]) -> list[Path]:
    """The files of a folder that are wanted, but for hidden ones and those that programs write
    beside (``_SUCCESS``); or the file itself."""
    if not path.is_dir():
        return [path]
    found = [
        one
        for one in sorted(path.rglob("*"))
        if one.is_file()
        and wanted(one)
        and not any(part.startswith((".", "_")) for part in one.relative_to(path).parts)
    ]
    if not found:
        raise _no_files(path)
    return found


def _no_files(path: Path) -> FileNotFoundError:
    return FileNotFoundError(f"The folder {str(path)!r} has no files to read; check the path.")


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

    def __post_init__(self) -> None:
        check_count(self.batch_rows, "batch_rows", at_least=1)
        if isinstance(self.features, str):
            raise TypeError(f"features={self.features!r} is a text; give a list of names.")
        if self.target is not None and self.target in (self.features or ()):
            raise ValueError(
                f"the target {self.target!r} is among the features: a model would copy it. Leave "
                "it out of one of them."
            )

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
        files: Any = str(paths[0])
        if len(paths) > 1:
            files = [str(p) for path in paths for p in files_of(path, _is_parquet)]
        found = datasets.dataset(files, format="parquet", partitioning="hive")
        if not found.files:
            raise _no_files(paths[0])
        self._check_types(found)
        return found

    def _check_types(self, files: Any) -> None:
        """All files have the columns that are read, of the same kind."""
        names = files.schema.names
        features = self.features_of(names, Path(files.files[0]))
        first: dict[str, tuple[Any, str]] = {}
        for part in files.get_fragments():
            there = part.physical_schema
            for name in features:
                if name not in there.names:
                    if name in first:
                        raise DataError(
                            f"there is no column {shorten(name)}, which other files have; add it, "
                            "or leave it out of features",
                            path=part.path,
                        )
                    continue  # a part of the path
                now = there.field(name).type
                kind, path = first.setdefault(name, (now, part.path))
                if _kind(kind) is None:  # nothing but nulls so far
                    first[name] = now, part.path
                elif _kind(now) not in (None, _kind(kind)):
                    raise DataError(
                        f"the column {shorten(name)} is {now} here and {kind} in {path}; convert "
                        "it in one of them",
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
        for part in files.get_fragments():
            batches = part.to_batches(
                schema=_types_of(part, columns, files.schema), columns=columns,
                batch_size=self.batch_rows, batch_readahead=2, fragment_scan_options=scan,
            )  # fmt: skip
            for batch in batches:
                rows = arrow.Table.from_batches([batch])
                known = {name: None if name is None else rows[name] for name in [None, *others]}
                y = None if self.target is None else rows[self.target]
                yield Piece(
                    rows.select(features), y, known[self.weight], known[self.offset],
                    round(batch.num_rows * per_row),
                )  # fmt: skip


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _kind(of: Any) -> str | None:
    """What a column of a type can be put together with; None: with everything."""
    types = importlib.import_module("pyarrow").types
    of = of.value_type if types.is_dictionary(of) else of
    if types.is_null(of):
        return None
    if types.is_string(of) or types.is_large_string(of) or types.is_string_view(of):
        return "texts"
    numbers = types.is_boolean, types.is_integer, types.is_floating, types.is_decimal
    return "numbers" if any(one(of) for one in numbers) else str(of)


def _types_of(part: Any, columns: Sequence[str], whole: Any) -> Any:
    """The types of columns as one of several files has them: another file may have numbers of
    another size, or a longer dictionary. What a file does not have is a part of the path."""
    there = part.physical_schema
    fields = [there.field(n) if n in there.names else whole.field(n) for n in columns]
    return importlib.import_module("pyarrow").schema(fields)


@dataclass(frozen=True)
class CsvFiles(Files):
    """CSV files, one after the other."""

    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _paths(self) -> list[Path]:
        return [one for path in find_paths(self.paths) for one in files_of(path, _is_csv)]

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
                # By something, so that nobody takes it for the beginning of another pass.
                read = max(1, min(left, round(per_row * table.n_rows)))
                left -= read
                yield Piece(X[features], table.y, weight, offset, read)


def _is_csv(path: Path) -> bool:
    return Path(split_compression(path)[0]).suffix.lower() in (".csv", ".tsv")


def _bytes_of_line(path: Path) -> float:
    """About how many bytes of the file a row takes."""
    with open_binary(path) as stream:
        head = stream.read(_HEAD)
    return _packed(path) * len(head) / max(1, head.count(b"\n"))


def _packed(path: Path) -> float:
    """About how many bytes of the file an unpacked byte takes."""
    ending = split_compression(path)[1]
    if not ending:
        return 1.0
    if ending == ".zip":
        with zipfile.ZipFile(path) as archive:
            files = archive.infolist()
        return sum(one.compress_size for one in files) / max(1, sum(one.file_size for one in files))
    with path.open("rb") as raw, OPENERS[ending](raw) as stream:
        n = len(stream.read(_HEAD))
        return raw.tell() / max(1, n)
