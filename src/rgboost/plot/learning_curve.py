"""Learning curves."""

from __future__ import annotations

from typing import Any, Literal, Self

from .style import FAINT, LINE, SECOND, axes_for, tidy


class LossCurveDisplay:
    """Training and validation loss, iteration by iteration or over time.

    Parameters
    ----------
    trace
        `rgboost.Trace`, the attribute ``trace_`` of a fitted model.
    pair_trace
        The attribute ``pair_trace_``, of rounds that go on with pairs; or None.

    Attributes
    ----------
    figure_, ax_
        What was drawn on.
    lines_
        The line of the training loss, and that of the validation loss if there is one; then those
        of the rounds with pairs.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.plot import LossCurveDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> display = LossCurveDisplay.from_estimator(model)
    >>> display.ax_.figure is display.figure_
    True
    """

    figure_: Any
    ax_: Any
    lines_: Any

    def __init__(self, trace: Any, pair_trace: Any = None) -> None:
        self.trace = trace
        self.pair_trace = pair_trace

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        against: Literal["iteration", "seconds"] = "iteration",
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the losses of a fitted model.

        Parameters
        ----------
        estimator
            A fitted `RGBMRegressor` or `RGBMClassifier`.
        against
            What goes from left to right: ``"iteration"`` or ``"seconds"``.
        ax
            None, or the axes to draw on.
        line
            Options of ``Axes.plot``, such as ``linewidth``.
        """
        paired = any(len(term) == 2 for term in getattr(estimator, "term_features_", ()))
        pair_trace = getattr(estimator, "pair_trace_", None) if paired else None
        return cls(estimator.trace_, pair_trace).plot(ax, against=against, **line)

    def plot(
        self,
        ax: Any = None,
        *,
        against: Literal["iteration", "seconds"] = "iteration",
        **line: Any,
    ) -> Self:
        """Draw the mean losses; ``line`` are options of ``Axes.plot``."""
        if against not in ("iteration", "seconds"):
            raise ValueError(f"against={against!r} is not known; use 'iteration' or 'seconds'.")
        ax = axes_for(ax, (5.5, 3.6))
        lines: list[Any] = []
        end = 0.0
        for trace in (self.trace, self.pair_trace):
            if trace is None:
                continue
            first = not lines
            x = end + (trace.iteration if against == "iteration" else trace.seconds)
            names = ("training", "validation") if first else (None, None)
            options = {"linewidth": 1.8, **line}
            own = {"color": LINE, "label": names[0], **options}
            lines += ax.plot(x, trace.train_loss, **own)
            if trace.validation_loss is not None:
                held = {**options, "color": SECOND, "label": names[1]}
                lines += ax.plot(x, trace.validation_loss, **held)
            if not first:
                ax.axvline(end, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)
                ax.annotate(
                    "pairs", (end, 1.0), (3, -3), xycoords=("data", "axes fraction"), va="top",
                    textcoords="offset points", fontsize="small", color=FAINT,
                )  # fmt: skip
            end = x[-1]
        ax.set_xlabel(against)
        ax.set_ylabel("mean loss")
        ax.legend(frameon=False)
        ax.margins(x=0.01)
        tidy(ax)
        self.lines_, self.ax_, self.figure_ = lines, ax, ax.figure
        return self
