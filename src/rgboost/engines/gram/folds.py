"""Runs without one fold of the rows each, from statistics: k runs for one pass over the rows.

All that the Gram engine needs of a set of rows are sums over them: left sums, weights left of
splits, Gram rows. Sums over the training rows of a fold are the sums over all other folds. So every
row is read once for each feature that is chosen, whatever k is, and then k runs take O(K) an
iteration each.

Bins come from all rows (they do not depend on the labels). So the runs are those of k fits to those
bins, up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from ...learners import Stumps
from ...learners.dense_stumps import DenseStumps, take_rows
from ...learners.mixed_stumps import MixedStumps
from ...losses import Squared
from ...selection import Subsets
from ...statistics.counted_gram import count_gram
from ...statistics.memory import Columns, MemoryStatistics
from ...training.budget import gram_budget
from ...training.cost import TYPICAL_ITERATIONS, choose_engine, gram_bytes
from ...training.make_problem import make_problem, total_weight
from ..problem import Problem
from ..record import Record, make_record
from ..run_pool import Crew
from .family import GramFamily, gram_family
from .gram import GramMaker, GramRows, OneByOne, feature_of, gram_obstacle, gram_type, step_share
from .loop import GramState, Pending, RestState, ShareState, make_work

SHORT_CHUNK, LONG_CHUNK, SPLITS_OF_CHUNK = 128, 512, 1 << 20
"""Iterations that the runs do before rules of stopping and callbacks look at them: at least the
first number and at most the second, such that they update so many sums."""


ALL_AT_ONCE = 1 << 25
"""Up to so many numbers, the whole Gram matrix is made before the runs begin: runs that wait for
one feature after another would take longer."""

EXPANDED_BINS = 1 << 26
"""Rows times features whose Gram rows are made at once."""

_WORK_FOR_THREADS = 1 << 20
"""Pairs of entries and cells of a Gram matrix (n p^2 + K^2) below which a second thread costs more
than it saves."""


def statistics_team(problem: Problem) -> Team:
    """Threads that make sums over rows."""
    layout = problem.prepared.layout
    work = problem.prepared.cells * len(layout.members) + layout.n_learners**2
    return Team(problem.n_jobs if work >= _WORK_FOR_THREADS else 1)


@dataclass(frozen=True)
class FoldRows:
    """The rows of a fold: weak-learners on them, labels, weights (None: all 1) and their sum."""

    arrays: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    mass: float


@dataclass
class Fold:
    """One of the runs: its statistics, its generator, where it starts from and where it stands.

    ``mass`` and ``held_mass`` are what losses of the rows that it is fitted to, and of the others,
    are divided by to have means.
    """

    start: float
    splits: Any
    train: RestState | ShareState
    held: GramState | ShareState
    mass: float
    held_mass: float
    rng: np.random.Generator
    pending: Pending = field(default_factory=lambda: Pending(np.full(1, -1, np.int64), np.zeros(2)))

    @property
    def held_loss(self) -> float:
        """The sum of losses of the rows that the run does not see."""
        return float(self.held.loss[0])


class FoldsAndSum(OneByOne):
    """Gram rows of the rows of each fold, and of all of them."""

    def __init__(self, parts: Sequence[MemoryStatistics], team: Team) -> None:
        super().__init__(*parts)
        self.team = team

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        *folds, total = outs
        if all(part.counts and not part.rows.weighted for part in self.providers):
            arrays = [part.arrays for part in self.providers]
            n_rows = [len(part.rows.y) for part in self.providers]
            wanted, others = np.asarray(features, np.int64), np.asarray(columns, np.int64)
            count_gram(arrays, n_rows, wanted, others, folds, total, self.team)
            return
        super().gram_blocks(features, columns, folds)
        self.team.run(add_blocks, tuple(folds), total)


@kernel()
def add_blocks(parts, out, seat):
    """Sums of rows of several matrices, each thread on its rows."""
    for row in range(seat.rank, out.shape[0], seat.size):
        sums = out[row]
        one = parts[0][row]
        for j in range(sums.shape[0]):
            sums[j] = one[j]
        for k in range(1, len(parts)):
            one = parts[k][row]
            for j in range(sums.shape[0]):
                sums[j] += one[j]


class FoldRuns:
    """k runs that go on block by block, each without the rows of one fold.

    ``problem`` is the fit to all rows (stumps), whose bins and rules are used. ``gram`` is the room
    for Gram rows, and ``maker`` makes them, with the threads of ``team``.
    """

    engine = "gram"
    n_classes = None

    def __init__(
        self,
        problem: Problem,
        folds: list[Fold],
        gram: GramRows,
        maker: GramMaker,
        team: Team,
    ) -> None:
        self.problem = problem
        self.family = gram_family(problem)
        self.folds = folds
        self.gram = gram
        self.maker = maker
        self.team = team
        usual = SPLITS_OF_CHUNK // max(1, int(self.family.offsets[-1]))
        self.chunk = min(max(usual, SHORT_CHUNK), LONG_CHUNK)
        self.crew = Crew(min(problem.n_jobs, len(folds)))
        self.wants_to_stop = False
        """Whether a callback has asked to stop."""

    def __enter__(self) -> FoldRuns:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.crew.close()
        self.team.close()

    @property
    def held_mass(self) -> float:
        return sum(one.held_mass for one in self.folds)

    def go_on(self, n: int) -> list[Record] | None:
        """n iterations of every run, with the losses before and after them; None if Gram
        rows do not fit into memory.

        Runs go on side by side until they need the Gram rows of another feature, which are made
        when all have come that far: results do not depend on which thread is faster.
        """
        blocks = [_Block(self.problem, self.family, one, n) for one in self.folds]
        waiting = blocks
        while waiting:
            self.crew.go_on(waiting)
            waiting = [block for block in waiting if block.needs >= 0]
            for block in waiting:
                if not self._provide(block):
                    return None
        return [block.losses_and_choices() for block in blocks]

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
        small = self.gram.size_of_all <= ALL_AT_ONCE
        if small or self.maker.makes_all:
            features = np.flatnonzero(np.diff(self.family.offsets)).tolist()
        return self.expect(features)

    def _provide(self, block: _Block) -> bool:
        """Make the Gram rows that a run waits for; whether they fit."""
        return self.expect([feature_of(self.problem.prepared.layout.offsets, block.fold.pending)])


class _Block:
    """Some iterations of a run under way: a `rgboost.engines.run_pool.BlockOfRun`."""

    def __init__(self, problem: Problem, family: GramFamily, fold: Fold, n: int) -> None:
        self.rho = step_share(problem.rule)
        self.problem = problem
        self.family = family
        self.fold = fold
        self.work = make_work(problem.most_columns(), 1)
        self.subsets: Subsets | None = None
        self.record = make_record(n, problem.prepared.set_bytes)
        self.n = n
        self.done = 0

    @property
    def needs(self) -> int:
        """The weak-learner whose Gram row is not there; -1 if the block is done."""
        return int(self.fold.pending.learner[0])

    def go_on(self, until: int) -> None:
        """Run until so many iterations are done, or Gram rows are missing."""
        fold, problem = self.fold, self.problem
        if self.subsets is None:  # not before: threads draw side by side
            self.subsets = problem.selection.subsets(problem.prepared.layout, fold.rng, self.n)
        record = Record._make(part[:until] for part in self.record)
        self.done = self.family.run(
            Team(1), fold.splits, fold.train, fold.held, self.rho, self.subsets, record,
            self.done, fold.pending, self.work,
        )  # fmt: skip

    def losses_and_choices(self) -> Record:
        """The record, with the losses after the last iteration."""
        return self.record._replace(
            loss=np.append(self.record.loss, self.fold.train.loss[0]),
            held_loss=np.append(self.record.held_loss, self.fold.held.loss[0]),
        )


def make_folds(
    X: Any,
    y: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    random_state: int,
    n_iter: int,
    engine: str = "auto",
    gram_memory: int | None = None,
    **settings: Any,
) -> FoldRuns | None:
    """The runs; ``settings`` are those of `boost`.

    None where a fit would not use the Gram engine: with other losses than the squared one, with
    constraints, with missing values and categories in sparse rows, where Gram rows do not fit into
    memory, and where there are so few rows and so many splits that passes over the rows are faster.
    """
    if engine not in ("auto", "gram") or type(settings["loss"]) is not Squared:
        return None
    if type(settings["learner"]) is not Stumps:  # before rows are prepared
        return None
    problem = make_problem(
        X, y, n_iter=n_iter, validation=None, random_state=random_state, **settings
    )
    memory = gram_budget(X) if gram_memory is None else gram_memory
    kinds = gram_types(problem, int(np.bincount(fold).max()), int(fold.max()) + 1)
    sizes = [np.dtype(kind).itemsize for kind in kinds]
    if not takes_statistics(problem, engine, memory * sizes[-1] // sum(sizes)):
        return None
    best_start = settings.get("start_score", 0.0) is None
    return runs_of_rows(problem, fold_rows(problem, X, fold), random_state, best_start, memory)


def runs_of_rows(
    problem: Problem, rows: Sequence[FoldRows], seed: int, best_start: bool, memory: int
) -> FoldRuns:
    """Runs of the squared loss, of rows for each fold. The seed of a run is (``seed``, its fold).

    ``best_start``: a run starts from the mean label of its training rows, not from the problem's
    start.
    """
    family, team = gram_family(problem), statistics_team(problem)
    kinds = gram_types(problem, max(len(one.y) for one in rows), len(rows))
    gram = GramRows(family.offsets, kinds, memory)
    parts = [
        family.statistics(one.arrays, one.y, one.weight, Squared(), problem.start, team)
        for one in rows
    ]
    folds = _folds(problem, family, [one.mass for one in rows], parts, gram, seed, best_start)
    runs = FoldRuns(problem, folds, gram, FoldsAndSum(parts, team), team)
    runs.expect_useful([])
    return runs


def gram_types(problem: Problem, largest: int, n_folds: int) -> list[Any]:
    """Of the Gram rows of every fold, the largest of so many rows, and of all rows."""
    kinds = [gram_type(problem.weight, largest)] * n_folds
    return [*kinds, gram_type(problem.weight, len(problem.y))]


def fold_rows(problem: Problem, X: Any, fold: NDArray[np.int64]) -> list[FoldRows]:
    """The rows of each fold."""
    family = gram_family(problem)
    found = []
    for k in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold == k)
        arrays = family.stored(_arrays_of(problem, X, rows), len(rows))
        y, weight = problem.y[rows], None if problem.weight is None else problem.weight[rows]
        found.append(FoldRows(arrays, y, weight, total_weight(y, weight)))
    return found


def _arrays_of(problem: Problem, X: Any, rows: NDArray[np.int64]) -> Any:
    """The weak-learners on some of the rows."""
    arrays = problem.prepared.arrays
    if isinstance(arrays, DenseStumps | MixedStumps):
        return take_rows(arrays, rows)
    return problem.prepared.arrays_for(X[rows], problem.n_jobs)


def takes_statistics(problem: Problem, engine: str, memory: int) -> bool:
    """Whether runs go by statistics, with so much memory for the Gram rows of one of them.

    With categories and missing values there is no other way to several runs at once.
    """
    if engine == "gram":
        return gram_obstacle(problem) is None
    if isinstance(problem.prepared.arrays, MixedStumps):
        possible = gram_obstacle(problem) is None and problem.prepared.layout.n_learners > 0
        return possible and gram_bytes(problem) <= memory
    expected = min(problem.recorder.n_iter, TYPICAL_ITERATIONS)
    return choose_engine(problem, memory, expected) == "gram"


def _folds(
    problem: Problem,
    family: GramFamily,
    masses: Sequence[float],
    parts: list[MemoryStatistics],
    gram: GramRows,
    seed: int,
    best_start: bool,
) -> list[Fold]:
    """The states of the null models, of the training rows and the rows that are held out."""
    null = np.zeros(family.n_tables)
    weights = [part.bin_weights() for part in parts]
    sums = [part.gradient(null) for part in parts]
    left_weights = np.array([weight[0] for weight in weights])
    totals = np.array([weight[1] for weight in weights])
    left_sums = np.array([one.left_sums for one in sums])
    residuals = np.array([one.total for one in sums])
    losses = np.array([one.loss for one in sums])
    folds = []
    for k in range(len(parts)):
        here = np.arange(len(parts)) == k
        shift = residuals[~here].sum() / totals[~here].sum() if best_start else 0.0

        def state(rows: NDArray, block: NDArray, shift: float = shift) -> GramState:
            weight, total_weight = left_weights[rows].sum(axis=0), float(totals[rows].sum())
            total, loss = residuals[rows].sum(), losses[rows].sum()
            return GramState(
                left_sums=left_sums[rows].sum(axis=0) - shift * weight,
                left_weight=weight,
                total_weight=total_weight,
                constant=np.zeros(1),
                total=np.array([total - shift * total_weight]),
                loss=np.array([loss - shift * total + 0.5 * shift * shift * total_weight]),
                rows=block,
                row_start=gram.row_start,
            )

        train = RestState(*state(~here, gram.blocks[-1]), less=gram.blocks[k])
        held = state(here, gram.blocks[k])
        its_splits = family.weighted(train.left_weight, train.total_weight, 0.0)
        start, rng = problem.start + shift, np.random.default_rng([seed, k])
        mass, held_mass = sum(masses) - masses[k], masses[k]
        folds.append(Fold(start, its_splits, train, held, mass, held_mass, rng))
    return folds
