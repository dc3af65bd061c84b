"""``rgboost predict``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..data.readers import Table, iter_tables
from .columns import ModelColumns
from .errors import CommandError, ExitCode, check_writable
from .models import is_classifier, load_model
from .output import AsJson, print_json
from .predictions import Columns, open_predictions, output_format
from .tables import Format, FormatChoice, Read, file_format, reader_options

BATCH_ROWS = 65_536
BATCH_VALUES = 1 << 22
"""A batch has at most so many rows; and of wide files about so many values, but some rows."""


def predict(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    data: Annotated[Path, typer.Argument(help="CSV, Parquet or LIBSVM, also .gz, .bz2, .xz.")],
    out: Annotated[
        Path | None, typer.Option(help="A .csv or .parquet file. Default: CSV on standard output.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to keep beside the predictions.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Probabilities of the classes, too.")
    ] = False,
    format: Format = FormatChoice.AUTO,
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
        for table, kept in _batches(estimator, data, id, format, reader_options(read)):
            write({**kept, **_predicted(estimator, table.X, proba)})
            n_rows += table.n_rows
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"rows": n_rows, "seconds": seconds, "out": str(out)})
    elif out is not None:
        typer.echo(f"{n_rows:,} rows in {seconds:.2f} s, written to {out}", err=True)


def _batches(
    estimator: Any, data: Path, id: str | None, format: FormatChoice, options: dict[str, Any]
) -> Iterator[tuple[Table, Columns]]:
    """Batches with the model's columns, and the column to keep."""
    kind = file_format(data, format)
    columns = ModelColumns(estimator, data, kind, id, options)
    batch_rows = min(BATCH_ROWS, max(1024, BATCH_VALUES // estimator.n_features_in_))
    for table in iter_tables(data, None, kind, batch_rows=batch_rows, **columns.options):
        yield columns.split(table)


def _predicted(estimator: Any, X: Any, proba: bool) -> Columns:
    if not proba:
        return {"prediction": estimator.predict(X)}
    probabilities = estimator.predict_proba(X)
    labels = estimator.classes_[np.argmax(probabilities, axis=1)]
    is_float = estimator.classes_.dtype.kind == "f"
    names = [f"probability_{label:{'g' if is_float else ''}}" for label in estimator.classes_]
    return {"prediction": labels, **dict(zip(names, probabilities.T, strict=True))}
