"""The trace of a run: losses, time and choices, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.stored import all_or_none, ascends, check_arrays, require, within
from .._core.svg import LINE, SECOND, Panel, range_of, row_of
from ..model import Path
from ..model.path import field_of, not_stored

THINNED = 100
"""Iterations of each kind in a thinned trace."""

_ARRAYS = {
    "train_loss": "f8 losses", "validation_loss": "f8? losses", "seconds": "f8 losses",
    "kept": "i8? losses", "feature": "i8? choices", "split": "i8? choices",
}  # fmt: skip


@dataclass(frozen=True)
class Trace:
    """What happened in M iterations.

    Losses and seconds have M + 1 entries: index 0 is the null model, index m the model after m
    iterations. The rest has M entries, one a choice.

    The mean of several runs goes on in rounds: an iteration is one of every run. Its losses are
    means over the runs, not the loss of the model, which is the mean of theirs; and its choices
    have ``n_runs`` entries an iteration, those of the runs in turn.

    The trace of a stored model is thinned (see `thinned`): it has losses and seconds of the
    iterations ``iteration``, and None for each of the choices.

    Attributes
    ----------
    iteration : the iterations that losses and seconds are of: 0, 1, ..., M unless it was thinned.
    train_loss : mean (weighted) training loss.
    validation_loss : the same on the validation set, or None.
    seconds : time since the first iteration began, but for compiling and loading kernels. Taken
        between blocks of iterations, linear within one.
    choices : what was chosen, with the fields that the family of weak-learners declares
        (`rgboost.learners.base.Prepared.choice_type`), which are attributes of the trace too:
        learner : index of the chosen weak-learner in 0..K-1, -1 if J held none;
        left, right : what was added on the left and the right of a split; for a dictionary,
        ``left`` is the step along the normalised column. With C > 2 classes (M, C);
        gradient_norm : <b_j, r> of the choice, the largest |gradient| in J;
        sets : bits of the bins on the left, if a feature is categorical.
    feature : the feature of the choice, or column of the chosen dictionary entry; or -1.
    split : which of the feature's weak-learners it is, counted from 0; or -1.
    engine : what computed the iterations: "direct", "gram", "quadratic", or a sentence if it
        changed on the way.
    certificates : pairs (iteration, certificate) that callbacks made on the way, by iteration; see
        `rgboost.theory.certificates.recording`.
    n_runs : how many runs the model is the mean of.
    """

    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64] | None
    seconds: NDArray[np.float64]
    choices: NDArray | None
    feature: NDArray[np.int64] | None
    split: NDArray[np.int64] | None
    engine: str
    certificates: tuple[tuple[int, Any], ...] = ()
    n_runs: int = 1
    kept: NDArray[np.int64] | None = None
    """The iterations of a thinned trace; None: all."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "choices" not in self.__dict__:
            raise AttributeError(name)
        if self.choices is None:
            raise not_stored(f"choices such as {name!r}")
        return field_of(self.choices, name)

    def __len__(self) -> int:
        """The number of iterations, also if not all were kept."""
        return len(self.train_loss) - 1 if self.kept is None else int(self.kept[-1])

    @property
    def iteration(self) -> NDArray[np.int64]:
        return np.arange(len(self.train_loss)) if self.kept is None else self.kept

    def place(self, m: int) -> int:
        """Where the losses of iteration m are; a thinned trace has the first, best and last."""
        at = int(np.searchsorted(self.iteration, m))
        if at == len(self.iteration) or self.iteration[at] != m:
            raise IndexError(f"iteration {m} is not in this trace; see its iteration.")
        return at

    def path(self, n: int | None = None) -> Path:
        """The choices of the first n iterations, by default of all."""
        if self.choices is None:
            raise not_stored("the choices of a trace")
        return Path(self.choices[: None if n is None else self.n_runs * n])

    def thinned(self, best: int) -> Trace:
        """A trace that takes little room: without the choices, and with the losses of some hundred
        iterations.

        Those are all of up to 200. Of more, the first, ``best`` and the last, 100 at equal
        distances and 100 at equal ratios, for the steep begin of a learning curve.
        """
        n, at = len(self), np.arange(len(self.train_loss))
        if n > 2 * THINNED:
            even, steep = np.linspace(0, n, THINNED), np.geomspace(1, n, THINNED)
            wanted = np.rint([0, best, n, *even, *steep])
            at = at[np.isin(self.iteration, wanted)]
        held = self.validation_loss
        return replace(
            self, kept=self.iteration[at], train_loss=self.train_loss[at],
            validation_loss=None if held is None else held[at], seconds=self.seconds[at],
            choices=None, feature=None, split=None,
        )  # fmt: skip

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        check_arrays(self, "trace_", _ARRAYS, {})
        require(isinstance(self.engine, str), "trace_.engine")
        require(type(self.n_runs) is int and self.n_runs > 0, "trace_.n_runs")
        require(len(self.train_loss), "trace_.train_loss")
        if self.kept is not None:
            require(ascends(self.kept) and self.kept[0] == 0, "trace_.kept")
            best = fitted.get("best_iteration_", len(self))
            require(np.isin(best, self.kept), "trace_.kept", "lacks the best iteration")
        choices = self.choices
        there = all_or_none((choices, self.feature, self.split), "trace_.choices")
        if not there or choices is None:
            return
        require(self.kept is None, "trace_.kept")
        good = choices.ndim == 1 and "learner" in (choices.dtype.names or ())
        require(good and choices.dtype["learner"] == np.int64, "trace_.choices")
        require(len(choices) == self.n_runs * len(self), "trace_.n_runs")
        n_learners, n_features = fitted["n_learners_"], fitted["n_features_in_"]
        require(within(choices["learner"], -1, n_learners), "trace_.choices")
        require(within(self.feature, -1, n_features), "trace_.feature")  # type: ignore[arg-type]
        require(within(self.split, -1, max(1, n_learners)), "trace_.split")  # type: ignore[arg-type]

    def __repr__(self) -> str:
        losses = f"train_loss {self.train_loss[0]:.6g} to {self.train_loss[-1]:.6g}"
        if self.validation_loss is not None:
            held = self.validation_loss
            losses += f", validation_loss {held[0]:.6g} to {held[-1]:.6g}"
        return (
            f"Trace({len(self)} iterations, {losses}, {self.seconds[-1]:.3g} s, "
            f"engine={shortened(self.engine, 60)!r})"
        )

    def _repr_html_(self) -> str:
        return row_of([self.picture()], repr(self))

    def picture(self) -> str:
        """The learning curve as SVG."""
        held = self.validation_loss
        shown = [self.train_loss] if held is None else [self.train_loss, held]
        panel = Panel("mean loss", (0.0, float(len(self))), range_of(*shown))
        panel.axes()
        panel.line(self.iteration, self.train_loss)
        middle = 0.5 * (panel.left + panel.right)
        panel.text(middle, panel.bottom + 14, "iterations", anchor="middle")
        panel.text(panel.right, 34, "training", anchor="end", color=LINE)
        if held is not None:
            panel.line(self.iteration, held, SECOND)
            panel.text(panel.right, 48, "validation", anchor="end", color=SECOND)
        return panel.render()


@dataclass(frozen=True)
class Progress:
    """Where a run stands: ``iteration`` of at most ``n_iter`` are done."""

    iteration: int
    n_iter: int
    train_loss: float
    validation_loss: float | None
    seconds: float
    snapshot: Callable[[], Any] = field(repr=False)
    """Gives the run as far as it got: see `rgboost.training.driver.Snapshot`."""
    validation_losses: Callable[[int], NDArray[np.float64]] = field(repr=False)
    """``validation_losses(m)``: the mean validation losses of iterations m, m + 1, ... until now;
    empty without validation rows."""
    state: Callable[[], Any] = field(repr=False)
    """Gives the `rgboost.training.state.RunState` of the moment, from which the run can go on; None
    if it was interrupted in the middle of a block."""
    keep_certificate: Callable[[int, Any], None] = field(repr=False)
    """``keep_certificate(m, found)`` puts what was found out about iteration m into the trace."""
    seconds_before: float = field(default=0.0, repr=False)
    """How many of the seconds are those of the run before, if this one goes on with one."""
    settled: bool = field(default=True, repr=False)
    """Whether the losses are exact, and no iteration will be taken back: between the refreshes of
    quadratic models they are those of the models."""
