"""The direct engine: every iteration recomputes residuals and sums from the rows.

It runs every problem. Several runs have their rows next to each other, each on bins that come from
all rows, and a thread each; one run has all threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team, team_size
from ...selection import Subsets
from ..base import Arrays, Losses, Record, Run, Runs
from ..curvature import in_units_of_the_largest, newton_start
from ..problem import Problem, RowSet, rows_of, start_of
from .equal_rows import merge_equal_rows
from .few_rows_loop import FewRowsRule
from .outputs import ClassScores, FewRows, OneScore, PythonLoss
from .step_length import own_rule

Vector = NDArray[np.float64]

ROW_CELLS = 5
"""What a row's new residual costs, in entries: 2 nanoseconds if the loss needs an exponential."""
_LONGEST_BLOCK, _SCORES_OF_BLOCK = 320, 1 << 19
"""Iterations of several runs before rules of stopping and callbacks look at them: up to so many,
and so many scores of rows in all."""
_SCORES_FOR_THREADS = 1 << 17
"""Scores of rows in a block (about 200 microseconds) from which a second thread pays."""


@dataclass
class RowState:
    """Where a run stands: weak-learners on its rows and on those that are held out, the rows, the
    rule of its steps (which may have room of its own), and memory to work with."""

    learners: Any
    rows: Any
    held_learners: Any
    held: Any
    rule: Any
    work: Any


class DirectRuns(Runs):
    """Runs by passes over the rows, from the null model or from given scores of every run, those of
    its own rows and of held-out ones."""

    engine = "direct"

    def __init__(
        self, problem: Problem, scores: Sequence[tuple[Vector, Vector]] | None = None
    ) -> None:
        self.outputs = _outputs(problem)
        self._scores = scores
        self.problem = problem
        runs = list(self._begin())
        super().__init__(problem, runs)
        n_scores = len(problem.y) * self.outputs.scores
        if len(runs) == 1:
            cells = problem.cells_per_iteration() + ROW_CELLS * len(runs[0].state.rows.residual.T)
            n_threads = team_size(problem.n_jobs, self.outputs.scores * cells)
            self.team = Team(min(n_threads, self.outputs.most_threads or n_threads))
        else:
            self.team = Team(1)
            self.longest = max(1, min(_LONGEST_BLOCK, _SCORES_OF_BLOCK // n_scores))
            if self.longest * n_scores < _SCORES_FOR_THREADS:
                self.pool.n_threads = 1

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self.team.close()

    def _begin(self) -> Iterator[Run]:
        problem, generators = self.problem, self.problem.generators()
        if problem.fold is None:
            yield self._single(next(generators))
            return
        weight = problem.weight
        if isinstance(problem.rule, FewRowsRule):
            # With Newton steps only: other rules may have a ridge, in the unit of the weights.
            weight = in_units_of_the_largest(weight)
        rows = RowSet(problem.y, weight, problem.offset)
        for k, rng in enumerate(generators):
            yield self._without(rows, k, rng)

    def _single(self, rng: np.random.Generator) -> Run:
        """The run on all rows, with the validation rows held out."""
        problem = self.problem
        sides = [(problem.prepared.arrays, problem.rows), (problem.held_arrays, problem.held_rows)]
        mass, held_mass = (some.mass for _, some in sides)
        scores = (None, None) if self._scores is None else self._scores[0]
        every = [(*side, score) for side, score in zip(sides, scores, strict=True)]
        if problem.n_classes is not None:
            every = [_merged(*one) for one in every]
        (learners, rows, score), (held_learners, held, held_score) = every
        state = self._state(
            learners, rows, held_learners, held, problem.start, problem.rule, score, held_score
        )
        return Run(problem.start, mass, held_mass, rng, state)

    def _without(self, all_rows: RowSet, k: int, rng: np.random.Generator) -> Run:
        """The run without the rows of fold k."""
        problem = self.problem
        assert problem.fold is not None
        train, others = np.flatnonzero(problem.fold != k), np.flatnonzero(problem.fold == k)
        rows, held = all_rows.take(train), all_rows.take(others)
        learners, held_learners = problem.prepared.on_some_rows(train, rows.weight, others)
        start = problem.start
        if problem.best_start and isinstance(problem.rule, FewRowsRule) and not problem.rule.flat:
            start = newton_start(problem.loss, rows, start)
        elif problem.best_start:
            start = start_of(problem.loss, rows, None)
        rule = own_rule(problem.rule, len(rows.y))
        scores = (None, None) if self._scores is None else self._scores[k]
        state = self._state(learners, rows, held_learners, held, start, rule, *scores)
        return Run(start, rows.mass, held.mass, rng, state)

    def _state(
        self, learners: Any, rows: RowSet, held_learners: Any, held: RowSet, start: Any, rule: Any,
        score: Vector | None, held_score: Vector | None,
    ) -> RowState:  # fmt: skip
        mine = self.outputs.rows(learners, rows, start, score)
        others = self.outputs.rows(held_learners, held, start, held_score)
        work = self.outputs.work(learners, mine)
        return RowState(learners, mine, held_learners, others, rule, work)

    def losses(self, run: Run) -> Losses:
        state = run.state
        return Losses(float(state.rows.loss_sums.sum()), float(state.held.loss_sums.sum()))

    def advance(self, run: Run, subsets: Subsets, record: Record, begin: int) -> int:
        end = len(record.learner)
        if end > begin:
            part = Record._make(values[begin:] for values in record)
            self.outputs.run(self.team, run.state, part_of(subsets, begin, end), part)
            if self.problem.fold is not None:
                steps, norm = part.left, self.problem.prepared.in_own_norm
                steps[:] = norm(run.state.learners, part.learner, steps)
        return end

    def correct(self, run: Run, losses: Vector) -> Vector:
        return self.outputs.correct(run.state.rows, losses)

    def keep(self) -> Arrays:
        """Copies of what steps change, of the only run."""
        state = self.runs[0].state
        sides = (("train", state.rows), ("held", state.held))
        return {f"{name}_{field}": getattr(r, field).copy() for name, r in sides for field in _KEPT}

    def restore(self, kept: Arrays) -> None:
        state = self.runs[0].state
        for name, rows in (("train", state.rows), ("held", state.held)):
            for field in _KEPT:
                getattr(rows, field)[:] = kept[f"{name}_{field}"]


_KEPT = ("score", "residual", "loss_sums", "residual_sums")


def _outputs(problem: Problem) -> OneScore:
    if problem.n_classes is not None:
        return ClassScores(problem)
    if problem.loss.terms is None:
        return PythonLoss(problem)
    return FewRows(problem) if isinstance(problem.rule, FewRowsRule) else OneScore(problem)


def _merged(learners: Any, rows: RowSet, score: Vector | None) -> tuple[Any, RowSet, Any]:
    """Weak-learners, rows and their scores, if given; equal rows merged unless each has its
    offset."""
    if rows.offset is not None:
        return learners, rows, score
    learners, y, weight, kept = merge_equal_rows(learners, rows.y, rows.weight)
    return learners, RowSet(y, weight, None), rows_of(score, kept)


def part_of(subsets: Subsets, begin: int, end: int) -> Subsets:
    """The subsets of some of the iterations; one for all stays as it is."""
    if len(subsets.start) == 2:
        return subsets
    return subsets._replace(start=subsets.start[begin : end + 1])
