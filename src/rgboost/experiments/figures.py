"""The figures of the experiments as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..plot.style import save, tidy
from .summary import AXES, curves

# Okabe and Ito's colours, which colour-blind readers can tell apart. Blue is GBM, as in the paper.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"]
BEYOND = "#222222"
NAMES = {"iterations": "iterations", "epochs": "epochs", "seconds": "seconds"}
LINEAR_GAP = 1e-4
GAP_LABEL = "training loss − optimum"
TEST_LABEL = "test loss"


def colour_of(grid: list[int], series: dict[str, Any]) -> str:
    """The same colour for a t in every panel; black for what the paper does not have."""
    if series["engine"] != "direct":
        return BEYOND
    return COLOURS[grid.index(series["t"]) % len(COLOURS)]


def label_of(grid: list[int], series: dict[str, Any]) -> str:
    """What a series is called, in figures and on the page."""
    t = series["t"]
    if series["engine"] == "direct":
        return f"t = {t:,}" + (" (GBM)" if t == grid[0] else "")
    kind = "same iterates, other cost" if series["engine"] == "gram" else "other iterates"
    return f"beyond the paper: {series['engine']}, t = {t:,} ({kind})"


def draw_figures(study: dict[str, Any], folder: Path) -> list[Path]:
    """Gap and test loss against iterations, epochs and seconds; Figure loss1 for a9a."""
    series = curves(study)
    paths: list[Path] = []
    for step in study["steps"]:
        mine = [s for s in series if s["step"] == step]
        paths += _draw(study, mine, step, AXES, True, folder / f"{study['set']}-{step}")
        if study["set"] == "a9a":
            paper = [s for s in mine if s["engine"] == "direct"]
            axes = ("iterations", "seconds")
            paths += _draw(study, paper, step, axes, False, folder / f"loss1-{step}")
    return paths


def _draw(
    study: dict[str, Any],
    series: list[dict[str, Any]],
    step: str,
    axes: tuple[str, ...],
    log: bool,
    stem: Path,
) -> tuple[Path, Path]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 10}):
        figure = Figure(figsize=(4.1 * len(axes) + 0.4, 7.4), layout="constrained")
        panels = figure.subplots(2, len(axes), sharey="row", squeeze=False)
        for column, axis in enumerate(axes):
            for row, value in enumerate(("gap", "test")):
                _panel(panels[row, column], study["grid"], series, axis, value, log)
            panels[1, column].set_xlabel(NAMES[axis])
        panels[0, 0].set_ylabel(GAP_LABEL)
        panels[1, 0].set_ylabel(TEST_LABEL)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle(
            f"{study['title']}: {step.replace('-', ' ')} step, "
            f"median and range of {len(study['seeds'])} seeds"
        )
        return save(figure, stem, dpi=130)


def _panel(
    panel: Any, grid: list[int], series: list[dict[str, Any]], axis: str, value: str, log: bool
) -> None:
    for one in series:
        curve = one[axis]
        beyond = one["engine"] != "direct"
        style = {"color": colour_of(grid, one), "lw": 1.8, "ls": "--" if beyond else "-"}
        panel.plot(curve["x"], curve[value], label=label_of(grid, one), **style)
        low, high = curve[f"{value}_low"], curve[f"{value}_high"]
        panel.fill_between(curve["x"], low, high, color=style["color"], alpha=0.13, lw=0)
    end = 0.0
    if log:
        panel.set_xscale("log")
    else:  # as the paper draws it
        end = linear_ends(grid, series, series[0]["step"])[axis]
        panel.set_xlim(0, end)
        panel.locator_params(axis="x", nbins=6)
    if value == "gap":
        panel.set_yscale("log")
        if not log:
            panel.set_ylim(bottom=0.5 * _lowest_gap(series, axis, end))
    else:
        panel.set_ylim(*(limits_of_test_loss(series) if log else linear_limits(series, axis, end)))
    panel.grid(alpha=0.3, lw=0.6)
    tidy(panel)


def limits_of_test_loss(series: list[dict[str, Any]]) -> tuple[float, float]:
    """From a little below the smallest test loss to where the first iteration leaves it.

    Medians only: a seed whose test loss explodes must not flatten all the others.
    """
    values = np.concatenate([one["iterations"]["test"] for one in series])
    first = max(one["iterations"]["test"][0] for one in series)
    low, high = float(values.min()), float(min(values.max(), max(first, 3.0 * values.min())))
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def linear_ends(grid: list[int], series: list[dict[str, Any]], step: str) -> dict[str, float]:
    """Where linear axes end: when GBM is at a gap of 0.0001, or where the first run ends."""
    mine = [one for one in series if one["step"] == step and one["engine"] == "direct"]
    whole = next(one for one in mine if one["t"] == grid[0])
    ends = {}
    for axis in AXES:
        done = np.flatnonzero(np.array(whole[axis]["gap"]) <= LINEAR_GAP)
        first_end = min(one[axis]["x"][-1] for one in mine)
        ends[axis] = float(min(whole[axis]["x"][done[0]], first_end) if len(done) else first_end)
    return ends


def linear_limits(series: list[dict[str, Any]], axis: str, end: float) -> tuple[float, float]:
    """Test losses after the first 2 % of a linear axis, where all curves are still steep."""
    seen = [
        value
        for one in series
        for x, value in zip(one[axis]["x"], one[axis]["test"], strict=True)
        if 0.02 * end <= x <= end
    ]
    margin = 0.05 * (max(seen) - min(seen)) or 0.05
    return min(seen) - margin, max(seen) + margin


def _lowest_gap(series: list[dict[str, Any]], axis: str, end: float) -> float:
    """The smallest median gap that an axis of this length shows."""
    pairs = [(one[axis]["x"], one[axis]["gap"]) for one in series]
    return min(gap for x, gaps in pairs for at, gap in zip(x, gaps, strict=True) if at <= end)
