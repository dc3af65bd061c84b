"""``rgboost compare``."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._core.memory import memory_budget
from ...comparison.progress import Tell, say_nothing, shown_on
from ...comparison.run import run_comparison
from ...comparison.words import as_lines, sentence
from ...data.readers import Table
from ...estimators import RGBMClassifier, RGBMRegressor
from ..errors import CommandError, ExitCode, check_writable, writing
from ..files.numbers import check_labels
from ..files.tables import (
    Format,
    FormatChoice,
    NoHeader,
    Read,
    check_column,
    read_rows,
    reader_options,
    take_numbers,
    without,
)
from ..files.task import TaskChoice, by_label, choose_task
from ..files.training import bytes_in_memory
from ..options import literal, with_estimator_parameters
from ..show.output import AsJson, print_json, print_lines

SET_HERE = ("interactions", "learner", "warm_start", "cv")
"""Parameters of the estimators that are no options here: what is compared, and the folds."""


@functools.partial(with_estimator_parameters, without=SET_HERE)
def compare(
    data: Annotated[
        Path, typer.Argument(help="CSV, Parquet or LIBSVM, also .gz, .bz2, .xz, .zip.")
    ],
    parameters: dict[str, Any],
    target: Annotated[
        str | None,
        typer.Option(help="Column to predict, by name or position (-1 is the last). Not LIBSVM."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A page to write, for whoever decides: one HTML file.")
    ] = None,
    peers: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="lightgbm or ebm, if it is installed. Repeatable."),
    ] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COUNT", help="So many pairs, or all. Repeatable. Default: 5, 10, all."
        ),
    ] = None,
    cv: Annotated[
        int | None, typer.Option(help="Folds. Default: 5, 3 or one split, by the number of rows.")
    ] = None,
    task: Annotated[
        TaskChoice | None, typer.Option(help="Default: by the values of the target.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Not a feature. Repeatable.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Weights of the rows, not a feature.")
    ] = None,
    offset: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Known part of the score; not a feature."),
    ] = None,
    row_groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Rows with the same value stay in one fold; not a feature."
        ),
    ] = None,
    format: Format = None,
    no_header: NoHeader = False,
    read: Read = None,
    as_json: AsJson = False,
) -> None:
    """Say what a readable model costs: curves, pairs and trees on held-out rows.

    Fits them to the same rows of a file and judges them by the same others. Prints a table that
    ends with the smallest model whose loss is within one standard error of the best. Parameters of
    RGBMRegressor and RGBMClassifier are options, and hold for all of them.

      rgboost compare data.csv --target y --out page.html
    """
    if out is not None:
        check_writable(out)
    options = reader_options(read, no_header)
    _check_memory(data, format)
    rows = read_rows(data, target, ignore or (), format, options)
    assert rows.y is not None
    labels = rows.y
    kind, reason = choose_task(task, labels)
    if kind == "regression":
        check_labels(rows, options)
    rows, weights = take_numbers(rows, weight, "--weight")
    rows, offsets = take_numbers(rows, offset, "--offset")
    rows, groups = _take_groups(rows, row_groups)
    verbose = parameters.pop("verbose")
    estimator = RGBMRegressor() if kind == "regression" else RGBMClassifier()
    estimator.set_params(**parameters)
    if isinstance(by_class := parameters.get("class_weight"), dict):
        estimator.set_params(class_weight=by_label(by_class, labels))
    counts = [literal(text, "pairs") for text in pairs] if pairs else [5, 10, "all"]
    with ExitStack() as stack:
        tell: Tell = say_nothing
        if verbose:
            from rich.console import Console

            tell = stack.enter_context(shown_on(Console(stderr=True)))
        found = run_comparison(
            rows.X, rows.y, weights, estimator=estimator, pairs=counts, peers=peers or (), cv=cv,
            groups=groups, offset=offsets, target=rows.target or "",
            random_state=parameters.get("random_state", 0), tell=tell,
        )  # fmt: skip
    if out is not None:
        with writing(out):
            found.page(out)
    if as_json:
        print_json(
            {
                "task": kind, "task_reason": reason, "rows": found.n_rows,
                "features": found.n_features, "held_out": found.n_held_out, "fits": found.n_fits,
                "measure": found.measure, "models": found.table, "best": found.best.name,
                "smallest": found.smallest.name,
                "smallest_readable": found.smallest_readable.name, "sentence": sentence(found),
                "left_out": found.left_out, "out": None if out is None else str(out),
            }
        )  # fmt: skip
        return
    print_lines([f"{kind} ({reason})", *as_lines(found)])
    if out is not None:
        typer.echo(f"\npage: {out}")


def _check_memory(data: Path, format: FormatChoice | None) -> None:
    """Refuse a file that has no room in memory, before it is read."""
    needed, there = bytes_in_memory(data, format), memory_budget()
    if needed > there:
        raise CommandError(
            f"{data} would take about {needed / 1e9:.1f} GB of memory, more than may be added "
            f"({there / 1e9:.1f} GB); give a file with a sample of the rows",
            ExitCode.MEMORY,
        )


def _take_groups(rows: Table, name: str | None) -> tuple[Table, Any]:
    """The table without a column of groups, numbers or texts, and that column."""
    if name is None:
        return rows, None
    if rows.feature_names is None:
        raise CommandError(
            "--row-groups names a column, and LIBSVM files have none, leave it out", ExitCode.USAGE
        )
    check_column(name, rows.feature_names, rows.path, "--row-groups names")
    return without(rows, [name]), rows.X[name].to_numpy()
