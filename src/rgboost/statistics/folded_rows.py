"""Rows in bins, ordered by their folds: what those keep who have rows piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.team import Team
from ..data.binning import empty_codes
from ..learners.stumps.stump_statistics import dense_bins
from ..losses import Loss
from .base import Curvature, labels_less
from .in_memory import InMemory, RowsOfFold

Vector = NDArray[np.float64]

CELLS_AT_ONCE = 1 << 22
"""Cells that are put into bins at once."""


class NumberRows(NamedTuple):
    """Rows of numbers (dense), their labels, weights (None: all 1) and offsets (None: all 0)."""

    X: Any
    y: Vector
    weight: Vector | None
    offset: Vector | None


class FoldedRows(NamedTuple):
    """Rows ``starts[f]`` to ``starts[f + 1]`` are those of fold f; ``codes`` are (features, padded
    rows). Weights and offsets are None where there are none."""

    starts: NDArray[np.int64]
    codes: NDArray[np.unsignedinteger]
    y: Vector
    weight: Vector | None
    offset: Vector | None

    def size(self, fold: int) -> int:
        """How many rows a fold has."""
        return self._place(fold + 1) - self._place(fold)

    def _place(self, fold: int) -> int:
        return int(self.starts[min(fold, len(self.starts) - 1)])

    def of_folds(self, arrays: Any, first: int, stop: int) -> RowsOfFold:
        """The rows of some folds; ``arrays`` are weak-learners on other rows."""
        a, b = self._place(first), self._place(stop)
        codes = self.codes
        if (a, b) != (0, len(self.y)):
            codes = empty_codes(len(codes), b - a, codes.dtype.type)
            codes[:, : b - a] = self.codes[:, a:b]
        arrays = arrays._replace(codes=codes, words=codes.view(np.uint64))
        numbers = (None if part is None else part[a:b] for part in self[2:])
        return RowsOfFold(arrays, *numbers)  # type: ignore[arg-type]

    def statistics(
        self, ask: Asked, n_folds: int, weighting: Curvature | None = None
    ) -> InMemory | None:
        """To be asked one thing: of the rows of every fold, or, for sums of the curvature, of those
        that count, which are the first folds. None: no row counts."""
        arrays = ask.arrays
        if weighting is None:
            folds = [self.of_folds(arrays, f, f + 1) for f in range(n_folds)]
        else:
            folds = [self.of_folds(arrays, 0, max(weighting.folds) + 1)]
            if not len(folds[0].y):
                return None
        return InMemory(ask.family, folds, ask.loss, ask.team, as_they_are=True)


class Asked(NamedTuple):
    """What is needed besides rows to ask something of them."""

    arrays: Any
    """Weak-learners, on whatever rows."""
    family: Any
    loss: Loss
    team: Team


@dataclass(frozen=True)
class Binner:
    """Puts rows into the bins of a problem."""

    prepared: Any
    shifts: bool
    centre: float
    n_jobs: int

    @classmethod
    def of(cls, problem: Any) -> Binner:
        shifts = problem.loss.translation_invariant
        return cls(problem.prepared, shifts, problem.centre, problem.n_jobs)

    def without_rows(self) -> Binner:
        """The same without the rows that weak-learners were prepared on; on one thread."""
        arrays = self.prepared.arrays
        codes = empty_codes(len(arrays.codes), 0, arrays.codes.dtype.type)
        arrays = arrays._replace(codes=codes, words=codes.view(np.uint64))
        return replace(self, prepared=replace(self.prepared, arrays=arrays), n_jobs=1)

    def slices(self, piece: NumberRows) -> Iterator[tuple[Any, ...]]:
        """(bins, label, weight, offset) of some rows at a time; bins are (rows, features)."""
        prepared, kind = self.prepared, type(self.prepared.arrays)
        step = max(1, CELLS_AT_ONCE // max(1, piece.X.shape[1]))
        y, offset = labels_less(piece.y, piece.offset, self.centre, self.shifts)
        for lo in range(0, len(y), step):
            now = slice(lo, lo + step)
            arrays = prepared.arrays_for(piece.X[now], self.n_jobs)
            if type(arrays) is not kind:
                raise ValueError("The rows have missing values where they had none when first read")
            others = [None if part is None else part[now] for part in (y, piece.weight, offset)]
            yield (dense_bins(arrays)[:, : len(others[0])].T, *others)  # type: ignore[arg-type]


def folded(parts: Sequence[tuple[Any, ...]], fold: NDArray[np.int64]) -> FoldedRows:
    """Slices of a `Binner`, one after the other, ordered by folds."""
    order = np.argsort(fold, kind="stable")
    codes = empty_codes(parts[0][0].shape[1], len(fold), parts[0][0].dtype)
    at = 0
    for part in parts:  # side by side, before they are ordered row by row
        codes[:, at : at + len(part[1])] = part[0].T
        at += len(part[1])
    for row in codes:
        row[: len(fold)] = row[order]
    numbers = [
        None if one[0] is None else np.concatenate(one)[order]
        for one in list(zip(*parts, strict=True))[1:]
    ]
    starts = np.searchsorted(fold[order], np.arange(int(fold.max()) + 2))
    return FoldedRows(starts, codes, *numbers)  # type: ignore[arg-type]
