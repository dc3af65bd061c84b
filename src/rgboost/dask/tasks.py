"""What runs on the workers: plain functions of a partition, or of the answers of several.

What they are given by position are partitions, and what other tasks came to; by name, constants.
Nothing of it is changed: Dask may hand it to several tasks, or keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.team import Team
from ..data.chunks import Piece
from ..data.chunks.sample import RowSample
from ..estimators.chunked.given import dense_parts, errors_name
from ..estimators.chunked.labels import Labels
from ..estimators.chunked.rows import HeldFacts, HeldReader, held_facts, read_piece
from ..estimators.chunked.survey import Surveyor, present
from ..estimators.chunked.tally import Tally
from ..statistics.base import MANY, Curvature, fold_of_rows
from ..statistics.folded_rows import Asked, Binner, FoldedRows, NumberRows, folded
from ..statistics.in_memory import InMemory
from ..statistics.pieces import added, spans
from ..training.plan.rules import sample_size

Answer = list[NDArray]


class Place(NamedTuple):
    """Where a partition is: its number and name, and that of its first row among all."""

    k: int
    first: int
    bar: int = 2**64 - 1
    """See `RowSample`."""
    held: bool = False
    """Whether these are validation rows."""

    @property
    def name(self) -> str:
        return f"partition {self.k}" + " of X_val" * self.held


class Seen(NamedTuple):
    """By what rows that are computed again are known: a digest, the features that are in it, and
    the rows of each class."""

    tally: Tally
    plain: NDArray[np.int64]
    class_rows: list[int]

    def same_rows(self, now: Seen) -> bool:
        same = self.tally.n_rows == now.tally.n_rows and self.class_rows == now.class_rows
        return same and bool((self.tally.digest == now.tally.digest).all())


class Reader(NamedTuple):
    """What turns rows into numbers, once all columns and classes are known."""

    estimator: Any
    labels: Labels


class Shares(NamedTuple):
    """How rows are shared out among folds."""

    n_folds: int
    seed: int
    held_share: float

    def of(self, place: Place, n_rows: int) -> NDArray[np.int64]:
        """The folds of the rows of a partition."""
        if place.held:
            return np.ones(n_rows, np.int64)
        if self.n_folds > 1 or not self.held_share:
            return fold_of_rows(place.first, n_rows, self.n_folds, self.seed)
        parts = fold_of_rows(place.first, n_rows, MANY, self.seed)
        return (parts < self.held_share * MANY).astype(np.int64)


def count_rows(rows: Any, weight: Any = None) -> int:
    """How many rows there are with a weight; ``rows`` may be their labels."""
    if weight is None:
        return len(rows)
    return int((np.asarray(weight, np.float64) > 0).sum())


class Surveyed(NamedTuple):
    """What the first pass found in partitions ``first`` to ``last``."""

    found: Surveyor
    first: int
    last: int

    @property
    def name(self) -> str:
        several = f"partitions {self.first} to {self.last}"
        return several if self.last > self.first else f"partition {self.first}"


def survey(
    X: Any, y: Any, weight: Any, offset: Any, *, estimator: Any, labels: Labels, seed: int,
    place: Place,
) -> Surveyed:  # fmt: skip
    """The first pass over a partition."""
    size, sample = partial(sample_size, given=None), RowSample(0, seed, place.first, place.bar)
    found = Surveyor(deepcopy(estimator), deepcopy(labels), size, sample)
    for piece in dense_parts(Piece(X, y, weight, offset), place.name):
        with errors_name(place.name):
            found.add(piece)
    return Surveyed(found, place.k, place.k)


def seen(one: Surveyed) -> Seen:
    """By what the rows of a partition are known."""
    found = one.found
    rows = found.labels.rows
    return Seen(found.tally, found.columns.plain, sorted(rows[rows > 0].tolist()))


def merged_surveys(*parts: Surveyed) -> Surveyed:
    """One survey of partitions that follow each other."""
    merged = deepcopy(parts[0].found)
    for part in parts[1:]:
        with errors_name(part.name):
            merged.merge(part.found)
    return Surveyed(merged, parts[0].first, parts[-1].last)


def look_at_held(
    X: Any, y: Any, weight: Any, offset: Any, reader: HeldReader, *, place: Place
) -> list[HeldFacts]:
    """A first look at validation rows."""
    with errors_name(place.name):
        pieces = dense_parts(Piece(X, y, weight, offset), "")
        return [held_facts(reader.read(piece)) for piece in pieces]


def put_into_bins(
    X: Any, y: Any, weight: Any, offset: Any, reader: Reader, binner: Binner, *, shares: Shares,
    before: Seen | None, place: Place,
) -> FoldedRows:  # fmt: skip
    """The rows of a partition in bins, ordered by folds: what stays on the worker. ``before`` is
    what they were known by when they were read first."""
    estimator, labels = reader
    parts: list[tuple[Any, ...]] = []
    tally, class_rows = Tally(), np.zeros_like(labels.rows)
    for piece in dense_parts(Piece(X, y, weight, offset), place.name):
        with errors_name(place.name):
            numbers = read_piece(estimator, piece, labels)
            if before is not None:
                told = numbers[1] if labels.settled_at_once else None
                tally.add(numbers[0], before.plain, told)
            rows = NumberRows(*present(*numbers))
            class_rows += labels.class_rows(rows.y)
            parts += binner.slices(rows)
    now = Seen(tally, np.empty(0, np.int64), sorted(class_rows[class_rows > 0].tolist()))
    if before is not None and not before.same_rows(now):
        raise ValueError(
            f"{place.name} has other rows now than when it was computed first: its tasks must give "
            "the same rows each time (with a seed, if they draw them), and files must not change; "
            "or persist the collection."
        )
    return folded(parts, shares.of(place, sum(len(part[1]) for part in parts)))


def sizes(rows: FoldedRows, *, n_folds: int) -> Answer:
    """The rows of each fold, and whether they have weights."""
    of_folds = [rows.size(f) for f in range(n_folds)]
    return [np.array(of_folds), np.array([rows.weight is not None], np.int64)]


def added_answers(*answers: Answer | None) -> Answer | None:
    """The sums of the answers of some partitions; None: no row of theirs counts."""
    return added([one for one in answers if one is not None]) or None


def curvature(
    rows: FoldedRows, asked: Asked, weighting: Curvature, *, n_folds: int
) -> NDArray[np.int32] | None:
    """The curvature of every row that counts, in whole units."""
    found = _statistics(rows, asked, n_folds, weighting)
    return None if found is None else found.weigh(weighting)


def _statistics(
    rows: FoldedRows, asked: Asked, n_folds: int, weighting: Curvature | None = None,
    units: NDArray[np.int32] | None = None,
) -> InMemory | None:  # fmt: skip
    """Of the rows of a partition, on the thread of the task."""
    found = rows.statistics(asked._replace(team=Team(1)), n_folds, weighting)
    if found is not None and weighting is not None and units is not None:
        found.weighed = weighting, units
    return found


def ask(
    rows: FoldedRows, asked: Asked, *args: Any, n_folds: int, method: str, **constants: Any
) -> Answer | None:
    """What statistics of a partition answer to a method of theirs."""
    found = _statistics(rows, asked, n_folds)
    return None if found is None else list(_flat(getattr(found, method)(*args, **constants)))


def _flat(answer: Any) -> Iterator[NDArray]:
    """The arrays of an answer."""
    if isinstance(answer, np.ndarray):
        yield answer
    else:
        for part in answer:
            yield from _flat(part)


def curved_weights(
    rows: FoldedRows, asked: Asked, weighting: Curvature, units: Any, *, n_folds: int
) -> Answer | None:
    """Sums of the curvature of the rows."""
    found = _statistics(rows, asked, n_folds, weighting, units)
    return None if found is None else list(found.weights(weighting))


class GramBlock(NamedTuple):
    """Gram rows of some features: the columns that are asked for, and the types of matrices."""

    features: Sequence[int]
    columns: NDArray[np.int64]
    dtypes: Sequence[Any]
    offsets: NDArray[np.int64]

    def parts(self) -> list[tuple[int, NDArray[np.int64], list[slice]]]:
        """(feature, columns to ask for, their places): not those of features before it, which are
        known by symmetry."""
        found, wanted = [], self.columns
        for q in self.features:
            found.append((q, wanted, spans(wanted, self.offsets) if len(wanted) else []))
            wanted = wanted[wanted != q]
        return found


def gram(
    rows: FoldedRows, asked: Asked, weighting: Curvature | None = None, units: Any = None, *,
    n_folds: int, block: GramBlock,
) -> Answer | None:  # fmt: skip
    """Of each feature, the columns that are asked for, in each of the matrices."""
    found = _statistics(rows, asked, n_folds, weighting, units)
    if found is None:
        return None
    offsets, answer = block.offsets, []
    for q, wanted, places in block.parts():
        shape = int(offsets[q + 1] - offsets[q]), int(offsets[-1])
        outs = [np.empty(shape, dtype) for dtype in block.dtypes]
        found.gram([q], wanted, weighting, outs)
        answer += [np.concatenate([out[:, now] for now in places], axis=1) for out in outs]
    return answer
