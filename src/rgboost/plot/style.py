"""Colours that the pictures share, and the axes that they are drawn on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._core.svg import DENSITY, FAINT, LINE, MORE, SECOND

__all__ = [
    "DENSITY",
    "FAINT",
    "LINE",
    "MORE",
    "SECOND",
    "axes_for",
    "diverging",
    "pyplot",
    "save",
    "shortened",
    "tidy",
]


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    plt = pyplot()
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def diverging() -> Any:
    """Colours of what adds (blue) and what takes away (orange); white is nothing."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = ["#7a330b", SECOND, "#f7f7f7", LINE, "#0f3661"]
    return LinearSegmentedColormap.from_list("rgboost", colors)


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "rgboost.plot needs matplotlib: pip install 'rgboost[plot]', or pip install matplotlib"
        ) from error
    return plt


def tidy(ax: Any) -> None:
    """No box around the picture."""
    ax.spines[["top", "right"]].set_visible(False)


def save(figure: Any, stem: Path, dpi: int) -> tuple[Path, Path]:
    """Write a figure into ``stem``.png and .svg, the same bytes every time."""
    from matplotlib import rc_context

    png, svg = (stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg"))
    stem.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "rgboost"}):
        figure.savefig(png, dpi=dpi)
        figure.savefig(svg, metadata={"Date": None})
    return png, svg


def shortened(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
