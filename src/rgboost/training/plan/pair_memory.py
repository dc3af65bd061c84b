"""How much memory a fit of pairs takes: what grows with the rows, and the tables of pairs.

An upper bound, before anything is binned: of each pair the largest table that there could be.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...learners.pairs.columns import Columns
from .facts import Facts
from .rules import MOST_CATEGORIES

BYTES_OF_PAIR_ROW = 64
"""Of a row in a run: label, weight, score and residual of a class, twice."""
BYTES_OF_FAR_ROW = 256
"""Of a row of a block of rows in pieces: numbers of several models side by side."""
COPIES = 4
"""Of the answers of pieces that are there at once while they are added up."""
BLOCK_CELLS = 1 << 20
"""Cells of pairs that are screened at a time where rows are in pieces: each block takes two passes
over them."""
BYTES_OF_FOUND = 600
"""Of a pair that is screened: the best of its cuts."""
BYTES_OF_JUDGE, BYTES_OF_JUDGED_ROW = 1 << 25, 1 << 11
"""Losses of held-out rows with and without pairs: of a block of them, and of one."""


@dataclass(frozen=True)
class PairMemory:
    """Tables of the screening and of what follows, how many runs there are, and the bytes of rows
    that are copied."""

    facts: Facts
    n_runs: int
    coarse: Tables
    fine: Tables
    copied: int

    @classmethod
    def of(
        cls, facts: Facts, screening_bins: int, max_bins: int, mean: bool, held_out: bool
    ) -> PairMemory:
        """``mean``: there are several runs; ``held_out``: they are one, without some of the
        rows."""
        n_runs = (facts.n_folds or 1) if mean else 1
        copied = facts.input_bytes if held_out else facts.input_bytes // n_runs if mean else 0
        coarse, fine = (Tables(bins_of(facts, bins)) for bins in (screening_bins, max_bins))
        return cls(facts, n_runs, coarse, fine, copied)

    @property
    def rows(self) -> int:
        """Bytes that grow with the rows: their bins, a byte each, of all rows and of every run, and
        what a run keeps of a row."""
        facts = self.facts
        if facts.in_pieces:
            at_once = BYTES_OF_FAR_ROW + 2 * facts.features
            row = facts.features * (1 + self.n_runs) + 8 * (facts.loss.outputs + 2) * self.n_runs
            return facts.rows_at_once * at_once + facts.rows_shown * row
        row = facts.features * (1 + self.n_runs)
        row += BYTES_OF_PAIR_ROW * facts.loss.outputs * self.n_runs
        judge = min(BYTES_OF_JUDGE, facts.rows * BYTES_OF_JUDGED_ROW)
        return facts.rows * row + self.copied + judge

    @property
    def cell(self) -> int:
        """Bytes of a cell: its weight in every run; then its weight and the values of all runs as
        they are boosted, without idle cuts, purified, and in the order of their strength. Where
        rows are in pieces, sums of residuals and of curvatures, of the rows of every run and of
        those that are held out, which are added up piece by piece."""
        if self.facts.in_pieces:
            outputs = self.facts.loss.outputs
            return 8 * self.n_runs * (2 * COPIES * (outputs + 1) + 3 * outputs + 5)
        return 8 * max(self.n_runs + 1, 4 * (self.n_runs * self.facts.loss.outputs + 1))

    def of_candidates(self, n: int) -> int:
        """Bytes of a fit with n candidates."""
        return self.rows + self.cell * (int(self.fine.sizes.sum()) + self.fine.largest(n))

    def of_list(self, pairs: Columns) -> int:
        """Bytes of a fit with these pairs."""
        sizes = self.fine.sizes
        cells = int((sizes[pairs[:, 0]] * sizes[pairs[:, 1]]).sum())
        return self.rows + self.cell * (int(sizes.sum()) + cells)

    def of_screening(self, n: int) -> int:
        """Bytes of the screening of n pairs."""
        facts = self.facts
        found = (BYTES_OF_FOUND + 64 * facts.loss.outputs) * n
        if facts.in_pieces:
            cells = min(BLOCK_CELLS, self.coarse.largest(n))
            return self.rows + found + 8 * COPIES * (facts.loss.outputs + 1 + self.n_runs) * cells
        row = facts.features + BYTES_OF_PAIR_ROW // 2 * facts.loss.outputs
        return facts.rows * row + found + 8 * self.coarse.largest(n)

    def of_answer(self, candidates: int, screened: int) -> int:
        """Bytes of what rows in pieces answer, of each piece: sums in the cells of candidates, of
        the rows of every run and of those that are held out; or in those of pairs that are screened
        at a time, once, or weights of the rows of every run."""
        numbers = self.facts.loss.outputs + (not self.facts.loss.quadratic)
        fine = int(self.fine.sizes.sum()) + self.fine.largest(candidates)
        coarse = min(BLOCK_CELLS, self.coarse.largest(screened))
        return 8 * max(2 * self.n_runs * numbers * fine, max(numbers, self.n_runs) * coarse)

    def most_candidates(self, wished: int) -> int:
        """So many candidates as are wished for, or as fit into the memory that a fit may add."""
        return bisect_right(range(1, wished + 1), self.facts.memory, key=self.of_candidates)

    def most_screened(self, wished: int) -> int:
        """The same of pairs that are screened."""
        return bisect_right(range(1, wished + 1), self.facts.memory, key=self.of_screening)


def bins_of(facts: Facts, max_bins: int) -> NDArray[np.int64]:
    """Bins of every feature, that of missing values included."""
    n_cuts, _ = facts.values.cuts(max_bins, 0.0)
    levels = facts.values.levels(0, MOST_CATEGORIES)
    return np.where(facts.categorical, levels, n_cuts + 1).astype(np.int64) + 1


class Tables:
    """Tables of two features of these sizes, one for every two of them."""

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        size, count = np.unique(sizes, return_counts=True)
        i, j = np.triu_indices(len(size))
        tables = np.where(i == j, count[i] * (count[i] - 1) // 2, count[i] * count[j])
        cells = size[i] * size[j]
        order = np.argsort(-cells)
        self.sizes, self.cells, self.tables = sizes, cells[order], tables[order]
        self.before = np.cumsum(self.tables) - self.tables

    def largest(self, n: int) -> int:
        """Cells of the n largest tables."""
        return int(np.clip(n - self.before, 0, self.tables) @ self.cells)
