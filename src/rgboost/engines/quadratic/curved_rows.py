"""Rows under a smooth loss, as k runs on a quadratic model of it know them.

Near scores f the loss is close to

    l(y, f + d) ~ l(y, f) - r d + h/2 d^2

with r the residual and h the curvature: as with the squared loss, sums of residuals after a step
follow from a Gram matrix, of the weights h. Residuals and losses are those of each run at its own
scores. The Gram matrix is one for all runs, of all rows, with the curvature at the mean of their
models; a run has the share of it that its rows have (`rgboost.engines.gram.loop.ShareState`). So
the curvature of rows that a run does not see has a say in its steps; their residuals have none.

A step of r/h longer than the loss's ``newton_limit`` is where the quadratic model is far from the
loss: there h is |r|/limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...losses import Loss
from ...model import Path
from ...statistics.memory import Columns
from ...statistics.side_by_side import SideBySide, Sums, can_stand_side_by_side
from ...training.make_problem import total_weight
from ...training.trace import Recorder
from ..gram.family import gram_family
from ..gram.folds import Fold
from ..gram.gram import GramRows
from ..gram.loop import ShareState
from ..problem import Problem, rows_of, with_offset

Vector = NDArray[np.float64]

LIGHTEST = 0.05
"""The least weight h of a side of a split, as a share of that of a usual row at the null model:
below it, a step is a matter of few rows that the model is sure of. A share, because curvature has
the unit of the labels if the score is a logarithm of their mean."""

_LEAST_CURVATURE = 1e-8
"""Of a row, as a share of that of a usual row at the null model."""
_UNITS = 1 << 30
"""The curvature of all rows, as an integer; or the most that 16 bits hold."""


class Losses(NamedTuple):
    """Sums of losses: of the rows that runs are fitted to, and of the others."""

    train: float
    held: float


class RunSums(NamedTuple):
    """Of a run at its model: sums of residuals for each split (or slot), over all rows, and the sum
    of losses."""

    sums: Vector
    total: float
    loss: float


@dataclass(frozen=True)
class Run:
    """What stays the same of a run: the rows it does not see, where it starts from, its generator.

    ``mass`` is the weight of its training rows, ``held_mass`` that of the others.
    """

    held: NDArray[np.int64]
    start: float
    mass: float
    held_mass: float
    rng: np.random.Generator


class CurvedRows:
    """All rows, and the models of k runs on them. ``fold`` has the number of each row's fold."""

    def __init__(
        self,
        problem: Problem,
        fold: NDArray[np.int64],
        seed: int,
        best_start: bool,
        team: Team,
        kind: Any = np.int32,
    ) -> None:
        self.loss = problem.loss
        self.kind = kind
        """The type of Gram rows."""
        self.spread = np.random.default_rng([seed, int(fold.max()) + 1]).permutation(len(fold))
        self.family = family = gram_family(problem)
        arrays = family.stored(problem.prepared.arrays, len(problem.y))
        y, weight = problem.y, in_units_of_the_largest(problem.weight)
        self.offset = problem.offset
        self.exact = family.statistics(arrays, y, weight, problem.loss, problem.null_score, team)
        self.runs = []
        for k in range(int(fold.max()) + 1):
            held, rest = fold == k, fold != k
            mass, held_mass = (
                total_weight(y[rows], rows_of(weight, rows)) for rows in (rest, held)
            )
            start = problem.start
            if best_start:
                score = with_offset(start, rows_of(self.offset, rest))
                start += newton_step(self.loss, y[rest], rows_of(weight, rest), score)
            rows, rng = np.flatnonzero(held), np.random.default_rng([seed, k])
            self.runs.append(Run(rows, start, mass, held_mass, rng))
        self.beside: SideBySide | None = None
        if can_stand_side_by_side(arrays, self.loss, fold):
            self.beside = SideBySide(
                arrays, family.first_cell, y, weight, self.offset, self.loss, fold, team
            )
        self.tables = np.zeros((len(self.runs), family.n_tables))
        self.seen = 0
        """How many entries of the path are in the tables."""
        null = np.full(len(y), with_offset(self.start, self.offset))
        self.usual = float(np.median(self._curvature_at(null)))
        """The curvature of a usual row at the null model."""
        self.curvature = np.empty(0, np.int32)
        self.unit = 1.0
        """The curvature of a row is its integer times this."""
        self.noise = 0.0
        """What sums of residuals have by chance (phi of `rgboost.learners.credibility`)."""

    @property
    def start(self) -> float:
        """Where the mean of the models starts from."""
        return float(np.mean([run.start for run in self.runs]))

    @property
    def least_share(self) -> float:
        """The smallest share of the weight of all rows that a run is fitted to."""
        return min(run.mass / (run.mass + run.held_mass) for run in self.runs)

    @property
    def makes_all(self) -> bool:
        return self.exact.makes_all

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        """Gram rows of the curvature, as `rgboost.engines.gram.gram.GramRows` asks for them."""
        self.exact.weighted_gram_rows(features, columns, self.curvature, out)

    def follow(self, recorder: Recorder) -> None:
        """To the models of all that was recorded."""
        for k in range(len(self.runs)):
            self.tables[k] += self._new_tables(recorder, self.seen, k)
        self.seen = recorder.done

    def go_back(self, recorder: Recorder, first: int, tables: Vector) -> None:
        """To iteration ``first``, where the models had these tables."""
        self.tables, self.seen, recorder.done = tables, first, first

    def states(self, gram: GramRows) -> tuple[list[Fold], Losses]:
        """The runs at their models, and their losses; that of training rows is the mean of the
        runs. Gram rows are to be made anew."""
        self._curve()
        gram.forget()
        left_weight, total = self.exact.weigh_splits(self.curvature.astype(np.float64))
        folds = [
            self._state(run, *sums, left_weight, total, gram)
            for run, sums in zip(self.runs, self._look(), strict=True)
        ]
        all_mass = folds[0].mass + folds[0].held_mass
        train = np.mean([fold.train.loss[0] / fold.mass for fold in folds]) * all_mass
        return folds, Losses(float(train), sum(fold.held_loss for fold in folds))

    def _new_tables(self, recorder: Recorder, first: int, k: int) -> Vector:
        """What run k adds to its model from iteration ``first`` on. The path has shares of the
        mean."""
        n_folds = len(self.runs)
        its = slice(n_folds * first + k, n_folds * recorder.done, n_folds)
        left, right = n_folds * recorder.left[its], n_folds * recorder.right[its]
        path = Path(recorder.learner[its].copy(), left, right, recorder.sets[its].copy())
        return self.family.tables(path)

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
        """Sums of every run, over all rows and over those that it does not see."""
        if self.beside is None:
            yield from (self._look_alone(k) for k in range(len(self.runs)))
            return
        every, unseen = self.beside.look(np.array([run.start for run in self.runs]), self.tables)

        def sums(of: Sums, k: int) -> RunSums:
            return RunSums(self.family.sums_of_bins(of.bins[k]), of.total[k], of.loss[k])

        for k in range(len(self.runs)):
            yield sums(every, k), sums(unseen, k)

    def _look_alone(self, k: int) -> tuple[RunSums, RunSums]:
        """`_look` at one run."""
        run, rows = self.runs[k], self.exact.rows
        self.exact.start = with_offset(run.start, self.offset)
        every = RunSums(*self.exact.gradient(self.tables[k]))
        only_held = np.zeros(len(rows.residual))
        only_held[run.held] = rows.residual[run.held]
        value = self.loss.value(rows.y[run.held], rows.score[run.held])
        loss = float((value * rows.weight[run.held] if rows.weighted else value).sum())
        return every, RunSums(*self.exact.weigh_splits(only_held), loss)

    def _state(
        self,
        run: Run,
        every: RunSums,
        unseen: RunSums,
        left_weight: Vector,
        total: float,
        gram: GramRows,
    ) -> Fold:
        """A run at its model."""

        def state(sums: Vector, total_sum: float, loss: float, mass: float) -> ShareState:
            share = self.unit * mass / (run.mass + run.held_mass)
            return ShareState(
                left_sums=sums,
                left_weight=share * left_weight,
                total_weight=share * total,
                constant=np.zeros(1),
                total=np.array([total_sum]),
                loss=np.array([loss]),
                rows=gram.blocks[0],
                row_start=gram.row_start,
                share=share,
            )

        held = state(*unseen, run.held_mass)
        train = state(
            every.sums - unseen.sums, every.total - unseen.total, every.loss - unseen.loss, run.mass
        )
        lightest = LIGHTEST * self.usual
        splits = self.family.weighted(train.left_weight, train.total_weight, lightest, self.noise)
        return Fold(run.start, splits, train, held, run.mass, run.held_mass, run.rng)


