"""Colours that the pictures share, and the axes that they are drawn on."""

from __future__ import annotations

from typing import Any

from .._core.svg import DENSITY, FAINT, LINE, MORE, SECOND

__all__ = ["DENSITY", "FAINT", "LINE", "MORE", "SECOND", "axes_for", "pyplot", "shortened", "tidy"]


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    plt = pyplot()
    return plt.subplots(figsize=figsize, layout="constrained")[1]


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


def shortened(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
