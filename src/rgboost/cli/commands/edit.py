"""``rgboost edit``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import CommandError, ExitCode, check_writable, writing
from ..files.labelled import judged_rows
from ..files.models import load_model
from ..files.tables import Format, NoHeader, Read, reader_options
from ..show.output import AsJson, print_json, print_lines


def edit(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    edits: Annotated[Path, typer.Argument(help="Edits as JSON, such as the page downloads.")],
    out: Annotated[Path, typer.Option(help="Where to store the edited model.")],
    data: Annotated[
        Path | None, typer.Option(help="Labelled rows: what the edits cost, and for refits.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of the labels, by name or position.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Weights of the rows.")
    ] = None,
    offset: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Known part of the score. See fit.")
    ] = None,
    format: Format = None,
    no_header: NoHeader = False,
    read: Read = None,
    as_json: AsJson = False,
) -> None:
    """Make the edits of a file to a stored model, and store the result.

    The edits must have been written for this very model; they are kept in the new file with their
    reasons, and rgboost info shows them. With --data the loss of these rows before and after.

      rgboost edit model.rgb edits.json --out new.rgb --data test.csv --target y
    """
    from ...editing import apply_edits, checksum

    check_writable(out)
    estimator = load_model(model)
    rows: dict[str, Any] = {}
    if data is not None:
        options = reader_options(read, no_header)
        rows = judged_rows(
            estimator, data, target, format, options, by=None, weight=weight, offset=offset
        )
        del rows["by"]
    try:
        edited = apply_edits(estimator, edits, **rows)
    except OSError as error:
        reason = f"cannot be read ({os.strerror(error.errno) if error.errno else error})"
        raise CommandError(f"{edits}: {reason}, check the path", ExitCode.DATA) from error
    except (ValueError, TypeError) as error:
        raise CommandError(f"{edits}: {error}", ExitCode.DATA) from error
    with writing(out):
        edited.save(out)
    before, after = (getattr(one, "edits_", None) for one in (estimator, edited))
    made = [] if after is None else after.lines()[0 if before is None else len(before) :]
    found: dict[str, Any] = {"out": str(out), "checksum": checksum(edited), "edits": made}
    if rows:
        losses = [one._mean_loss(**rows) for one in (estimator, edited)]
        found |= {"loss_before": losses[0], "loss_after": losses[1]}
    if as_json:
        print_json(found)
        return
    lines = [*made]
    if rows:
        lines.append(f"loss of {data}: {losses[0]:.6g} before, {losses[1]:.6g} after")
    print_lines([*lines, str(out)])
