"""What readability costs: losses of models of different sizes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .style import FAINT, LINE, SECOND, axes_for, tidy


class ComparisonDisplay:
    """The held-out losses of models, the smallest model on top, with one standard error of their
    differences to the best on both sides. A dashed line goes through the best: a model whose bar
    reaches it cannot be told from the best. The constant is not drawn.

    Parameters
    ----------
    comparison
        What `rgboost.compare` gave.

    Attributes
    ----------
    figure_, ax_
        What was drawn on.
    bars_
        A container of a point and its bar for each model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import rgboost
    >>> found = rgboost.compare(*load_diabetes(return_X_y=True), pairs=[3], cv=2)
    >>> display = found.plot()
    >>> display.ax_.figure is display.figure_
    True
    """

    figure_: Any
    ax_: Any
    bars_: Any

    def __init__(self, comparison: Any) -> None:
        self.comparison = comparison

    def plot(self, ax: Any = None) -> Self:
        """Draw on new axes or on those that are given."""
        drawn = [one for one in self.comparison.models if one.trees or one.things]
        ax = axes_for(ax, (5.5, 0.9 + 0.42 * len(drawn)))
        places = np.arange(len(drawn))[::-1]
        bars = []
        for place, one in zip(places, drawn, strict=True):
            color = LINE if one.readable else SECOND
            bars.append(ax.errorbar(one.loss, place, xerr=one.standard_error, fmt="o", color=color))
        ax.axvline(
            min((one.loss for one in drawn), default=0.0),
            color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0,
        )  # fmt: skip
        ax.set_yticks(places, [one.name for one in drawn])
        for label, one in zip(ax.get_yticklabels(), drawn, strict=True):
            if one is self.comparison.smallest:
                label.set_fontweight("bold")
        ax.set_ylim(-0.6, len(drawn) - 0.4)
        ax.set_xlabel(f"{self.comparison.measure} of held-out rows, less is better")
        tidy(ax)
        self.bars_, self.ax_, self.figure_ = bars, ax, ax.figure
        return self
