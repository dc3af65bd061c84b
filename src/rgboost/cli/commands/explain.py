"""``rgboost explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import check_writable, writing
from ..files.models import load_model
from ..show.output import AsJson, print_json
from ..show.summary import most_important


def explain(
    model: Annotated[Path, typer.Argument(help="A model that rgboost fit has stored.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("explanation.html"),
    as_json: AsJson = False,
) -> None:
    """Draw what a stored model has learnt, as a page for the browser.

    One HTML file with the shape function of every feature and the importances. It needs nothing
    from the network.

      rgboost explain model.rgb --out model.html
    """
    from ...explain.page import write_page

    check_writable(out)
    estimator = load_model(model)
    with writing(out):
        write_page(estimator, out, title=model.name)
    if as_json:
        print_json({"out": str(out), "importances": dict(most_important(estimator, None))})
    else:
        typer.echo(str(out))
