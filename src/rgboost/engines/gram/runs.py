"""The Gram engine: Algorithm 2 for the squared loss on statistics instead of rows.

All that an iteration needs of a set of rows are sums over them: left sums, weights left of splits,
Gram rows. Sums over the rows of a run without a fold are the sums over all other folds. So every
row is read once for each feature that is chosen, whatever the number of runs is, and then an
iteration of a run takes O(K).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..._core.team import Team
from ...learners.stumps.some_rows import take_rows
from ...learners.stumps.splits import expected_sum
from ...losses import Loss
from ...model import Path
from ...selection import Subsets
from ...statistics.base import Curvature, Models, RowsInBins
from ...statistics.in_memory import InMemory, RowsOfFold
from ...statistics.memory import bins_obstacle
from ...statistics.slots import weights_of_bins
from ...steps import ConstantRule, LeafStep, SearchRule, StepRule
from ..base import Arrays, Block, Losses, Record, Run, Runs
from ..curvature import in_units_of_the_largest
from ..direct.runs import DirectRuns
from ..problem import Problem, RowSet
from .family import gram_family
from .gram_rows import GramRows, gram_types
from .loop import GramState, Pending, make_state, make_work

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
    return squared_obstacle(problem.loss, problem.step) or statistics_obstacle(problem)


def squared_obstacle(loss: Loss, step: StepRule) -> str | None:
    """Why there are no such steps for a loss without a look at rows; None if there are."""
    if not loss.quadratic:
        return f"it needs the squared loss, not {loss!r}"
    if isinstance(step, LeafStep):
        return "its steps are along b; use step='constant' or 'line-search'"
    return None


def statistics_obstacle(problem: Problem) -> str | None:
    """Why statistics do not know these weak-learners; None if they do."""
    prepared = problem.prepared
    return prepared.statistics_obstacle(problem.held_arrays) or bins_obstacle(prepared.most_bins)


def all_rows_fit(problem: Problem) -> bool:
    """Whether there is memory for the Gram rows of all features, of every fold."""
    sizes = [len(problem.y), len(problem.held_rows.y)][: 1 if problem.held is None else 2]
    weighted = problem.weight is not None
    if problem.fold is not None:
        sizes = np.bincount(problem.fold).tolist()
    if problem.facts is not None:  # folds are about as large
        sizes = [problem.facts.n_rows // problem.n_runs] * problem.n_runs
        weighted = problem.facts.weight is not None
    kinds = gram_types(sizes, weighted, problem.n_runs > 1)
    n_sums = int(gram_family(problem).offsets[-1])
    return n_sums**2 * sum(np.dtype(kind).itemsize for kind in kinds) <= problem.gram_memory


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
    """Runs whose iterations touch no row: all they know of them are `Statistics`. ``gram`` is the
    room for Gram rows; ``rho`` is the step as a share of <b, r>."""

    weighting: Curvature | None = None
    """What Gram rows are of."""

    def __init__(self, problem: Problem, rho: float) -> None:
        super().__init__(problem, [])
        self.family = gram_family(problem)
        self.builders = statistics_team(problem)
        self.statistics = self._statistics()
        self.weights = self.statistics.weights()
        self.fitted = list(range(self.statistics.n_folds if problem.n_runs > 1 else 1))
        """Folds that runs are fitted to."""
        if problem.source is not None:
            self._weigh_bins()
        if problem.start is None:
            problem.start = best_start(self)
        self.rho = rho
        self.gram = GramRows(self.family.offsets, self.gram_types(), problem.gram_memory)
        n_sums, single = max(1, int(self.family.offsets[-1])), problem.n_runs == 1
        self.team = Team(loop_threads(problem.n_jobs, n_sums) if single else 1)
        if not single:
            self.longest = min(max(_SPLITS_OF_BLOCK // n_sums, _SHORT_BLOCK), _LONG_BLOCK)

    def _statistics(self) -> Any:
        problem, family, team = self.problem, self.family, self.builders
        if problem.source is None:
            return in_memory(problem, family, team)
        seed, n_runs, facts = problem.random_state, problem.n_runs, problem.facts
        found = problem.source.binned(problem, family, n_runs, seed, team)
        assert facts is not None
        assert found is not None
        places = np.arange(len(facts.y)) if facts.places is None else facts.places
        problem.in_bins = RowsInBins(found, facts, problem.source.folds(places, n_runs, seed))
        return found

    def _weigh_bins(self) -> None:
        """The weak-learners of a source were chosen by some of its rows; now their weights are
        those of all rows that runs are fitted to."""
        left, total = (part[self.fitted].sum(axis=0) for part in self.weights)
        bins = weights_of_bins(self.family.slots, left, float(total))
        self.problem.prepared = self.problem.prepared.weighed(bins, float(total))
        self.family = gram_family(self.problem)

    @abstractmethod
    def gram_types(self) -> list[Any]:
        """The types of numbers of Gram rows, for each of the matrices."""

    def make_gram(self, features: Any, columns: Any, outs: Any) -> None:
        self.statistics.gram(features, columns, self.weighting, outs)

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
            features = self._features_to_make(block.run.state)
            self.expect(features + self._all_features() if self.statistics.far else features)
            if self.gram.row_start[features[0]] < 0:
                self.used_up = "gram_memory was used up"
                return False
        return True

    def _all_features(self) -> list[int]:
        """The features that have Gram rows."""
        return np.flatnonzero(np.diff(self.family.offsets)).tolist()

    def expect(self, features: list[int]) -> bool:
        """Make the Gram rows of features that are not there yet, or of as many as fit; whether
        some of every batch did.

        Many at once, but not so many that their bins, expanded, would take much memory.
        """
        missing = [g for g in dict.fromkeys(features) if self.gram.row_start[g] < 0]
        together = max(1, EXPANDED_BINS // max(1, self.statistics.rows_at_once))
        batches = [missing[i : i + together] for i in range(0, len(missing), together)]
        return all(self.gram.add(batch, self.make_gram) for batch in batches)

    def expect_useful(self, features: list[int]) -> bool:
        """`expect` some features: these, or all if that is faster than one after the other."""
        if self.statistics.far:  # these first, if there is no room for all
            features = features + self._all_features()
        elif self.gram.size_of_all <= ALL_AT_ONCE or self.statistics.makes_all:
            features = self._all_features()
        return self.expect(features)

    def _features_to_make(self, state: SumState) -> list[int]:
        """The feature that is needed now; and for one run on numbers the best others without rows,
        one for each thread."""
        offsets = self.problem.prepared.layout.offsets
        needed = int(np.searchsorted(offsets, state.pending.learner[0], side="right")) - 1
        if self.team.size == 1 or not state.splits.gains_at_hand:
            return [needed]
        splits, train = state.splits.splits, state.train
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
        super().__init__(problem, step_share(problem.rule))
        null = np.zeros((1, self.family.n_tables))
        # At the score 0: sums of labels that are whole numbers are exact, in whatever order.
        self._sums = self.statistics.sums(Models(np.zeros(1), null))
        generators = problem.generators()
        if problem.n_runs == 1:
            self.runs = [self._single(next(generators))]
        else:
            self.runs = [self._without(k, rng) for k, rng in enumerate(generators)]
            self.expect_useful([])

    def gram_types(self) -> list[Any]:
        statistics = self.statistics
        together = self.problem.n_runs > 1
        return gram_types(statistics.sizes, statistics.weighted, together)

    def _single(self, rng: np.random.Generator) -> Run:
        """The run on all rows; validation rows are the second fold."""
        blocks, mass = self.gram.blocks, self.weights.total
        start = self.problem.start
        train = self._state([0], start, blocks[0])
        held = self._state([1], start, blocks[1]) if len(mass) > 1 else no_rows(train)
        state = SumState(self.family.splits, train, held, self.make_work())
        return Run(start, float(mass[0]), float(mass[1:].sum()), rng, state)

    def _without(self, k: int, rng: np.random.Generator) -> Run:
        """The run without fold k: its training rows are those of all other folds."""
        problem, blocks, mass = self.problem, self.gram.blocks, self.weights.total
        others = np.flatnonzero(np.arange(len(mass)) != k).tolist()
        start = problem.start
        if problem.best_start:
            start = self._sums.total[others, 0].sum() / mass[others].sum()
        train = self._state(others, start, blocks[-1], blocks[k])
        held = self._state([k], start, blocks[k])
        splits = self.family.weighted(train.left_weight, train.total_weight, 0.0)
        state = SumState(splits, train, held, self.make_work())
        return Run(start, float(mass[others].sum()), float(mass[k]), rng, state)

    def _state(
        self, folds: list[int], start: float, block: NDArray, less: NDArray | None = None
    ) -> GramState:
        """Of the rows of some folds, at a start."""
        weight, total_weight = (part[folds].sum(axis=0) for part in self.weights)
        left, total, loss = (part[folds, 0].sum(axis=0) for part in self._sums[:3])
        return make_state(
            left - start * weight,
            weight,
            float(total_weight),
            total - start * total_weight,
            loss - start * total + 0.5 * start * start * total_weight,
            block,
            self.gram.row_start,
            less,
        )

    def keep(self) -> Arrays:
        """Copies of what steps change, of the only run; and the order of Gram rows."""
        sums = {
            f"{name}_{part}": getattr(state, part).copy()
            for name, state in self._states()
            for part in _KEPT
        }
        return sums | self.gram.keep()

    def restore(self, kept: Arrays) -> None:
        self.gram.restore(kept, self.make_gram)
        for name, state in self._states():
            for part in _KEPT:
                getattr(state, part)[:] = kept[f"{name}_{part}"]

    def _states(self) -> list[tuple[str, Any]]:
        state, n_sets = self.runs[0].state, self.statistics.n_folds
        return [("train", state.train), ("held", state.held)][:n_sets]

    def successor(self, paths: Sequence[Path]) -> Runs:
        return go_on_direct(self, np.array([self.family.tables(path) for path in paths]))


_KEPT = ("left_sums", "constant", "total", "loss")


def go_on_direct(runs: StatisticsRuns, tables: NDArray[np.float64]) -> DirectRuns:
    """The direct engine, from the models of these tables, with the generators of the runs."""
    problem, statistics = runs.problem, runs.statistics
    if problem.source is not None:
        raise MemoryError(
            "gram_memory was used up, and the rows are not at hand to go on with; use more of it, "
            "or fewer bins (max_bins)."
        )
    scores = []
    for k, run in enumerate(runs.runs):
        every = [statistics.scores(f, run.start, tables[k]) for f in range(statistics.n_folds)]
        if problem.fold is None:
            scores.append((every[0], every[1] if len(every) > 1 else every[0][:0]))
            continue
        score = np.empty((len(problem.fold), *every[0].shape[1:]))
        for f, part in enumerate(every):
            score[problem.fold == f] = part
        scores.append((score[problem.fold != k], score[problem.fold == k]))
    found = DirectRuns(problem, scores)
    for new, old in zip(found.runs, runs.runs, strict=True):
        new.rng, new.start = old.rng, old.start
    return found


def best_start(runs: StatisticsRuns) -> float:
    """The best constant score: where residuals of the rows that runs are fitted to, which are all
    but validation rows, sum to nothing."""
    null, fitted = np.zeros((1, runs.family.n_tables)), runs.fitted

    def slope(constant: float) -> float:
        sums = runs.statistics.sums(Models(np.array([constant]), null), True)
        return float(sums.total[fitted].sum())

    if runs.problem.loss.quadratic:
        return slope(0.0) / float(runs.weights.total[fitted].sum())
    low, high = -1.0, 1.0
    while slope(high) > 0.0 and high < 1e300:
        low, high = high, 2.0 * high
    while slope(low) < 0.0 and low > -1e300:
        low, high = 2.0 * low, low
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14, maxiter=2000))


def in_memory(problem: Problem, family: Any, team: Team) -> InMemory:
    """Statistics of the rows of a problem: training rows and validation rows, or those of each
    fold."""
    weight = problem.weight if problem.loss.quadratic else in_units_of_the_largest(problem.weight)
    rows = RowSet(problem.y, weight, problem.offset)
    arrays = problem.prepared.arrays
    every = RowsOfFold(arrays, *rows)
    if problem.fold is None:
        sets = [every]
        if problem.held is not None:
            held = problem.held_rows
            if not problem.loss.quadratic:
                held = held._replace(weight=in_units_of_the_largest(held.weight))
            sets.append(RowsOfFold(problem.held_arrays, *held))
        return InMemory(family, sets, problem.loss, team)
    numbers = [np.flatnonzero(problem.fold == k) for k in range(problem.n_runs)]
    sets = [RowsOfFold(take_rows(arrays, n, len(rows.y)), *rows.take(n)) for n in numbers]
    return InMemory(family, sets, problem.loss, team, together=every)


def no_rows(like: GramState) -> GramState:
    """The state of a validation set that is not there."""
    none = np.zeros(0)
    return make_state(none, none, 0.0, 0.0, 0.0, like.rows[:0], np.zeros(0, np.int64))
