"""``rgboost fit``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ...data.readers import Table
from ...estimators import RGBMClassifier, RGBMRegressor
from ..errors import CommandError, ExitCode, check_writable, writing
from ..files.models import name_features
from ..files.numbers import check_labels
from ..files.tables import (
    Format,
    NoHeader,
    Read,
    read_feature_names,
    read_rows,
    read_rows_like,
    reader_options,
    take_numbers,
)
from ..files.task import TaskChoice, choose_task
from ..options import literal, with_estimator_parameters
from ..show.output import AsJson, print_json, print_lines
from ..show.progress import announce_compiling, reporter
from ..show.summary import summarise, summary_lines


@with_estimator_parameters
def fit(
    train: Annotated[
        Path, typer.Argument(help="CSV, Parquet or LIBSVM, also .gz, .bz2, .xz, .zip.")
    ],
    out: Annotated[Path, typer.Option(help="Where to store the model.")],
    parameters: dict[str, Any],
    target: Annotated[
        str | None,
        typer.Option(help="Column to predict, by name or position (-1 is the last). Not LIBSVM."),
    ] = None,
    task: Annotated[
        TaskChoice | None, typer.Option(help="Default: by the values of the target.")
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(help="Rows for early stopping, same columns as TRAIN.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Not a feature. Repeatable.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Weights of the rows, not a feature.")
    ] = None,
    offset: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Known part of the score, such as the logarithm of an exposure; not a feature.",
        ),
    ] = None,
    feature_names: Annotated[
        Path | None, typer.Option(help="Names of the features of a LIBSVM file, one on a line.")
    ] = None,
    format: Format = None,
    no_header: NoHeader = False,
    read: Read = None,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a file and store it.

    Shows the losses while it runs, a bar on a terminal and lines elsewhere (--verbose 0: nothing),
    then a summary. Every parameter of RGBMRegressor and RGBMClassifier is an option; lists and
    mappings are written as JSON.

      rgboost fit train.csv --target y --out model.rgb --valid valid.parquet
    """
    check_writable(out)
    options = reader_options(read, no_header)
    rows = read_rows(train, target, ignore or (), format, options)
    names = None if feature_names is None else read_feature_names(feature_names, rows)
    assert rows.y is not None  # LIBSVM always has labels, the others were given a target
    kind, reason = choose_task(task, rows.y)
    estimator = RGBMRegressor() if kind == "regression" else RGBMClassifier()
    estimator.set_params(**parameters)
    if isinstance(weights := parameters.get("class_weight"), dict):
        estimator.set_params(class_weight=_by_label(weights, rows.y))
    held = None
    if valid is not None:
        held = read_rows_like(rows, valid, target, format, options)
    for table in (rows, held) if kind == "regression" else ():
        if table is not None:
            check_labels(table, options)
    rows, given = _arguments(rows, weight, offset)
    if held is not None:
        held, of_held = _arguments(held, weight, offset)
        given |= {"X_val": held.X, "y_val": held.y}
        given |= {f"{name}_val": values for name, values in of_held.items()}
    began = time.perf_counter()
    interrupted = _fit(estimator, rows, given)
    seconds = time.perf_counter() - began
    if names is not None:
        name_features(estimator, names)
    if rows.zero_based is not None:
        estimator.zero_based_ = rows.zero_based  # for the files that are predicted
    with writing(out):
        estimator.save(out)
    found = summarise(
        estimator, rows, task=kind, reason=reason, out=out, seconds=seconds, given=parameters
    )
    if as_json:
        print_json(found)
    else:
        print_lines(summary_lines(found))
    if interrupted:
        raise CommandError(
            f"interrupted; {out} has the iterations that were done", ExitCode.INTERRUPTED
        )


def _by_label(weights: dict[str, Any], y: Any) -> dict[Any, Any]:
    """Weights of classes by their labels: the keys of JSON are texts, labels may be numbers."""
    known = set(y.tolist())
    return {key if key in known else literal(key, "class_weight"): w for key, w in weights.items()}


def _arguments(rows: Table, weight: str | None, offset: str | None) -> tuple[Table, dict[str, Any]]:
    """The features, and what else `fit` is given of the rows."""
    rows, weights = take_numbers(rows, weight, "--weight")
    rows, offsets = take_numbers(rows, offset, "--offset")
    return rows, {"sample_weight": weights, "offset": offsets}


def _fit(estimator: Any, rows: Table, given: dict[str, Any]) -> bool:
    """Fit, telling the losses; whether Ctrl-C ended it, with some iterations done."""
    shows = bool(estimator.verbose)
    told = [reporter()] if shows else []
    estimator.set_params(callbacks=told, verbose=0)
    try:
        with announce_compiling(shows):
            estimator.fit(rows.X, rows.y, **given)
    except KeyboardInterrupt:
        if not hasattr(estimator, "model_"):
            raise
        return True
    finally:
        estimator.set_params(callbacks=None)
    return False
