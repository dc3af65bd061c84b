"""The figures as plots, one idea each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

COLOURS = {
    "rgboost": "#c1272d",
    "LightGBM": "#0072b2",
    "XGBoost": "#009e73",
    "CatBoost": "#e69f00",
    "HistGradientBoosting": "#8c6bb1",
    "EBM": "#555555",
}
MARKERS = dict(zip(COLOURS, "osD^vP", strict=True))
Cases = dict[str, Any]


def draw_all(cases: Cases, folder: Path) -> list[Path]:
    """Draw what there are figures for; returns the files."""
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    drawn = []
    plots: dict[str, Callable[[Cases], Any]] = {
        "loss": loss_against_seconds,
        "rates": rates_against_t,
        "rows": lambda cases: growth(cases, "rows", "rows n"),
        "features": lambda cases: growth(cases, "features", "features p"),
        "prediction": prediction,
        "memory": memory,
    }
    for name, plot in plots.items():
        figure = plot(cases)
        if figure is not None:
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=150, bbox_inches="tight")
            plt.close(figure)
            drawn.append(path)
    return drawn


def _figures(cases: Cases, name: str, unit: str | None = None) -> list[dict[str, Any]]:
    found = cases.get(name, {}).get("figures", [])
    return [f for f in found if f["value"] is not None and unit in (None, f["unit"])]


def _line(axes: Axes, points: list[tuple[float, float]], who: str, **style: Any) -> None:
    x, y = zip(*sorted(points), strict=True)
    options = {"label": who, "color": COLOURS[who], "marker": MARKERS[who], "markersize": 5}
    axes.plot(x, y, **{**options, **style})


def _plain_numbers(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def loss_against_seconds(cases: Cases) -> Any:
    """Training loss left above the smallest of all, one panel for each data set."""
    curves = [c for case in cases.values() for c in case.get("curves", []) if c["seconds"]]
    plots = [plot for plot in ("logistic", "squared") if any(c["plot"] == plot for c in curves)]
    if not plots:
        return None
    figure, panels = plt.subplots(1, len(plots), figsize=(5.5 * len(plots), 4), squeeze=False)
    for axes, plot in zip(panels[0], plots, strict=True):
        mine = [c for c in curves if c["plot"] == plot]
        for curve in mine:
            who, alone = curve["contestant"], len(curve["loss"]) == 1
            axes.plot(
                curve["seconds"], curve["loss"], label=who, color=COLOURS[who], lw=2,
                marker=MARKERS[who] if alone else None, ls="none" if alone else "-", markersize=9,
            )  # fmt: skip
        axes.set(xscale="log", xlabel="seconds, binning included", title=mine[0]["data"])
        axes.set_ylabel(f"mean training loss ({plot})")
        low = min(min(c["loss"]) for c in mine)
        start = [c["loss"][min(len(c["loss"]) - 1, 5)] for c in mine]
        axes.set_ylim(low - 0.03 * (max(start) - low), low + 1.05 * (max(start) - low))
        _plain_numbers(axes.xaxis)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
    figure.tight_layout()
    return figure


def rates_against_t(cases: Cases) -> Any:
    """Iterations per second of the direct engine against t."""
    found = _figures(cases, "rates")
    if not found:
        return None
    figure, axes = plt.subplots(figsize=(6.5, 4.2))
    for threads, style in ((1, "--"), (max(f["threads"] for f in found), "-")):
        for who in COLOURS:
            mine = [f for f in found if f["contestant"] == who and f["threads"] == threads]
            if mine:
                label = who if style == "-" else None
                points = [(f["x"], f["value"]) for f in mine]
                _line(axes, points, who, ls=style, label=label, alpha=1 if style == "-" else 0.55)
    axes.plot([], [], color="grey", ls="--", label="one thread")
    axes.set(xscale="log", yscale="log", xlabel="features per iteration, t")
    axes.set_ylabel("iterations per second")
    axes.set_title(f"{found[0]['data']}, squared loss, direct engine")
    axes.set_xticks(sorted({f["x"] for f in found}))
    _plain_numbers(axes.xaxis)
    _plain_numbers(axes.yaxis)
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False)
    return figure


def growth(cases: Cases, name: str, label: str) -> Any:
    """Fit time against n or p, with slopes."""
    found = _figures(cases, name, "s")
    if not found:
        return None
    slopes = {(f["contestant"], f["row"]): f["value"] for f in _figures(cases, name, "slope")}
    figure, axes = plt.subplots(figsize=(6.5, 4.2))
    for who in COLOURS:
        for sqrt, style, kind in ((False, "-", "all features"), (True, "--", "t=sqrt")):
            points = [
                (f["x"], f["value"])
                for f in found
                if f["contestant"] == who and f["row"].endswith("sqrt") == sqrt
            ]
            if points:
                slope = slopes.get((who, f"slope {kind}"))
                text = f"{who}, {kind}" + (f": slope {slope:.2f}" if slope is not None else "")
                _line(axes, points, who, ls=style, label=text)
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds, binning included")
    what = found[0]["what"].split(",")[0]
    axes.set_title(f"{what}, {_constant(found[0]['data'], name)}")
    _plain_numbers(axes.xaxis)
    _plain_numbers(axes.yaxis)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    return figure


def _constant(data: str, name: str) -> str:
    """The size that stays the same."""
    n, p = data.removeprefix("made ").split(" x ")
    return f"{p} features" if name == "rows" else f"{n} rows"


def prediction(cases: Cases) -> Any:
    found = _figures(cases, "predict-sparse") + _figures(cases, "predict-dense")
    if not found:
        return None
    title = "Rows predicted per second, 1,000 stumps"
    return _bars(found, title, _rows_per_second, True)


def _rows_per_second(value: float) -> str:
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value / 1e3:.3g} k"


def memory(cases: Cases) -> Any:
    found = _figures(cases, "memory", "MiB")
    for name in ("very-wide", "very-long"):
        found += _figures(cases, name, "MiB")
    if not found:
        return None
    gibi = [{**f, "value": f["value"] / 1024} for f in found]
    return _bars(gibi, "Peak memory of a fit, GiB", lambda v: f"{v:.2f}", False)


def _bars(found: list[dict[str, Any]], title: str, text: Callable[[float], str], log: bool) -> Any:
    """Horizontal bars, a panel for each data set."""
    names = list(dict.fromkeys(f["data"] for f in found))
    counts = [sum(f["data"] == name for f in found) for name in names]
    figure, panels = plt.subplots(
        len(names), 1, figsize=(7, 0.9 + 0.36 * sum(counts) + 0.4 * len(names)), squeeze=False,
        height_ratios=[count + 0.5 for count in counts], sharex=True,
    )  # fmt: skip
    for axes, name in zip(panels[:, 0], names, strict=True):
        mine = [f for f in found if f["data"] == name]
        mine.sort(key=lambda f: list(COLOURS).index(f["contestant"]), reverse=True)
        who = [f["contestant"] for f in mine]
        values = [f["value"] for f in mine]
        bars = axes.barh(who, values, color=[COLOURS[w] for w in who], height=0.7)
        axes.bar_label(bars, [text(v) for v in values], padding=4, fontsize=9)
        axes.set_title(name, loc="left", fontsize=10)
        axes.tick_params(left=False)
        if log:
            axes.set_xscale("log")
    most = max(f["value"] for f in found)
    panels[0, 0].set_xlim(right=most * (2.5 if log else 1.12))
    figure.suptitle(title, x=0.02, ha="left")
    figure.tight_layout()
    return figure
