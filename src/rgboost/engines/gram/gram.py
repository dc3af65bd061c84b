"""The Gram engine: Algorithm 2 for the squared loss on statistics instead of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.loading import working_seconds
from ..._core.team import Team
from ...learners.dense_stumps import DenseStumps
from ...learners.mixed_stumps import MixedStumps, SparseMixedStumps
from ...learners.sparse_stumps import SparseStumps
from ...learners.splits import expected_sum
from ...losses import Squared
from ...statistics.memory import MOST_BINS, Columns, Statistics
from ...training.state import Arrays
from ..direct.direct import run_direct
from ..direct.step_length import ConstantRule, SearchRule
from ..problem import BlockLength, Problem
from .family import GramFamily, MixedFamily, gram_family
from .loop import GramState, Pending, make_work

_SPLITS_PER_THREAD = 3000
"""Splits per thread (about 3 microseconds of work) that make a thread pay."""


def gram_obstacle(problem: Problem) -> str | None:
    """Why the Gram engine cannot run this problem; None if it can."""
    if type(problem.loss) is not Squared:
        return f"it needs the squared loss, not {problem.loss!r}"
    obstacle = _rows_obstacle(problem)
    if obstacle is not None:
        return obstacle
    if not isinstance(problem.rule, ConstantRule | SearchRule):
        return "its steps are along b; use step='constant' or 'line-search'"
    if _most_bins(problem.prepared.arrays) > MOST_BINS:
        return f"it needs at most {MOST_BINS} bins per feature; set max_bins to that or less"
    return None


def _rows_obstacle(problem: Problem) -> str | None:
    """Missing values and categories are possible in dense rows, where training rows have some."""
    arrays, held = problem.prepared.arrays, problem.held_arrays
    if isinstance(arrays, MixedStumps) and isinstance(held, MixedStumps):
        return None
    if isinstance(arrays, SparseMixedStumps) or isinstance(held, SparseMixedStumps):
        return "it needs dense rows where there are missing values or categories, not sparse ones"
    if isinstance(held, MixedStumps):
        return "it needs validation rows without missing values where training rows have none"
    return stumps_obstacle(problem)


def stumps_obstacle(problem: Problem) -> str | None:
    """Statistics by splits know stumps on numbers, and nothing of missing values and categories."""
    for arrays in (problem.prepared.arrays, problem.held_arrays):
        if isinstance(arrays, MixedStumps | SparseMixedStumps):
            return "it needs features without missing values and without categories"
        if not isinstance(arrays, DenseStumps | SparseStumps):
            return "it needs stumps without monotone constraints"
    return None


def _most_bins(arrays: Any) -> int:
    """Bins of the feature that has most of them."""
    if isinstance(arrays, MixedStumps):
        return int(arrays.columns.n_values.max(initial=0)) + 1
    return int(arrays.splits.most_bins)


def loop_threads(n_jobs: int, n_splits: int) -> int:
    """Threads that pay for an iteration over this many splits."""
    return max(1, min(n_jobs, n_splits // _SPLITS_PER_THREAD))


def gram_type(weight: NDArray[np.float64] | None, n_rows: int) -> Any:
    """Counts of rows are exact as integers, in half or a quarter of the memory of weights."""
    if weight is not None:
        return np.float64
    return np.uint16 if n_rows <= np.iinfo(np.uint16).max else np.uint32


def step_share(rule: ConstantRule | SearchRule) -> float:
    """The step as a share of <b, r>: with the squared loss, line search finds 1."""
    return rule.learning_rate * (rule.rho if isinstance(rule, ConstantRule) else 1.0)


class GramMaker(Protocol):
    """Who makes the Gram rows of several sets of rows."""

    @property
    def makes_all(self) -> bool:
        """Whether those of all features are made at once, whatever is asked for."""

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        """`rgboost.statistics.memory.Statistics.gram_rows`, one block for each set."""


class OneByOne:
    """A `GramMaker` that asks somebody for each of the blocks."""

    def __init__(self, *providers: Any) -> None:
        self.providers = providers

    @property
    def makes_all(self) -> bool:
        return any(provider.makes_all for provider in self.providers)

    def gram_blocks(
        self, features: Sequence[int], columns: Columns, outs: Sequence[NDArray]
    ) -> None:
        for provider, out in zip(self.providers, outs, strict=True):
            provider.gram_rows(features, columns, out)


class GramRows:
    """Gram rows of the features that were chosen so far, within a budget.

    Memory is reserved for all rows that fit and used as features come: the system hands out pages
    when they are first written. Where it refuses, there is room for none.
    """

    def __init__(self, offsets: NDArray[np.int64], dtypes: list[Any], memory: int) -> None:
        self.offsets = offsets
        n_splits = int(offsets[-1])
        row_bytes = n_splits * sum(np.dtype(dtype).itemsize for dtype in dtypes)
        self.room = min(n_splits, memory // max(1, row_bytes))
        self.used = 0
        self.row_start = np.full(len(offsets) - 1, -1, dtype=np.int64)
        try:
            self.blocks = [np.empty((self.room, n_splits), dtype) for dtype in dtypes]
        except MemoryError:
            self.room = 0
            self.blocks = [np.empty((0, n_splits), dtype) for dtype in dtypes]
        self.batches: list[list[int]] = []
        """Features in the order in which their rows were made."""

    def add(self, features: list[int], maker: GramMaker) -> bool:
        """Make the rows of as many of the features as fit; whether the first did."""
        sizes = [int(self.offsets[g + 1] - self.offsets[g]) for g in features]
        while features and self.used + sum(sizes) > self.room:
            features, sizes = features[:-1], sizes[:-1]
        if not features:
            return False
        stop = self.used + sum(sizes)
        unknown = np.flatnonzero(self.row_start < 0)
        try:
            maker.gram_blocks(features, unknown, [block[self.used : stop] for block in self.blocks])
        except MemoryError:
            return False
        for block in self.blocks:
            mirror(block, self.row_start, self.offsets, np.array(features), self.used)
        self.row_start[features] = self.used + np.cumsum([0, *sizes[:-1]])
        self.used = stop
        self.batches.append(features)
        return True

    @property
    def features(self) -> list[int]:
        """The features that have rows."""
        return np.flatnonzero(self.row_start >= 0).tolist()

    @property
    def size_of_all(self) -> int:
        """How many numbers a block has, with the rows of all features."""
        return int(self.offsets[-1]) ** 2

    def forget(self) -> None:
        """No rows are there any more. The memory is kept: to have it anew takes long."""
        self.used = 0
        self.row_start[:] = -1
        self.batches.clear()

    def keep(self) -> Arrays:
        """The order of features: sums of weights that are no integers depend on it."""
        return {
            "gram_features": np.array([g for batch in self.batches for g in batch], np.int64),
            "gram_batches": np.array([len(batch) for batch in self.batches], np.int64),
        }

    def restore(self, kept: Arrays, maker: GramMaker) -> None:
        """Make the rows of `keep` again, in that order."""
        ends = np.cumsum(kept["gram_batches"])
        for batch in np.split(kept["gram_features"], ends[:-1]) if len(ends) else []:
            if not self.add(batch.tolist(), maker) or len(self.batches[-1]) < len(batch):
                raise ValueError(
                    "gram_memory is smaller than when the run began: its Gram rows do not fit; "
                    "use as much as before."
                )


@kernel()
def mirror(rows, row_start, offsets, features, first_row):
    """Fill in what is known by symmetry: the columns of features that have rows already."""
    for q in features:
        a, b = offsets[q], offsets[q + 1]
        for g in range(row_start.shape[0]):
            if row_start[g] >= 0:
                known = rows[row_start[g] : row_start[g] + offsets[g + 1] - offsets[g], a:b]
                for v in range(b - a):
                    here = rows[first_row + v, offsets[g] : offsets[g + 1]]
                    for u in range(here.shape[0]):
                        here[u] = known[u, v]
        first_row += b - a


def run_gram(problem: Problem, memory: int) -> None:
    """Run all iterations; if the budget of Gram rows is reached, the direct engine goes on."""
    family = gram_family(problem)
    held = problem.held
    size = loop_threads(problem.n_jobs, int(family.offsets[-1]))
    with Team(problem.n_jobs) as builders, Team(size) as team:
        arrays = family.stored(problem.prepared.arrays, len(problem.y))
        loss, start = problem.loss, problem.start
        providers = [family.statistics(arrays, problem.y, problem.weight, loss, start, builders)]
        dtypes = [gram_type(problem.weight, len(problem.y))]
        if held is not None:
            arrays = family.stored(problem.held_arrays, len(held.y))
            providers.append(family.statistics(arrays, held.y, held.weight, loss, start, builders))
            dtypes.append(gram_type(held.weight, len(held.y)))
        gram = GramRows(family.offsets, dtypes, memory)
        null = np.zeros(family.n_tables)
        states = [_state(p, null, b, gram) for p, b in zip(providers, gram.blocks, strict=True)]
        kept = problem.rows_to_resume("gram")
        if kept is not None:
            gram.restore(kept, OneByOne(*providers))
            for name, state in zip(_STATES, states, strict=False):
                for field in _KEPT:
                    getattr(state, field)[:] = kept[f"{name}_{field}"]
        problem.begin("gram", lambda: (problem.recorder.done, _keep(states) | gram.keep()))
        problem.recorder.engine = "gram"
        if _go(problem, family, gram, OneByOne(*providers), states, team):
            return
        tables = family.tables(problem.snapshot().path)
        scores = [provider.score(tables) for provider in providers]
    problem.recorder.engine = (
        f"gram until iteration {problem.recorder.done}, where gram_memory was used up; "
        "direct from there"
    )
    run_direct(problem, *scores)


_STATES = ("train", "held")
_KEPT = ("left_sums", "constant", "total", "loss")


def _keep(states: list[GramState]) -> Arrays:
    return {
        f"{name}_{field}": getattr(state, field).copy()
        for name, state in zip(_STATES, states, strict=False)
        for field in _KEPT
    }


def _state(provider: Statistics, null: NDArray, block: NDArray, gram: GramRows) -> GramState:
    left_weight, total_weight = provider.bin_weights()
    gradient = provider.gradient(null)
    return GramState(
        left_sums=gradient.left_sums,
        left_weight=left_weight,
        total_weight=total_weight,
        constant=np.zeros(1),
        total=np.array([gradient.total]),
        loss=np.array([gradient.loss]),
        rows=block,
        row_start=gram.row_start,
    )


def no_rows(like: GramState) -> GramState:
    """The state of a validation set that is not there."""
    none = np.zeros(0)
    return GramState(
        none, none, 0.0, np.zeros(1), np.zeros(1), np.zeros(1), like.rows[:0], np.zeros(0, np.int64)
    )


def _go(
    problem: Problem,
    family: GramFamily,
    gram: GramRows,
    maker: GramMaker,
    states: list[GramState],
    team: Team,
) -> bool:
    """Run block after block; False if Gram rows no longer fit."""
    recorder, length = problem.recorder, BlockLength(problem)
    state = states[0]
    held = states[1] if len(states) > 1 else no_rows(state)
    rho = step_share(problem.rule)
    pending = Pending(np.full(1, -1, np.int64), np.zeros(2))
    work = make_work(problem.most_columns(), team.size)
    begun = working_seconds() - recorder.seconds[recorder.done]
    while recorder.left_to_do:
        n = length.next(recorder.left_to_do)
        block_begun = working_seconds()
        problem.begin_block()
        subsets = problem.selection.subsets(problem.prepared.layout, problem.rng, n)
        record = recorder.record(n)
        m = 0
        while True:
            m = family.run(team, family.splits, state, held, rho, subsets, record, m, pending, work)
            if pending.learner[0] < 0:
                break
            if not gram.add(_features_to_make(pending, state, family, gram, team), maker):
                problem.rewind(m)
                recorder.finish_block(m, working_seconds() - begun, state.loss[0], held.loss[0])
                return False
        now = working_seconds()
        recorder.finish_block(n, now - begun, state.loss[0], held.loss[0])
        length.learn(n, now - block_begun)
        if problem.wants_to_stop():
            break
    return True


def _features_to_make(
    pending: Pending, state: GramState, family: GramFamily, gram: GramRows, team: Team
) -> list[int]:
    if isinstance(family, MixedFamily):  # the scores of sets of categories are not at hand
        return [feature_of(family.splits.splits.offsets, pending)]
    return missing_features(pending, state, family.splits, gram, team)


def feature_of(offsets: NDArray[np.int64], pending: Pending) -> int:
    """The feature of the weak-learner that is not applied yet; ``offsets`` are of splits."""
    return int(np.searchsorted(offsets, pending.learner[0], side="right")) - 1


def missing_features(
    pending: Pending, state: GramState, splits: Any, gram: GramRows, team: Team
) -> list[int]:
    """The feature that is needed now, and the best others without rows, one for each thread."""
    needed = feature_of(splits.offsets, pending)
    if team.size == 1:
        return [needed]
    slope, shift = expected_sum(splits, state.total[0])
    off = state.left_sums - ((slope + state.constant[0]) * splits.left_weight + shift)
    filled = np.flatnonzero(np.diff(splits.offsets) > 0)
    scores = np.maximum.reduceat(off * off * splits.gain, splits.offsets[filled])
    order = filled[np.argsort(-scores, kind="stable")]
    others = [int(g) for g in order if gram.row_start[g] < 0 and g != needed]
    return [needed, *others[: team.size - 1]]
