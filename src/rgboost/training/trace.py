"""The trace of a run: losses, time and choices, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.svg import LINE, SECOND, Panel, range_of, row_of
from ..engines.record import Record
from ..model import Path
from ..model.path import not_stored

THINNED = 100
"""Iterations of each kind in a thinned trace."""


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
    engine : what computed the iterations: "direct", "gram", "surrogate", or a sentence if it
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
    """Gives the run as far as it got: see `rgboost.engines.problem.Snapshot`."""
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


_LOSSES = ("loss", "held_loss", "seconds")
_CHOICES = ("learner", "left", "right", "gradient", "sets")

FIRST_ROOM = 1024
"""Iterations that there is room for at first; then twice as many, and so on."""


class Recorder:
    """Room for a trace that grows block by block. Losses are kept as sums until they are read."""

    def __init__(
        self,
        n_iter: int,
        offsets: NDArray[np.int64],
        weight: float,
        held_weight: float | None,
        set_bytes: int = 0,
        n_classes: int | None = None,
        n_runs: int = 1,
    ) -> None:
        self.done = 0
        self.engine = "direct"
        self.seconds_before = 0.0
        self.n_iter = n_iter
        self.n_runs = n_runs
        self.offsets = offsets
        self.weight = weight
        self.held_weight = held_weight
        self.loss = np.zeros(1)
        self.held_loss = np.zeros(1)
        self.seconds = np.zeros(1)
        shape = 0 if n_classes is None else (0, n_classes)
        self.learner = np.empty(0, np.int64)
        self.left = np.empty(shape)
        self.right = np.empty(shape)
        self.gradient = np.empty(0)
        self.sets = np.empty((0, set_bytes), np.uint8)
        self.certificates: list[tuple[int, Any]] = []

    @property
    def left_to_do(self) -> int:
        return self.n_iter - self.done

    def make_room(self, n: int) -> None:
        """Room for n iterations after those that are done. What was there stays."""
        room = len(self.loss) - 1
        needed = self.done + n
        if needed <= room:
            return
        room = max(needed, min(self.n_iter, max(2 * room, FIRST_ROOM)))
        for names, entries in ((_LOSSES, room + 1), (_CHOICES, self.n_runs * room)):
            for name in names:
                before = getattr(self, name)
                larger = np.zeros((entries, *before.shape[1:]), before.dtype)
                larger[: len(before)] = before
                setattr(self, name, larger)

    def finish_block(self, n: int, seconds: float, loss: float, held_loss: float) -> None:
        """n more iterations are done, until ``seconds``; the sums of losses are now these."""
        start, end = self.seconds[self.done], self.done + n
        self.seconds[self.done : end + 1] = np.linspace(start, seconds, n + 1)
        self.loss[end] = loss
        self.held_loss[end] = held_loss
        self.done = end  # last: an interruption before it leaves what was there

    def record(self, n: int, skip: int = 0) -> Record:
        """Views of the next n entries (after some that are not counted as done) of a single run,
        to be filled."""
        self.make_room(skip + n)
        now = slice(self.done + skip, self.done + skip + n)
        return Record(
            self.loss[now],
            self.held_loss[now],
            self.learner[now],
            self.left[now],
            self.right[now],
            self.gradient[now],
            self.sets[now],
        )

    def scale_steps(self, n: int, scale: float) -> None:
        """Multiply the next n steps, which are not counted as done yet."""
        now = slice(self.done, self.done + n)
        self.left[now] *= scale
        self.right[now] *= scale

    def smooth_block(self, n: int) -> None:
        """Losses of the last n iterations: linear between the losses at their ends."""
        now = slice(self.done - n, self.done + 1)
        for losses in (self.loss, self.held_loss):
            losses[now] = np.linspace(losses[self.done - n], losses[self.done], n + 1)

    def progress(self, snapshot: Callable[[], Any], state: Callable[[], Any]) -> Progress:
        held = self.held_weight
        return Progress(
            self.done,
            self.n_iter,
            float(self.loss[self.done] / self.weight),
            None if held is None else float(self.held_loss[self.done] / held),
            float(self.seconds[self.done]),
            snapshot,
            self.validation_losses,
            state,
            self.keep_certificate,
            self.seconds_before,
        )

    def keep(self, n: int) -> dict[str, NDArray]:
        """Copies of what was recorded of the first n iterations."""
        kept = {name: getattr(self, name)[: n + 1].copy() for name in _LOSSES}
        return kept | {name: getattr(self, name)[:n].copy() for name in _CHOICES}

    def restore(self, kept: dict[str, NDArray]) -> None:
        """Go on from what `keep` gave."""
        self.make_room(len(kept["learner"]))
        for name, values in kept.items():
            getattr(self, name)[: len(values)] = values
        self.done = len(kept["learner"])
        self.seconds_before = float(self.seconds[self.done])

    def validation_losses(self, first: int = 0) -> NDArray[np.float64]:
        """Mean validation losses of the iterations from ``first`` on; empty without such rows."""
        if self.held_weight is None:
            return np.empty(0)
        return self.held_loss[first : self.done + 1] / self.held_weight

    def keep_certificate(self, iteration: int, found: Any) -> None:
        self.certificates.append((iteration, found))

    def trace(self, n: int | None = None) -> Trace:
        """The trace of the first n iterations, by default of all that are done."""
        n = self.done if n is None else n
        chosen = slice(0, self.n_runs * n)
        learner = self.learner[chosen].copy()
        feature = np.searchsorted(self.offsets, learner, side="right") - 1
        split = learner - self.offsets[feature]
        feature[learner < 0] = split[learner < 0] = -1
        held = self.held_weight
        return Trace(
            train_loss=self.loss[: n + 1] / self.weight,
            validation_loss=None if held is None else self.held_loss[: n + 1] / held,
            seconds=self.seconds[: n + 1].copy(),
            learner=learner,
            feature=feature,
            split=split,
            left=self.left[chosen].copy(),
            right=self.right[chosen].copy(),
            gradient_norm=self.gradient[chosen].copy(),
            engine=self.engine,
            sets=self.sets[chosen].copy() if self.sets.shape[1] else None,
            certificates=tuple(
                sorted((pair for pair in self.certificates if pair[0] <= n), key=lambda p: p[0])
            ),
            n_runs=self.n_runs,
        )
