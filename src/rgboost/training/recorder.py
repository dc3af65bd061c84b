"""Room for a trace that grows block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Losses, Record, Runs
from ..model import Path
from .trace import Progress, Trace

_LOSSES = ("loss", "held_loss", "seconds")
_IN_RECORD = {"gradient_norm": "gradient"}
"""Fields of a choice that a record calls otherwise."""

FIRST_ROOM = 1024
"""Iterations that there is room for at first; then twice as many, and so on."""


class Recorder:
    """What k runs have done, iteration by iteration: means of their losses, and the choices of all
    of them in turn, each with its share of the mean of the models."""

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
            self.done == self.settled,
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
