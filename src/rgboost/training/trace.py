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
from ..model.path import not_stored

THINNED = 100
"""Iterations of each kind in a thinned trace."""

_ARRAYS = {
    "train_loss": "f8 losses", "validation_loss": "f8? losses", "seconds": "f8 losses",
    "kept": "i8? losses", "learner": "i8? choices", "feature": "i8? choices",
    "split": "i8? choices", "left": "f8? choices *", "right": "f8? choices *",
    "gradient_norm": "f8? choices", "sets": "u1? choices bytes",
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
    learner : index of the chosen weak-learner in 0..K-1, -1 if J held none.
    feature : the feature of the chosen stump, or column of the chosen dictionary entry; or -1.
    split : which of the feature's splits was chosen, counted from 0; or -1.
    left, right : what was added on the left and the right of the split; for a dictionary, ``left``
        is the step along the normalised column. With C > 2 classes (M, C).
    gradient_norm : <b_j, r> of the choice, the largest |gradient| in J.
    engine : what computed the iterations: "direct", "gram", "quadratic", or a sentence if it
        changed on the way.
    sets : bits of the bins on the left of each choice (see `rgboost.model.Path`), or None if no
        feature is categorical.
    certificates : pairs (iteration, certificate) that callbacks made on the way, by iteration; see
        `rgboost.theory.certificates.recording`.
    n_runs : how many runs the model is the mean of.
    """

    train_loss: NDArray[np.float64]
    validation_loss: NDArray[np.float64] | None
    seconds: NDArray[np.float64]
    learner: NDArray[np.int64] | None
    feature: NDArray[np.int64] | None
    split: NDArray[np.int64] | None
    left: NDArray[np.float64] | None
    right: NDArray[np.float64] | None
    gradient_norm: NDArray[np.float64] | None
    engine: str
    sets: NDArray[np.uint8] | None = None
    certificates: tuple[tuple[int, Any], ...] = ()
    n_runs: int = 1
    kept: NDArray[np.int64] | None = None
    """The iterations of a thinned trace; None: all."""

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
        if self.learner is None or self.left is None or self.right is None:
            raise not_stored("the choices of a trace")
        now = slice(0, None if n is None else self.n_runs * n)
        sets = None if self.sets is None else self.sets[now]
        return Path(self.learner[now], self.left[now], self.right[now], sets)

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
            learner=None, feature=None, split=None, left=None, right=None, gradient_norm=None,
            sets=None,
        )  # fmt: skip

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        check_arrays(self, "trace_", _ARRAYS, dict(zip("*", np.shape(fitted["intercept_"]))))  # noqa: B905
        require(isinstance(self.engine, str), "trace_.engine")
        require(type(self.n_runs) is int and self.n_runs > 0, "trace_.n_runs")
        require(len(self.train_loss), "trace_.train_loss")
        if self.kept is not None:
            require(ascends(self.kept) and self.kept[0] == 0, "trace_.kept")
            best = fitted.get("best_iteration_", len(self))
            require(np.isin(best, self.kept), "trace_.kept", "lacks the best iteration")
        choices = (self.feature, self.split, self.left, self.right, self.gradient_norm)
        if not all_or_none((self.learner, *choices), "trace_.learner") or self.learner is None:
            require(self.sets is None, "trace_.sets")
            return
        require(self.kept is None, "trace_.kept")
        require(len(self.learner) == self.n_runs * len(self), "trace_.n_runs")
        n_learners, n_features = fitted["n_learners_"], fitted["n_features_in_"]
        require(within(self.learner, -1, n_learners), "trace_.learner")
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
