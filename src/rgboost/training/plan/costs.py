"""What the engines would cost, and what keeps them from a fit: from facts, before rows are binned.

Nanoseconds, measured on one core of a 2023 server and meant to be right within a factor of two:

- direct, an iteration: `CELL` for each entry of the data that the search reads, `ROW` a row. Of
  the mean of several runs on few rows, `FEW_CELL` for each entry and `ROW` or `CURVED_ROW` a row;
- gram, an iteration: `SPLIT` for each of the K sums (update) and each split in J (search). A sum
  is that of a split, or of a bin of categories, where an update adds up a row for each member of a
  set;
- gram, a feature that is chosen for the first time: `PAIR` for each entry of the data, and
  `CUMULATE` for each entry of its Gram rows. No more features than iterations are ever chosen.
  Where Gram rows are made row by row: `PAIR` for each pair of entries of a row.

Threads divide everything alike and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...selection import Layout, SelectionRule
from ...statistics.memory import STORED_SHARE
from ...statistics.whole_gram import MOST_BINS_IN_ALL
from .facts import Facts

CELL, ROW, SPLIT, PAIR, CUMULATE = 0.45, 1.0, 0.5, 0.8, 1.0
FEW_CELL, CURVED_ROW = 0.07, 2.0

TYPICAL_ITERATIONS = 2000
"""How many iterations are expected of a run that ends by itself, if it may do more."""

FRUGAL_TIMES, FRUGAL_BYTES = 10, 200_000_000
"""A fit that ends by itself adds at most so many times its input, or so many bytes if that is more:
to do with less it chooses among ways that predict alike."""

BYTES_OF_CELL, BYTES_OF_ENTRY, BYTES_OF_ROW = 6, 16, 450
"""Bytes that a fit takes beside Gram rows, for each cell of a dense matrix (bins, those by folds,
and those that Gram rows are being made of), each stored entry of a sparse one, and each row
(labels, scores, residuals of several runs). Measured by `benchmarks.memory`: what was freed and not
yet given back is in them."""

FEWEST_BINS = 32
"""Where memory is short there are fewer bins, but not fewer than that."""


def gram_budget(facts: Facts, *, frugal: bool) -> int:
    """Bytes for Gram rows: what the budget of a fit leaves."""
    budget = facts.memory
    if frugal:
        budget = min(budget, max(FRUGAL_BYTES, FRUGAL_TIMES * facts.input_bytes))
    cell = BYTES_OF_ENTRY if facts.sparse else BYTES_OF_CELL
    at_once = facts.rows_at_once
    stored = facts.stored * at_once // max(1, facts.rows)
    return max(0, budget - cell * stored - BYTES_OF_ROW * at_once)


def gram_bytes_of(n_rows: int, weighted: bool) -> int:
    """Bytes of a Gram entry: counts of rows are exact as integers."""
    if weighted or n_rows > np.iinfo(np.uint32).max:
        return 8
    return 2 if n_rows <= np.iinfo(np.uint16).max else 4


@dataclass(frozen=True)
class Bins:
    """How a number of bins is chosen, and what is left out."""

    max_bins: int | None
    least: float = 0.0
    min_frequency: int = 1
    max_categories: int | None = None

    @classmethod
    def of(cls, learner: Any) -> Bins:
        """Those of a family of weak-learners; of others than stumps there are none."""
        if not learner.by_statistics:
            return cls(None)
        least = learner.min_weight_fraction_leaf
        return cls(learner.max_bins, least, learner.min_frequency, learner.max_categories)


@dataclass(frozen=True)
class Work:
    """What an engine would have to do in one run, by estimated numbers of splits."""

    rows: int
    entries: float
    """Entries that a look at all features reads."""
    layout: Layout
    sums: NDArray[np.int64]
    """Sums that statistics keep of each feature."""
    rows_per_step: float
    """Gram rows that a step adds up, on average over the features."""
    stored: float
    """Entries outside the heaviest bins."""
    most_bins: int
    selection: SelectionRule

    @classmethod
    def of(cls, facts: Facts, bins: Bins, selection: SelectionRule, groups: Any = None) -> Work:
        values, categorical, missing = facts.values, facts.categorical, facts.missing
        cuts, heaviest = values.cuts(bins.max_bins, bins.least)
        share = values.n_rows / max(1, facts.rows)
        least = (bins.min_frequency - 0.5) * share if bins.min_frequency > 1 else 0.0
        levels = values.levels(least, bins.max_categories) if categorical.any() else cuts
        learners = np.where(
            categorical,
            np.maximum(0, levels + missing - 1),
            np.where(missing, np.where(values.distinct > 0, 2 * cuts + 1, 0), cuts),
        )
        n_values = np.where(categorical, levels, cuts + 1)
        sums = np.where(learners > 0, n_values - ~categorical + missing, 0)
        offsets = np.concatenate([[0], np.cumsum(learners)]).astype(np.int64)
        members = learners > 0
        steps = np.maximum(1.0, np.where(categorical, levels + missing, 0)[members] / 4)
        sparse, n_rows = facts.sparse, facts.rows
        return cls(
            rows=n_rows,
            entries=float(facts.stored + facts.features * sparse),
            layout=Layout.make(offsets, groups, facts.names),
            sums=sums,
            rows_per_step=float(steps.mean()) if facts.mixed and members.any() else 1.0,
            stored=float(facts.stored if sparse else n_rows * np.sum(1.0 - heaviest)),
            most_bins=int(n_values.max(initial=0)),
            selection=selection,
        )

    @property
    def n_sums(self) -> int:
        return int(self.sums.sum())

    @property
    def n_features(self) -> int:
        """Features that have a split."""
        return len(self.layout.members)

    def size(self) -> tuple[int, int]:
        """How many of how many items a draw takes."""
        try:
            return self.selection.size(self.layout)
        except (TypeError, ValueError):  # so it may be with the bins that the rows will have
            return 1, 1

    def direct_seconds(self, n_iter: int) -> float:
        """The expected time of the iterations on the rows."""
        size, of = self.size()
        if self.selection.by_learner:
            size, of = min(size, self.n_features), self.n_features
        per_iteration = CELL * self.entries * size / max(1, of) + ROW * self.rows
        return 1e-9 * n_iter * per_iteration

    def few_rows_seconds(self, n_iter: int, curved: bool, n_runs: int) -> float:
        """The expected time of iterations on few rows, of the mean of several runs."""
        row = CURVED_ROW if curved else ROW
        return 1e-9 * n_iter * n_runs * self.rows * (FEW_CELL * self.size()[0] + row)

    def gram_seconds(self, n_iter: int, mixed: bool = False, n_runs: int = 1) -> float:
        """The expected time of the iterations on statistics, the making of Gram rows included,
        which several runs share."""
        size, of = self.size()
        chosen = min(self.n_features, n_iter)
        searched = self.layout.n_learners * size / max(1, of)
        per_iteration = SPLIT * (self.n_sums * self.rows_per_step + searched)
        making = CUMULATE * self.n_sums**2 / max(1, self.n_features) * chosen
        return 1e-9 * (n_runs * n_iter * per_iteration + making + self._pairs(chosen, mixed))

    def _pairs(self, n_features: int, mixed: bool) -> float:
        """Nanoseconds to read the rows for the Gram rows of so many features."""
        n_columns = len(self.sums)
        few = self.stored <= STORED_SHARE * self.rows * n_columns
        if few and not mixed and self.layout.n_learners + n_columns <= MOST_BINS_IN_ALL:
            return PAIR * self.stored**2 / (2 * max(1, self.rows))
        return PAIR * self.entries * n_features

    def gram_bytes(self, n_iter: int, per_entry: int) -> float:
        """The memory of the Gram rows of all features that can be chosen."""
        rows = float(np.sort(self.sums)[::-1][:n_iter].sum())
        return rows * self.n_sums * per_entry

    def bins_that_fit(self, memory: int, per_entry: int) -> int | None:
        """So few bins that Gram rows fit; None if too few would."""
        most = (memory // per_entry) ** 0.5
        for n_bins in range(int(self.sums.max(initial=0)), FEWEST_BINS, -1):
            if np.minimum(self.sums, n_bins - 1).sum() <= most:
                return n_bins
        return None
