"""The first pass over rows that are read piece by piece: all that there is to know before bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.chunks import Chunks, Piece
from ...data.chunks.sample import Drawn, RowSample
from ...data.cuts import columns_with_missing
from ...data.input import InputSchema
from ...data.mixed_bins import Counted
from ...statistics.base import Facts
from ..held_out import TrainingRows
from ..rows import check_finite, check_weight
from .columns import ColumnReader
from .given import dense_pieces, errors_name
from .labels import Labels, as_column
from .tally import Tally

Vector = NDArray[np.float64]


@dataclass
class Survey:
    """What the first pass found. ``sample`` are some rows, with labels that losses take."""

    labels: Labels
    facts: Facts
    sample: TrainingRows
    tally: Tally
    plain: NDArray[np.int64]
    """Features whose numbers are those of the input, not of labels."""


class Surveyor:
    """Reads pieces for the first time."""

    def __init__(
        self,
        estimator: Any,
        labels: Labels,
        sample_rows: Callable[[int], int],
        sample: RowSample,
    ) -> None:
        """``sample_rows``: how many rows to sample, by the number of features."""
        self.estimator = estimator
        self.labels = labels
        self.columns = ColumnReader(estimator.categorical_features)
        self.sample_rows = sample_rows
        self.sample = sample
        self.tally = Tally()
        self.numbers = ReadNumbers()
        self.missing = np.zeros(0)
        self.total = 0.0

    def go(self, chunks: Chunks) -> Survey:
        """Read all pieces."""
        done = 0
        for k, piece in dense_pieces(chunks):
            with errors_name(f"piece {k}"):
                self.add(piece)
            done += piece.n_bytes
            chunks.watch("sample, categories and labels", done, chunks.n_bytes)
        if self.sample.n_seen == 0:
            raise ValueError(
                "Chunks has no rows with a weight; check the files, or the function that makes "
                "pieces."
            )
        return self.found()

    def add(self, piece: Piece) -> None:
        """Read a piece, which has rows."""
        X = self.columns.read(piece.X)
        if not len(self.missing):
            self._begin(X.shape[1])
        check_finite(self.estimator, X, "X")
        y, of_class = self.labels.first(as_column(piece.y, len(X)))
        weight, offset = self.numbers.read(piece, len(X))
        self.tally.add(X, self.columns.plain, y if self.labels.settled_at_once else None)
        weight = times(weight, of_class)
        X, y, weight, offset = present(X, y, weight, offset)
        self.labels.count(y, weight)
        self.columns.count(X, weight)
        for g in np.flatnonzero(columns_with_missing(X)):
            there = np.isnan(X[:, g])
            self.missing[g] += there.sum() if weight is None else weight[there].sum()
        self.total += float(len(y) if weight is None else weight.sum())
        self.sample.add(Drawn(X, y, weight, offset))

    def merge(self, other: Surveyor) -> None:
        """Add what was read of the pieces that come next, elsewhere. Their tally stays theirs."""
        if not len(other.missing):  # there are none
            return
        if not len(self.missing):
            self._begin(other.columns.n_features)
        X, y = self.columns.merge(other.columns), self.labels.merge(other.labels)
        self.numbers.compare(other.numbers.has)
        self.missing += other.missing
        self.total += other.total
        self.sample.merge(other.sample, X, y)

    def _begin(self, n_features: int) -> None:
        """The first piece with rows says how many features there are."""
        self.missing = np.zeros(n_features)
        self.sample.size = self.sample_rows(n_features)
        self.estimator.input_ = InputSchema(self.columns.names, self.columns.categorical, {})

    def found(self) -> Survey:
        """What all pieces have, of which there is a row."""
        self.labels.finish()
        estimator, columns = self.estimator, self.columns
        estimator.input_ = columns.schema()
        estimator.n_features_in_ = columns.n_features
        if columns.names is not None:
            estimator.feature_names_in_ = columns.names
        n_rows = self.sample.n_seen
        self.tally.class_rows = self.labels.rows
        drawn = self.sample.rows()
        X, y = columns.renumbered(drawn.X), self.labels.settled(drawn.y)
        counted = Counted(n_rows, self.total, self.missing, columns.weights())
        rest = drawn.weight, drawn.offset
        facts = Facts(X, y, *rest, *self.labels.facts, counted, drawn.places)
        sample = TrainingRows(X, y, drawn.weight, offset=drawn.offset)
        return Survey(self.labels, facts, sample, self.tally, columns.plain)


class ReadNumbers:
    """Weights and offsets of pieces: all have them, or none."""

    def __init__(self) -> None:
        self.has: tuple[Any, Any] | None = None

    def read(self, piece: Piece, n_rows: int) -> tuple[Vector | None, Vector | None]:
        """(weight, offset) of a piece."""
        weight = check_weight(piece.weight, n_rows, "weight", some=False)
        offset = None if piece.offset is None else np.asarray(piece.offset, np.float64)
        if offset is not None and (len(offset) != n_rows or not np.isfinite(offset).all()):
            raise ValueError("offset must have a finite number for each row.")
        if offset is not None and offset.ndim == 2:  # as the scores of a row do, they sum to 0
            offset = offset - offset.mean(axis=1, keepdims=True)
        self.compare((None if weight is None else (), None if offset is None else offset.shape[1:]))
        return weight, offset

    def compare(self, has: tuple[Any, Any] | None) -> None:
        """Raise if other pieces have others."""
        self.has = has if self.has is None else self.has
        if has is None or self.has is None:
            return
        for name, now, before in zip(("weight", "offset"), has, self.has, strict=True):
            if now != before:
                raise ValueError(
                    f"its {name} is of another shape than in the pieces before it, or only one of "
                    "them has any; all pieces need the same."
                )


def times(weight: Vector | None, factor: Vector | None) -> Vector | None:
    """Weights of rows times those of their classes."""
    if weight is None or factor is None:
        return factor if weight is None else weight
    return weight * factor


def present(
    X: Any, y: Vector, weight: Vector | None, offset: Vector | None
) -> tuple[Any, Vector, Vector | None, Vector | None]:
    """The rows that have a weight."""
    if weight is None or (weight > 0).all():
        return X, y, weight, offset
    kept = weight > 0
    return X[kept], y[kept], weight[kept], None if offset is None else offset[kept]
