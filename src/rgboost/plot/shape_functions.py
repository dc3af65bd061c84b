"""Shape functions with the density of the data under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..explain import GlobalExplanation, ShapeFunction
from .style import DENSITY, FAINT, LINE, pyplot, shortened, tidy


class ShapeFunctionDisplay:
    """Step plots of what features add to the score, with the data density under each.

    Parameters
    ----------
    functions : sequence of ShapeFunction

    Attributes
    ----------
    figure_ : the figure.
    ax_ : array of axes, one per function.
    lines_ : array of the step lines, one per function.

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
        features: Sequence[str | int] | None = None,
        *,
        max_features: int = 9,
        share_y: bool = True,
        n_cols: int = 3,
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw features by name or index, by default the ``max_features`` most important ones.

        See `plot` for the other parameters.
        """
        explanation: GlobalExplanation = estimator.explain_global().centered()
        if features is None:
            functions = explanation.by_importance()[:max_features]
        else:
            functions = [explanation[feature] for feature in features]
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
            lines.append(draw_shape(one, shape, **line))
        if share_y and lines:
            low = min(shape.values.min() for shape in self.functions)
            high = max(shape.values.max() for shape in self.functions)
            room = 0.06 * (high - low) or 1.0
            for one in axes:
                one.set_ylim(low - room, high + room)
        self.lines_ = np.array(lines, dtype=object)
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
        for one in cells[::columns]:
            one.set_ylabel("adds to the score")
        return np.array(cells, dtype=object)


def draw_shape(ax: Any, shape: ShapeFunction, **line: Any) -> Any:
    """One function on one axes; returns the line."""
    low, high = shape.plot_range
    edges = np.concatenate([[low], shape.cuts, [high]])
    options = {"color": LINE, "linewidth": 1.8, **line}
    (steps,) = ax.plot(
        np.repeat(edges, 2)[1:-1], np.repeat(shape.values, 2), label=shape.name, **options
    )
    ax.axhline(0.0, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
    ax.set_xlim(low, high)
    ax.set_title(shortened(shape.name), fontsize="medium")
    tidy(ax)
    ax.xaxis.set_major_locator(_few_ticks())
    under = ax.inset_axes([0.0, -0.42, 1.0, 0.22], sharex=ax)
    draw_density(under, shape, low, high)
    return steps


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
