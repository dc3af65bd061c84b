"""Shape functions with the density of the data under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..explain import GlobalExplanation, ShapeFunction
from .style import DENSITY, FAINT, LINE, MORE, SECOND, pyplot, shortened, tidy

CATEGORIES_MOST = 20
"""A feature with more categories is drawn with the heaviest of them."""


class ShapeFunctionDisplay:
    """Step plots of what features add to the score, with the data density under each.

    Categorical features have a bar for each category, missing values a point of their own at the
    right. With more than two classes there is a line (or bar) for each.

    Parameters
    ----------
    functions : sequence of ShapeFunction

    Attributes
    ----------
    figure_ : the figure.
    ax_ : array of axes, one per function.
    lines_ : array of the step lines (of bars, if categorical), one per function; with more than
        two classes (functions, classes).

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
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw a feature or several, by name or index, by default the ``max_features`` most
        important ones.

        See `plot` for the other parameters.
        """
        explanation: GlobalExplanation = estimator.explain_global().centered()
        if features is None:
            functions = explanation.by_importance()[:max_features]
        else:
            wanted = [features] if isinstance(features, str | int | np.integer) else features
            functions = [explanation[feature] for feature in wanted]
        return cls(functions).plot(ax, share_y=share_y, n_cols=n_cols, **line)

    def plot(self, ax: Any = None, *, share_y: bool = True, n_cols: int = 3, **line: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : None, an axes to be divided, or as many axes as functions.
        share_y : whether all functions get the same vertical scale.
        n_cols : pictures in a row.
        line : options of the step lines, such as ``color``.
        """
        axes = self._axes(ax, n_cols)
        lines = []
        for shape, one in zip(self.functions, axes, strict=True):
            drawn = draw_function(one, shape, **line)
            lines.append(drawn[0] if shape.classes is None else drawn)
            spec = one.get_subplotspec()
            if spec is None or spec.is_first_col():
                one.set_ylabel(_what_it_adds_to(shape))
        if lines and self.functions[0].classes is not None:
            axes[0].legend(frameon=False, fontsize="small")
        if share_y and lines:
            drawn_values = [_drawn_values(shape) for shape in self.functions]
            low = min(values.min() for values in drawn_values)
            high = max(values.max() for values in drawn_values)
            room = 0.06 * (high - low) or 1.0
            for one in axes:
                one.set_ylim(low - room, high + room)
        self.lines_ = _objects(lines)
        self.ax_ = axes
        self.figure_ = axes[0].figure if len(axes) else pyplot().figure()
        return self

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
            figure = pyplot().figure(figsize=(3.4 * columns, 2.7 * rows), layout="constrained")
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


def _what_it_adds_to(shape: ShapeFunction) -> str:
    """Two lines, for a picture of little height."""
    if shape.classes is not None:
        return f"adds to the {shape.scale.name}\nof each class"
    label = shape.scale.label
    own = "" if label is None else f"\nof class {shortened(str(label))}"
    return f"adds to the {shape.scale.name}{own}"


def draw_function(ax: Any, shape: ShapeFunction, **line: Any) -> list[Any]:
    """One function on one axes; returns what was drawn for each class."""
    labels = [shape.name] if shape.classes is None else list(shape.classes)
    colors = [LINE, SECOND, *MORE]
    drawn = []
    for c, label in enumerate(labels):
        one = shape if shape.classes is None else shape.of_class(label)
        options = {"color": colors[c % len(colors)], "label": shortened(str(label)), **line}
        if shape.categories is None:
            drawn.append(draw_steps(ax, one, **options))
        else:
            drawn.append(draw_bars(ax, one, (c, len(labels)), **options))
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
    end = high
    ax.xaxis.set_major_locator(_few_ticks())
    if shape.missing_weight > 0:
        end = high + 0.14 * (high - low)
        at = high + 0.07 * (high - low)
        ax.plot([at], [shape.missing], "o", markersize=5, color=steps.get_color())
        ax.annotate(
            "missing", (at, 0.0), (0, -4), xycoords=("data", "axes fraction"), rotation=90,
            textcoords="offset points", ha="center", va="top", fontsize="x-small", color=FAINT,
        )  # fmt: skip
    ax.set_xlim(low, end)
    if not ax.child_axes:
        draw_density(ax.inset_axes([0.0, -0.42, 1.0, 0.22], sharex=ax), shape, low, high)
    return steps


def draw_bars(ax: Any, shape: ShapeFunction, turn: tuple[int, int], **bars: Any) -> Any:
    """A bar for each category, the heaviest ones if there are many, and one for missing values.

    ``turn`` is (which, of how many) bars stand side by side.
    """
    kept = np.sort(np.argsort(-shape.weights, kind="stable")[:CATEGORIES_MOST])
    values, weights = shape.values[kept], shape.weights[kept]
    assert shape.categories is not None
    labels = [shortened(str(label), 12) for label in shape.categories[kept]]
    if shape.missing_weight > 0:
        values, weights = np.append(values, shape.missing), np.append(weights, shape.missing_weight)
        labels.append("missing")
    place, (c, n) = np.arange(len(values)), turn
    width = 0.8 / n
    bars.pop("linewidth", None)
    drawn = ax.bar(place + (c - (n - 1) / 2) * width, values, width, **bars)
    ax.set_xticks(place, labels, rotation=45 if len(labels) > 3 else 0, fontsize="small")
    if not ax.child_axes:
        # Above, since the labels are below.
        above = ax.inset_axes([0.0, 0.86, 1.0, 0.14], sharex=ax)
        above.bar(place, weights, 0.8, color=DENSITY)
        above.set_axis_off()
        above.set_zorder(-1)
    return drawn


def _drawn_values(shape: ShapeFunction) -> Any:
    """The values that a picture shows."""
    values = shape.values.ravel()
    return np.append(values, shape.missing) if shape.missing_weight > 0 else values


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
    ax.set_axis_off()


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
