"""Statistics of rows with missing values and categories, slot by slot (see `mixed_slots`).

A model is handed over as ``tables``: the additive score of bin k of feature g, on top of the null
model, is ``tables[bin_start[g] + k]``; the last bin is that of missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel, scalar
from .._core.team import Team, take_ticket, wait_for_all
from ..learners.dense_stumps import fill_bins
from ..learners.kernels import scratch_size
from ..learners.mixed_stumps import MixedStumps
from ..learners.stump_statistics import expand_codes, joint_bins
from ..losses import Loss
from .memory import Columns, MemoryStatistics, Vector, expanded_type, places_of, transpose
from .rows import TILE
from .slots import Slots, bins_to_slots


class MixedStatistics(MemoryStatistics):
    """`Statistics` of rows in memory; where others have a split, these have a slot."""

    def __init__(
        self,
        arrays: MixedStumps,
        slots: Slots,
        y: Vector,
        weight: Vector | None,
        loss: Loss,
        start: Any,
        team: Team,
    ) -> None:
        super().__init__(arrays, y, weight, loss, start, team)
        self.slots = slots

    def weighted_gram_rows(
        self, features: Sequence[int], columns: Columns, weight: NDArray, out: NDArray
    ) -> None:
        wanted = np.asarray(features, dtype=np.int64)
        others = np.asarray(columns, dtype=np.int64)
        stride = int(self.arrays.columns.n_values.max()) + 1
        codes = np.empty((len(wanted), len(self.rows.y)), expanded_type(stride))
        self.team.run(
            fill_slot_gram, self.arrays, self.slots, stride, wanted, others, codes, weight, out
        )

    def add_scores(self, tables: Vector, score_out: Vector) -> None:
        self.team.run(add_mixed_tables, self.arrays, tables, self.rows.chunks, score_out)

    def _left_sums(self, values: Vector, total: float) -> Vector:
        out = np.empty(int(self.slots.start[-1]))
        self.team.run(fill_slots, self.arrays, self.slots, values, out)
        return out


@kernel()
def add_mixed_tables(learners, tables, chunks, score, seat):
    """Add the tables of all features to the scores, each thread on its chunks of rows."""
    columns = learners.columns
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        for g in range(columns.n_values.shape[0]):
            table = tables[columns.bin_start[g] : columns.bin_start[g] + columns.n_values[g] + 1]
            codes = learners.codes[g]
            for i in range(chunks[chunk], chunks[chunk + 1]):
                score[i] += table[codes[i]]


@kernel()
def fill_slots(learners, slots, values, out, seat):
    """Sums of values in every slot, each thread on its columns."""
    n_values, start = learners.columns.n_values, slots.start
    codes, words, wide = learners.codes, learners.words, learners.wide
    bins, tile = np.empty(scratch_size(learners)), np.empty(TILE)
    first, n = np.int64(0), values.shape[0]  # a plain 0 would compile `fill_bins` once more
    for g in range(seat.rank, n_values.shape[0], seat.size):
        if start[g + 1] > start[g]:
            n_bins = max(n_values[g] + 1, 3)  # of two, only the first would be summed
            fill_bins(codes[g], words[g], wide, n_bins, values, first, n, bins, tile)
            mine = out[start[g] : start[g + 1]]
            bins_to_slots(not learners.columns.categorical[g], n_values[g], bins, mine)


@kernel()
def bins_to_all_slots(columns, slots, bins, out):
    """Sums in bins, which lie as in tables, become sums in every slot."""
    for g in range(slots.start.shape[0] - 1):
        if slots.start[g + 1] > slots.start[g]:
            mine = out[slots.start[g] : slots.start[g + 1]]
            first = columns.bin_start[g]
            bins_to_slots(not columns.categorical[g], columns.n_values[g], bins[first:], mine)


@kernel()
def fill_slot_gram(learners, slots, stride, wanted, columns, codes, weight, out, seat):
    """Gram rows of the slots of the wanted features, as `fill_gram` makes those of splits."""
    start, n_values = slots.start, learners.columns.n_values
    for w in range(seat.rank, wanted.shape[0], seat.size):
        expand_codes(learners, wanted[w], stride, codes[w])
    place, first_rows = places_of(wanted, start)
    goal = wait_for_all(seat, 0)
    table = np.empty((stride, stride), out.dtype)
    n_columns = columns.shape[0]
    pair = 0 if seat.size == 1 else take_ticket(seat, 0)
    while pair < wanted.shape[0] * n_columns:
        w, g = pair // n_columns, columns[pair % n_columns]
        q = wanted[w]
        if start[g + 1] > start[g] and (place[g] < 0 or place[g] >= w):
            joint_bins(learners, codes[w], table[0, : n_values[q] + 1], g, weight, table)
            n_rows, first_row = start[q + 1] - start[q], first_rows[w]
            part = out[first_row : first_row + n_rows, start[g] : start[g + 1]]
            table_to_slots(learners.columns, q, g, table, part)
            if place[g] > w:
                to_row = first_rows[place[g]]
                transpose(out, first_row, n_rows, start[g], start[g + 1], to_row, start[q])
        pair = pair + 1 if seat.size == 1 else take_ticket(seat, 0)
    wait_for_all(seat, goal)


@scalar()
def table_to_slots(columns, q, g, table, out):
    """Weights by the bins of two features become weights by their slots."""
    m, ordered = columns.n_values[q], not columns.categorical[q]
    for s in range(out.shape[0]):
        missing = ordered and s == m - 1
        b = m if missing else s
        bins_to_slots(not columns.categorical[g], columns.n_values[g], table[b], out[s])
        if ordered and s > 0 and not missing:
            for j in range(out.shape[1]):
                out[s, j] += out[s - 1, j]


@kernel()
def add_mixed_path(splits, columns, learner, left, right, sets, tables):
    """What each step adds to the bins of its feature; see `mixed_splits.bin_values`."""
    for i in range(learner.shape[0]):
        if learner[i] < 0:
            continue
        g = np.searchsorted(splits.offsets, learner[i], side="right") - 1
        split, m, start = learner[i] - splits.offsets[g], columns.n_values[g], columns.bin_start[g]
        last_left = split - m if split >= m else split
        left_weight = 0.0
        for b in range(columns.n_bins[g]):
            if columns.categorical[g]:
                on_left = sets[i, b // 8] >> (b % 8) & 1 == 1
            else:
                on_left = split >= m if b == m else b <= last_left
            tables[start + b] += left[i] if on_left else right[i]
            left_weight += columns.bin_weight[start + b] if on_left else 0.0
        if columns.n_bins[g] == m:  # nothing was missing
            share = left_weight / splits.total_weight
            tables[start + m] += share * left[i] + (1.0 - share) * right[i]
