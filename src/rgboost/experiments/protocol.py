"""The protocol of the paper's section "Numerical Experiments".

80 % of the rows for training, drawn by a seed; the squared loss, or the logistic loss with
d = 0.0001; stumps at 100 percentiles above 10,000 rows and at every value below; a feature is a
group; Type 3 with five values of t from p to 1; both step rules; the direct engine on one core,
so that time against t means what it means in the paper.

Where the paper is silent: the target of a regression is centred and scaled to variance 1 on the
training rows, so that a gap of 0.1 means the same for every set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.datasets import Dataset, train_test_split_80_20
from ..learners import LearnerFamily, Stumps
from ..learners.base import Prepared
from ..losses import Logistic, Loss, Squared
from ..steps import ConstantStep, LineSearch, StepRule
from ..training.plan import paper_bins

GAPS = (1e-1, 1e-2, 1e-3)
"""Optimality gaps of the mean training loss whose time and epochs are reported."""

STEPS: dict[str, StepRule] = {"constant": ConstantStep(), "line-search": LineSearch()}

RIDGE = 1e-4
MOST_ITERATIONS = 4_000_000
"""Room for a run that is limited by time."""

BudgetKind = Literal["iterations", "epochs", "seconds"]


@dataclass(frozen=True)
class Budget:
    """How long each run may last. An epoch is the cost of evaluating all weak-learners."""

    kind: BudgetKind
    amount: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.amount) and self.amount > 0):
            raise ValueError(f"{self.kind}={self.amount} is no budget; use a positive number.")
        if self.kind == "iterations" and self.amount != int(self.amount):
            raise ValueError(f"iterations={self.amount} is no count; use an integer.")

    def most_iterations(self, epochs_per_iteration: float) -> int:
        if self.kind == "iterations":
            return int(self.amount)
        if self.kind == "epochs":
            return max(1, math.ceil(self.amount / epochs_per_iteration))
        return MOST_ITERATIONS

    @property
    def seconds(self) -> float:
        return self.amount if self.kind == "seconds" else math.inf

    def __str__(self) -> str:
        return f"{self.amount:,g} {self.kind}"


@dataclass(frozen=True)
class Plan:
    """What is run on a data set."""

    name: str
    title: str
    seeds: tuple[int, ...]
    budget: Budget
    steps: tuple[str, ...] = tuple(STEPS)
    note: str = ""


@dataclass(frozen=True)
class Usual:
    """The title of a set and what is run on it unless something else is asked for."""

    title: str
    seconds: float
    seeds: int
    note: str = ""


USUAL: dict[str, Usual] = {
    "embedded": Usual(
        "Breast cancer (inside scikit-learn)", 0.1, 5, "Not in the paper: needs no download."
    ),
    "embedded-digits": Usual(
        "Digits (inside scikit-learn)",
        0.1,
        5,
        "Not in the paper: needs no download. The digit, taken as a number, is the target.",
    ),
    "a9a": Usual("a9a", 3.0, 5),
    "colon-cancer": Usual("colon-cancer", 2.0, 5),
    "rcv1": Usual("rcv1", 20.0, 3),
    "year": Usual("YearPredictionMSD", 30.0, 3),
    "year-test": Usual("YearPredictionMSD, test file", 10.0, 3, "The file of the authors' script."),
    "rcv1-subsets": Usual(
        "rcv1, stand-in", 20.0, 3, "Other documents than the paper's: losses cannot be compared."
    ),
    "year-sample": Usual(
        "YearPredictionMSD, first 1,176 rows", 1.0, 5, "A sample: losses cannot be compared."
    ),
}

SETS_OF: dict[str, tuple[str, ...]] = {
    "embedded": ("embedded", "embedded-digits"),
    "all": ("embedded", "embedded-digits", "a9a", "colon-cancer", "rcv1", "year"),
}
"""Names that stand for several sets."""


def sets_of(names: Iterable[str]) -> tuple[str, ...]:
    """The data sets that are asked for, each once."""
    known = sorted({*USUAL, *SETS_OF})
    found: dict[str, None] = {}
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is no data set; use one of {', '.join(known)}.")
        found |= dict.fromkeys(SETS_OF.get(name, (name,)))
    return tuple(found)


def make_plan(
    name: str,
    *,
    seeds: int | None = None,
    budget: Budget | None = None,
    steps: tuple[str, ...] = tuple(STEPS),
) -> Plan:
    """The usual plan for a set, with what is asked for in place of it."""
    usual = USUAL[name]
    n_seeds = usual.seeds if seeds is None else seeds
    if n_seeds < 1:
        raise ValueError(f"seeds={n_seeds} leaves nothing to run; use 1 or more.")
    return Plan(
        name=name,
        title=usual.title,
        seeds=tuple(range(n_seeds)),
        budget=budget or Budget("seconds", usual.seconds),
        steps=steps,
        note=usual.note,
    )


def geometric_grid(p: int, size: int = 5) -> list[int]:
    """The paper's values of t: geometrically spaced from p to 1, rounded, without repeats."""
    values = np.round(np.geomspace(p, 1, size)).astype(int)
    return sorted({int(t) for t in values}, reverse=True)


def loss_of(task: str) -> Loss:
    """The squared loss, or the logistic loss with d = 0.0001."""
    return Logistic(RIDGE) if task == "classification" else Squared()


@dataclass(frozen=True)
class Ready(LearnerFamily):
    """Weak-learners that were prepared before, so that runs on the same rows share them."""

    prepared: Prepared

    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> Prepared:
        return self.prepared


@dataclass(frozen=True)
class Part:
    """A data set split by a seed, its weak-learners, and its loss."""

    X_train: Any
    X_test: Any
    y_train: NDArray[np.float64]
    y_test: NDArray[np.float64]
    prepared: Any
    loss: Loss

    @property
    def n_groups(self) -> int:
        """Features that can be split."""
        return int(self.prepared.layout.n_groups)


def split(data: Dataset, seed: int) -> Part:
    """The training and test rows of a seed."""
    X_train, X_test, y_train, y_test = train_test_split_80_20(data.X, data.y, seed)
    if data.task == "regression":
        centre, scale = float(y_train.mean()), float(y_train.std()) or 1.0
        y_train, y_test = (y_train - centre) / scale, (y_test - centre) / scale
    prepared = Stumps(max_bins=paper_bins(X_train.shape[0])).prepare(X_train)
    return Part(X_train, X_test, y_train, y_test, prepared, loss_of(data.task))
