"""The contract of statistics: sums over rows, wherever the rows live.

Engines that work on statistics never touch a row: they ask a `Statistics` for sums. Rows in memory
are one way to fill the contract; files that are read in pieces, a cluster or a graphics card are
others, and nothing else in the house knows which.

- Calls have no memory: an answer depends on the arguments and the rows alone, so that a call that
  failed can be made again.
- A `Source` knows rows before they are in bins (`cuts`); then there are `Statistics` of them.
- Rows belong to folds, and answers have a leading axis of folds: the sums of the rows of a run
  without a fold are those of all other folds. Validation rows are a fold that nobody is fitted to.
- Whatever is merged is a sum. Answers of pieces of the rows are added in the order of the pieces
  (`Pieces`): they depend on the pieces, not on who computed them or when.

A model is handed over as ``tables``: what it adds to the start in every bin of every feature, in
the order of `rgboost.learners`' bins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import Counted
from .cells import Cells, CellTables

Vector = NDArray[np.float64]
Columns = Sequence[int] | NDArray[np.int64]


class Models(NamedTuple):
    """Models to look at: where each of them starts from (a number for each class, if there are
    several), and its tables; those that have pairs of features add ``pairs`` to that."""

    start: Vector
    tables: Vector
    pairs: CellTables | None = None


class Weights(NamedTuple):
    """``left[f, j]``: the weight of the rows of fold f in slot j (left of split j). ``total[f]``:
    of all of its rows."""

    left: Vector
    total: Vector


class Sums(NamedTuple):
    """At model m, of the rows of fold f: ``left[f, m, j]`` the sum of weighted residuals in slot j,
    ``total[f, m]`` over all rows, ``loss[f, m]`` the sum of weighted losses. ``curvature[f, m]``
    and ``square[f, m]`` are sums of weighted curvatures and of squared weighted residuals; only
    those of the last model are asked for. With several classes there is an axis of classes after
    that of models in ``left`` and ``total``."""

    left: Vector
    total: Vector
    loss: Vector
    curvature: Vector
    square: Vector


class CellSums(NamedTuple):
    """Sums in the cells of pairs: ``residual[t]`` of weighted residuals in table t, with an axis of
    several classes before that of cells, and ``curvature[t]`` of weighted curvatures (empty if the
    loss is quadratic: its curvature is 1). ``loss[f, m]`` and ``square[f, m]`` are sums of weighted
    losses and of weighted squares of residuals, of the rows and models that count in some table."""

    residual: Vector
    curvature: Vector
    loss: Vector
    square: Vector


class Falls(NamedTuple):
    """What pairs take off the loss of rows of the weight ``weight[m]``: ``loss[m]`` is the sum of
    their weighted losses at model m without its pairs, ``fall[m, i]`` the sum of their weighted
    falls by the first so many of its columns, and ``square[m, i]`` that of their squares; losses
    are in a unit that was asked for."""

    weight: Vector
    loss: Vector
    fall: Vector
    square: Vector


class Curvature(NamedTuple):
    """Weights of the rows: the curvature of the loss at a model, in whole units, so that sums are
    exact. ``least`` is the least curvature of a row; rows of ``folds`` count; sums have to fit into
    ``dtype``."""

    start: Any
    tables: Vector
    unit: float
    least: float
    folds: tuple[int, ...]
    dtype: Any


class Facts(NamedTuple):
    """What is known of all rows before they are in bins: rows to choose thresholds and levels by,
    with their labels, weights (None: all 1) and offsets (None: all 0); the labels that there are
    (the smallest and the largest, or every class) and, of every class, the weight of its rows.
    ``counted`` is what was counted of all rows if these are a sample of them, with the numbers
    ``places`` among all; None: they are all."""

    X: Any
    y: Vector
    weight: Vector | None
    offset: Vector | None
    labels: Vector
    label_weights: Vector
    counted: Counted | None = None
    places: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return len(self.y) if self.counted is None else self.counted.n_rows


class Source(ABC):
    """Rows, wherever they live, before they are in bins."""

    has_held: bool = False
    """Whether there are validation rows: a second fold, which nobody is fitted to."""
    curves: Models | None = None
    """Models of curves that runs go on from with pairs; None: they begin with nothing."""
    share: float = 0.0
    """Of the rows, that is held out by chance."""
    has_codes: bool = False
    """Whether the direct engine can work on the rows, where they are: `direct_runs`."""

    @abstractmethod
    def cuts(self, classes: bool) -> Facts:
        """What thresholds, levels, and the start of a model follow from; ``classes``: whether
        labels are classes."""

    @abstractmethod
    def binned(
        self, problem: Any, family: Any, n_folds: int, seed: int, team: Any
    ) -> Statistics | None:
        """The statistics of the rows in the bins of a problem's weak-learners; None if there are no
        rows. The fold of a row follows from the seed and its number among all rows
        (`fold_of_rows`). Labels are those of `labels_less`."""

    def direct_runs(self, problem: Any) -> Any:
        """Runs of the direct engine (`rgboost.engines.base.Runs`) on the rows, where they are."""
        raise NotImplementedError(f"{type(self).__name__} gives sums only")

    def folds(self, places: NDArray[np.int64], n_folds: int, seed: int) -> NDArray[np.int64]:
        """The folds of the rows with these numbers among all; or 1 for those that are held out."""
        if n_folds > 1 or not self.share:
            return fold_of(places, n_folds, seed)
        return (fold_of(places, MANY, seed) < self.share * MANY).astype(np.int64)


MANY = 1 << 20
"""Shares of rows are counted in so many parts."""


def labels_less(
    y: Vector, offset: Vector | None, centre: float, shifts: bool
) -> tuple[Vector, Vector | None]:
    """Labels and offsets as engines on statistics see them: labels less ``centre``, and, where an
    offset shifts labels, less the offset."""
    if shifts and offset is not None:
        y, offset = y - offset, None
    return (y - centre if centre else y), offset


def fold_of_rows(first: int, n_rows: int, n_folds: int, seed: int) -> NDArray[np.int64]:
    """The folds of the rows ``first``, ``first + 1``, ...: whoever has them finds the same."""
    return fold_of(np.arange(first, first + n_rows), n_folds, seed)


def fold_of(places: NDArray[np.int64], n_folds: int, seed: int) -> NDArray[np.int64]:
    """The folds of the rows with these numbers among all."""
    mixed = (places.astype(np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return (mixed % np.uint64(n_folds)).astype(np.int64)


class Statistics(ABC):
    """What engines ask of rows."""

    sizes: list[int]
    """How many rows each fold has."""
    weighted: bool
    """Whether rows have weights that are not all 1; otherwise sums of weights are counts."""
    rows_at_once: int
    """How many rows are in memory at once."""
    makes_all: bool = False
    """Whether Gram rows of all features are made at once, whatever is asked for."""
    far: bool = False
    """Whether every call reads the rows from somewhere: ask for all that may be needed."""

    @property
    def n_folds(self) -> int:
        return len(self.sizes)

    @abstractmethod
    def weights(self, weighting: Curvature | None = None) -> Weights:
        """Sums of weights: the rows' own, or their curvature."""

    @abstractmethod
    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        """Sums of residuals and losses at each of some models; ``losses_only``: without those in
        slots."""

    @abstractmethod
    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        """Rows of Gram matrices: the weight of the rows that are in slot u of one of the features
        and in slot j of one of the columns, which include the features.

        Of the rows' own weights there is a matrix for each fold in ``outs``, and after them, if
        there is room for it, one of all folds; of the curvature there is one, of the folds that
        count. What is not asked for is left alone: the matrices are symmetric, and the caller may
        know it already.
        """

    @abstractmethod
    def cell_weights(self, cells: Cells) -> Vector:
        """The weight of the rows of each fold in the cells of pairs, (folds, cells)."""

    @abstractmethod
    def tables(self, cells: Cells, models: Models, table: NDArray[np.int64]) -> CellSums:
        """Sums in the cells of pairs. The rows of fold f at model m count in the table number
        ``table[f, m]``; if that is -1, in none."""

    @abstractmethod
    def falls(
        self, models: Models, fold: Sequence[int], counts: NDArray[np.int64], unit: float
    ) -> Falls:
        """What the first ``counts[i]`` of the columns of ``models.pairs`` take off the loss of the
        rows of fold ``fold[m]`` at model m, in units of ``unit``: squares of very large and very
        small losses exist, too."""


class RowsInBins(NamedTuple):
    """The rows of a source, once they are in bins: sums over them, what the source says, and the
    folds of the rows that it shows."""

    statistics: Statistics
    facts: Facts
    fold: NDArray[np.int64]
