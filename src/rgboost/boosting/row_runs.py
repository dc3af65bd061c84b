"""Runs without one fold of the rows each, by passes over the rows: where these are few.

Every run has its training rows next to each other, with bins that come from all rows (they do not
depend on the labels), and is Algorithm 2 on them: `rgboost.boosting.loop`, or `few_rows_loop` with
Newton steps. An iteration reads the rows once for each weak-learner that it looks at. From some
thousand rows on, statistics are faster (`folds`, `quadratic_mean`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._team import Team
from ..learners.dense_stumps import DenseStumps, take_rows
from ..selection import Subsets
from .curved_rows import in_units_of_the_largest, newton_step
from .direct import make_work
from .few_rows_loop import FewRowsRule, run_few_rows, set_losses
from .folds import share_out
from .gram_family import gram_family
from .loop import Work, run_block
from .make_problem import start_of, total_weight
from .problem import Problem
from .record import Record, make_record
from .rows import Rows, make_rows, start_rows
from .step_length import own_rule

LONGEST_CHUNK, ROWS_OF_CHUNK = 320, 1 << 19
"""Iterations that the runs do before rules of stopping and callbacks look at them: up to so many,
and so many rows in all."""


@dataclass
class RowRun:
    """One of the runs: weak-learners on its training rows and on the others, the rows, the rule of
    its steps (which may have room of its own), where it starts from and its generator.

    ``mass`` and ``held_mass`` are what losses of the two are divided by to have means.
    """

    start: float
    learners: Any
    rows: Rows
    held_learners: Any
    held: Rows
    mass: float
    held_mass: float
    rule: Any
    rng: np.random.Generator
    work: Work

    @property
    def held_loss(self) -> float:
        """The sum of losses of the rows that the run does not see."""
        return float(self.held.loss_sums.sum())


class RowRuns:
    """k runs that go on block by block, each without the rows of one fold.

    ``problem`` is the fit to all rows (stumps on numbers), whose bins and rules are used. The seed
    of a run is (``seed``, its fold). ``start_score`` is that of `rgboost.boosting.boost`.
    """

    engine = "direct"

    def __init__(
        self, problem: Problem, fold: NDArray[np.int64], seed: int, start_score: float | None
    ) -> None:
        self.problem = problem
        self.chunk = max(1, min(LONGEST_CHUNK, ROWS_OF_CHUNK // len(problem.y)))
        self.newton = isinstance(problem.rule, FewRowsRule)
        # With Newton steps only: other rules may have a ridge, in the unit of the weights.
        self.weight = in_units_of_the_largest(problem.weight) if self.newton else problem.weight
        self.wants_to_stop = False
        """Whether a callback has asked to stop."""
        n_folds = int(fold.max()) + 1
        self.pool = ThreadPoolExecutor(min(problem.n_jobs, n_folds), "rgboost")
        self.folds = [self._run(fold == k, [seed, k], start_score) for k in range(n_folds)]

    def __enter__(self) -> RowRuns:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.pool.shutdown()

    @property
    def held_mass(self) -> float:
        return sum(one.held_mass for one in self.folds)

    def go_on(self, n: int) -> list[Record]:
        """n iterations of every run, with the losses before and after them."""
        blocks = [_RowBlock(self.problem, one, n) for one in self.folds]
        share_out(blocks, self.problem.n_jobs, self.pool)
        return [block.losses_and_choices() for block in blocks]

    def _run(self, held: NDArray[np.bool_], seed: list[int], start_score: float | None) -> RowRun:
        problem, family = self.problem, gram_family(self.problem)
        train, others = np.flatnonzero(~held), np.flatnonzero(held)
        y, weight = problem.y[train], _part(self.weight, train)
        start = start_score
        if start is None and self.newton and not problem.rule.flat:
            start = problem.start + newton_step(problem.loss, y, weight, problem.start)
        elif start is None:
            start = float(start_of(problem.loss, y, weight, None))
        arrays: DenseStumps = take_rows(problem.prepared.arrays, train)
        statistics = family.statistics(arrays, y, weight, problem.loss, start, Team(1))
        arrays = arrays._replace(splits=family.weighted(*statistics.bin_weights(), 0.0))
        rows = make_rows(y, weight, start)
        held_rows = make_rows(problem.y[others], _part(self.weight, others), start)
        for some in (rows, held_rows):
            start_rows(problem.loss.terms, some)
        return RowRun(
            start=start,
            learners=arrays,
            rows=rows,
            held_learners=take_rows(problem.prepared.arrays, others),
            held=held_rows,
            mass=total_weight(y, weight),
            held_mass=total_weight(held_rows.y, _part(self.weight, others)),
            rule=own_rule(problem.rule, len(y)),
            rng=np.random.default_rng(seed),
            work=make_work(problem, rows),
        )


def _part(weight: NDArray[np.float64] | None, rows: NDArray[np.int64]) -> Any:
    return None if weight is None else weight[rows]


class _RowBlock:
    """Some iterations of a run under way: a `rgboost.boosting.folds.BlockOfRun`."""

    needs = -1

    def __init__(self, problem: Problem, run: RowRun, n: int) -> None:
        self.problem = problem
        self.run = run
        self.subsets: Subsets | None = None
        self.record = make_record(n, problem.prepared.set_bytes)
        self.n = n
        self.done = 0

    def go_on(self, until: int) -> None:
        if until == self.done:
            return
        problem, run = self.problem, self.run
        if self.subsets is None:  # not before: threads draw side by side
            self.subsets = problem.selection.subsets(problem.prepared.layout, run.rng, self.n)
        record = Record._make(part[self.done : until] for part in self.record)
        Team(1).run(
            run_few_rows if isinstance(run.rule, FewRowsRule) else run_block,
            run.learners, problem.loss.terms, run.rule, part_of(self.subsets, self.done, until),
            run.rows, run.held_learners, run.held, record, run.work,
        )  # fmt: skip
        self.done = until

    def losses_and_choices(self) -> Record:
        """The record, with the losses after the last iteration; exact ones."""
        run = self.run
        told = run.rows.loss_sums.sum()
        losses = np.append(self.record.loss, told)
        if isinstance(run.rule, FewRowsRule) and not run.rule.flat:
            set_losses(self.problem.loss.terms, run.rows)
            losses += (run.rows.loss_sums.sum() - told) * np.linspace(0.0, 1.0, self.n + 1)
        held_losses = np.append(self.record.held_loss, run.held.loss_sums.sum())
        return self.record._replace(loss=losses, held_loss=held_losses)


def part_of(subsets: Subsets, begin: int, end: int) -> Subsets:
    """The subsets of some of the iterations; one for all stays as it is."""
    if len(subsets.start) == 2:
        return subsets
    return subsets._replace(start=subsets.start[begin : end + 1])