def in_few_units(curvature: Vector, order: NDArray[np.int64]) -> tuple[float, NDArray[np.int32]]:
    """A unit, and curvature in whole units that sum up to what 16 bits hold.

    Rows are rounded up or down such that every stretch of them, in this order, has its sum: where
    there are more rows than units, some rows stand for others. The quadratic model is a rougher one
    then, still of some weights of rows.
    """
    total, most = float(curvature.sum()), np.iinfo(np.uint16).max
    times = most * float(curvature.max()) // total  # so that rows that are alike weigh the same
    unit = float(curvature.max()) / times if times else total / most
    found = np.empty(len(curvature), np.int32)
    found[order] = np.diff(np.rint(np.cumsum(curvature[order]) / unit), prepend=0.0)
    return unit, found


def in_units_of_the_largest(weight: Vector | None) -> Vector | None:
    """Weights whose sums neither overflow nor vanish, whatever their unit."""
    return None if weight is None else weight / weight.max()


def newton_step(loss: Loss, y: Vector, weight: Vector | None, start: Any) -> float:
    """From a constant score, or one for each row, to what is best to add to it, nearly; finite
    even if the rows have labels of one class only."""
    score = np.full(len(y), start)
    weight = np.ones(len(y)) if weight is None else weight
    return float(weight @ loss.residual(y, score) / (weight @ curvature_of(loss, y, score)))


def curvature_of(loss: Loss, y: Vector, score: Vector) -> Vector:
    """h, so large that no step r/h from these scores is beyond the ``newton_limit``."""
    limit = loss.newton_limit
    assert limit is not None
    return np.maximum(loss.curvature(y, score), np.abs(loss.residual(y, score)) / limit)
