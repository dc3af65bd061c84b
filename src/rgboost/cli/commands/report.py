"""``rgboost report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...report.page import ROWS_MOST
from ..errors import check_writable, writing
from ..files.labelled import judged_rows
from ..files.models import load_model
from ..files.tables import Format, NoHeader, Read, reader_options
from ..show.output import AsJson, print_json


def report(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    data: Annotated[Path, typer.Argument(help="Rows with labels; best others than those of fit.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    target: Annotated[
        str | None,
        typer.Option(help="Column of the labels. Default: the one that nothing else is said of."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Losses and means for each level of a column."),
    ] = None,
    rows: Annotated[
        int, typer.Option(help=f"Rows whose values go into the page; {ROWS_MOST} at most.")
    ] = 0,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Weights of the rows.")
    ] = None,
    offset: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Known part of the score. See fit.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Heading of the page. Default: the name of the model's file.")
    ] = None,
    format: Format = None,
    no_header: NoHeader = False,
    read: Read = None,
    as_json: AsJson = False,
) -> None:
    """Report on a stored model and rows with labels, as a page for the browser.

    One HTML file: performance, calibration, groups, curves that can be dragged, and fields for
    what-if. It needs nothing from the network, and holds values of rows only by --rows.

      rgboost report model.rgb test.csv --target y --by sex --out report.html
    """
    from ...report import write_report

    check_writable(out)
    estimator = load_model(model)
    options = reader_options(read, no_header)
    given = judged_rows(
        estimator, data, target, format, options, by=by, weight=weight, offset=offset
    )
    with writing(out):
        write_report(
            estimator, path=out, rows=rows, title=model.name if title is None else title, **given
        )
    kept = min(rows, len(given["y"]))
    if kept:
        typer.echo(
            f"{out} holds the values of {kept} rows of {data}: whoever gets it can read them",
            err=True,
        )
    if as_json:
        print_json({"out": str(out), "rows": len(given["y"]), "rows_kept": kept})
    else:
        typer.echo(str(out))
