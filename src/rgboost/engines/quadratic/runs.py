"""The quadratic engine: smooth losses on statistics, by quadratic models of the loss.

The runs go on for a stretch of many iterations that touch no row: on a quadratic model of the loss
(`engines.curvature`), as on the squared loss. Then the model is made anew at the scores that they
have come to. The iterates are not those of Algorithm 2; the optimum is.

Residuals and losses are those of each run at its own scores. The Gram matrix is one for all runs,
of the curvature at the mean of their models; a run has the share of it that its rows have
(`gram.loop.GramState`). So the curvature of rows that a run does not see has a say in its steps;
their residuals have none.

A stretch is as long as the quadratic model can be trusted: longer while it tells the fall of the
training loss well, and shorter otherwise; one after which the training loss is not smaller is
dropped. Losses are exact where stretches end. Between them, what the quadratic model lacks in the
end is added in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...losses import Loss
from ...model import Path
from ...statistics.base import Curvature, Models, Sums
from ...steps import ConstantStep, LineSearch, NewtonStep, StepRule
from ..base import Arrays, Losses, Record, Run, Runs, Settled, make_record
from ..curvature import LIGHTEST
from ..gram.family import tables_of_path
from ..gram.loop import GramState, make_state
from ..gram.runs import StatisticsRuns, SumState, go_on_direct, statistics_obstacle
from ..problem import Problem

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
_UNITS = {4: 1 << 30, 2: 60_000}
"""The curvature of all rows, as an integer of so many bytes: with room for rounding up."""


def quadratic_obstacle(problem: Problem) -> str | None:
    """Why the quadratic engine cannot run this problem; None if it can."""
    why = loss_obstacle(problem.loss, problem.step, problem.learning_rate)
    if why is None and problem.goes_on_from_curves:
        return None
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
    if loss.smoothness is None and not loss.newton:
        return f"{loss!r} has no quadratic model"
    if step not in (ConstantStep(), LineSearch(), NewtonStep()):
        return f"{step!r} is no step on a quadratic model"
    if learning_rate > STEEPEST:
        return f"learning_rate={learning_rate} is beyond the minimum of a quadratic model"
    return None


def _least_share(problem: Problem) -> float:
    """The smallest share of the weight of all rows that a run is fitted to."""
    if problem.fold is None:
        return 1.0 if problem.n_runs == 1 else 1.0 - 1.0 / problem.n_runs
    masses = np.bincount(problem.fold, problem.weight)
    return float(1.0 - masses.max() / masses.sum())


class QuadraticRuns(StatisticsRuns):
    """Runs of a smooth loss on quadratic models of it."""

    engine = "quadratic"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, problem.learning_rate)
        self.mass = self.weights.total
        """The weight of the rows of every fold."""
        self.runs = self._begin()
        self.tables = self._no_tables()
        self.usual: float | None = None
        """The curvature of a usual row at the null model, which the first quadratic model is at."""
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
        self._point = self._whole()

    def gram_types(self) -> list[Any]:
        """The longest integers that fit."""
        size = int(self.family.offsets[-1]) ** 2
        return [np.int32 if 4 * size <= self.problem.gram_memory else np.uint16]

    def _begin(self) -> list[Run]:
        problem, mass = self.problem, self.mass
        if problem.n_runs == 1:
            masses = float(mass[0]), float(mass[1:].sum())
            return [Run(problem.start, *masses, next(problem.generators()), None)]
        starts = np.array([problem.start] * len(mass))
        if problem.best_start:  # a Newton step from that of all rows
            sums = self.statistics.sums(Models(starts[:1], self._no_tables()[:1]))
            residual, curvature = sums.total[:, 0], sums.curvature[:, 0]
            rest = curvature.sum() - curvature
            starts += ((residual.sum(axis=0) - residual).T / rest).T
        rest = mass.sum() - mass
        return [
            Run(starts[k], float(rest[k]), float(mass[k]), rng, None)
            for k, rng in enumerate(problem.generators())
        ]

    def _no_tables(self) -> Vector:
        """Of every run, at its null model."""
        return np.zeros((self.problem.n_runs, self.family.n_tables))

    @property
    def label(self) -> str:
        return super().label + (" on quadratic models" if len(self.runs) > 1 else "")

    @property
    def start(self) -> Any:
        """Where the mean of the models starts from."""
        return np.mean([run.start for run in self.runs], axis=0)

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
        nothing = make_record(0, problem.prepared.set_bytes, problem.n_classes)
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
            self._make_model(anew=True)
            self.length //= 2 * SHORTER
            self.finished = self.length == 0 and bool(tables.any())
            if self.length == 0 and not self.finished:
                self.used_up = "no quadratic model lowered the loss"
            return Settled(self._exact, kept=False, natural=natural)
        self.finished = before - after <= self.problem.tol * abs(after)
        self.length = next_length(self.length, abs(after - told) / (before - after))
        if natural:
            self._point = self._whole()
        return Settled(self._exact, natural=natural)

    def _mean(self, losses: Sequence[Any]) -> float:
        """The mean training loss of the runs."""
        pairs = zip(losses, self.runs, strict=True)
        return float(np.mean([one.train / run.mass for one, run in pairs]))

    def keep(self) -> Arrays:
        return self._point

    def _whole(self) -> Arrays:
        """All that stretches from here on depend on."""
        return {"tables": self.tables.copy(), "length": np.array(self.length)}

    def restore(self, kept: Arrays) -> None:
        self.tables, self.length = kept["tables"].copy(), int(kept["length"])
        self._make_model()
        self._point = kept

    def successor(self, paths: Sequence[Path]) -> Runs:
        return go_on_direct(self, self.tables)

    def _new_tables(self) -> Vector:
        """What the runs add to their models on this quadratic model."""
        added = np.zeros_like(self.tables)
        for records in self._stretch:
            for k, one in enumerate(records):
                added[k] += self._tables_of(one)
        return added

    def _tables_of(self, record: Record) -> Vector:
        fields = {name: getattr(record, name) for name in ("learner", "left", "right", "sets")}
        return tables_of_path(self.family, Path.of(**fields))

    def _make_model(self, anew: bool = False) -> None:
        """The quadratic model at the models of the runs, and their losses.

        Residuals and losses are those of each run; the curvature is that of the mean of the models.
        It is kept as long as it will do, but not if it is asked for ``anew``.
        """
        starts, mean = [run.start for run in self.runs], self.tables.mean(axis=0)
        models = Models(np.array(starts), self.tables)
        if len(starts) > 1:
            with_mean = np.concatenate([self.tables, mean[None]])
            models = Models(np.array([*starts, self.start]), with_mean)
        sums = self.statistics.sums(models)
        curvature = float(sums.curvature[self.fitted, -1].sum())
        noise = float(sums.square[self.fitted, -1].sum()) / curvature
        if self.usual is None:
            self.usual = curvature / sum(self.statistics.sizes[f] for f in self.fitted)
        if anew or self._is_other(curvature):
            self._weigh(mean, curvature)
        self._stretch = []
        left_weight, total = (part[0] for part in self.statistics.weights(self.weighting))
        for k, run in enumerate(self.runs):
            run.state = self._state(k, run, sums, left_weight, total, noise)
        self._exact = [self.losses(run) for run in self.runs]
        self._told = self._mean(self._exact)

    def _is_other(self, curvature: float) -> bool:
        """Whether the curvature of all rows has become another than that of the Gram rows; that of
        the squared loss does not change."""
        return self.weighting is None or not self.problem.loss.quadratic

    def _weigh(self, tables: Vector, curvature: float) -> None:
        """Gram rows are to be of the curvature at a model, whose sum this is."""
        assert self.usual is not None
        dtype = self.gram.blocks[0].dtype
        self.weighting = Curvature(
            self.start, tables, curvature / _UNITS[dtype.itemsize],
            _LEAST_CURVATURE * self.usual, tuple(self.fitted), dtype,
        )  # fmt: skip
        self.gram.forget()

    def _state(
        self, k: int, run: Run, sums: Sums, left_weight: Vector, total: float, noise: float
    ) -> SumState:
        """Run k at its model."""
        train, held = self._folds_of(k)

        def state(folds: list[int], mass: float) -> GramState:
            share = self._share(mass)
            left, of_all, loss = (part[folds, k].sum(axis=0) for part in sums[:3])
            return make_state(
                left,
                share * left_weight,
                float(share * total),
                of_all,
                loss,
                self.gram.blocks[0],
                self.gram.row_start if folds else np.zeros(0, np.int64),
                share=share,
            )

        mine, others = state(train, run.mass), state(held, run.held_mass)
        return SumState(self._splits(mine, noise), mine, others, self.make_work())

    def _folds_of(self, k: int) -> tuple[list[int], list[int]]:
        """Folds that run k is fitted to, and those that are held out."""
        held = [k] if self.problem.n_runs > 1 else [1][: len(self.mass) - 1]
        return [f for f in self.fitted if f not in held], held

    def _share(self, mass: float) -> float:
        """What rows of this weight have of the Gram matrix, in its units."""
        assert self.weighting is not None
        return self.weighting.unit * mass / float(self.mass[self.fitted].sum())

    def _splits(self, state: Any, noise: float) -> Any:
        """The splits of a run with these sums of curvature."""
        assert self.usual is not None
        weights = state.left_weight, state.total_weight
        return self.family.weighted(*weights, LIGHTEST * self.usual, noise)


def next_length(length: int, wrong: float) -> int:
    """After a stretch whose quadratic model was wrong by this share of the fall of the loss."""
    if wrong < GOOD:
        return LONGER * length
    return max(SHORTEST_STRETCH, length // SHORTER) if wrong > FAIR else length
