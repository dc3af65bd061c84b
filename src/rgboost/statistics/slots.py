"""Slots: the sums over rows that splits of mixed features are made of.

A left side is a sum of disjoint slots, so all that an engine on statistics needs of it (weight,
sum of residuals, a row of the Gram matrix) is the sum of what it knows of the slots. With m bins of
values, the slots of a feature are

    numbers         the rows left of each of the m - 1 thresholds
    categories      each of the m bins
    both            at last the missing values, where there are any

The sums of thresholds are cumulative, so that a threshold is one slot, or two if missing values are
on its left; a set of categories is as many slots as it has members.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel, scalar
from .._core.math import largest
from ..learners.mixed_splits import MixedColumns, sort_categories
from ..learners.mixed_stumps import MixedStumps
from ..learners.splits import Splits, first_of_ties, weighted_splits

LIGHT = 1e-12
"""A side with less than this share of the weight has no rows: the rest is rounding."""


class Slots(NamedTuple):
    """``start[g]`` is the first slot of feature g. ``missing[g]`` tells that its last one is that
    of missing values: at fit time or among the validation rows."""

    start: NDArray[np.int64]
    missing: NDArray[np.bool_]


class SlotSplits(NamedTuple):
    """What a search from slots reads, and where it writes the order of categories."""

    splits: Splits
    columns: MixedColumns
    slots: Slots


def make_slots(arrays: MixedStumps, held: MixedStumps, n_held: int) -> Slots:
    """The slots of training rows and of validation rows, which may lack other values."""
    columns = arrays.columns
    filled = np.diff(arrays.splits.offsets) > 0
    held_missing = [(held.codes[g, :n_held] == m).any() for g, m in enumerate(columns.n_values)]
    missing = filled & ((columns.n_bins > columns.n_values) | np.array(held_missing, dtype=bool))
    sizes = np.where(filled, columns.n_values - ~columns.categorical + missing, 0)
    return Slots(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), missing)


def with_noise(columns: MixedColumns, total_weight: float, noise: float | None) -> MixedColumns:
    """Columns of a run on statistics, with ``noise`` = phi of `rgboost.learners.credibility`.

    None: the loss is the squared one, half of what phi is made of.
    """
    slope = 2.0 * columns.row_weight / total_weight if noise is None else 0.0
    return columns._replace(
        noise=np.array([0.0, noise or 0.0, slope]), trust=np.ones(len(columns.trust))
    )


def weighted_slots(
    learners: SlotSplits,
    weights: NDArray[np.float64],
    total_weight: float,
    lightest: float,
    noise: float | None,
) -> SlotSplits:
    """The same splits under other weights of the rows, given for each slot.

    Some splits may have an empty side then: they are too light. The least weight of a side keeps
    its share of the whole, but is not below ``lightest``. For ``noise`` see `with_noise`.
    """
    splits, columns, slots = learners
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
        with_noise(columns, total_weight, noise)._replace(
            bin_weight=bin_weight,
            order=columns.order.copy(),
            lightest=max(share * total_weight, lightest),
        ),
        slots,
    )


@scalar()
def bins_to_slots(ordered, m, bins, out):
    """Sums in the bins of a feature, missing values last, become sums in its slots."""
    if not ordered:
        for s in range(out.shape[0]):
            out[s] = bins[s]
        return
    left = bins[0] * 0
    for s in range(m - 1):
        left += bins[s]
        out[s] = left
    if out.shape[0] == m:
        out[m - 1] = bins[m]


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


@scalar()
def best_chosen(columns, splits, slots, subset, k, sums, total, bins, slope, shift, base):
    """`best_of_column` for a numeric column k of a J that holds only some of its splits."""
    column = subset.columns[k]
    m, first, at = columns.n_values[column], splits.offsets[column], slots.start[column]
    chosen = subset.learners[subset.first[k] : subset.first[k + 1]]
    n = chosen.shape[0]
    scores = bins[n : 2 * n]
    for i in range(n):
        j, split = chosen[i], chosen[i] - first
        if split < m - 1:
            left = sums[at + split]
        else:  # missing values on the right, then on the left
            missing = sums[at + m - 1]
            left = total - missing if split == m - 1 else sums[at + split - m] + missing
        off = left - (slope * splits.left_weight[j] + shift)
        bins[i] = left
        scores[i] = off * off * splits.gain[j]
        if columns.lightest > 0.0:
            weight = splits.left_weight[j]
            if min(weight, splits.total_weight - weight) < columns.lightest:
                scores[i] = -np.inf
    best = largest(scores, n)
    if best < 0.0:
        return -1.0, -1, 0.0
    i = first_of_ties(scores, best, base)
    return scores[i] + base, chosen[i], bins[i]


@scalar()
def slot_left_sums(columns, splits, slots, column, sums, total, bins):
    """`rgboost.learners.mixed_splits.mixed_left_sums` from sums in slots."""
    if columns.categorical[column]:
        first = slots.start[column]
        for b in range(columns.n_bins[column]):
            bins[b] = sums[first + b]
        sort_categories(columns, splits, column, bins, total)
    else:
        slots_to_left(columns, slots, column, sums, total, bins)


@kernel()
def parts_of_step(learners, column, learner, left, right, slot_out, share_out):
    """A step as base + jump * sum of share_i [row in slot i], over disjoint slots.

    Returns how many slots there are, base and jump. A set of categories is given by the smaller of
    its sides. Missing values of a feature that had none at fit time take the mean over the
    training rows: they are on the left by the share of the left side.
    """
    splits, columns, slots = learners.splits, learners.columns, learners.slots
    m, n_bins = columns.n_values[column], columns.n_bins[column]
    first, bins = slots.start[column], columns.bin_start[column]
    split = learner - splits.offsets[column]
    share = splits.left_weight[learner] / splits.total_weight
    base, jump = right, left - right
    n = 0
    if columns.categorical[column]:
        begin, end = 0, split + 1
        if 2 * end > n_bins:
            begin, end = split + 1, n_bins
            base, jump = left, right - left
            share = 1.0 - share
        for k in range(begin, end):
            slot_out[n] = first + columns.order[bins + k]
            share_out[n] = 1.0
            n += 1
    elif split == m - 1:  # values on the left, missing ones on the right
        base, jump = left, right - left
    else:
        slot_out[n] = first + (split - m if split >= m else split)
        share_out[n] = 1.0
        n += 1
    if n_bins == m and slots.missing[column]:
        slot_out[n] = slots.start[column + 1] - 1
        share_out[n] = share
        n += 1
    elif n_bins > m and split >= m - 1 and not columns.categorical[column]:
        slot_out[n] = slots.start[column + 1] - 1
        share_out[n] = 1.0
        n += 1
    return n, base, jump
