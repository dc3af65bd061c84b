"""What the Gram engine needs to know of a family of stumps: its sums, and the loop over them.

Stumps on numbers have a sum for each split; stumps on features with missing values or categories
have slots (`mixed_slots`). Whoever runs iterations from statistics (`gram`, `folds`) asks here, and
a fit on plain numbers compiles nothing of the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.mixed_stumps import MixedStumps
from ...learners.sparse_stumps import SparseStumps
from ...learners.splits import weighted_splits
from ...losses import Loss
from ...model import Path
from ...model.path_tables import path_tables
from ...statistics.memory import MemoryStatistics, Vector, bins_to_left_sums
from ...statistics.mixed import MixedStatistics, add_mixed_path, bins_to_all_slots
from ...statistics.short_rows import RowStatistics, as_stored, pays_by_rows
from ...statistics.slots import LIGHT, SlotSplits, make_slots, weighted_slots, with_noise
from ..base import Record
from ..problem import Problem
from .loop import GramState, GramWork, Pending, RestState, ShareState, run_gram_block
from .mixed_loop import run_mixed_block

State = GramState | RestState | ShareState


class GramFamily(ABC):
    """Stumps whose iterations run on statistics."""

    splits: Any
    """The splits on all training rows, as the loop reads them."""
    offsets: NDArray[np.int64]
    """The first sum of each feature, and so of its Gram rows."""
    n_tables: int
    """The length of the tables of a model; see `rgboost.statistics.memory`."""
    first_cell: NDArray[np.int64]
    """Where the bins of each feature begin in them."""

    @abstractmethod
    def statistics(
        self, arrays: Any, y: Vector, weight: Vector | None, loss: Loss, start: Any, team: Team
    ) -> MemoryStatistics:
        """Statistics of some rows."""

    def stored(self, arrays: Any, n_rows: int) -> Any:
        """Weak-learners on some rows, in the form that statistics are fastest with."""
        return arrays

    @abstractmethod
    def sums_of_bins(self, bins: Vector) -> Vector:
        """The sums of some rows, from those of their bins, which lie as in tables."""

    @abstractmethod
    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None = None
    ) -> Any:
        """The splits of rows with other weights, given for each of the sums. Those with less than
        ``lightest`` on a side are never chosen. ``noise`` is phi of `rgboost.learners.credibility`;
        None: that of the squared loss."""

    @abstractmethod
    def run(
        self, team: Team, splits: Any, state: State, held: State, rho: float, subsets: Any,
        record: Record, begin: int, pending: Pending, work: GramWork,
    ) -> int:  # fmt: skip
        """Run iterations; see `run_gram_block`."""

    @abstractmethod
    def tables(self, path: Path) -> Vector:
        """The model of some iterations, as statistics take it."""


class NumberFamily(GramFamily):
    """Stumps on numbers: a sum for each split."""

    def __init__(self, problem: Problem) -> None:
        self.splits = problem.prepared.arrays.splits
        self.offsets = self.splits.offsets
        self.first_cell = self.offsets + np.arange(len(self.offsets))
        self.n_tables = int(self.first_cell[-1])

    def statistics(
        self, arrays: Any, y: Vector, weight: Vector | None, loss: Loss, start: Any, team: Team
    ) -> MemoryStatistics:
        by_rows = isinstance(arrays, SparseStumps) and pays_by_rows(arrays, len(y))
        kind = RowStatistics if by_rows else MemoryStatistics
        return kind(arrays, y, weight, loss, start, team)

    def stored(self, arrays: Any, n_rows: int) -> Any:
        return as_stored(arrays, self.splits, n_rows)

    def sums_of_bins(self, bins: Vector) -> Vector:
        out = np.empty(int(self.offsets[-1]))
        bins_to_left_sums(self.offsets, bins, out)
        return out

    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None = None
    ) -> Any:
        splits = weighted_splits(self.splits, weights, total_weight)
        least = max(lightest, LIGHT * total_weight)
        splits.gain[np.minimum(weights, total_weight - weights) < least] = 0.0
        return splits

    def run(self, team: Team, splits: Any, state: State, held: State, *rest: Any) -> int:
        return int(team.run(run_gram_block, splits, state, held, 1.0, *rest))

    def tables(self, path: Path) -> Vector:
        return path_tables(self.offsets, path.learner, path.left, path.right)


class MixedFamily(GramFamily):
    """Stumps on features with missing values or categories: a sum for each slot."""

    def __init__(self, problem: Problem) -> None:
        arrays = problem.prepared.arrays
        n_held = 0 if problem.held is None else len(problem.held.y)
        slots = make_slots(arrays, problem.held_arrays, n_held)
        columns = with_noise(arrays.columns, arrays.splits.total_weight, None)
        self.splits = SlotSplits(arrays.splits, columns, slots)
        self.offsets = slots.start
        self.first_cell = arrays.columns.bin_start
        self.n_tables = len(arrays.columns.bin_weight)

    def statistics(
        self, arrays: Any, y: Vector, weight: Vector | None, loss: Loss, start: Any, team: Team
    ) -> MixedStatistics:
        return MixedStatistics(arrays, self.splits.slots, y, weight, loss, start, team)

    def sums_of_bins(self, bins: Vector) -> Vector:
        out = np.empty(int(self.offsets[-1]))
        bins_to_all_slots(self.splits.columns, self.splits.slots, bins, out)
        return out

    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None = None
    ) -> SlotSplits:
        return weighted_slots(self.splits, weights, total_weight, lightest, noise)

    def run(self, team: Team, splits: Any, state: State, held: State, *rest: Any) -> int:
        return int(team.run(run_mixed_block, splits, state, held, *rest))

    def tables(self, path: Path) -> Vector:
        tables = np.zeros(self.n_tables)
        sets = path.sets if path.has("sets") else np.empty((len(path), 0), np.uint8)
        steps = path.learner, path.left, path.right, sets
        add_mixed_path(self.splits.splits, self.splits.columns, *steps, tables)
        return tables


def gram_family(problem: Problem) -> GramFamily:
    """The family of a problem that the Gram engine can run."""
    mixed = isinstance(problem.prepared.arrays, MixedStumps)
    return MixedFamily(problem) if mixed else NumberFamily(problem)
