"""Rows in pieces: the answers of the pieces are added in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.team import default_n_jobs
from ..learners.stumps.some_rows import take_rows
from .base import (
    CellSums,
    Columns,
    Curvature,
    Facts,
    Falls,
    Models,
    Source,
    Statistics,
    Sums,
    Weights,
    fold_of_rows,
    labels_less,
)
from .cells import Cells
from .in_memory import InMemory, RowsOfFold

Vector = NDArray[np.float64]


class MemoryRows(Source):
    """Rows in memory, of which ``first`` is the number of the first one among all."""

    def __init__(
        self,
        X: Any,
        y: Vector,
        weight: Vector | None = None,
        offset: Vector | None = None,
        first: int = 0,
    ) -> None:
        self.X = X
        self.y = y
        self.weight = weight
        self.offset = offset
        self.first = first

    def cuts(self, classes: bool) -> Facts:
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        rows = self.X, self.y, self.weight, self.offset
        if not classes:  # the smallest and the largest say what a loss asks of labels
            labels = np.array([self.y.min(), self.y.max()]) if len(self.y) else self.y
            return Facts(*rows, labels, np.empty(0))
        labels = np.unique(self.y)
        place = np.searchsorted(labels, self.y)
        return Facts(*rows, labels, np.bincount(place, weight, len(labels)).astype(np.float64))

    def binned(
        self, problem: Any, family: Any, n_folds: int, seed: int, team: Any
    ) -> InMemory | None:
        """None if there are no rows."""
        n = len(self.y)
        if n == 0:
            return None
        shifts = problem.loss.translation_invariant
        y, offset = labels_less(self.y, self.offset, problem.centre, shifts)
        arrays = problem.prepared.arrays_for(self.X, problem.n_jobs)
        every = RowsOfFold(arrays, y, self.weight, offset)
        if n_folds == 1:
            return InMemory(family, [every], problem.loss, team)
        fold = fold_of_rows(self.first, n, n_folds, seed)
        numbers = [np.flatnonzero(fold == k) for k in range(n_folds)]
        folds = [_take(every, rows, n) for rows in numbers]
        return InMemory(family, folds, problem.loss, team, together=every)


def _take(every: RowsOfFold, rows: NDArray[np.int64], n: int) -> RowsOfFold:
    y, weight, offset = (None if part is None else part[rows] for part in every[1:])
    return RowsOfFold(take_rows(every.arrays, rows, n), y, weight, offset)  # type: ignore[arg-type]


class Pieces(Source):
    """Rows in pieces, each a `Source`; the numbers of rows go on from piece to piece."""

    def __init__(self, pieces: Sequence[Source]) -> None:
        self.pieces = pieces

    def cuts(self, classes: bool) -> Facts:
        found = [piece.cuts(classes) for piece in self.pieces]
        return merged_facts(found, classes)

    def binned(self, problem: Any, family: Any, n_folds: int, seed: int, team: Any) -> Statistics:
        found = [piece.binned(problem, family, n_folds, seed, team) for piece in self.pieces]
        return SumOfPieces([one for one in found if one is not None], family.offsets)


def merged_facts(found: Sequence[Facts], classes: bool) -> Facts:
    """The facts of all pieces."""
    parts = [one.X for one in found]
    sparse = any(scipy.sparse.issparse(part) for part in parts)
    X = scipy.sparse.vstack(parts, format="csr") if sparse else np.concatenate(parts)
    weighted = any(one.weight is not None for one in found)
    weights = [np.ones(o.X.shape[0]) if o.weight is None else o.weight for o in found]
    weight = np.concatenate(weights) if weighted else None
    offset = None
    if found[0].offset is not None:
        offset = np.concatenate([one.offset for one in found])
    rows = X, np.concatenate([one.y for one in found]), weight, offset
    labels = np.concatenate([one.labels for one in found])
    if not classes:
        return Facts(*rows, np.array([labels.min(), labels.max()]), np.empty(0))
    labels, place = np.unique(labels, return_inverse=True)
    every = np.concatenate([one.label_weights for one in found])
    return Facts(*rows, labels, np.bincount(place, every, len(labels)).astype(np.float64))


class SumOfPieces(Statistics):
    """Statistics of pieces of the rows, added in the order of the pieces. ``offsets`` tell where
    the Gram rows of each feature begin."""

    def __init__(self, pieces: Sequence[Statistics], offsets: NDArray[np.int64]) -> None:
        self.pieces = pieces
        self.offsets = offsets
        self.sizes = np.sum([piece.sizes for piece in pieces], axis=0).tolist()
        self.weighted = any(piece.weighted for piece in pieces)
        self.makes_all = any(piece.makes_all for piece in pieces)
        self.rows_at_once = sum(piece.rows_at_once for piece in pieces)

    def each(self, weighting: Curvature | None = None) -> Iterable[Statistics]:
        """The pieces, one after the other, to be asked one thing each: sums of the rows' own
        weights, or of their curvature."""
        return self.pieces

    def weights(self, weighting: Curvature | None = None) -> Weights:
        return Weights(*_sum(piece.weights(weighting) for piece in self.each(weighting)))

    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        return Sums(*_sum(piece.sums(models, losses_only) for piece in self.each()))

    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        """Every piece is looked at once, and in it one feature after the other: what is added up
        takes the room of the Gram rows of one."""
        offsets, others = self.offsets, np.asarray(columns, np.int64)
        sizes = [int(offsets[q + 1] - offsets[q]) for q in features]
        first = np.cumsum([0, *sizes])
        known = np.zeros(len(offsets) - 1, bool)
        for k, piece in enumerate(self.each(weighting)):
            known[:] = False
            for q, a, b in zip(features, first[:-1], first[1:], strict=True):
                mine = [out[a:b] for out in outs]
                wanted = others[~known[others]]
                more = mine if k == 0 else [np.empty_like(out) for out in mine]
                piece.gram([q], wanted, weighting, more)
                known[q] = True
                for now in spans(wanted, offsets) if k else ():
                    for out, one in zip(mine, more, strict=True):
                        out[:, now] += one[:, now]
        mirror(features, offsets, outs)

    def cell_weights(self, cells: Cells) -> Vector:
        (found,) = _sum([piece.cell_weights(cells)] for piece in self.each())
        return found

    def tables(self, cells: Cells, models: Models, table: NDArray[np.int64]) -> CellSums:
        return CellSums(*_sum(piece.tables(cells, models, table) for piece in self.each()))

    def falls(
        self, models: Models, fold: Sequence[int], counts: NDArray[np.int64], unit: float
    ) -> Falls:
        return Falls(*_sum(piece.falls(models, fold, counts, unit) for piece in self.each()))


def spans(columns: NDArray[np.int64], offsets: NDArray[np.int64]) -> list[slice]:
    """The Gram columns of some features, as few slices."""
    columns = np.sort(columns)
    parts = np.split(columns, np.flatnonzero(np.diff(columns) != 1) + 1)
    return [slice(int(offsets[p[0]]), int(offsets[p[-1] + 1])) for p in parts if len(p)]


def mirror(features: Sequence[int], offsets: NDArray[np.int64], outs: Any) -> None:
    """Fill in what is known by symmetry of the Gram rows of some features: what they share with
    those before them."""
    first = np.cumsum([0, *(int(offsets[q + 1] - offsets[q]) for q in features)])

    def fill(i: int) -> None:
        q = features[i]
        for g, a in zip(features[:i], first, strict=False):
            for out in outs:
                mirrored = out[a : a + offsets[g + 1] - offsets[g], offsets[q] : offsets[q + 1]]
                out[first[i] : first[i + 1], offsets[g] : offsets[g + 1]] = mirrored.T

    every = range(len(features) - 1, 0, -1)  # the longest first
    if first[-1] < FEW_ROWS:
        for i in every:
            fill(i)
        return
    with ThreadPoolExecutor(default_n_jobs(), "rgboost") as pool:
        list(pool.map(fill, every))


FEW_ROWS = 2048
"""Gram rows that one thread fills in as fast as several."""


TOGETHER = 8
"""Answers that are added one after the other. So are then their sums, and so on: a tree."""


Answer = Sequence[NDArray]


def added(answers: Iterable[Answer]) -> list[NDArray]:
    """The sums of answers, one after the other."""
    return reduce(_add, answers, [])


def _add(total: list[NDArray], answer: Answer) -> list[NDArray]:
    if not total:
        return [np.array(part) for part in answer]
    for part, more in zip(total, answer, strict=True):
        part += more
    return total


def _sum(answers: Iterable[Answer]) -> list[NDArray]:
    """The sums of answers of all parts, in the order of a tree: whoever adds them up in this order
    finds the same bits, be it by many hands."""
    levels: list[list[NDArray]] = []
    counts: list[int] = []

    def put(level: int, answer: Answer) -> None:
        if level == len(levels):
            levels.append([])
            counts.append(0)
        levels[level] = _add(levels[level], answer)
        counts[level] += 1
        if counts[level] == TOGETHER:
            whole, levels[level], counts[level] = levels[level], [], 0
            put(level + 1, whole)

    for answer in answers:
        put(0, answer)
    rest: list[NDArray] = []
    for waiting in levels:
        rest = added([part for part in (waiting, rest) if part])
    return rest
