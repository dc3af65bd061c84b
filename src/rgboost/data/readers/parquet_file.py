"""Parquet into a data frame, by pyarrow."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compressed import open_binary, split_compression
from .errors import DataError
from .table import Table, Target, check_names, find_target, no_rows, to_table


@dataclass(frozen=True)
class ParquetOptions:
    """How to read a Parquet file: it says everything itself."""


def need_pyarrow() -> tuple[Any, Any]:
    """pyarrow and its part for Parquet."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'rgboost[frames]'") from error


def iter_parquet(
    path: Path, target: Target, options: ParquetOptions, batch_rows: int | None
) -> Iterator[Table]:
    """Read a file in batches of at most ``batch_rows`` rows, or as a whole."""
    pyarrow, parquet = need_pyarrow()
    row = 0
    try:
        with open_binary(path) as stream:
            # Parquet is read from its end: what is compressed as a whole has to be in memory.
            source = io.BytesIO(stream.read()) if split_compression(path)[1] else stream
            file = parquet.ParquetFile(source, pre_buffer=False)  # not all groups of rows at once
            names = file.schema_arrow.names
            check_names(names, path)
            target = find_target(names, target, path)
            parts = [file.read()] if batch_rows is None else file.iter_batches(batch_rows)
            for part in parts:
                if part.num_rows:
                    yield to_table(part.to_pandas(), target, path, "parquet", row)
                    row += part.num_rows
    except pyarrow.ArrowException as error:
        raise DataError(
            f"the Parquet data is damaged or of another kind ({str(error).strip()}), "
            "get the file again",
            path=path,
        ) from error
    if row == 0:
        raise no_rows(path)
