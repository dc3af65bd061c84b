"""Shape functions with the density of the data above them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..explain import GlobalExplanation, PairFunction, ShapeFunction
from .room import clear_of_curves, fit_labels, fit_numbers, labels_most, strip_above
from .style import DENSITY, FAINT, LINE, MORE, SECOND, pyplot, shortened, tidy

_BAND = 0.2
"""Opacity of bands."""

CATEGORIES_MOST = 20
"""A feature with more categories is drawn with the heaviest of them."""


class ShapeFunctionDisplay:
    """Step plots of what features add to the score, with the data density above each.

    Categorical features have a bar for each category (the heaviest ones if there are many),
    missing values a point of their own at the right. With more than two classes there is a line
    (or bar) for each. Around a curve is its band, if there is one: one standard deviation over the
    runs of a mean, which is no interval, or the interval of a model with ``bags``; the picture says
    which. What a pair of features does beyond both is not in these pictures, but in
    `InteractionDisplay`; so of a model with pairs and monotone constraints the whole is monotone,
    while the curve of a feature need not be.

    Parameters
    ----------
    functions : sequence of ShapeFunction

    Attributes
    ----------
    figure_
        The figure.
    ax_
        Array of axes, one per function.
    lines_
        Array of the step lines (of bars, if categorical), one per function; with more than two
        classes (functions, classes).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.plot import ShapeFunctionDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> display = ShapeFunctionDisplay.from_estimator(model, ["bmi", "s5"])
    >>> display.figure_.savefig("shapes.png")  # doctest: +SKIP
    """

    figure_: Any
    ax_: Any
    lines_: Any

    def __init__(self, functions: Sequence[ShapeFunction]) -> None:
        self.functions = functions

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: str | int | Sequence[str | int] | None = None,
        *,
        max_features: int = 9,
        share_y: bool = True,
        n_cols: int = 3,
        band: bool = True,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the curves of a fitted model.

        Parameters
        ----------
        estimator
            A fitted `RGBMRegressor` or `RGBMClassifier` with curves.
        features
            A feature or several, by name or index. None: the most important ones.
        max_features
            So many of these, if ``features`` is None.
        share_y, n_cols, band, ax, line
            See `plot`.
        """
        explanation: GlobalExplanation = estimator.explain_global().centered()
        if features is None:
            functions = explanation.by_importance()[:max_features]
        else:
            wanted = [features] if isinstance(features, str | int | np.integer) else features
            functions = [explanation[feature] for feature in wanted]
        return cls(functions).plot(ax, share_y=share_y, n_cols=n_cols, band=band, **line)

    def plot(
        self,
        ax: Any = None,
        *,
        share_y: bool = True,
        n_cols: int = 3,
        band: bool = True,
        **line: Any,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax
            None, an axes to be divided, or as many axes as functions.
        share_y
            Whether all functions get the same vertical scale.
        n_cols
            Pictures in a row.
        band
            Whether bands are drawn, where there are any.
        line
            Options of the step lines, such as ``color``.
        """
        axes = self._axes(ax, n_cols)
        if not band:
            self.functions = [replace(shape, deviation=None) for shape in self.functions]
        self._prepare(axes, share_y)
        lines = []
        for shape, one in zip(self.functions, axes, strict=True):
            drawn = draw_function(one, shape, **line)
            lines.append(drawn[0] if shape.classes is None else drawn)
        self.lines_ = _objects(lines)
        self.ax_ = axes
        self.figure_ = axes[0].figure if len(axes) else pyplot().figure()
        if lines:
            self._finish(share_y, own_figure=ax is None)
        return self

    def _prepare(self, axes: Any, share_y: bool) -> None:
        """What decides how wide the axes get, before what must fit into them is drawn.

        Labels of the horizontal axis are measured when the width is known: a layout that knows
        them would make room for labels that are about to be turned.
        """
        if not len(axes):
            return
        values = np.concatenate([_drawn_values(shape) for shape in self.functions])
        low, high = values.min(), values.max()
        room = 0.06 * (high - low) or 1.0
        for shape, one in zip(self.functions, axes, strict=True):
            spec = one.get_subplotspec()
            if spec is None or spec.is_first_col():
                one.set_ylabel(what_it_adds_to(shape))
            if share_y:
                one.set_ylim(low - room, high + room)
        lay_out(axes[0])

    def _finish(self, share_y: bool, own_figure: bool) -> None:
        """What needs room that must be measured: labels, and a legend of several classes."""
        for shape, one in zip(self.functions, self.ax_, strict=True):
            if shape.categories is None:
                fit_numbers(one, shape.plot_range)
            else:
                fit_labels(one)
        self._name_bands(own_figure)
        if self.functions[0].classes is None:
            return
        look = {"frameon": False, "fontsize": "small"}
        if own_figure:
            handles = self.ax_[0].get_legend_handles_labels()
            self.figure_.legend(*handles, **look, ncols=6, loc="outside upper center")
        else:
            lay_out(self.ax_[0])
            legend = self.ax_[0].legend(**look, ncols=3, loc="upper left")
            high = clear_of_curves(self.ax_[0], legend)
            for one in self.ax_ if share_y else self.ax_[:1]:
                one.set_ylim(top=high)

    def _name_bands(self, own_figure: bool) -> None:
        """Say what the bands are."""
        texts = [shape.band.text for shape in self.functions if shape.band is not None]
        if not texts:
            return
        look: dict[str, Any] = {"fontsize": "x-small", "color": FAINT}
        if own_figure:
            self.figure_.supxlabel(f"band: {texts[0]}", **look)
        else:
            for one in self.ax_:
                one.set_xlabel("\n".join(filter(None, [one.get_xlabel(), texts[0]])), **look)

    def _axes(self, ax: Any, n_cols: int) -> Any:
        n = len(self.functions)
        if ax is not None and not hasattr(ax, "get_subplotspec"):
            axes = np.ravel(ax)
            if len(axes) != n:
                raise ValueError(f"ax has {len(axes)} axes for {n} functions; give one for each.")
            return axes
        columns = max(1, min(n_cols, n))
        rows = max(1, math.ceil(n / columns))
        if ax is None:
            turned = any(shape.categories is not None for shape in self.functions)
            size = (3.4 * columns, (3.3 if turned else 2.7) * rows)
            figure = pyplot().figure(figsize=size, layout="constrained")
            figure.get_layout_engine().set(h_pad=0.1, w_pad=0.08)
            grid = figure.add_gridspec(rows, columns)
        elif n == 1:
            return np.array([ax])
        else:
            figure, spec = ax.figure, ax.get_subplotspec()
            ax.set_axis_off()
            grid = spec.subgridspec(rows, columns) if spec else figure.add_gridspec(rows, columns)
        cells = [figure.add_subplot(grid[k // columns, k % columns]) for k in range(n)]
        return np.array(cells, dtype=object)


def lay_out(ax: Any) -> None:
    """Give all axes of a figure their places, as drawing it would."""
    ax.figure.canvas.figure.draw_without_rendering()  # of the whole, if it is a part


def what_it_adds_to(shape: ShapeFunction | PairFunction) -> str:
    """Two lines, for a picture of little height."""
    add = "curves and pair add" if isinstance(shape, PairFunction) and shape.whole else "adds"
    if shape.classes is not None:
        return f"{add} to the {shape.scale.name}\nof each class"
    label = shape.scale.label
    own = "" if label is None else f"\nof class {shortened(str(label))}"
    return f"{add} to the {shape.scale.name}{own}"


def draw_function(ax: Any, shape: ShapeFunction, **line: Any) -> list[Any]:
    """One function on one axes; returns what was drawn for each class."""
    labels = [shape.name] if shape.classes is None else list(shape.classes)
    colors = [LINE, SECOND, *MORE]
    kept = None if shape.categories is None else heaviest(shape, ax)
    drawn = []
    for c, label in enumerate(labels):
        one = shape if shape.classes is None else shape.of_class(label)
        options = {"color": colors[c % len(colors)], "label": shortened(str(label)), **line}
        if kept is None:
            drawn.append(draw_steps(ax, one, **options))
        else:
            drawn.append(draw_bars(ax, one, kept, (c, len(labels)), **options))
    if kept is None:
        finish_steps(ax, shape)
    else:
        finish_bars(ax, shape, kept)
    ax.axhline(0.0, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
    ax.set_title(shortened(shape.name), fontsize="medium")
    tidy(ax)
    return drawn


def draw_steps(ax: Any, shape: ShapeFunction, **line: Any) -> Any:
    """The steps of a numeric feature, and its value for missing values as a point at the right."""
    low, high = shape.plot_range
    edges = np.concatenate([[low], shape.cuts, [high]])
    options = {"linewidth": 1.8, **line}
    (steps,) = ax.plot(np.repeat(edges, 2)[1:-1], np.repeat(shape.values, 2), **options)
    color, band = steps.get_color(), shape.band
    if band is not None:
        ends = (np.repeat(end[:-1], 2) for end in (band.low, band.high))
        ax.fill_between(np.repeat(edges, 2)[1:-1], *ends, color=color, alpha=_BAND, linewidth=0.0)
    if shape.missing_weight > 0:
        ax.plot([_beyond(shape)], [shape.missing], "o", markersize=5, color=color)
        if band is not None:
            ax.vlines(_beyond(shape), band.low[-1], band.high[-1], color=color, alpha=2.0 * _BAND)
    return steps


def _beyond(shape: ShapeFunction) -> float:
    """Where missing values are drawn: to the right of all others."""
    low, high = shape.plot_range
    return high + 0.07 * (high - low)


def finish_steps(ax: Any, shape: ShapeFunction) -> None:
    """The place of missing values, and the density."""
    from matplotlib.font_manager import FontProperties

    low, high = shape.plot_range
    ax.set_xlim(low, high)
    if shape.missing_weight > 0:
        at = _beyond(shape)
        ax.set_xlim(low, high + 2.0 * (at - high))
        ax.set_xticks([at], ["missing"], minor=True, fontsize="x-small", color=FAINT)
        line = FontProperties(size=ax.get_xticklabels()[0].get_size()).get_size_in_points()
        ax.tick_params(axis="x", which="minor", length=0.0, pad=5.0 + 1.3 * line)
    if not ax.child_axes:
        draw_density(strip_above(ax), shape, low, high)


def heaviest(shape: ShapeFunction, ax: Any) -> Any:
    """The categories that are drawn: those of the largest weights for which there is room."""
    most = min(CATEGORIES_MOST, labels_most(ax) - (shape.missing_weight > 0))
    return np.sort(np.argsort(-shape.weights, kind="stable")[: max(1, most)])


def draw_bars(ax: Any, shape: ShapeFunction, kept: Any, turn: tuple[int, int], **bars: Any) -> Any:
    """A bar for each category that is kept, and one for missing values.

    ``turn`` is (which, of how many) bars stand side by side.
    """
    values = shape.values[kept]
    if shape.missing_weight > 0:
        values = np.append(values, shape.missing)
    place, (c, n) = np.arange(len(values)), turn
    width = 0.8 / n
    bars.pop("linewidth", None)
    middle, band = place + (c - (n - 1) / 2) * width, shape.band
    if band is not None:
        drawn = [*kept, len(shape.values)] if shape.missing_weight > 0 else kept
        ax.vlines(middle, band.low[drawn], band.high[drawn], color=FAINT, linewidth=1.2, zorder=3)
    return ax.bar(middle, values, width, **bars)


def finish_bars(ax: Any, shape: ShapeFunction, kept: Any) -> None:
    """Labels, how many categories are left out, and the weights."""
    assert shape.categories is not None
    labels = short_labels([str(label) for label in shape.categories[kept]])
    weights = shape.weights[kept]
    if shape.missing_weight > 0:
        labels, weights = [*labels, "missing"], np.append(weights, shape.missing_weight)
    place = np.arange(len(labels))
    ax.set_xticks(place, labels, fontsize="small")
    ax.set_xlim(-0.6, len(labels) - 0.4)
    left_out = len(shape.values) - len(kept)
    if left_out:
        words = "one\nis" if left_out == 1 else "ones\nare"
        words = f"{left_out} lighter {words} not drawn"
        ax.set_xlabel(words, fontsize="x-small", color=FAINT)
    if not ax.child_axes:
        strip = strip_above(ax)
        strip.bar(place, weights, 0.8, color=DENSITY)
        strip.set_ylim(0.0, 1.05 * float(weights.max()) or 1.0)


def short_labels(labels: list[str], most: int = 12) -> list[str]:
    """The beginnings of long labels, or, where these are the same, beginnings and ends."""
    found = [shortened(label, most) for label in labels]
    if len(set(found)) == len(set(labels)):
        return found
    return [s if len(s) <= most else f"{s[: most // 2 - 1]}…{s[-most // 2 :]}" for s in labels]


def _drawn_values(shape: ShapeFunction) -> Any:
    """The values that a picture shows."""
    values, band = shape.values.ravel(), shape.band
    if shape.missing_weight > 0:
        values = np.append(values, shape.missing)
    if band is None:
        return values
    n = len(shape.values) + (shape.missing_weight > 0)
    return np.concatenate([values, band.low[:n].ravel(), band.high[:n].ravel()])


def _objects(lines: list[Any]) -> Any:
    """An array of what was drawn; containers of bars are entries, not rows."""
    if lines and isinstance(lines[0], list):
        out = np.empty((len(lines), len(lines[0])), dtype=object)
        for k, row in enumerate(lines):
            for c, one in enumerate(row):
                out[k, c] = one
        return out
    found = np.empty(len(lines), dtype=object)
    for k, one in enumerate(lines):
        found[k] = one
    return found


def draw_density(ax: Any, shape: ShapeFunction, low: float, high: float) -> None:
    """Weights of the training rows per unit of the feature, as bars."""
    cells = np.concatenate([[low], shape.density_edges, [high]])
    width = np.diff(cells)
    height = shape.density / np.where(width > 0, width, 1.0)
    ax.bar(cells[:-1], height, width, align="edge", color=DENSITY, edgecolor="white", linewidth=0.3)
    ax.set_ylim(0.0, 1.05 * float(height.max()) or 1.0)
