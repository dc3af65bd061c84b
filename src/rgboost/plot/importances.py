"""Importances as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from .style import FAINT, LINE, axes_for, shortened, tidy


class ImportanceDisplay:
    """Bars of the features' importances, the largest on top.

    Parameters
    ----------
    importances : array, one entry per feature; see ``feature_importances_``. Or one per term; see
        ``term_importances_``.
    names
        Names of the features, or of the terms.
    scale
        What features add to, in words; see `rgboost.explain.Scale`.
    of
        ``"features"`` or ``"terms"``.

    Attributes
    ----------
    figure_, ax_
        What was drawn on.
    bars_
        The bars.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.plot import ImportanceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, max_features=5)
    >>> display.ax_.figure is display.figure_
    True
    """

    figure_: Any
    ax_: Any
    bars_: Any

    def __init__(
        self,
        importances: NDArray[np.float64],
        names: Sequence[str],
        scale: Any = "score",
        of: Literal["features", "terms"] = "features",
    ) -> None:
        if of not in ("features", "terms"):
            raise ValueError(f"of={of!r} is not known; use 'features' or 'terms'.")
        self.importances = importances
        self.names = names
        self.scale = scale
        self.of = of

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        of: Literal["features", "terms"] = "features",
        max_features: int = 20,
        ax: Any = None,
        **bars: Any,
    ) -> Self:
        """Draw the importances of a fitted model.

        Parameters
        ----------
        estimator
            A fitted `RGBMRegressor` or `RGBMClassifier` with curves.
        of
            ``"features"``, to which a pair adds half each; or ``"terms"``, pairs by themselves.
        max_features
            How many bars at most; a last line tells what is left out.
        ax
            None, or the axes to draw on.
        bars
            Options of ``Axes.barh``, such as ``color``.
        """
        explanation = estimator.explain_global()
        names, importances = explanation.names, explanation.importances
        if of == "terms":
            names = [term.name for term in explanation.terms]
            importances = explanation.term_importances
        display = cls(importances, names, explanation.scale, of)
        return display.plot(ax, max_features=max_features, **bars)

    def plot(self, ax: Any = None, *, max_features: int = 20, **bars: Any) -> Self:
        """Draw the ``max_features`` largest; a last line tells what is left out.

        ``bars`` are options of ``Axes.barh``, such as ``color``.
        """
        order = np.argsort(-self.importances, kind="stable")[:max_features]
        ax = axes_for(ax, (6.0, 0.9 + 0.27 * len(order)))
        place = np.arange(len(order))
        self.bars_ = ax.barh(place, self.importances[order], **{"color": LINE, **bars})
        most = 28 if self.of == "features" else 44
        ax.set_yticks(place, [shortened(str(self.names[g]), most) for g in order])
        ax.invert_yaxis()
        for k, g in enumerate(order):
            ax.annotate(
                f"{100 * self.importances[g]:.1f} %", (self.importances[g], k), (4, 0),
                textcoords="offset points", va="center", color=FAINT, fontsize="small",
            )  # fmt: skip
        ax.margins(x=0.14)
        ax.set_xlim(left=0.0)
        ax.tick_params(axis="y", length=0)
        left_out = len(self.importances) - len(order)
        label = "importance: share of the standard deviations of what\n"
        label += f"features add to the {shortened(str(self.scale), 50)}"
        if left_out:
            rest = self.importances.sum() - self.importances[order].sum()
            label += f"\n{left_out} more {self.of}: {100 * rest:.1f} %"
        ax.set_xlabel(label)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
