"""Rows in pieces: the answers of the pieces are added in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..learners.stumps.some_rows import take_rows
from .base import (
    Columns,
    Curvature,
    Facts,
    Models,
    Source,
    Statistics,
    Sums,
    Weights,
    fold_of_rows,
)
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
        labels, place = np.unique(self.y, return_inverse=True)
        weights = np.bincount(place, weight, len(labels)).astype(np.float64)
        if not classes:  # the smallest and the largest say what a loss asks of labels
            total = np.array([weights.sum(), float(weight @ self.y)])
            labels, weights = (labels[[0, -1]] if len(labels) else labels), total
        return Facts(self.X, self.weight, labels, weights)

    def binned(
        self, problem: Any, family: Any, n_folds: int, seed: int, team: Any
    ) -> InMemory | None:
        """None if there are no rows."""
        n = len(self.y)
        if n == 0:
            return None
        every = RowsOfFold(
            problem.prepared.arrays_for(self.X, problem.n_jobs), self.y, self.weight, self.offset
        )
        if n_folds == 1:
            return InMemory(family, [every], problem.loss, team)
        fold = fold_of_rows(self.first, n, n_folds, seed)
        numbers = [np.flatnonzero(fold == k) for k in range(n_folds)]
        folds = [RowsOfFold(take_rows(every.arrays, n_k, n), *self._take(n_k)) for n_k in numbers]
        return InMemory(family, folds, problem.loss, team, together=every)

    def _take(self, rows: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        return tuple(None if part is None else part[rows] for part in self._parts)  # type: ignore[return-value]

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        return self.y, self.weight, self.offset


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
    if not classes:
        labels = np.concatenate([one.labels for one in found])
        total = _add([one.label_weights for one in found])
        return Facts(X, weight, np.array([labels.min(), labels.max()]), total)
    labels, place = np.unique(np.concatenate([o.labels for o in found]), return_inverse=True)
    every = np.concatenate([one.label_weights for one in found])
    return Facts(X, weight, labels, np.bincount(place, every, len(labels)).astype(np.float64))


class SumOfPieces(Statistics):
    """Statistics of pieces of the rows, added in the order of the pieces. ``offsets`` tell where
    the Gram rows of each feature begin."""

    def __init__(self, pieces: Sequence[Statistics], offsets: NDArray[np.int64]) -> None:
        self.pieces = pieces
        self.offsets = offsets
        self.sizes = np.sum([piece.sizes for piece in pieces], axis=0).tolist()
        self.weighted = any(piece.weighted for piece in pieces)
        self.makes_all = any(piece.makes_all for piece in pieces)

    def ask(self, piece: Statistics, call: str, *args: Any) -> Any:
        """One call to one piece."""
        return getattr(piece, call)(*args)

    def weights(self, weighting: Curvature | None = None) -> Weights:
        found = [self.ask(piece, "weights", weighting) for piece in self.pieces]
        return Weights(*(_add(parts) for parts in zip(*found, strict=True)))

    def sums(self, models: Models, losses_only: bool = False) -> Sums:
        found = [self.ask(piece, "sums", models, losses_only) for piece in self.pieces]
        return Sums(*(_add(parts) for parts in zip(*found, strict=True)))

    def gram(
        self, features: Sequence[int], columns: Columns, weighting: Curvature | None, outs: Any
    ) -> None:
        first, *others = self.pieces
        self.ask(first, "gram", features, columns, weighting, outs)
        for piece in others:
            more = [np.empty_like(out) for out in outs]
            self.ask(piece, "gram", features, columns, weighting, more)
            for g in columns:
                now = slice(self.offsets[g], self.offsets[g + 1])
                for out, one in zip(outs, more, strict=True):
                    out[:, now] += one[:, now]

    def tables(self, pairs: Sequence[tuple[int, int]], models: Models) -> tuple[Any, Any]:
        found = [self.ask(piece, "tables", pairs, models) for piece in self.pieces]
        sums, weights = zip(*found, strict=True)
        return _add_each(sums), _add_each(weights)


def _add(parts: Sequence[NDArray]) -> NDArray:
    """Their sum, in their order."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _add_each(parts: Sequence[Sequence[NDArray]]) -> list[NDArray]:
    return [_add(one) for one in zip(*parts, strict=True)]
