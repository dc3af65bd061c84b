"""The mean of k models of the logistic loss, from statistics of its quadratic model.

Around scores f the loss is close to a weighted squared loss (iteratively reweighted least squares):

    l(y, f + d) ~ l(y, f) - r d + h/2 d^2 = c + h/2 (z - f - d)^2,    z = f + r/h,  c = l - r^2/2h

with r the residual, h the curvature. So k runs on the labels z and the weights h, each without one
fold, come from statistics as those of the squared loss do (`rgboost.boosting.folds`). A round does
that around the scores of the mean of the round before, from the null model on: z and h change from
round to round, the runs begin anew. Rows that a run does not see are judged by the model of *their*
loss. It is made around scores of models that have mostly seen them: where classes can nearly be
told apart, it lies below the loss.

A step of r/h longer than the loss's ``newton_limit`` is where the quadratic model is far from the
loss: there h is |r|/limit, which keeps the gradient. Rounds end when the loss itself, of the rows
that the runs do not see, falls by little; a round after which it is larger is dropped.

Not for losses with a logarithm as link: there scores have no scale, and rounds end on the way.

The first rounds need not be exact. They have few of the rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._team import Team
from ..losses import Logistic, Loss, Squared
from ..model import Path
from ..steps import ConstantStep, LineSearch, NewtonStep, StepRule
from .callbacks import Callback
from .engine import Boosted, enter_all, interruptible, outcome
from .fold_mean import mean_recorder, run_folds
from .folds import FoldRows, FoldRuns, fold_rows, statistics_team, takes_statistics
from .gram import GramRows, default_gram_memory
from .gram_family import gram_family
from .make_problem import make_problem
from .problem import Problem
from .statistics import MemoryStatistics
from .step_length import ConstantRule
from .stopping import EarlyStopping, best_iteration
from .trace import Recorder

Vector = NDArray[np.float64]

PILOT_ROWS = 5000
PILOT_ROUNDS = 3
PILOT_RATE = 2.5
"""The first rounds: how many rows they have at most, how many rounds there are, and how much longer
their steps are."""

MOST_ROUNDS = 6
ENOUGH = 0.01
"""Rounds end when one lowers the loss of the rows that are not seen by less than this share."""

LIGHTEST = 0.01
"""The least weight h of a side of a split: below it, a step is a matter of few rows that the model
is sure of."""

_LEAST_CURVATURE = 1e-8


def reweighted_obstacle(
    loss: Loss, step: StepRule, learning_rate: float, engine: str
) -> str | None:
    """Why a loss has no such rounds; None if it has."""
    if type(loss) is not Logistic:
        return f"rounds are for the logistic loss, not for {loss!r}"
    if step not in (ConstantStep(), LineSearch(), NewtonStep()):
        return f"{step!r} is no step on a quadratic model"
    if learning_rate > 1.0:
        return f"learning_rate={learning_rate} is beyond the minimum of a quadratic model"
    if engine != "auto":
        return f"engine={engine!r} is asked for"
    return None


def boost_reweighted(
    X: Any,
    y: Vector,
    fold: NDArray[np.int64],
    *,
    loss: Loss,
    step: StepRule,
    n_iter: int,
    rule: EarlyStopping,
    learning_rate: float,
    random_state: int,
    callbacks: Sequence[Callback] = (),
    engine: str = "auto",
    gram_memory: int | None = None,
    **settings: Any,
) -> Boosted | None:
    """The mean of k runs as of `rgboost.boosting.fold_mean.boost_mean`; None where statistics
    cannot give it.

    Steps are ``learning_rate`` times those to the minimum of the quadratic model along b. Losses
    of the trace are those of the last round's quadratic model. Every round tells the callbacks of
    its iterations.
    """
    if reweighted_obstacle(loss, step, learning_rate, engine) is not None:
        return None
    with ExitStack() as stack:
        enter_all(stack, callbacks)
        problem = make_problem(
            X, y, loss=loss, step=step, n_iter=1, learning_rate=learning_rate, validation=None,
            random_state=random_state, callbacks=tuple(callbacks), **settings,
        )  # fmt: skip
        problem.rule = ConstantRule(learning_rate, 1.0)
        memory = default_gram_memory() if gram_memory is None else gram_memory
        n_folds = int(fold.max()) + 1
        like = replace(problem, loss=Squared(), weight=np.ones(1))
        like.recorder = Recorder(n_iter, problem.prepared.layout.offsets, 1.0, None)
        if not takes_statistics(like, engine, memory // (1 + n_folds)):
            return None
        team = stack.enter_context(statistics_team(problem))
        best_start = settings.get("start_score", 0.0) is None
        rounds = Rounds(problem, X, fold, n_iter, rule, random_state, best_start, memory, team)
        try:
            interrupted = interruptible(problem, rounds.run)
        except KeyboardInterrupt:  # with nothing done in this round
            if rounds.best is None:
                raise
            interrupted = True
    problem.end()
    if rounds.best is None:
        if not interrupted:
            return None
        if not problem.recorder.done:
            raise KeyboardInterrupt
        return outcome(problem, None, interrupted)
    problem.recorder, problem.start = rounds.best.recorder, rounds.best.start
    return outcome(problem, rounds.best.stop_at, interrupted)


@dataclass
class Mean:
    """The mean of the models of a round: where it starts from, its tables, and the mean loss of
    the rows that the runs did not see."""

    recorder: Recorder
    start: float
    tables: Vector
    held_loss: float
    stop_at: int | None
    wants_to_stop: bool


@dataclass
class Rounds:
    """Rounds of k runs on quadratic models."""

    problem: Problem
    X: Any
    fold: NDArray[np.int64]
    n_iter: int
    rule: EarlyStopping
    seed: int
    best_start: bool
    memory: int
    team: Team

    def __post_init__(self) -> None:
        self.family = gram_family(self.problem)
        # Half the memory, and exact enough for weights that are those of a model.
        kinds = [np.float32] * (2 + int(self.fold.max()))
        self.gram = GramRows(self.family.offsets, kinds, self.memory)
        # A usual weight is 1, whatever its unit: so `LIGHTEST` means what it says.
        weight = self.problem.weight
        self.scale = 1.0 if weight is None else 1.0 / float(np.median(weight))
        self.best: Mean | None = None
        self.begun = time.perf_counter()

    def run(self) -> None:
        """Find the best round; there is none if Gram rows do not fit."""
        pilot = self._pilot()
        if pilot is None:
            return
        parts = self._parts(self.fold)
        for part in parts:
            part.move(pilot.start, pilot.tables)
        self._rounds(self.problem, parts, MOST_ROUNDS)

    def _pilot(self) -> Mean | None:
        """Rounds with long steps on some of the rows, from the null model on."""
        n_rows = len(self.problem.y)
        some = np.random.default_rng([self.seed, n_rows]).permutation(n_rows)[:PILOT_ROWS]
        fold = np.full(n_rows, -1)
        fold[some] = self.fold[some]
        if len(np.unique(fold[some])) <= self.fold.max():  # a fold has too few rows
            fold = self.fold
        rate = min(1.0, PILOT_RATE * self.problem.rule.learning_rate)
        # The last of the callbacks is the one of Ctrl-C (`interruptible`).
        pilot = replace(
            self.problem, rule=ConstantRule(rate, 1.0), callbacks=self.problem.callbacks[-1:]
        )
        self._rounds(pilot, self._parts(fold), PILOT_ROUNDS)
        found, self.best = self.best, None
        return found

    def _parts(self, fold: NDArray[np.int64]) -> list[Part]:
        """The rows of each fold, at the null model."""
        loss, start, parts = self.problem.loss, self.problem.start, []
        for one in fold_rows(self.problem, self.X, fold):
            exact = self.family.statistics(one.arrays, one.y, one.weight, loss, start, self.team)
            parts.append(Part(exact, self.scale * one.mass, self.scale))
        return parts

    def _rounds(self, problem: Problem, parts: list[Part], most: int) -> None:
        """Rounds until one gains little; ``best`` is the last that gained."""
        for _ in range(most):
            found = self._round(problem, parts)
            if found is None:
                self.best = None
                return
            before = np.inf if self.best is None else self.best.held_loss
            if not found.held_loss < before:
                return
            self.best = found
            if before - found.held_loss < ENOUGH * found.held_loss or found.wants_to_stop:
                return
            for part in parts:
                part.move(found.start, found.tables)

    def _round(self, problem: Problem, parts: list[Part]) -> Mean | None:
        """k runs around the scores of the parts, and what the mean of their models is worth."""
        rows = [part.quadratic() for part in parts]
        start = problem.start
        chosen = sorted(g for batch in self.gram.batches for g in batch)  # in the round before
        self.gram.forget()
        with FoldRuns(problem, rows, self.seed, self.best_start, self.gram, LIGHTEST) as runs:
            starts = [one.start for one in runs.folds]
            recorder = mean_recorder(runs, self.n_iter)
            recorder.engine += " on a quadratic model"
            problem.recorder, problem.start = recorder, float(np.mean(starts))
            fits = runs.expect(chosen) and run_folds(runs, self.rule, self.begun)
        mean, problem.start = problem.start, start
        if not fits:
            return None
        stop_at = None if self.rule.stop_at is None else len(parts) * self.rule.stop_at
        last = recorder.done if stop_at is None else stop_at
        best = best_iteration(recorder.validation_losses()[: last + 1])
        held, tables = 0.0, np.zeros(self.family.n_tables)
        for k, part in enumerate(parts):
            its_tables = self._tables(recorder, best, k, len(parts))
            held += part.move(starts[k], its_tables)
            tables += its_tables / len(parts)
        return Mean(recorder, mean, tables, held / recorder.weight, stop_at, runs.wants_to_stop)

    def _tables(self, recorder: Recorder, best: int, k: int, n_folds: int) -> Vector:
        """The model of run k; its entries in the path are shares of the mean."""
        its = slice(k, best, n_folds)
        left, right = n_folds * recorder.left[its], n_folds * recorder.right[its]
        path = Path(recorder.learner[its].copy(), left, right, recorder.sets[its].copy())
        return self.family.tables(path)


@dataclass
class Part:
    """The rows of a fold, and their loss. ``scale`` multiplies the weights, and is in ``mass``."""

    exact: MemoryStatistics
    mass: float
    scale: float = 1.0

    def move(self, start: float, tables: Vector) -> float:
        """To the scores of a model; the sum of their losses there."""
        self.exact.start = start
        return self.scale * self.exact.loss(tables)

    def quadratic(self) -> FoldRows:
        """Labels z, weights h and the sum of c of the quadratic model."""
        rows, loss = self.exact.rows, self.exact.loss_function
        residual = loss.residual(rows.y, rows.score)
        least = np.maximum(_LEAST_CURVATURE, np.abs(residual) / loss.newton_limit)
        curvature = np.maximum(loss.curvature(rows.y, rows.score), least)
        weight = self.scale * rows.weight if rows.weighted else 1.0
        step = residual / curvature
        constant = weight * (loss.value(rows.y, rows.score) - 0.5 * residual * step)
        return FoldRows(
            self.exact.arrays, rows.score + step, weight * curvature, self.mass,
            float(constant.sum()),
        )  # fmt: skip
