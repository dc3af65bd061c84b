"""The quadratic engine: smooth losses on statistics, by quadratic models of the loss.

The runs go on for a stretch of many iterations that touch no row: on a quadratic model of the loss
(`engines.curvature`), as on the squared loss. Then the model is made anew at the scores that they
have come to. The iterates are not those of Algorithm 2; the optimum is.

Residuals and losses are those of each run at its own scores. The Gram matrix is one for all runs,
of the curvature at the mean of their models; a run has the share of it that its rows have
(`gram.loop.ShareState`). So the curvature of rows that a run does not see has a say in its steps;
their residuals have none.

A stretch is as long as the quadratic model can be trusted: longer while it tells the fall of the
training loss well, and shorter otherwise; one after which the training loss is not smaller is
dropped. Losses are exact where stretches end. Between them, what the quadratic model lacks in the
end is added in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...losses import Loss
from ...model import Path
from ...statistics.memory import Columns, MemoryStatistics
from ...statistics.side_by_side import SideBySide, Sums, can_stand_side_by_side
from ...steps import ConstantStep, LineSearch, NewtonStep, StepRule
from ..base import Arrays, Losses, Record, Run, Runs, Settled, make_record
from ..curvature import (
    LIGHTEST,
    curvature_of,
    in_few_units,
    in_units_of_the_largest,
    newton_start,
)
from ..gram.gram_rows import OneByOne
from ..gram.loop import ShareState
from ..gram.runs import StatisticsRuns, SumState, go_on_direct, statistics_obstacle
from ..problem import Problem, RowSet, with_offset

Vector = NDArray[np.float64]

FIRST_STRETCH, SHORTEST_STRETCH = 64, 8
"""Iterations of every run on the first quadratic model, and on those that are poor."""

LONGER, SHORTER = 3, 2
GOOD, FAIR = 0.1, 0.3
"""The next stretch is longer by a factor if the quadratic model told the fall of the loss up to the
first share of it, and shorter if it was wrong by more than the second."""

STEEPEST = 1.1
"""The learning rate as a multiple of the least share of the rows that a run is fitted to, at most.
Curvature that is all of a run's own rows counts by that share: so no step is much longer than to
the minimum."""

_LOOKS, _SHORTEST_BLOCK = 2.0, 16
"""Of one run: how often every column is looked at in a block, and the least iterations of one."""
ENOUGH = 0.01
"""With a ``tol``, a stretch ends when a block gained less than this share of the whole stretch."""

_LEAST_CURVATURE = 1e-8
"""Of a row, as a share of that of a usual row at the null model."""
_UNITS = 1 << 30
"""The curvature of all rows, as an integer; or the most that 16 bits hold."""


def quadratic_obstacle(problem: Problem) -> str | None:
    """Why the quadratic engine cannot run this problem; None if it can."""
    why = loss_obstacle(problem.loss, problem.step, problem.learning_rate)
    if why is None:
        why = statistics_obstacle(problem)
    if why is None and problem.learning_rate > STEEPEST * _least_share(problem):
        why = (
            f"learning_rate={problem.learning_rate} is too long for runs with "
            f"{_least_share(problem):.2g} of the rows"
        )
    return why


def loss_obstacle(loss: Loss, step: StepRule, learning_rate: float) -> str | None:
    """Why a loss has no quadratic models, or no such steps on them; None if it has."""
    if loss.outputs > 1:
        return f"{loss!r} has several scores a row"
    if loss.smoothness is None and (loss.newton_limit is None or not loss.has_curvature):
        return f"{loss!r} has no quadratic model"
    if step not in (ConstantStep(), LineSearch(), NewtonStep()):
        return f"{step!r} is no step on a quadratic model"
    if learning_rate > STEEPEST:
        return f"learning_rate={learning_rate} is beyond the minimum of a quadratic model"
    return None


def _least_share(problem: Problem) -> float:
    """The smallest share of the weight of all rows that a run is fitted to."""
    if problem.fold is None:
        return 1.0
    masses = np.bincount(problem.fold, problem.weight)
    return float(1.0 - masses.max() / masses.sum())


class RunSums(NamedTuple):
    """Of a run at its model: sums of residuals for each split (or slot), over all rows, and the sum
    of losses."""

    sums: Vector
    total: float
    loss: float

    def less(self, other: RunSums) -> RunSums:
        return RunSums(self.sums - other.sums, self.total - other.total, self.loss - other.loss)


class QuadraticRuns(StatisticsRuns):
    """Runs of a smooth loss on quadratic models of it."""

    engine = "quadratic"

    def __init__(self, problem: Problem) -> None:
        self.loss, self.offset = problem.loss, problem.offset
        self.kind = _gram_kind(problem)
        super().__init__(problem, [self.kind], problem.learning_rate)
        weight = in_units_of_the_largest(problem.weight)
        self.exact = self._statistics(problem.prepared.arrays, problem.rows, weight)
        self.maker = OneByOne(self)
        self.held: MemoryStatistics | None = None
        if problem.held is not None:
            held = problem.held_rows
            weight_held = in_units_of_the_largest(held.weight)
            self.held = self._statistics(problem.held_arrays, held, weight_held)
        self.mass = RowSet(problem.y, weight, None).mass
        self.runs = list(self._begin(RowSet(problem.y, weight, problem.offset)))
        self.beside: SideBySide | None = None
        self.spread = np.empty(0, np.int64)
        if self.kind is np.uint16:
            seed = np.random.SeedSequence([len(problem.y), problem.n_runs])
            self.spread = np.random.default_rng(seed).permutation(len(problem.y))
        arrays, fold = self.exact.arrays, problem.fold
        if fold is not None and can_stand_side_by_side(arrays, self.loss, fold):
            self.beside = SideBySide(
                arrays, self.family.first_cell, problem.y, weight, self.offset, self.loss, fold,
                self.builders,
            )  # fmt: skip
        self.tables = np.zeros((len(self.runs), self.family.n_tables))
        null = np.full(len(problem.y), with_offset(self.start, self.offset))
        self.usual = float(np.median(self._curvature_at(null)))
        """The curvature of a usual row at the null model."""
        self.curvature = np.empty(0, np.int32)
        self.unit = 1.0
        """The curvature of a row is its integer times this."""
        self.noise = 0.0
        """What sums of residuals have by chance (phi of `rgboost.learners.credibility`)."""
        if problem.n_runs == 1:
            size, of = problem.selection.size(problem.prepared.layout)
            looks = int(_LOOKS * len(problem.prepared.layout.members) * of / max(1, size))
            self.longest = max(_SHORTEST_BLOCK, looks)
        self.length = FIRST_STRETCH
        self.useful: list[int] = []
        """Features whose Gram rows the stretch before needed."""
        self._stretch: list[list[Record]] = []
        """What was done on this quadratic model."""
        self._exact: list[Losses] = []
        """The losses where it was made."""
        self._told = 0.0
        """The mean training loss now, as it tells."""
        self._make_model()
        self._point = {"tables": self.tables.copy(), "length": np.array(self.length)}

    def _statistics(self, arrays: Any, rows: RowSet, weight: Vector | None) -> MemoryStatistics:
        family, start = self.family, with_offset(self.problem.start, rows.offset)
        stored = family.stored(arrays, len(rows.y))
        return family.statistics(stored, rows.y, weight, self.loss, start, self.builders)

    def _begin(self, rows: RowSet) -> Iterator[Run]:
        problem = self.problem
        for k, rng in enumerate(problem.generators()):
            start, mine, held_mass = problem.start, rows, 0.0
            if problem.fold is not None:
                mine = rows.take(problem.fold != k)
                held_mass = rows.take(problem.fold == k).mass
                if problem.best_start:
                    start = newton_start(self.loss, mine, start)
            elif self.held is not None:
                held = self.held.rows
                held_mass = RowSet(held.y, held.weight if held.weighted else None, None).mass
            yield Run(start, mine.mass, held_mass, rng, None)

    @property
    def label(self) -> str:
        return super().label + (" on quadratic models" if len(self.runs) > 1 else "")

    @property
    def start(self) -> float:
        """Where the mean of the models starts from."""
        return float(np.mean([run.start for run in self.runs]))

    @property
    def makes_all(self) -> bool:
        return self.exact.makes_all

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        """Gram rows of the curvature, as `GramRows` asks for them."""
        self.exact.weighted_gram_rows(features, columns, self.curvature, out)

    def go_on(self, n: int) -> list[Record]:
        if not self._stretch and not self.expect_useful(self.useful):
            self.used_up = "gram_memory was used up"
        if self.used_up is not None:
            return [self._nothing(run) for run in self.runs]
        records = super().go_on(min(n, self.length - self._n_done()))
        self._stretch.append(records)
        if self.problem.tol > 0.0:
            now = self._mean([self.losses(run) for run in self.runs])
            whole, last = self._mean(self._exact) - now, self._told - now
            if last <= ENOUGH * whole:
                self.length = self._n_done()
            self._told = now
        return records

    def _nothing(self, run: Run) -> Record:
        """No iterations."""
        now, problem = self.losses(run), self.problem
        nothing = make_record(0, problem.prepared.set_bytes)
        return nothing._replace(loss=np.array([now.train]), held_loss=np.array([now.held]))

    def _n_done(self) -> int:
        """Iterations on this quadratic model."""
        return sum(len(records[0].learner) for records in self._stretch)

    def settle(self, ending: bool) -> Settled | None:
        natural = self._n_done() >= self.length
        if not natural and not ending and self.used_up is None:
            return None
        before, told = self._mean(self._exact), self._mean([self.losses(r) for r in self.runs])
        tables, self.useful = self.tables, self.gram.features
        self.tables = tables + self._new_tables()
        self._make_model()
        after = self._mean(self._exact)
        if not after < before:
            self.tables = tables
            self._make_model()
            self.length //= 2 * SHORTER
            self.finished = self.length == 0
            return Settled(self._exact, kept=False, natural=natural)
        self.finished = before - after <= self.problem.tol * abs(after)
        self.length = next_length(self.length, abs(after - told) / (before - after))
        if natural:
            self._point = {"tables": self.tables.copy(), "length": np.array(self.length)}
        return Settled(self._exact, natural=natural)

    def _mean(self, losses: Sequence[Any]) -> float:
        """The mean training loss of the runs."""
        pairs = zip(losses, self.runs, strict=True)
        return float(np.mean([one.train / run.mass for one, run in pairs]))

    def keep(self) -> Arrays:
        return self._point

    def restore(self, kept: Arrays) -> None:
        self.tables, self.length = kept["tables"].copy(), int(kept["length"])
        self._make_model()
        self._point = kept

    def successor(self, paths: Sequence[Path]) -> Runs:
        """The direct engine, from the scores of the models."""
        scores, fold = [], self.problem.fold
        for k, run in enumerate(self.runs):
            self.exact.start = with_offset(run.start, self.offset)
            score = self.exact.score(self.tables[k]).copy()
            if fold is not None:
                scores.append((score[fold != k], score[fold == k]))
            else:
                held = np.empty(0) if self.held is None else self.held.score(self.tables[0]).copy()
                scores.append((score, held))
        return go_on_direct(self, scores)

    def _new_tables(self) -> Vector:
        """What the runs add to their models on this quadratic model."""
        added = np.zeros_like(self.tables)
        for records in self._stretch:
            for k, one in enumerate(records):
                added[k] += self.family.tables(Path(one.learner, one.left, one.right, one.sets))
        return added

    def _make_model(self) -> None:
        """The quadratic model at the models of the runs, and their losses."""
        self._curve()
        self.gram.forget()
        self._stretch = []
        left_weight, total = self.exact.weigh_splits(self.curvature.astype(np.float64))
        for run, (train, held) in zip(self.runs, self._look(), strict=True):
            run.state = self._state(run, train, held, left_weight, total)
        self._exact = [self.losses(run) for run in self.runs]
        self._told = self._mean(self._exact)

    def _curve(self) -> None:
        """The curvature at the mean of the models, in integers.

        Sums of integers are exact: the quadratic model is that of some weights of rows and has a
        minimum. With rounded sums it need not have one, between splits that differ by few rows.
        """
        self.exact.start = with_offset(self.start, self.offset)
        score = self.exact.score(self.tables.mean(axis=0))
        curvature = np.maximum(self._curvature_at(score), _LEAST_CURVATURE * self.usual)
        if self.kind is np.uint16:
            self.unit, self.curvature = in_few_units(curvature, self.spread)
        else:
            self.unit = float(curvature.sum()) / _UNITS
            self.curvature = np.ceil(curvature / self.unit).astype(np.int32)
        residual = self.loss.residual(self.exact.rows.y, score)
        if self.exact.rows.weighted:
            residual *= self.exact.rows.weight
        self.noise = float(np.sum(residual * residual) / curvature.sum())

    def _curvature_at(self, score: Vector) -> Vector:
        """w h of every row."""
        rows = self.exact.rows
        curvature = curvature_of(self.loss, rows.y, score)
        return curvature * rows.weight if rows.weighted else curvature

    def _look(self) -> Iterator[tuple[RunSums, RunSums]]:
        """Sums of every run, over the rows that it is fitted to and over those that it is not."""
        if self.problem.fold is None:
            yield self._look_at_all()
        elif self.beside is None:
            yield from (self._look_without(k) for k in range(len(self.runs)))
        else:
            starts = np.array([run.start for run in self.runs])
            every, held = self.beside.look(starts, self.tables)
            for k in range(len(self.runs)):
                its_own = self._sums(held, k)
                yield self._sums(every, k).less(its_own), its_own

    def _sums(self, of: Sums, k: int) -> RunSums:
        return RunSums(self.family.sums_of_bins(of.bins[k]), of.total[k], of.loss[k])

    def _look_at_all(self) -> tuple[RunSums, RunSums]:
        """Of the only run: all rows, and the validation rows."""
        self.exact.start = with_offset(self.runs[0].start, self.offset)
        train = RunSums(*self.exact.gradient(self.tables[0]))
        if self.held is None:
            return train, RunSums(np.zeros_like(train.sums), 0.0, 0.0)
        return train, RunSums(*self.held.gradient(self.tables[0]))

    def _look_without(self, k: int) -> tuple[RunSums, RunSums]:
        """Of the run without fold k."""
        run, rows = self.runs[k], self.exact.rows
        self.exact.start = with_offset(run.start, self.offset)
        every = RunSums(*self.exact.gradient(self.tables[k]))
        held, only_held = self.problem.fold == k, np.zeros(len(rows.residual))
        only_held[held] = rows.residual[held]
        value = self.loss.value(rows.y[held], rows.score[held])
        loss = float((value * rows.weight[held] if rows.weighted else value).sum())
        its_own = RunSums(*self.exact.weigh_splits(only_held), loss)
        return every.less(its_own), its_own

    def _state(
        self, run: Run, train: RunSums, held: RunSums, left_weight: Vector, total: float
    ) -> SumState:
        """A run at its model."""

        def state(sums: RunSums, mass: float) -> ShareState:
            share = self.unit * mass / self.mass
            return ShareState(
                left_sums=sums.sums,
                left_weight=share * left_weight,
                total_weight=share * total,
                constant=np.zeros(1),
                total=np.array([sums.total]),
                loss=np.array([sums.loss]),
                rows=self.gram.blocks[0],
                row_start=self.gram.row_start if mass else np.zeros(0, np.int64),
                share=share,
            )

        its_own = state(train, run.mass)
        lightest = LIGHTEST * self.usual
        weights = its_own.left_weight, its_own.total_weight
        splits = self.family.weighted(*weights, lightest, self.noise)
        return SumState(splits, its_own, state(held, run.held_mass), self.make_work())


def next_length(length: int, wrong: float) -> int:
    """After a stretch whose quadratic model was wrong by this share of the fall of the loss."""
    if wrong < GOOD:
        return LONGER * length
    return max(SHORTEST_STRETCH, length // SHORTER) if wrong > FAIR else length


def _gram_kind(problem: Problem) -> Any:
    """The integers of Gram rows: the longest that fit."""
    from ..gram.family import gram_family

    size = int(gram_family(problem).offsets[-1]) ** 2
    return np.int32 if 4 * size <= problem.gram_memory else np.uint16
