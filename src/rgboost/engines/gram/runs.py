"""The Gram engine: Algorithm 2 for the squared loss on statistics instead of rows.

All that an iteration needs of a set of rows are sums over them: left sums, weights left of splits,
Gram rows. Sums over the rows of a run without a fold are the sums over all other folds. So every
row is read once for each feature that is chosen, whatever the number of runs is, and then an
iteration of a run takes O(K).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.dense_stumps import DenseStumps
from ...learners.mixed_stumps import MixedStumps, SparseMixedStumps
from ...learners.some_rows import take_rows
from ...learners.sparse_stumps import SparseStumps
from ...learners.splits import expected_sum
from ...model import Path
from ...selection import Subsets
from ...statistics.memory import MOST_BINS, MemoryStatistics
from ..base import Arrays, Block, Losses, Record, Run, Runs
from ..direct.runs import DirectRuns
from ..direct.step_length import ConstantRule, SearchRule
from ..problem import Problem, RowSet
from .family import MixedFamily, gram_family
from .gram_rows import FoldsAndSum, GramMaker, GramRows, OneByOne, gram_type
from .loop import GramState, Pending, RestState, make_work

_SPLITS_PER_THREAD = 3000
"""Splits per thread (about 3 microseconds of work) that make a thread pay."""
_SHORT_BLOCK, _LONG_BLOCK, _SPLITS_OF_BLOCK = 128, 512, 1 << 20
"""Iterations of several runs before rules of stopping and callbacks look at them: at least the
first number and at most the second, such that they update so many sums."""
ALL_AT_ONCE = 1 << 25
"""Up to so many numbers, the whole Gram matrix is made before several runs begin: runs that wait
for one feature after another would take longer."""
EXPANDED_BINS = 1 << 26
"""Rows times features whose Gram rows are made at once."""
_WORK_FOR_THREADS = 1 << 20
"""Pairs of entries and cells of a Gram matrix (n p^2 + K^2) below which a second thread costs more
than it saves."""


def gram_obstacle(problem: Problem) -> str | None:
    """Why the Gram engine cannot run this problem; None if it can."""
    if not problem.loss.quadratic:
        return f"it needs the squared loss, not {problem.loss!r}"
    if not isinstance(problem.rule, ConstantRule | SearchRule):
        return "its steps are along b; use step='constant' or 'line-search'"
    return statistics_obstacle(problem)


def statistics_obstacle(problem: Problem) -> str | None:
    """Why statistics do not know these weak-learners; None if they do.

    Missing values and categories are possible in dense rows, where training rows have some.
    """
    arrays, held = problem.prepared.arrays, problem.held_arrays
    mixed = isinstance(arrays, MixedStumps) and isinstance(held, MixedStumps)
    if isinstance(arrays, SparseMixedStumps) or isinstance(held, SparseMixedStumps):
        return "it needs dense rows where there are missing values or categories, not sparse ones"
    if isinstance(held, MixedStumps) and not mixed:
        return "it needs validation rows without missing values where training rows have none"
    if not mixed:
        for some in (arrays, held):
            if not isinstance(some, DenseStumps | SparseStumps):
                return "it needs stumps without monotone constraints"
    if _most_bins(arrays) > MOST_BINS:
        return f"it needs at most {MOST_BINS} bins per feature; set max_bins to that or less"
    return None


def _most_bins(arrays: Any) -> int:
    """Bins of the feature that has most of them."""
    if isinstance(arrays, MixedStumps):
        return int(arrays.columns.n_values.max(initial=0)) + 1
    return int(arrays.splits.most_bins)


def loop_threads(n_jobs: int, n_splits: int) -> int:
    """Threads that pay for an iteration over this many splits."""
    return max(1, min(n_jobs, n_splits // _SPLITS_PER_THREAD))


def step_share(rule: ConstantRule | SearchRule) -> float:
    """The step as a share of <b, r>: with the squared loss, line search finds 1."""
    return rule.learning_rate * (rule.rho if isinstance(rule, ConstantRule) else 1.0)


def statistics_team(problem: Problem) -> Team:
    """Threads that make sums over rows."""
    layout = problem.prepared.layout
    work = problem.prepared.cells * len(layout.members) + layout.n_learners**2
    return Team(problem.n_jobs if work >= _WORK_FOR_THREADS else 1)


def no_pending() -> Pending:
    return Pending(np.full(1, -1, np.int64), np.zeros(2))


@dataclass
class SumState:
    """Where a run stands: its splits, sums over the rows that it is fitted to and over the others,
    and the step that is not applied yet."""

    splits: Any
    train: Any
    held: Any
    work: Any
    pending: Pending = field(default_factory=no_pending)


class StatisticsRuns(Runs):
    """Runs whose iterations touch no row. ``gram`` is the room for Gram rows, ``maker`` makes them
    with the threads of ``builders``; ``rho`` is the step as a share of <b, r>."""

    def __init__(self, problem: Problem, kinds: list[Any], rho: float) -> None:
        self.family = gram_family(problem)
        self.builders = statistics_team(problem)
        self.gram = GramRows(self.family.offsets, kinds, problem.gram_memory)
        self.maker: GramMaker
        self.rho = rho
        super().__init__(problem, [])
        n_sums, single = max(1, int(self.family.offsets[-1])), problem.n_runs == 1
        self.team = Team(loop_threads(problem.n_jobs, n_sums) if single else 1)
        if not single:
            self.longest = min(max(_SPLITS_OF_BLOCK // n_sums, _SHORT_BLOCK), _LONG_BLOCK)
            self.pool.n_threads = min(problem.n_jobs, problem.n_runs)

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self.team.close()
        self.builders.close()

    def make_work(self) -> Any:
        return make_work(self.problem.most_columns(), self.team.size)

    def losses(self, run: Run) -> Losses:
        return Losses(float(run.state.train.loss[0]), float(run.state.held.loss[0]))

    def advance(self, run: Run, subsets: Subsets, record: Record, begin: int) -> int:
        state = run.state
        return self.family.run(
            self.team, state.splits, state.train, state.held, self.rho, subsets, record, begin,
            state.pending, state.work,
        )  # fmt: skip

    def waits(self, run: Run) -> bool:
        return int(run.state.pending.learner[0]) >= 0

    def supply(self, waiting: Sequence[Block]) -> bool:
        for block in waiting:
            if not self.expect(self._features_to_make(block.run.state)):
                self.used_up = "gram_memory was used up"
                return False
        return True

    def expect(self, features: list[int]) -> bool:
        """Make the Gram rows of features that are not there yet, or of as many as fit; whether
        some of every batch did.

        Many at once, but not so many that their bins, expanded, would take much memory.
        """
        missing = [g for g in features if self.gram.row_start[g] < 0]
        together = max(1, EXPANDED_BINS // max(1, len(self.problem.y)))
        batches = [missing[i : i + together] for i in range(0, len(missing), together)]
        return all(self.gram.add(batch, self.maker) for batch in batches)

    def expect_useful(self, features: list[int]) -> bool:
        """`expect` some features: these, or all if that is faster than one after the other."""
        if self.gram.size_of_all <= ALL_AT_ONCE or self.maker.makes_all:
            features = np.flatnonzero(np.diff(self.family.offsets)).tolist()
        return self.expect(features)

    def _features_to_make(self, state: SumState) -> list[int]:
        """The feature that is needed now; and for one run on numbers the best others without rows,
        one for each thread."""
        offsets = self.problem.prepared.layout.offsets
        needed = int(np.searchsorted(offsets, state.pending.learner[0], side="right")) - 1
        if self.team.size == 1 or isinstance(self.family, MixedFamily):
            return [needed]  # the scores of sets of categories are not at hand
        splits, train = state.splits, state.train
        slope, shift = expected_sum(splits, train.total[0])
        off = train.left_sums - ((slope + train.constant[0]) * splits.left_weight + shift)
        filled = np.flatnonzero(np.diff(splits.offsets) > 0)
        scores = np.maximum.reduceat(off * off * splits.gain, splits.offsets[filled])
        order = filled[np.argsort(-scores, kind="stable")]
        others = [int(g) for g in order if self.gram.row_start[g] < 0 and g != needed]
        return [needed, *others[: self.team.size - 1]]


class GramRuns(StatisticsRuns):
    """Runs of the squared loss: the iterates of the direct engine, up to rounding."""

    engine = "gram"

    def __init__(self, problem: Problem) -> None:
        self.sets = _row_sets(problem)
        kinds = [gram_type(rows.weight, len(rows.y)) for _, rows in self.sets]
        if problem.fold is not None:
            largest = max(len(rows.y) for _, rows in self.sets)
            kinds = [gram_type(problem.weight, largest)] * len(kinds)
            kinds.append(gram_type(problem.weight, len(problem.y)))
        super().__init__(problem, kinds, step_share(problem.rule))
        self.parts = [self._statistics(arrays, rows) for arrays, rows in self.sets]
        if problem.fold is None:
            self.maker = OneByOne(*self.parts)
            self.runs = [self._single()]
        else:
            self.maker = FoldsAndSum(self.parts, self.builders)
            self.runs = self._folds()
            self.expect_useful([])

    def _statistics(self, arrays: Any, rows: RowSet) -> MemoryStatistics:
        problem, family = self.problem, self.family
        stored = family.stored(arrays, len(rows.y))
        start, team = problem.start, self.builders
        return family.statistics(stored, rows.y, rows.weight, problem.loss, start, team)

    def _single(self) -> Run:
        null = np.zeros(self.family.n_tables)
        states = []
        for part, block in zip(self.parts, self.gram.blocks, strict=True):
            left_weight, total = part.bin_weights()
            sums = part.gradient(null)
            states.append(
                self._state(sums.left_sums, sums.total, sums.loss, left_weight, total, block)
            )
        train, *others = states
        held = others[0] if others else no_rows(train)
        state = SumState(self.family.splits, train, held, self.make_work())
        mass, held_mass = (*(rows.mass for _, rows in self.sets), 0.0)[:2]
        return Run(self.problem.start, mass, held_mass, next(self.problem.generators()), state)

    def _state(
        self, sums: Any, total: float, loss: float, weight: Any, total_weight: float, block: Any
    ) -> GramState:
        return GramState(
            left_sums=sums,
            left_weight=weight,
            total_weight=total_weight,
            constant=np.zeros(1),
            total=np.array([total]),
            loss=np.array([loss]),
            rows=block,
            row_start=self.gram.row_start,
        )

    def _folds(self) -> list[Run]:
        """Runs at their null models: the training rows of one are those of all other folds."""
        null, parts, problem = np.zeros(self.family.n_tables), self.parts, self.problem
        weights, sums = [p.bin_weights() for p in parts], [p.gradient(null) for p in parts]
        left_weights = np.array([weight[0] for weight in weights])
        totals = np.array([weight[1] for weight in weights])
        left_sums = np.array([one.left_sums for one in sums])
        residuals = np.array([one.total for one in sums])
        losses = np.array([one.loss for one in sums])
        masses = np.array([rows.mass for _, rows in self.sets])
        runs = []
        for k, rng in enumerate(problem.generators()):
            here = np.arange(len(parts)) == k
            shift = residuals[~here].sum() / totals[~here].sum() if problem.best_start else 0.0

            def state(rows: NDArray, block: NDArray, shift: float = shift) -> GramState:
                weight, total_weight = left_weights[rows].sum(axis=0), float(totals[rows].sum())
                total, loss = residuals[rows].sum(), losses[rows].sum()
                return self._state(
                    left_sums[rows].sum(axis=0) - shift * weight,
                    total - shift * total_weight,
                    loss - shift * total + 0.5 * shift * shift * total_weight,
                    weight,
                    total_weight,
                    block,
                )

            train = RestState(*state(~here, self.gram.blocks[-1]), less=self.gram.blocks[k])
            held = state(here, self.gram.blocks[k])
            splits = self.family.weighted(train.left_weight, train.total_weight, 0.0)
            mass, held_mass = float(masses[~here].sum()), float(masses[k])
            stands = SumState(splits, train, held, self.make_work())
            runs.append(Run(problem.start + shift, mass, held_mass, rng, stands))
        return runs

    def keep(self) -> Arrays:
        """Copies of what steps change, of the only run; and the order of Gram rows."""
        sums = {
            f"{name}_{part}": getattr(state, part).copy()
            for name, state in self._states()
            for part in _KEPT
        }
        return sums | self.gram.keep()

    def restore(self, kept: Arrays) -> None:
        self.gram.restore(kept, self.maker)
        for name, state in self._states():
            for part in _KEPT:
                getattr(state, part)[:] = kept[f"{name}_{part}"]

    def _states(self) -> list[tuple[str, Any]]:
        state = self.runs[0].state
        return [("train", state.train), ("held", state.held)][: len(self.sets)]

    def successor(self, paths: Sequence[Path]) -> Runs:
        """The direct engine, from the scores of the models."""
        scores = []
        for k, (run, path) in enumerate(zip(self.runs, paths, strict=True)):
            tables = self.family.tables(path)
            found = []
            for part in self.parts:
                part.start = run.start
                found.append(part.score(tables).copy())
            if self.problem.fold is None:
                scores.append((found[0], found[1] if len(found) > 1 else np.empty(0)))
            else:
                scores.append(scores_without(k, self.problem.fold, found))
        return go_on_direct(self, scores)


_KEPT = ("left_sums", "constant", "total", "loss")


def go_on_direct(runs: Runs, scores: Sequence[tuple[Any, Any]]) -> DirectRuns:
    """The direct engine with the generators and starts of other runs."""
    found = DirectRuns(runs.problem, scores)
    for new, old in zip(found.runs, runs.runs, strict=True):
        new.rng, new.start = old.rng, old.start
    return found


def scores_without(k: int, fold: NDArray[np.int64], found: list[Any]) -> tuple[Any, Any]:
    """Scores of the rows of a run without fold k, and of the others, from those of each fold."""
    score = np.empty(len(fold))
    for f, part in enumerate(found):
        score[fold == f] = part
    return score[fold != k], score[fold == k]


def _row_sets(problem: Problem) -> list[tuple[Any, RowSet]]:
    """Weak-learners and rows that sums are taken over: training rows and validation rows, or those
    of each fold."""
    if problem.fold is None:
        sets = [(problem.prepared.arrays, problem.rows)]
        return sets if problem.held is None else [*sets, (problem.held_arrays, problem.held_rows)]
    sets = []
    for k in range(problem.n_runs):
        rows = np.flatnonzero(problem.fold == k)
        arrays = take_rows(problem.prepared.arrays, rows, len(problem.y))
        sets.append((arrays, problem.rows.take(rows)))
    return sets


def no_rows(like: GramState) -> GramState:
    """The state of a validation set that is not there."""
    none = np.zeros(0)
    return GramState(
        none, none, 0.0, np.zeros(1), np.zeros(1), np.zeros(1), like.rows[:0], np.zeros(0, np.int64)
    )
