"""Learning curves."""

from __future__ import annotations

from typing import Any, Literal, Self

from .style import LINE, SECOND, axes_for, tidy


class LossCurveDisplay:
    """Training and validation loss, iteration by iteration or over time.

    Parameters
    ----------
    trace : `rgboost.Trace`, the attribute ``trace_`` of a fitted model.

    Attributes
    ----------
    figure_, ax_ : what was drawn on.
    lines_ : the line of the training loss, and that of the validation loss if there is one.
    """

    figure_: Any
    ax_: Any
    lines_: Any

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        against: Literal["iteration", "seconds"] = "iteration",
        ax: Any = None,
        **line: Any,
    ) -> Self:
        """Draw the losses of a fitted model; see `plot`."""
        return cls(estimator.trace_).plot(ax, against=against, **line)

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
        x = self.trace.iteration if against == "iteration" else self.trace.seconds
        options = {"linewidth": 1.8, **line}
        lines = ax.plot(x, self.trace.train_loss, **{"color": LINE, "label": "training", **options})
        if self.trace.validation_loss is not None:
            held = {**options, "color": SECOND, "label": "validation"}
            lines += ax.plot(x, self.trace.validation_loss, **held)
        ax.set_xlabel(against)
        ax.set_ylabel("mean loss")
        ax.legend(frameon=False)
        ax.margins(x=0.01)
        tidy(ax)
        self.lines_, self.ax_, self.figure_ = lines, ax, ax.figure
        return self
