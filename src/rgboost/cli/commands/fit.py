"""``rgboost fit``."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._core.memory import memory_budget
from ...estimators import RGBMClassifier, RGBMRegressor
from ..errors import CommandError, ExitCode, check_writable, writing
from ..files.models import name_features
from ..files.tables import Format, NoHeader, Read, reader_options
from ..files.task import TaskChoice, by_label, choose_task
from ..files.training import Asked, training_files
from ..options import with_estimator_parameters
from ..show.output import AsJson, print_json, print_lines
from ..show.passes import pass_reporter
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
    asked = Asked(
        target, valid, ignore or (), weight, offset, feature_names, format, options
    )  # fmt: skip
    files = training_files(train, asked)
    kind, reason = choose_task(task, files.labels, files.has_more_labels)
    estimator = RGBMRegressor() if kind == "regression" else RGBMClassifier()
    estimator.set_params(**parameters)
    if isinstance(weights := parameters.get("class_weight"), dict):
        estimator.set_params(class_weight=by_label(weights, files.labels))
    if kind == "regression":
        files.check_numbers()
    if files.in_pieces and estimator.verbose:
        typer.echo(
            f"{train} would take more memory than a fit may add ({memory_budget() / 1e9:.1f} GB): "
            "it is read in pieces",
            err=True,
        )
    arguments = files.arguments()
    began = time.perf_counter()
    interrupted = _fit(estimator, arguments, files.in_pieces)
    seconds = time.perf_counter() - began
    if files.names is not None:
        name_features(estimator, files.names)
    if files.zero_based is not None:
        estimator.zero_based_ = files.zero_based  # for the files that are predicted
    with writing(out):
        estimator.save(out)
    found = summarise(
        estimator, files, task=kind, reason=reason, out=out, seconds=seconds, given=parameters
    )
    if as_json:
        print_json(found)
    else:
        print_lines(summary_lines(found))
    if interrupted:
        raise CommandError(
            f"interrupted; {out} has the iterations that were done", ExitCode.INTERRUPTED
        )


def _fit(estimator: Any, arguments: dict[str, Any], in_pieces: bool) -> bool:
    """Fit, telling the losses; whether Ctrl-C ended it, with some iterations done."""
    shows = bool(estimator.verbose)
    with ExitStack() as stack:
        stack.enter_context(announce_compiling(shows))
        told: list[Any] = [reporter()] if shows else []
        if shows and in_pieces:
            passes = stack.enter_context(pass_reporter())
            arguments["X"].watch, told = passes.watch, [passes.tell]
        estimator.set_params(callbacks=told, verbose=0)
        try:
            estimator.fit(**arguments)
        except KeyboardInterrupt:
            if not hasattr(estimator, "model_"):
                raise
            return True
        finally:
            estimator.set_params(callbacks=None)
    return False
