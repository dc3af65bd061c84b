"""``rgboost predict``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...data.readers import iter_tables
from ..errors import CommandError, ExitCode, check_writable
from ..files.columns import Batch, ModelColumns
from ..files.models import is_classifier, load_model
from ..files.predictions import Columns, open_predictions, output_format
from ..files.tables import (
    Format,
    NoHeader,
    Read,
    check_header,
    file_format,
    reader_options,
)
from ..show.output import AsJson, print_json

BATCH_ROWS = 65_536
BATCH_VALUES = 1 << 22
"""A batch has at most so many rows; and of wide files about so many values, but some rows."""


def predict(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    data: Annotated[
        Path, typer.Argument(help="CSV, Parquet or LIBSVM, also .gz, .bz2, .xz, .zip.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="A .csv or .parquet file. Default: CSV on standard output.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to keep beside the predictions.")
    ] = None,
    offset: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Added to the score; 0 without it. See fit."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Probabilities of the classes, too.")
    ] = False,
    format: Format = None,
    no_header: NoHeader = False,
    read: Read = None,
    as_json: AsJson = False,
) -> None:
    """Predict the rows of a file with a stored model.

    Rows pass through in batches: memory does not grow with the file. Columns are found by their
    names; others than the model's are left out.

      rgboost predict model.rgb new.csv --out predictions.csv --id customer
    """
    if as_json and out is None:
        raise CommandError("--json needs --out: predictions would mix with it", ExitCode.USAGE)
    if out is not None:
        output_format(out)
        check_writable(out)
    began = time.perf_counter()
    estimator = load_model(model)
    if proba and not is_classifier(estimator):
        raise CommandError(
            f"--proba: {model} is a model of regression, leave the option out", ExitCode.USAGE
        )
    n_rows = 0
    with open_predictions(out) as write:
        options = reader_options(read, no_header)
        for batch in _batches(estimator, data, id, offset, format, options):
            write({**batch.kept, **_predicted(estimator, batch, proba)})
            n_rows += batch.table.n_rows
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"rows": n_rows, "seconds": seconds, "out": str(out)})
    elif out is not None:
        typer.echo(f"{n_rows:,} rows in {seconds:.2f} s, written to {out}", err=True)


def _batches(
    estimator: Any,
    data: Path,
    id: str | None,
    offset: str | None,
    format: Format,
    options: dict[str, Any],
) -> Iterator[Batch]:
    """Batches with the model's columns, the column to keep, and the offset."""
    kind = file_format(data, format)
    if kind == "csv":
        check_header(data, options)
    columns = ModelColumns(estimator, data, kind, id, offset, options)
    batch_rows = min(BATCH_ROWS, max(1024, BATCH_VALUES // estimator.n_features_in_))
    for table in iter_tables(data, None, kind, batch_rows=batch_rows, **columns.options):
        yield columns.split(table)


def _predicted(estimator: Any, batch: Batch, proba: bool) -> Columns:
    with warnings.catch_warnings():
        # The features of a LIBSVM file have numbers; their names came from another file.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if not proba:
            return {"prediction": estimator.predict(batch.table.X, offset=batch.offset)}
        probabilities = estimator.predict_proba(batch.table.X, offset=batch.offset)
    labels = estimator.classes_[np.argmax(probabilities, axis=1)]
    is_float = estimator.classes_.dtype.kind == "f"
    names = [f"probability_{label:{'g' if is_float else ''}}" for label in estimator.classes_]
    return {"prediction": labels, **dict(zip(names, probabilities.T, strict=True))}
