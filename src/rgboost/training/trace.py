"""The trace of a run: losses, time and choices, iteration by iteration, and how it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.stored import all_or_none, ascends, check_arrays, require, within
from .._core.svg import LINE, SECOND, Panel, range_of, row_of
from ..engines.base import Losses, Record, Runs
from ..model import Path
from ..model.path import field_of, not_stored

THINNED = 100
"""Iterations of each kind in a thinned trace."""

_LOSSES = ("loss", "held_loss", "seconds")
_IN_RECORD = {"gradient_norm": "gradient"}
"""Fields of a choice that a record calls otherwise."""

FIRST_ROOM = 1024
"""Iterations that there is room for at first; then twice as many, and so on."""

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
    iteration
        The iterations that losses and seconds are of: 0, 1, ..., M unless it was thinned.
    train_loss
        Mean (weighted) training loss.
    validation_loss
        The same on the validation set, or None.
    seconds
        Time since the first iteration began, but for compiling and loading kernels. Taken between
        blocks of iterations, linear within one.
    choices
        What was chosen, with the fields that the family of weak-learners declares, which are
        attributes of the trace too: at least ``learner``, the index of the chosen weak-learner in
        0..K-1 (-1 if J held none), ``left`` and ``gradient_norm``; see
        `rgboost.learners.base.Prepared.choice_type` and that of the family.
    feature
        The feature of the choice, or column of the chosen dictionary entry; or -1.
    split
        Which of the feature's weak-learners it is, counted from 0; or -1.
    engine
        For people, what computed the iterations: "direct", "gram", "quadratic", of several runs
        with their number, or a sentence if it changed on the way.
    certificates
        Pairs (iteration, certificate) that callbacks made on the way, by iteration; see
        `rgboost.theory.certificates.recording`.
    n_runs
        How many runs the model is the mean of.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=100, random_state=0).fit(X, y)
    >>> trace = model.trace_
    >>> len(trace), len(trace.train_loss), bool(trace.train_loss[-1] < trace.train_loss[0])
    (100, 101, True)
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
        """The iterations that losses are kept of; after a model was stored, some of them."""
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

        Parameters
        ----------
        best : int
            An iteration that is kept.

        Returns
        -------
        Trace

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> model = RGBMRegressor(max_iter=500, interactions=0).fit(*load_diabetes(return_X_y=True))
        >>> len(model.trace_.thinned(500).train_loss) < 220
        True
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
    """Where a run stands: ``iteration`` of at most ``n_iter`` are done.

    A callback is given one. ``iteration``, ``n_iter``, ``train_loss``, ``validation_loss`` (None
    without validation rows), ``seconds`` and ``part`` are what most of them need.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> def enough(progress):
    ...     return progress.train_loss < 2000
    >>> model = RGBMRegressor(max_iter=1000, callbacks=[enough], interactions=0, random_state=0)
    >>> bool(model.fit(X, y).n_iter_ < 1000)
    True
    """

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
    part: str = field(default="curves", repr=False)
    """Which part of a fit this is: "curves" (often the only one), "pairs", and "pairs again", those
    that are kept without the others. Iterations, losses and seconds are those of the part."""
    seconds_of_parts: float = field(default=0.0, repr=False)
    """How long the parts before this one took, and what was done between them."""
    settled: bool = field(default=True, repr=False)
    """Whether the losses are exact, and no iteration will be taken back: between the refreshes of
    quadratic models they are those of the models."""


class Recorder:
    """Room for a trace that grows block by block: of what k runs have done, the means of their
    losses, and the choices of all of them in turn, each with its share of the mean of the models.
    """

    def __init__(self, n_iter: int, runs: Runs) -> None:
        prepared, n_classes = runs.problem.prepared, runs.problem.n_classes
        self.done = 0
        self.settled = 0
        """Up to which iteration losses are exact."""
        self.engine = runs.label
        self.seconds_before = 0.0
        self.n_iter = n_iter
        self.n_runs = len(runs.runs)
        self.offsets = prepared.layout.offsets
        self.weigh(runs)
        self.loss = np.zeros(1)
        self.held_loss = np.zeros(1)
        self.seconds = np.zeros(1)
        self.choices = np.empty(0, prepared.choice_type(n_classes))
        self.steps = prepared.step_fields
        self.certificates: list[tuple[int, Any]] = []
        self.loss[0], self.held_loss[0] = self.means([runs.losses(run) for run in runs.runs])

    def weigh(self, runs: Runs) -> None:
        """What the losses of runs are divided by: engines may have units of weight."""
        self.masses = np.array([run.mass for run in runs.runs])
        self.held_mass = sum(run.held_mass for run in runs.runs)

    @property
    def left_to_do(self) -> int:
        return self.n_iter - self.done

    @property
    def has_held(self) -> bool:
        return self.held_mass > 0.0

    def means(self, losses: Sequence[Losses]) -> tuple[float, float]:
        """Mean losses: of the rows that runs are fitted to, and of all that are held out."""
        train = np.mean([one.train for one in losses] / self.masses)
        held = sum(one.held for one in losses)
        return float(train), held / self.held_mass if self.has_held else 0.0

    def write(self, records: Sequence[Record], seconds: float) -> None:
        """More iterations of all runs are done, until ``seconds``."""
        n, begin = len(records[0].learner), self.done
        self._make_room(n)
        now = slice(self.n_runs * begin, self.n_runs * (begin + n))
        for name in self.choices.dtype.names or ():
            for k, one in enumerate(records):
                values = getattr(one, _IN_RECORD.get(name, name))
                share = values / self.n_runs if name in self.steps else values
                self.choices[name][now][k :: self.n_runs] = share
        after, end = slice(begin, begin + n + 1), begin + n
        means = [one.loss / mass for one, mass in zip(records, self.masses, strict=True)]
        self.loss[after] = np.mean(means, axis=0)
        if self.has_held:
            held = np.sum([one.held_loss for one in records], axis=0)
            self.held_loss[after] = held / self.held_mass
        self.seconds[after] = np.linspace(self.seconds[begin], seconds, n + 1)
        self.done = end  # last: an interruption before it leaves what was there

    def settle(self, losses: Sequence[Losses] | None) -> None:
        """Losses since the last time such that the last ones are these; None: they are exact."""
        if losses is not None:
            now = slice(self.settled, self.done + 1)
            share = np.linspace(0.0, 1.0, self.done + 1 - self.settled)
            for kept, exact in zip((self.loss, self.held_loss), self.means(losses), strict=True):
                if kept[self.done] != exact:
                    kept[now] += share * (exact - kept[self.done])
        self.settled = self.done

    def go_back(self) -> None:
        """As if nothing had been done since losses were exact."""
        self.done = self.settled

    def _make_room(self, n: int) -> None:
        room = len(self.loss) - 1
        needed = self.done + n
        if needed <= room:
            return
        room = max(needed, min(self.n_iter, max(2 * room, FIRST_ROOM)))
        for name in _LOSSES:
            setattr(self, name, _longer(getattr(self, name), room + 1))
        self.choices = _longer(self.choices, self.n_runs * room)

    def progress(self, snapshot: Callable[[], Any], state: Callable[[], Any]) -> Progress:
        return Progress(
            self.done,
            self.n_iter,
            float(self.loss[self.done]),
            float(self.held_loss[self.done]) if self.has_held else None,
            float(self.seconds[self.done]),
            snapshot,
            self.validation_losses,
            state,
            self.keep_certificate,
            self.seconds_before,
            settled=self.done == self.settled,
        )

    def keep(self, n: int) -> dict[str, NDArray]:
        """Copies of what was recorded of the first n iterations of the only run."""
        kept = {name: getattr(self, name)[: n + 1].copy() for name in _LOSSES}
        return kept | {"choices": self.choices[:n].copy()}

    def restore(self, kept: dict[str, NDArray]) -> None:
        """Go on from what `keep` gave."""
        self._make_room(len(kept["choices"]))
        for name, values in kept.items():
            getattr(self, name)[: len(values)] = values
        self.done = self.settled = len(kept["choices"])
        self.seconds_before = float(self.seconds[self.done])

    def validation_losses(self, first: int = 0) -> NDArray[np.float64]:
        """Mean losses of held-out rows from iteration ``first`` on; empty without such rows."""
        return self.held_loss[first : self.done + 1].copy() if self.has_held else np.empty(0)

    def keep_certificate(self, iteration: int, found: Any) -> None:
        self.certificates.append((iteration, found))

    def path(self) -> Path:
        """The choices of all runs, as those of the mean of their models."""
        return Path(self.choices[: self.n_runs * self.done].copy())

    def path_of(self, k: int) -> Path:
        """The choices of one of the runs, as those of its own model."""
        choices = self.choices[k : self.n_runs * self.done : self.n_runs].copy()
        for name in self.steps:
            choices[name] *= self.n_runs
        return Path(choices)

    def trace(self, n: int | None = None) -> Trace:
        """The trace of the first n iterations, by default of all that are done."""
        n = self.done if n is None else n
        choices = self.choices[: self.n_runs * n].copy()
        learner = choices["learner"]
        feature = np.searchsorted(self.offsets, learner, side="right") - 1
        split = learner - self.offsets[feature]
        feature[learner < 0] = split[learner < 0] = -1
        return Trace(
            train_loss=self.loss[: n + 1].copy(),
            validation_loss=self.held_loss[: n + 1].copy() if self.has_held else None,
            seconds=self.seconds[: n + 1].copy(),
            choices=choices,
            feature=feature,
            split=split,
            engine=self.engine,
            certificates=tuple(
                sorted((pair for pair in self.certificates if pair[0] <= n), key=lambda p: p[0])
            ),
            n_runs=self.n_runs,
        )


def _longer(values: NDArray, n: int) -> NDArray:
    """Room for n entries, with these at the beginning."""
    found = np.zeros(n, values.dtype)
    found[: len(values)] = values
    return found
