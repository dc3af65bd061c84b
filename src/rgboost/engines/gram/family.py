"""What engines on statistics ask of stumps: their slots, the sums over them, and the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.stumps.stump_statistics import dense_bins
from ...losses import Loss
from ...model import Path
from ...statistics.memory import (
    MemoryStatistics,
    SparseStatistics,
    Vector,
    as_stored,
    pays_by_rows,
)
from ...statistics.slots import (
    NumberSplits,
    Slots,
    SlotSplits,
    bins_to_all_slots,
    mixed_slots,
    number_slots,
    with_noise,
)
from ..problem import Problem
from .loop import GramState, run_gram_block


@dataclass(frozen=True)
class GramFamily:
    """Stumps whose iterations run on statistics. ``splits`` are those of all training rows."""

    splits: NumberSplits | SlotSplits

    @property
    def slots(self) -> Slots:
        return self.splits.slots

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first sum of each feature, and so of its Gram rows."""
        return self.slots.start

    @property
    def first_cell(self) -> NDArray[np.int64]:
        """Where the bins of each feature begin in the tables of a model."""
        return self.slots.cells

    @property
    def n_tables(self) -> int:
        """The length of the tables of a model; see `rgboost.statistics.base`."""
        return int(self.slots.cells[-1])

    def statistics(
        self, arrays: Any, y: Vector, weight: Vector | None, loss: Loss, start: Any, team: Team
    ) -> MemoryStatistics:
        """Statistics of some rows."""
        by_rows = dense_bins(arrays) is None and pays_by_rows(arrays, len(y))
        kind = SparseStatistics if by_rows else MemoryStatistics
        return kind(arrays, y, weight, loss, start, team, self.slots)

    def stored(self, arrays: Any, n_rows: int) -> Any:
        """Weak-learners on some rows, in the form that statistics are fastest with."""
        return as_stored(arrays, n_rows)

    def sums_of_bins(self, bins: Vector) -> Vector:
        """The sums of some rows, from those of their bins, which lie as in tables."""
        out = np.empty(int(self.offsets[-1]))
        bins_to_all_slots(self.slots, bins, out)
        return out

    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None = None
    ) -> Any:
        """The splits of rows with other weights, given for each of the sums. Those with less than
        ``lightest`` on a side are never chosen. ``noise`` is phi of `rgboost.learners.credibility`;
        None: that of the squared loss."""
        return self.splits.weighted(weights, total_weight, lightest, noise)

    def run(self, team: Team, splits: Any, state: GramState, held: GramState, *rest: Any) -> int:
        """Run iterations; see `run_gram_block`."""
        return int(team.run(run_gram_block, splits, state, held, *rest))

    def tables(self, path: Path) -> Vector:
        """The model of some iterations, as statistics take it."""
        return self.splits.tables(path)


def gram_family(problem: Problem) -> GramFamily:
    """The family of a problem that the Gram engine can run."""
    if problem.prepared.numeric_bins:
        return family_of_bins(problem.prepared)
    n_held = 0 if problem.held is None else len(problem.held.y)
    return family_of_bins(problem.prepared, problem.held_arrays, n_held)


def family_of_bins(prepared: Any, held_arrays: Any = None, n_held: int = 0) -> GramFamily:
    """The family of weak-learners in bins, and of so many validation rows in them."""
    arrays = prepared.arrays
    if prepared.numeric_bins:
        return GramFamily(NumberSplits(arrays.splits, number_slots(arrays.splits.offsets)))
    slots = mixed_slots(arrays, arrays if held_arrays is None else held_arrays, n_held)
    columns = with_noise(arrays.columns, arrays.splits.total_weight, None)
    return GramFamily(SlotSplits(arrays.splits, slots, columns))


def tables_of_path(family: GramFamily, path: Path) -> Vector:
    """The model of a path; of several classes, (classes, tables)."""
    if path.left.ndim == 1:
        return family.tables(path)
    fields = {name: getattr(path, name) for name in ("learner", "sets") if path.has(name)}
    steps = zip(path.left.T, path.right.T, strict=True)
    return np.array([family.tables(Path.of(left=a, right=b, **fields)) for a, b in steps])
