"""Pairs of features on quadratic models, from sums in the cells of pairs: nobody has all rows.

Runs go on from curves. At the models of the moment, every pair of features has a table of the sums
of residuals and of curvatures in its cells: one pass over the rows for all. A stretch of rounds
goes on from these; what its steps do to the sums of other pairs is estimated from a sample of the
rows (`rgboost.learners.pairs.in_cells`). Then tables are made anew. As of curves, a stretch is as
long as the fall of the loss was told well before, and one after which the loss is not smaller is
dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...data.coarse import bins_in_coarser
from ...data.mixed_bins import MixedCuts
from ...learners.credibility import usual_weight
from ...learners.pairs.in_cells import CellSearch, RowsInCells
from ...selection import Subsets
from ...statistics.base import Curvature, Facts, Models, RowsInBins, Source, Statistics
from ...statistics.cells import Cells, CellTables
from ...statistics.in_memory import InMemory
from ..base import Losses, Run, Runs, Settled
from ..leaves.runs import make_leaf_record, mixed, seed_of
from ..problem import Problem
from .runs import FIRST_STRETCH, SHORTER, next_length

Vector = NDArray[np.float64]


@dataclass
class CurvesOnRows(Source):
    """Rows that are elsewhere, and models of curves that pairs go on from: those of the runs, each
    fitted without the fold ``held[k]`` (-1: to all). ``bins`` are the bins of the curves, which
    begin at ``first_cell`` in their tables; ``sample`` are the rows that the source shows."""

    in_bins: RowsInBins
    sample: InMemory
    held: list[int]
    bins: MixedCuts
    first_cell: NDArray[np.int64]
    curves: Models

    def __post_init__(self) -> None:
        self.has_held = self.held[0] >= 0

    def cuts(self, classes: bool) -> Facts:
        """The sample of the rows."""
        return self.in_bins.facts._replace(counted=None)

    def binned(self, problem: Any, family: Any, n_folds: int, seed: int, team: Any) -> Statistics:
        return self.in_bins.statistics

    @property
    def usual_weight(self) -> float:
        """Of a row; see `rgboost.learners.credibility`."""
        return usual_weight(self.in_bins.facts.weight)

    @property
    def own_folds(self) -> NDArray[np.int64]:
        """For `Statistics.tables`: every row counts once, at the model of the run that was not
        fitted to it where there are several; else, if the run is fitted to it."""
        n_runs = len(self.held)
        found = np.full((self.in_bins.statistics.n_folds, n_runs), -1)
        if n_runs == 1:
            found[0] = 0
        else:
            found[self.held, np.arange(n_runs)] = 0
        return found

    @property
    def folds_of_runs(self) -> NDArray[np.int64]:
        """For `Statistics.tables`: a table for each run of the rows that it is fitted to, then one
        for each of those that it is not."""
        n_runs = len(self.held)
        found = np.tile(np.arange(n_runs), (self.in_bins.statistics.n_folds, 1))
        for k, held in enumerate(self.held):
            if held >= 0:
                found[held, k] = n_runs + k
        return found

    def cells(self, columns: NDArray[np.int64], coarse: MixedCuts) -> Cells:
        """Cells of pairs of features in coarser bins than those of the curves."""
        sizes = np.diff(self.first_cell)
        each = [bins_in_coarser(self.bins, g, coarse, g)[:n] for g, n in enumerate(sizes)]
        bin_of = np.concatenate(each).astype(np.uint8)
        return Cells.make(columns, self.first_cell, bin_of, coarse.n_values + 1)


class SampleOfRun(NamedTuple):
    """The rows of the sample in the order of a run: the first ``n_fitted`` are those that it is
    fitted to, mixed, as searches look at pieces of them. ``codes`` are their bins."""

    order: NDArray[np.int64]
    n_fitted: int
    codes: NDArray[np.uint8]

    @classmethod
    def make(cls, codes: NDArray[np.uint8], held: NDArray[np.bool_]) -> SampleOfRun:
        fitted = mixed(np.flatnonzero(~held))
        order = np.concatenate([fitted, np.flatnonzero(held)])
        return cls(order, len(fitted), np.take(codes, order, axis=1))

    def parts(self) -> tuple[slice, slice]:
        """The rows that the run is fitted to, and those that stand for its held-out rows: if the
        sample has none, the others do."""
        fitted, held = slice(0, self.n_fitted), slice(self.n_fitted, len(self.order))
        return fitted, held if self.n_fitted < len(self.order) else fitted


@dataclass
class CellState:
    """Where a run stands: its search, and its losses."""

    search: CellSearch
    tables: Vector
    """What it adds to the curves, (outputs, cells)."""
    loss: float
    held_loss: float


class CellRuns(Runs):
    """Runs that go on from curves with pairs of features."""

    engine = "quadratic"

    def __init__(self, problem: Problem) -> None:
        source = problem.source
        assert isinstance(source, CurvesOnRows)
        super().__init__(problem, [])
        self.source = source
        self.longest = FIRST_STRETCH
        self.alone = Team(1)
        prepared: Any = problem.prepared
        self.cells = source.cells(prepared.columns_, prepared.cuts)
        self.table = source.folds_of_runs
        weights = source.in_bins.statistics.cell_weights(self.cells)
        first = slice(0, int(self.cells.start[1]))
        masses = weights[:, first].sum(axis=1)
        self.fitted = range(len(masses)) if problem.n_runs > 1 else range(1)
        """Folds that runs are fitted to."""
        prepared = prepared.weighed_cells(weights[self.fitted].sum(axis=0), source.usual_weight)
        problem.prepared = prepared
        self.weights = np.zeros((int(self.table.max()) + 1, weights.shape[1]))
        """Of the rows of every table."""
        for f, places in enumerate(self.table):
            np.add.at(self.weights, places, weights[f])
        held = [float(masses[f]) if f >= 0 else 0.0 for f in source.held]
        every = float(masses.sum())
        self.runs = [
            Run(problem.start, every - held[k], held[k], rng, None)
            for k, rng in enumerate(problem.generators())
        ]
        tail = () if problem.n_classes is None else (problem.n_classes,)
        self.tables = np.zeros((len(self.runs), *tail, weights.shape[1]))
        """What the runs add to the curves."""
        self.samples = [
            SampleOfRun.make(prepared.arrays.codes, source.in_bins.fold == held)
            for held in source.held
        ]
        self._weight: Vector | None = None
        self.length, self.longest_stretch = FIRST_STRETCH, problem.n_iter
        """Of this stretch, and such that none was dropped."""
        self._done = 0
        """Rounds on these tables of sums."""
        self._make_model()

    def make_record(self, n: int) -> Any:
        return make_leaf_record(self.problem, n)

    def losses(self, run: Run) -> Losses:
        return Losses(run.state.loss, run.state.held_loss)

    def go_on(self, n: int) -> list[Any]:
        n = min(n, self.length - self._done)
        self._done += n
        return super().go_on(n)

    def advance(self, run: Run, subsets: Subsets, record: Any, begin: int) -> int:
        state, n = run.state, len(record.learner)
        for m in range(begin, n):
            record.loss[m], record.held_loss[m] = state.loss, state.held_loss
            at = m % (len(subsets.start) - 1)
            columns = subsets.columns[subsets.start[at] : subsets.start[at + 1]]
            choice = state.search(columns, self.alone)
            record.learner[m] = choice.learner
            if choice.learner < 0:
                continue
            means = choice.means
            values = self.problem.learning_rate * means
            record.values[m] = values.reshape(record.values.shape[1:])
            record.gradient[m] = np.sqrt(np.sum(choice.sums * means))
            record.sets[m] = choice.sets
            falls = state.search.step(choice, values, state.tables)
            state.loss, state.held_loss = state.loss - falls[0], state.held_loss - falls[1]
        return n

    def settle(self, ending: bool) -> Settled | None:
        natural = self._done >= self.length
        if not natural and not ending:
            return None
        before, told = self._mean(self._exact), self._mean([self.losses(r) for r in self.runs])
        tables = self.tables
        self.tables = np.array([run.state.tables for run in self.runs]).reshape(tables.shape)
        self._make_model()
        after = self._mean(self._exact)
        if not after < before:
            self.tables = tables
            self._make_model()
            self.longest_stretch = max(1, self.length // SHORTER)
            self.length //= 2 * SHORTER
            self.finished = self.length == 0
            return Settled(self._exact, kept=False, natural=natural)
        self.finished = before - after <= self.problem.tol * abs(after)
        wished = next_length(self.length, abs(after - told) / (before - after))
        self.length = min(wished, self.longest_stretch)
        return Settled(self._exact, natural=natural)

    def _mean(self, losses: Sequence[Losses]) -> float:
        """The mean training loss of the runs."""
        pairs = zip(losses, self.runs, strict=True)
        return float(np.mean([one.train / run.mass for one, run in pairs]))

    def _make_model(self) -> None:
        """The quadratic models at the models of the runs."""
        curves, loss = self.source.curves, self.problem.loss
        models = Models(*curves[:2], CellTables(self.cells, self.tables))
        sums = self.source.in_bins.statistics.tables(self.cells, models, self.table)
        n_runs, n_cells = len(self.runs), self.weights.shape[1]
        residual = sums.residual.reshape(len(self.weights), -1, n_cells)
        curvature = self.weights if loss.quadratic else sums.curvature
        prepared: Any = self.problem.prepared
        first = slice(0, int(self.cells.start[1]))  # the cells of a column have all rows
        for k, run in enumerate(self.runs):
            mine, mass = self.table[:, k] == k, float(curvature[k, first].sum())
            arrays = prepared.arrays._replace(
                codes=self.samples[k].codes, total_weight=mass,
                lightest=prepared.arrays.lightest / prepared.arrays.total_weight * mass,
            )  # fmt: skip
            weight, parts = self._weigh_sample(k)[self.samples[k].order], self.samples[k].parts()
            rows = [
                RowsInCells(arrays, residual[t].copy(), curvature[t], weight, part)
                for t, part in zip((k, n_runs + k), parts, strict=True)
                if t < len(curvature)
            ]
            noise = arrays.row_weight * float(sums.square[mine, k].sum()) / mass
            slope = 2.0 * arrays.row_weight / mass if loss.quadratic else 0.0
            done = 0 if run.state is None else run.state.search.done
            search = CellSearch(
                arrays, weight, rows, noise, slope, prepared.set_bytes, prepared.search_rows,
                prepared.search_cuts, seed_of(run.rng), done,
            )  # fmt: skip
            tables = self.tables[k].reshape(-1, n_cells).copy()
            losses = float(sums.loss[mine, k].sum()), float(sums.loss[~mine, k].sum())
            run.state = CellState(search, tables, *losses)
        self._done = 0
        self._exact = [self.losses(run) for run in self.runs]

    def _weigh_sample(self, k: int) -> Vector:
        """The curvature of the rows of the sample at the model of run k."""
        sample, cells = self.source.sample, self.cells
        if self._weight is None or not self.problem.loss.quadratic:
            start, tables = (part[k] for part in self.source.curves[:2])
            start = start + sample.cell_scores(0, cells, self.tables[k], 0, len(cells.features))
            at = Curvature(start, tables, 1.0, 0.0, (0,), np.float64)
            self._weight = sample.curvature(at)
        return self._weight
