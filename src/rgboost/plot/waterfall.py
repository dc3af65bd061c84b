"""How the features of one row add up to its score."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..explain import LocalExplanation
from .style import FAINT, LINE, SECOND, axes_for, shortened, tidy

_COVER = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
"""Behind numbers, so that the line of the score does not cross them."""


class WaterfallDisplay:
    """Bars that lead from the mean score to the score of a row, the largest step on top.

    Parameters
    ----------
    explanation : LocalExplanation
    row
        Which of its rows.
    label
        The class whose score is drawn, one of ``classes_``. None: of two classes the second, of
        more the most probable.

    Attributes
    ----------
    figure_, ax_
        What was drawn on.
    bars_
        The bars.
    score_
        The score of the row.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.plot import WaterfallDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> display = WaterfallDisplay.from_estimator(model, X[:3], row=0)
    >>> display.ax_.figure is display.figure_
    True
    """

    figure_: Any
    ax_: Any
    bars_: Any
    score_: float

    def __init__(self, explanation: LocalExplanation, row: int = 0, label: Any = None) -> None:
        n = len(explanation.contributions)
        if not -n <= row < n:
            raise IndexError(f"row={row} does not exist; the explanation has {n} rows.")
        self.explanation = explanation
        self.row = row
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        row: int = 0,
        *,
        label: Any = None,
        max_features: int = 10,
        ax: Any = None,
        **bars: Any,
    ) -> Self:
        """Explain the rows of X and draw one of them.

        Parameters
        ----------
        estimator
            A fitted `RGBMRegressor` or `RGBMClassifier`.
        X
            Rows, as for ``predict``.
        row
            Which of them is drawn, counted from 0.
        label
            The class whose score is drawn, one of ``classes_``. None: of two classes the second,
            of more the most probable.
        max_features
            How many bars at most; the others are put together in one.
        ax
            None, or the axes to draw on.
        bars
            Options of ``Axes.barh``.
        """
        display = cls(estimator.explain_local(X), row, label)
        return display.plot(ax, max_features=max_features, **bars)

    def plot(self, ax: Any = None, *, max_features: int = 10, **bars: Any) -> Self:
        """Draw the ``max_features`` largest contributions, and the sum of the others.

        ``bars`` are options of ``Axes.barh``.
        """
        explanation = self._of_one_score()
        centered = explanation.centered()
        steps, labels = self._steps(centered, max_features)
        ends = centered.intercept + np.cumsum(steps)
        starts = ends - steps
        self.score_ = float(explanation.score()[self.row])
        ax = axes_for(ax, (6.4, 1.3 + 0.36 * len(steps)))
        place = np.arange(len(steps))
        colors = np.where(steps >= 0, LINE, SECOND)
        self.bars_ = ax.barh(place, steps, left=starts, **{"color": colors, "height": 0.7, **bars})
        for k in place:
            ax.annotate(
                f"{steps[k]:+.3g}", (max(starts[k], ends[k]), k), (4, 0), color=FAINT,
                textcoords="offset points", va="center", fontsize="small", bbox=_COVER,
            )  # fmt: skip
            if k + 1 < len(steps):
                ax.plot([ends[k]] * 2, [k + 0.35, k + 0.65], color=FAINT, linewidth=0.8)
        ax.axvline(centered.intercept, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
        ax.axvline(self.score_, color=FAINT, linewidth=0.8, zorder=0)
        ax.set_yticks(place, labels)
        ax.set_ylim(len(steps) - 0.4, -0.6)
        ax.use_sticky_edges = False  # else the picture would begin at the first bar
        ax.margins(x=0.12)
        ax.tick_params(axis="y", length=0)
        what = shortened(str(explanation.scale), 60)
        ax.set_xlabel(f"{what}\nfrom the mean {centered.intercept:.4g} to {self.score_:.4g}")
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _of_one_score(self) -> LocalExplanation:
        """The explanation of the score that is drawn."""
        found, label = self.explanation, self.label
        if label is None and found.classes is not None:
            label = found.classes[found.score()[self.row].argmax()]
        return found if label is None else found.of_class(label)

    def _steps(self, centered: LocalExplanation, most: int) -> tuple[Any, list[str]]:
        """Contributions by size with labels; the smallest are summed if there are too many."""
        found = centered.contributions[self.row]
        order = np.argsort(-np.abs(found), kind="stable")
        shown = order if len(order) <= most else order[: most - 1]
        values = centered.shown_values()[self.row]
        labels = [f"{_name(centered.names[k], values[k])} = {_text(values[k])}" for k in shown]
        steps = found[shown]
        if len(shown) < len(order):
            steps = np.append(steps, found[order[len(shown) :]].sum())
            what = "features" if all(len(places) == 1 for places in centered.terms) else "terms"
            labels.append(f"{len(order) - len(shown)} other {what}")
        return steps, labels


def _name(name: str, value: Any) -> str:
    """Room for one name, or for two."""
    return shortened(name, 36 if isinstance(value, tuple) else 20)


def _text(value: Any) -> str:
    """A value of a feature: a number, a label, or nothing; of a pair, both."""
    if isinstance(value, tuple):
        return ", ".join(_text(one) for one in value)
    if value is None or value != value:
        return "missing"
    return shortened(value, 20) if isinstance(value, str) else f"{value:.4g}"
