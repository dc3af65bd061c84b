"""``rgboost theory``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import writing
from ..options import with_debug
from ..show.output import AsJson, print_json, print_lines

app = typer.Typer(
    help="Draw the paper's figures of its theory.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option(help="Folder for the PNG and the SVG.")]
Sizes = Annotated[list[int] | None, typer.Option(help="Repeat the option for several values.")]


@app.command()
@with_debug
def limit(
    t: Annotated[int, typer.Option(help="Size of the random subset.")] = 10,
    size: Sizes = None,
    out: Out = Path("out"),
    as_json: AsJson = False,
) -> None:
    """Figure limit: the distribution of the chosen quantile, and Beta(1, t).

    --size gives the numbers of weak-learners K, by default 12, 20 and 40.
    """
    from ...theory.figures import draw_limit, figure_limit

    figure = figure_limit(t, tuple(size)) if size else figure_limit(t)
    with writing(out):
        files = draw_limit(_stem(out, "limit"), figure)
    errors = figure.largest_error
    lines = [
        f"K = {K}: largest difference to the Beta(1, {t}) density {error:.3g}"
        for K, error in errors.items()
    ]
    _report(files, lines, {"t": t, "largest_error": errors}, as_json)


@app.command()
@with_debug
def theta(t: Sizes = None, out: Out = Path("out"), as_json: AsJson = False) -> None:
    """Figure Theta: the Minimal Cosine Angle of an orthogonal basis against its dimension p.

    --t gives the subset sizes, by default 5, 50 and 500.
    """
    from ...theory.figures import draw_theta, figure_theta

    figure = figure_theta(tuple(t)) if t else figure_theta()
    with writing(out):
        files = draw_theta(_stem(out, "theta"), figure)
    _report(files, [], {}, as_json)


@app.command()
@with_debug
def spread(out: Out = Path("out"), as_json: AsJson = False) -> None:
    """Figure spread: how the angle grows with the density of weak-learners in the plane."""
    from ...theory.figures import draw_spread, figure_spread

    panels = figure_spread()
    with writing(out):
        files = draw_spread(_stem(out, "spread"), panels)
    squares = {panel.title: panel.theta**2 for panel in panels}
    lines = [f"{title}: Theta^2 = {square:.3f}" for title, square in squares.items()]
    _report(files, lines, {"theta_squared": squares}, as_json)


def _stem(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def _report(files: tuple[Path, Path], lines: list[str], numbers: dict, as_json: bool) -> None:
    if as_json:
        print_json({"files": [str(path) for path in files], **numbers})
    else:
        print_lines([*map(str, files), *lines])
