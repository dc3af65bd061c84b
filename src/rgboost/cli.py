"""The command-line program ``rgboost``."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Randomized Gradient Boosting Machines.", no_args_is_help=True, add_completion=True
)
theory = typer.Typer(help="Draw the paper's figures of its theory.", no_args_is_help=True)
app.add_typer(theory, name="theory")

Out = Annotated[Path, typer.Option(help="Folder for the PNG and the SVG.")]
Sizes = Annotated[list[int] | None, typer.Option(help="Repeat the option for several values.")]


@app.command()
def info() -> None:
    """Versions, for a bug report."""
    typer.echo(f"Python {platform.python_version()} on {platform.platform()}")
    for name in ("rgboost", "numpy", "scipy", "scikit-learn", "numba"):
        typer.echo(f"{name} {importlib.metadata.version(name)}")


@theory.command()
def limit(t: int = 10, size: Sizes = None, out: Out = Path("out")) -> None:
    """Figure limit: the distribution of the chosen quantile, and Beta(1, t).

    --size gives the numbers of weak-learners K, by default 12, 20 and 40.
    """
    from .theory.figures import draw_limit, figure_limit

    figure = figure_limit(t, tuple(size)) if size else figure_limit(t)
    _report(draw_limit(_stem(out, "limit"), figure))
    for K, error in figure.largest_error.items():
        typer.echo(f"K = {K}: largest difference to the Beta(1, {t}) density {error:.3g}")


@theory.command()
def theta(t: Sizes = None, out: Out = Path("out")) -> None:
    """Figure Theta: the Minimal Cosine Angle of an orthogonal basis against its dimension p.

    --t gives the subset sizes, by default 5, 50 and 500.
    """
    from .theory.figures import draw_theta, figure_theta

    figure = figure_theta(tuple(t)) if t else figure_theta()
    _report(draw_theta(_stem(out, "theta"), figure))


@theory.command()
def spread(out: Out = Path("out")) -> None:
    """Figure spread: how the angle grows with the density of weak-learners in the plane."""
    from .theory.figures import draw_spread, figure_spread

    panels = figure_spread()
    _report(draw_spread(_stem(out, "spread"), panels))
    for panel in panels:
        typer.echo(f"{panel.title}: Theta^2 = {panel.theta**2:.3f}")


def _stem(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def _report(paths: tuple[Path, Path]) -> None:
    for path in paths:
        typer.echo(str(path))


def main() -> None:
    """Run the program; faults of the input are told in a line, not as a traceback."""
    try:
        app()
    except (ValueError, TypeError, ImportError, OSError) as fault:
        typer.echo(f"rgboost: {fault}", err=True)
        sys.exit(2)
