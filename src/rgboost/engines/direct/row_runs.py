"""Runs without one fold of the rows each, by passes over the rows: where these are few.

Every run has its training rows next to each other, with bins that come from all rows (they do not
depend on the labels), and is Algorithm 2 on them: `loop`, or `few_rows_loop` with
Newton steps. An iteration reads the rows once for each weak-learner that it looks at. From some
thousand rows on, statistics are faster (`folds`, `quadratic_mean`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.dense_stumps import DenseStumps, take_rows
from ...losses import Squared
from ...selection import Subsets
from ...statistics.rows import make_rows, start_rows
from ...training.make_problem import start_of, total_weight
from ..gram.family import gram_family
from ..problem import Problem, rows_of, with_offset
from ..quadratic.curved_rows import in_units_of_the_largest, newton_step
from ..record import Record, make_record
from ..run_pool import Crew
from .direct import make_work
from .few_rows_loop import FewRowsRule, run_few_rows, set_losses
from .loop import run_block
from .step_length import own_rule

Vector = NDArray[np.float64]

LONGEST_CHUNK, SCORES_OF_CHUNK = 320, 1 << 19
"""Iterations that the runs do before rules of stopping and callbacks look at them: up to so many,
and so many scores of rows in all."""
SCORES_FOR_THREADS = 1 << 17
"""Scores of rows in a chunk (about 200 microseconds) from which a second thread pays."""


@dataclass
class RowRun:
    """One of the runs: weak-learners on its training rows and on the others, the rows, the rule of
    its steps (which may have room of its own), where it starts from (with several classes, a score
    for each) and its generator.

    ``mass`` and ``held_mass`` are what losses of the two are divided by to have means.
    """

    start: Any
    learners: Any
    rows: Any
    held_learners: Any
    held: Any
    mass: float
    held_mass: float
    rule: Any
    rng: np.random.Generator
    work: Any

    @property
    def held_loss(self) -> float:
        """The sum of losses of the rows that the run does not see."""
        return float(self.held.loss_sums.sum())


class RowRuns:
    """k runs that go on block by block, each without the rows of one fold.

    ``problem`` is the fit to all rows (stumps on numbers), whose bins and rules are used. The seed
    of a run is (``seed``, its fold). ``start_score`` is that of `rgboost.training.boost`.
    """

    engine = "direct"
    n_classes: int | None = None

    def __init__(
        self, problem: Problem, fold: NDArray[np.int64], seed: int, start_score: float | None
    ) -> None:
        self.problem = problem
        n_scores = len(problem.y) * (self.n_classes or 1)
        self.chunk = max(1, min(LONGEST_CHUNK, SCORES_OF_CHUNK // n_scores))
        n_threads = problem.n_jobs if self.chunk * n_scores >= SCORES_FOR_THREADS else 1
        self.newton = isinstance(problem.rule, FewRowsRule)
        # With Newton steps only: other rules may have a ridge, in the unit of the weights.
        self.weight = in_units_of_the_largest(problem.weight) if self.newton else problem.weight
        self.wants_to_stop = False
        """Whether a callback has asked to stop."""
        n_folds = int(fold.max()) + 1
        self.crew = Crew(min(n_threads, n_folds))
        self.folds = [self._run(fold == k, [seed, k], start_score) for k in range(n_folds)]

    def __enter__(self) -> RowRuns:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.crew.close()

    @property
    def held_mass(self) -> float:
        return sum(one.held_mass for one in self.folds)

    def go_on(self, n: int) -> list[Record]:
        """n iterations of every run, with the losses before and after them."""
        blocks = [_RowBlock(self, one, n) for one in self.folds]
        self.crew.go_on(blocks)
        return [block.losses_and_choices() for block in blocks]

    def _run(self, held: NDArray[np.bool_], seed: list[int], start_score: float | None) -> RowRun:
        problem, family = self.problem, gram_family(self.problem)
        train, others = np.flatnonzero(~held), np.flatnonzero(held)
        y, weight, offset = (
            problem.y[train], rows_of(self.weight, train), rows_of(problem.offset, train),
        )  # fmt: skip
        arrays: DenseStumps = take_rows(problem.prepared.arrays, train)
        sums = family.statistics(arrays, y, weight, Squared(), 0.0, Team(1)).bin_weights()
        start = self.start(y, weight, start_score, offset)
        rows = self.make_rows(y, weight, with_offset(start, offset))
        held_start = with_offset(start, rows_of(problem.offset, others))
        held_rows = self.make_rows(problem.y[others], rows_of(self.weight, others), held_start)
        return RowRun(
            start=start,
            learners=arrays._replace(splits=family.weighted(*sums, 0.0)),
            rows=rows,
            held_learners=take_rows(problem.prepared.arrays, others),
            held=held_rows,
            mass=total_weight(y, weight),
            held_mass=total_weight(problem.y[others], rows_of(self.weight, others)),
            rule=own_rule(problem.rule, len(y)),
            rng=np.random.default_rng(seed),
            work=self.make_work(rows),
        )

    def start(
        self, y: Vector, weight: Vector | None, start_score: float | None, offset: Vector | None
    ) -> Any:
        """Where a run with these training rows starts from."""
        problem = self.problem
        if start_score is None and self.newton and not problem.rule.flat:
            score = with_offset(problem.start, offset)
            return problem.start + newton_step(problem.loss, y, weight, score)
        return start_of(problem.loss, y, weight, start_score, offset)

    def make_rows(self, y: Vector, weight: Vector | None, start: Any) -> Any:
        """Rows at the null model, whose scores are ``start``."""
        rows = make_rows(y, weight, start)
        start_rows(self.problem.loss.terms, rows)
        return rows

    def make_work(self, rows: Any) -> Any:
        return make_work(self.problem, rows)

    def run(self, one: RowRun, subsets: Subsets, record: Record) -> None:
        """As many iterations of a run as the record has room for."""
        Team(1).run(
            run_few_rows if self.newton else run_block,
            one.learners, self.problem.loss.terms, one.rule, subsets, one.rows, one.held_learners,
            one.held, record, one.work,
        )  # fmt: skip

    def correct(self, one: RowRun, losses: Vector) -> Vector:
        """Training losses of a block, the last of them exact."""
        if not self.newton or one.rule.flat:
            return losses
        set_losses(self.problem.loss.terms, one.rows)
        missing = one.rows.loss_sums.sum() - losses[-1]
        return losses + missing * np.linspace(0.0, 1.0, len(losses))


class _RowBlock:
    """Some iterations of a run under way: a `rgboost.engines.run_pool.BlockOfRun`."""

    needs = -1

    def __init__(self, runs: RowRuns, run: RowRun, n: int) -> None:
        self.runs = runs
        self.run = run
        self.subsets: Subsets | None = None
        self.record = make_record(n, runs.problem.prepared.set_bytes, runs.n_classes)
        self.n = n
        self.done = 0

    def go_on(self, until: int) -> None:
        if until == self.done:
            return
        problem, run = self.runs.problem, self.run
        if self.subsets is None:  # not before: threads draw side by side
            self.subsets = problem.selection.subsets(problem.prepared.layout, run.rng, self.n)
        record = Record._make(part[self.done : until] for part in self.record)
        self.runs.run(run, part_of(self.subsets, self.done, until), record)
        self.done = until

    def losses_and_choices(self) -> Record:
        """The record, with the losses after the last iteration."""
        losses = np.append(self.record.loss, self.run.rows.loss_sums.sum())
        return self.record._replace(
            loss=self.runs.correct(self.run, losses),
            held_loss=np.append(self.record.held_loss, self.run.held.loss_sums.sum()),
        )


def part_of(subsets: Subsets, begin: int, end: int) -> Subsets:
    """The subsets of some of the iterations; one for all stays as it is."""
    if len(subsets.start) == 2:
        return subsets
    return subsets._replace(start=subsets.start[begin : end + 1])
