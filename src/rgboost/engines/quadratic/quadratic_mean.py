"""The mean of k runs of a smooth loss, from statistics of quadratic models of it.

The runs, each without one fold, go on for a leg of many iterations that touch no row: on a
quadratic model of the loss, as on the squared loss (`curved_rows`). Then the model is made anew at
the scores that they have come to.

A leg is as long as the quadratic model can be trusted: longer while it tells the fall of the
training loss well, and shorter otherwise; a leg after which the training loss is not smaller is
dropped. Losses are exact where legs end. Between them, what the quadratic model lacks in the end is
added in proportion.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.loading import working_seconds
from ...learners import Stumps
from ...learners.stumps import FEWEST_BINS
from ...losses import Loss, Softmax, Squared
from ...steps import ConstantStep, LineSearch, NewtonStep, StepRule
from ...training.boost import Boosted, enter_all, interruptible, outcome
from ...training.budget import gram_budget
from ...training.callbacks import Callback
from ...training.fold_mean import mean_recorder, record_block
from ...training.make_problem import make_problem
from ...training.stopping import EarlyStopping
from ...training.trace import Recorder
from ..direct.step_length import ConstantRule
from ..gram.family import gram_family
from ..gram.folds import FoldRuns, statistics_team, takes_statistics
from ..gram.gram import GramRows, OneByOne
from ..problem import Problem
from .curved_rows import CurvedRows, Losses

FIRST_LEG, SHORTEST_LEG = 64, 8
"""Iterations of every run in the first leg, and in those where the quadratic model is poor."""

LONGER, SHORTER = 3, 2
GOOD, FAIR = 0.1, 0.3
"""The next leg is longer by a factor if the quadratic model told the fall of the loss up to the
first share of it, and shorter if it was wrong by more than the second."""

STEEPEST = 1.1
"""The learning rate as a multiple of the least share of the rows that a run is fitted to, at most.
Curvature that is all of a run's own rows counts by that share: so no step is much longer than to
the minimum."""


def quadratic_obstacle(loss: Loss, step: StepRule, learning_rate: float, engine: str) -> str | None:
    """Why a loss has no such runs; None if it has."""
    if loss.newton_limit is None or isinstance(loss, Softmax):
        return f"{loss!r} has no quadratic model"
    if type(loss).curvature is Loss.curvature:
        return f"{loss!r} defines no curvature"
    if step not in (ConstantStep(), LineSearch(), NewtonStep()):
        return f"{step!r} is no step on a quadratic model"
    if learning_rate > 1.0:
        return f"learning_rate={learning_rate} is beyond the minimum of a quadratic model"
    if engine != "auto":
        return f"engine={engine!r} is asked for"
    return None


def boost_quadratic_mean(
    X: Any,
    y: NDArray[np.float64],
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
    """The mean of k runs as of `rgboost.training.fold_mean.boost_mean`; None where statistics
    cannot give it.

    Steps are ``learning_rate`` times those to the minimum of the quadratic model along b. Where
    memory is short, Gram rows are of shorter integers, and then of fewer bins, if these are
    ``"auto"``.
    """
    if quadratic_obstacle(loss, step, learning_rate, engine) is not None:
        return None
    if type(settings["learner"]) is not Stumps:  # before rows are prepared
        return None
    memory = gram_budget(X) if gram_memory is None else gram_memory
    with ExitStack() as stack:
        enter_all(stack, callbacks)

        def prepare(learner: Stumps) -> Problem:
            problem = make_problem(
                X, y, loss=loss, step=step, n_iter=1, learning_rate=learning_rate, validation=None,
                random_state=random_state, callbacks=tuple(callbacks),
                **{**settings, "learner": learner},
            )  # fmt: skip
            problem.rule = ConstantRule(learning_rate, 1.0)
            return problem

        problem = prepare(settings["learner"])
        kind = type_that_fits(problem, n_iter, memory)
        if kind is None:
            fewer = bins_that_fit(problem, n_iter, memory)
            if settings["learner"].max_bins != "auto" or fewer is None:
                return None
            problem = prepare(replace(settings["learner"], max_bins=fewer))
            kind = type_that_fits(problem, n_iter, memory)
            if kind is None:
                return None
        best_start = settings.get("start_score", 0.0) is None
        team = stack.enter_context(statistics_team(problem))
        rows = CurvedRows(problem, fold, random_state, best_start, team, kind)
        if learning_rate > STEEPEST * rows.least_share:
            return None
        gram = GramRows(rows.family.offsets, [kind], memory)
        folds, null = rows.states(gram)
        runs = stack.enter_context(FoldRuns(problem, folds, gram, OneByOne(rows), team))
        problem.start = rows.start
        problem.recorder = mean_recorder(runs, n_iter)
        problem.recorder.engine += " on quadratic models"
        fits: list[bool] = []
        interrupted = interruptible(problem, lambda: fits.append(run_legs(runs, rows, rule, null)))
    problem.end()
    if interrupted and not problem.recorder.done:
        raise KeyboardInterrupt
    if fits == [False]:
        return None
    return outcome(problem, rule.stop_at, interrupted)


def type_that_fits(problem: Problem, n_iter: int, memory: int) -> Any:
    """The integers of Gram rows: the longest that fit; None if none do, or rows are faster."""
    for kind in (np.int32, np.uint16):
        if _takes_statistics(problem, n_iter, memory * 8 // np.dtype(kind).itemsize):
            return kind
    return None


def bins_that_fit(problem: Problem, n_iter: int, memory: int) -> int | None:
    """So few bins that the shortest Gram rows fit; None if too few would, or rows are faster."""
    if not _takes_statistics(problem, n_iter, sys.maxsize):
        return None
    sizes = np.diff(gram_family(problem).offsets)
    most = (memory // np.dtype(np.uint16).itemsize) ** 0.5
    fitting = (b for b in range(int(sizes.max()), FEWEST_BINS, -1) if most >= _sums(sizes, b))
    return next(fitting, None)


def _sums(sizes: NDArray[np.int64], n_bins: int) -> int:
    """How many sums there would be with so many bins."""
    return int(np.minimum(sizes, n_bins - 1).sum())


def _takes_statistics(problem: Problem, n_iter: int, memory: int) -> bool:
    """Whether runs go by statistics, with so much memory if sums were floats of 8 bytes."""
    like = replace(problem, loss=Squared(), weight=np.ones(1))
    like.recorder = Recorder(n_iter, problem.prepared.layout.offsets, 1.0, None)
    return takes_statistics(like, "auto", memory)


def run_legs(runs: FoldRuns, rows: CurvedRows, rule: EarlyStopping, null: Losses) -> bool:
    """Leg after leg, until the rule holds or a callback wants to stop. ``null`` are the losses of
    the null models. False if Gram rows do not fit, or no leg lowers the loss of the null models.
    """
    recorder = runs.problem.recorder
    begun, length = working_seconds(), FIRST_LEG
    made: list[int] = []
    with rule:
        rule.observe([null.held / runs.held_mass])
        while recorder.left_to_do and length and rule.stop_at is None and not runs.wants_to_stop:
            first, tables = recorder.done, rows.tables.copy()
            try:
                if not (runs.expect_useful(made) and run_leg(runs, copy.copy(rule), length, begun)):
                    return False
                before, told = recorder.loss[first], recorder.loss[recorder.done]
                made = runs.gram.features  # which the next leg needs as well
                rows.follow(recorder)
                runs.folds, exact = rows.states(runs.gram)
            except KeyboardInterrupt:  # the second one: nobody knows what this leg is worth
                recorder.done = first or recorder.done
                raise
            if not exact.train < before:
                rows.go_back(recorder, first, tables)
                runs.folds, _ = rows.states(runs.gram)
                runs.wants_to_stop &= first > 0  # something is to be there
                length //= 2 * SHORTER
                continue
            correct_losses(recorder, first, exact)
            rule.observe(recorder.validation_losses(first + 1).tolist())
            length = next_length(length, abs(exact.train - told) / (before - exact.train))
    return recorder.done > 0


def next_length(length: int, wrong: float) -> int:
    """After a leg whose quadratic model was wrong by this share of the fall of the loss."""
    if wrong < GOOD:
        return LONGER * length
    return max(SHORTEST_LEG, length // SHORTER) if wrong > FAIR else length


def run_leg(runs: FoldRuns, rule: EarlyStopping, length: int, begun: float) -> bool:
    """At most ``length`` iterations of every run, block by block; False if Gram rows do not fit.

    The leg ends where the rule would hold, which is then asked again with exact losses.
    """
    recorder = runs.problem.recorder
    end = min(recorder.n_iter, recorder.done + length)
    while recorder.done < end:
        records = runs.go_on(min(rule.next_block(runs.chunk), end - recorder.done))
        if records is None:
            return False
        held = record_block(runs, records, begun)
        runs.wants_to_stop = runs.problem.wants_to_stop()
        if rule.observe(held.tolist()) or runs.wants_to_stop:
            break
    return True


def correct_losses(recorder: Recorder, first: int, exact: Losses) -> None:
    """Losses of the iterations from ``first`` on, so that the last ones are exact."""
    now = slice(first, recorder.done + 1)
    share = np.linspace(0.0, 1.0, recorder.done + 1 - first)
    for losses, value in ((recorder.loss, exact.train), (recorder.held_loss, exact.held)):
        losses[now] += share * (value - losses[recorder.done])
