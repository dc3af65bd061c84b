"""The columns that a stored model needs, found in a file."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from ...data.readers import DataError, Table
from ..errors import CommandError, ExitCode
from .models import feature_names, text_features
from .numbers import check_numbers
from .predictions import Columns
from .tables import WIDEST, check_column, narrow, numbers_of, warn_beyond, with_columns, with_texts


class Batch(NamedTuple):
    """Rows with the model's columns in the model's order, the column to keep, and the offset."""

    table: Table
    kept: Columns
    offset: Any


class ModelColumns:
    """Splits batches of a file into the model's columns, the one to keep, and the offset."""

    def __init__(
        self,
        estimator: Any,
        path: Path,
        format: str,
        id: str | None,
        offset: str | None,
        options: dict[str, Any],
    ) -> None:
        self.names = feature_names(estimator)
        self.texts = text_features(estimator)
        self.n_features: int = estimator.n_features_in_
        self.path = path
        self.format = format
        self.id = id
        self.offset = offset
        zero_based = getattr(estimator, "zero_based_", None)
        self.numbering = {} if zero_based is None else {"zero_based": zero_based}
        self.options = self._reader_options(options)
        self.rows_before = 0
        self.has_warned = False
        if format == "libsvm" and id is not None:
            raise CommandError("--id: LIBSVM files have no columns, leave it out", ExitCode.USAGE)
        if format == "libsvm" and self.names is not None and zero_based is None:
            raise CommandError(
                f"{path}: the model was fitted to columns with names, LIBSVM files have none, "
                "give a CSV or Parquet file",
                ExitCode.DATA,
            )

    def _reader_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The user's options, and what the model and the column to keep ask for."""
        if self.format == "libsvm":
            # Features that the model does not know are left out, not refused.
            return {"n_features": WIDEST, **self.numbering, **options}
        if self.format != "csv":
            return options
        texts = list(self.texts)
        if self.id is not None and self.id not in (self.names or ()):
            texts.append(self.id)  # as it is written: 007 is not 7
        return with_texts(options, texts)

    def split(self, table: Table) -> Batch:
        """The parts of some rows."""
        self.rows_before += table.n_rows
        known = None if self.offset is None else numbers_of(table, self.offset, "--offset")
        if self.format == "libsvm":
            if narrow(table, self.n_features) and not self.has_warned:
                self.has_warned = True
                warn_beyond(self.path, self.n_features)
            return Batch(table, {}, known)
        kept = {}
        if self.id is not None:
            check_column(self.id, table.feature_names or (), self.path, "--id names")
            kept[self.id] = table.X[self.id].to_numpy()
        return Batch(self._frame(table), kept, known)

    def _frame(self, table: Table) -> Table:
        present = table.feature_names or ()
        others = (self.id, self.offset)
        names = [name for name in present if name not in others]
        if self.names is not None:
            names = self.names
        for name in names:
            check_column(name, present, self.path, "the model needs")
        if len(names) != self.n_features:
            raise DataError(
                f"the model was fitted to {self.n_features} features without names, this file "
                f"has {len(names)} columns, leave out the others",
                path=self.path,
            )
        numbers = [name for name in names if name not in self.texts]
        check_numbers(table, numbers, self.rows_before - table.n_rows, self.options)
        found = with_columns(table, names)
        if self.names is None:
            return dataclasses.replace(found, X=found.X.to_numpy(dtype=float))
        return found
