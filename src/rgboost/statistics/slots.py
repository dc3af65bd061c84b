"""Slots: the sums over rows that splits are made of.

A left side is a sum of disjoint slots, so all that an engine on statistics needs of it (weight,
sum of residuals, a row of the Gram matrix) is the sum of what it knows of the slots. With m bins of
values, the slots of a feature are

    numbers         the rows left of each of the m - 1 thresholds
    categories      each of the m bins
    both            at last the missing values, where there are any

The sums of thresholds are cumulative, so that a threshold is one slot, or two if missing values are
on its left; a set of categories is as many slots as it has members. Of numbers without missing
values, slots are splits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel, scalar
from ..learners.stumps.mixed_splits import MixedColumns
from ..learners.stumps.mixed_stumps import MixedStumps
from ..learners.stumps.some_rows import LIGHT
from ..learners.stumps.splits import Splits, weighted_splits
from ..model import Path
from ..model.path import add_mixed_path, path_tables

Vector = NDArray[np.float64]


class Slots(NamedTuple):
    """``start[g]`` is the first slot of feature g, ``cells[g]`` the first of its bins in the tables
    of a model. It has thresholds if it is ``ordered[g]``. ``missing[g]`` tells that its last slot
    is that of missing values, at fit time or among the validation rows."""

    start: NDArray[np.int64]
    cells: NDArray[np.int64]
    ordered: NDArray[np.bool_]
    missing: NDArray[np.bool_]

    @property
    def plain(self) -> bool:
        """Whether slots are splits: numbers without missing values."""
        return bool(self.ordered.all() and not self.missing.any())


class NumberSplits(NamedTuple):
    """Splits of plain numbers. A class of its own: their fits compile nothing of categories."""

    splits: Splits
    slots: Slots

    @property
    def gains_at_hand(self) -> bool:
        """Whether ``splits.gain`` says what every split gains: those of sets of categories depend
        on the residuals."""
        return True

    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None
    ) -> NumberSplits:
        """The same splits under other weights of the rows, given for each slot; those with less
        than ``lightest`` on a side never win. There is nothing that ``noise`` could smooth."""
        splits = weighted_splits(self.splits, weights, total_weight)
        least = max(lightest, LIGHT * total_weight)
        splits.gain[np.minimum(weights, total_weight - weights) < least] = 0.0
        return self._replace(splits=splits)

    def tables(self, path: Path) -> Vector:
        """The model of a path; see `rgboost.statistics.base`."""
        return path_tables(self.slots.start, path.learner, path.left, path.right)


class SlotSplits(NamedTuple):
    """Splits of mixed features, and where a search writes the order of categories."""

    splits: Splits
    slots: Slots
    columns: MixedColumns

    @property
    def gains_at_hand(self) -> bool:
        return False

    def weighted(
        self, weights: Vector, total_weight: float, lightest: float, noise: float | None
    ) -> SlotSplits:
        """As of `NumberSplits`; the least weight of a side keeps its share of the whole, but is
        not below ``lightest``. For ``noise`` see `with_noise`."""
        splits, slots, columns = self
        bin_weight = np.zeros(len(columns.bin_weight))
        left_weight = np.zeros(int(splits.offsets[-1]))
        for g in np.flatnonzero(np.diff(splits.offsets)):
            mine = weights[slots.start[g] : slots.start[g + 1]]
            if columns.categorical[g]:
                bin_weight[columns.bin_start[g] :][: len(mine)] = mine
            else:
                left = left_weight[splits.offsets[g] : splits.offsets[g + 1]]
                slots_to_left(columns, slots, g, weights, total_weight, left)
        share = max(columns.lightest / splits.total_weight, LIGHT)
        return SlotSplits(
            weighted_splits(splits, left_weight, total_weight),
            slots,
            with_noise(columns, total_weight, noise)._replace(
                bin_weight=bin_weight,
                order=columns.order.copy(),
                lightest=max(share * total_weight, lightest),
            ),
        )

    def tables(self, path: Path) -> Vector:
        """As of `NumberSplits`."""
        found = np.zeros(int(self.slots.cells[-1]))
        sets = path.sets if path.has("sets") else np.empty((len(path), 0), np.uint8)
        steps = path.learner, path.left, path.right
        add_mixed_path(self.splits, self.columns, *steps, sets, found)
        return found


def number_slots(offsets: NDArray[np.int64]) -> Slots:
    """A slot for each split."""
    n = len(offsets) - 1
    return Slots(offsets, offsets + np.arange(n + 1), np.ones(n, np.bool_), np.zeros(n, np.bool_))


def mixed_slots(arrays: MixedStumps, held: MixedStumps, n_held: int) -> Slots:
    """The slots of training rows and of validation rows, which may lack other values."""
    columns = arrays.columns
    filled = np.diff(arrays.splits.offsets) > 0
    held_missing = [(held.codes[g, :n_held] == m).any() for g, m in enumerate(columns.n_values)]
    missing = filled & ((columns.n_bins > columns.n_values) | np.array(held_missing, dtype=bool))
    sizes = np.where(filled, columns.n_values - ~columns.categorical + missing, 0)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Slots(start, columns.bin_start, ~columns.categorical, missing)


def with_noise(columns: MixedColumns, total_weight: float, noise: float | None) -> MixedColumns:
    """Columns of a run on statistics, with ``noise`` = phi of `rgboost.learners.credibility`.

    None: the loss is the squared one, half of what phi is made of.
    """
    slope = 2.0 * columns.row_weight / total_weight if noise is None else 0.0
    return columns._replace(
        noise=np.array([0.0, noise or 0.0, slope]), trust=np.ones(len(columns.trust))
    )


@scalar()
def bins_to_slots(ordered, missing, bins, out):
    """Sums in the bins of a feature, missing values last, become sums in its slots.

    Four at a time, as in `rgboost.learners.stumps.splits.to_left_sums`.
    """
    n = out.shape[0]
    if not ordered:
        for s in range(n):
            out[s] = bins[s]
        return
    if missing:
        out[n - 1] = bins[n]
        n -= 1
    left = bins[0] * 0
    whole = n - n % 4
    for s in range(0, whole, 4):
        two = bins[s] + bins[s + 1]
        three = two + bins[s + 2]
        four = two + (bins[s + 2] + bins[s + 3])
        out[s] = left + bins[s]
        out[s + 1] = left + two
        out[s + 2] = left + three
        left += four
        out[s + 3] = left
    for s in range(whole, n):
        left += bins[s]
        out[s] = left


@kernel()
def bins_to_all_slots(slots, bins, out):
    """Sums in bins, which lie as in tables, become sums in every slot."""
    for g in range(slots.start.shape[0] - 1):
        if slots.start[g + 1] > slots.start[g]:
            mine = out[slots.start[g] : slots.start[g + 1]]
            bins_to_slots(slots.ordered[g], slots.missing[g], bins[slots.cells[g] :], mine)


@scalar()
def slots_to_left(columns, slots, column, sums, total, out):
    """Sums in the slots of a numeric column become the left sums of its splits."""
    m, first = columns.n_values[column], slots.start[column]
    for j in range(m - 1):
        out[j] = sums[first + j]
    if columns.n_bins[column] > m:
        missing = sums[first + m - 1]
        out[m - 1] = total - missing
        for j in range(m - 1):
            out[m + j] = sums[first + j] + missing
