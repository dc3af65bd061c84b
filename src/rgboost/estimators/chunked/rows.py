"""Training rows that are read piece by piece: the siblings of `rgboost.estimators.held_out`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import memory_budget
from ..._core.validation import check_count
from ...data.chunks import Chunks, Piece
from ...data.chunks.sample import RowSample
from ...data.cuts import columns_with_missing
from ...losses import Loss
from ...statistics.base import Source
from ...statistics.chunks import ChunkRows, NumberRows, ReadRows
from ...training.plan import Facts, counted_once
from ...training.plan.rules import sample_size
from ..held_out import TrainingRows
from ..rows import check_rows
from .given import dense_pieces, errors_name
from .labels import Labels, as_column
from .survey import ReadNumbers, Survey, Surveyor, present, times
from .tally import Tally


@dataclass(frozen=True)
class HeldRows:
    """Validation rows that are read piece by piece, after a first look at them."""

    chunks: Any
    n_rows: int
    weighted: bool
    labels: NDArray[np.float64]
    """The smallest and the largest label."""


@dataclass
class SurveyedRows:
    """Rows in pieces to be fitted, after the first pass; see `TrainingRows` for the methods.

    ``share`` of the rows is held out."""

    estimator: Any
    survey: Survey
    held: Any
    """`HeldRows`, or None."""
    share: float

    @property
    def sample(self) -> TrainingRows:
        """Some of the rows; all if there are not many."""
        return self.survey.sample

    @property
    def n_features(self) -> int:
        return int(self.estimator.n_features_in_)

    @property
    def has_offset(self) -> bool:
        return self.sample.offset is not None

    @property
    def n_rows(self) -> int:
        return self.survey.facts.n_rows

    def check_labels(self, loss: Loss) -> None:
        loss.check_labels(self.survey.facts.labels)
        if self.held is not None and self.survey.labels.settled_at_once:
            try:
                loss.check_labels(self.held.labels)
            except ValueError as fault:
                raise ValueError(f"y_val: {fault}") from fault

    def columns_to_fit(self, estimator: Any, resume: Any) -> None:
        return None

    def facts(self, loss: Loss, categorical: NDArray[np.bool_], **more: Any) -> Facts:
        """What a plan is made of; ``sample_rows`` are those that were asked for."""
        found, X = self.survey.facts, self.sample.X
        assert found.counted is not None
        classes = self.survey.labels.rows
        cells, asked = self.n_rows * self.n_features, more.pop("sample_rows")
        return Facts(
            rows=self.n_rows,
            loss=loss,
            count_values=counted_once(X, categorical),
            categorical=categorical,
            missing=found.counted.missing > 0,
            stored=cells,
            input_bytes=cells * X.dtype.itemsize,
            weighted=found.weight is not None,
            class_rows=tuple(classes.tolist()) or None,
            held_rows=None if self.held is None else self.held.n_rows,
            held_weighted=self.held is not None and self.held.weighted,
            sample_rows=sample_size(self.n_features, asked),
            sample_given=asked is not None,
            memory=memory_budget(),
            **more,
        )

    def shared_out(self, facts: Facts, cv: Any, seed: int) -> tuple[int, Facts]:
        """How many folds there are. Chance and its place among all rows say which one a row is
        in."""
        n_folds = check_count(cv, "cv", at_least=2)
        return n_folds, replace(facts, n_folds=n_folds)

    def held_out(self, share: float, seed: int) -> Self:
        return replace(self, share=share)

    def for_learner(self, learner: Any) -> Any:
        return learner

    def in_folds(self, fold: Any, settings: dict[str, Any]) -> dict[str, Any]:
        """Pairs may go on with the rows in the bins of the better one of several means."""
        return {"X": None, "y": None, "statistics": self.source(), "fold": fold, **settings}

    def for_boost(self) -> dict[str, Any]:
        """What was read for folds is not needed any more."""
        self.close()
        return {"X": None, "y": None, "statistics": self.source()}

    def close(self) -> list[str]:
        """Let go of what was read; what there is to tell of it."""
        return []

    def source(self) -> Source:
        """The rows, to be put into bins."""
        raise NotImplementedError


@dataclass
class ChunkedRows(SurveyedRows):
    """Rows of `Chunks`."""

    chunks: Chunks
    kind: Callable[..., ChunkRows] = ChunkRows
    """What makes sums of the rows: in memory, or on a card."""
    sources: list[ChunkRows] = field(default_factory=list)

    def facts(self, loss: Loss, categorical: NDArray[np.bool_], **more: Any) -> Facts:
        return super().facts(loss, categorical, sample_rows=self.chunks.sample_rows, **more)

    def source(self) -> ChunkRows:
        held = None
        if self.held is not None:
            held = ReadRows(lambda: self._read_held(), self.held.n_rows)
        source = self.kind(
            self.survey.facts, ReadRows(self._read, self.n_rows), self.chunks.folder,
            self.chunks.watch, held, self.share,
        )  # fmt: skip
        self.sources.append(source)
        return source

    def _read(self) -> Iterator[NumberRows]:
        """The rows once more; an error if they are others."""
        survey, tally, done = self.survey, Tally(), 0
        tally.class_rows = np.zeros_like(survey.labels.rows)
        for k, piece in dense_pieces(self.chunks):
            with errors_name(f"piece {k}"):
                X, y, weight, offset = read_piece(self.estimator, piece, survey.labels)
                tally.add(X, survey.plain, y if survey.labels.settled_at_once else None)
                found = NumberRows(*present(X, y, weight, offset))
                tally.class_rows += survey.labels.class_rows(found.y)
            yield found
            done += piece.n_bytes
            self.chunks.watch("bins", done, self.chunks.n_bytes)
        survey.tally.check(tally)

    def _read_held(self) -> Iterator[NumberRows]:
        assert self.held is not None
        for k, piece in dense_pieces(self.held.chunks):
            with errors_name(f"piece {k}"):
                yield NumberRows(*present(*read_piece(self.estimator, piece, self.survey.labels)))

    def close(self) -> list[str]:
        """Give back the room on the disk; what was read, as an event of the plan."""
        for source in self.sources:
            source.close()
        passes = [n for source in self.sources for n in source.passes]
        told = f"{1 + len(self.sources)} passes over the rows"
        if self.chunks.n_bytes:
            told += f" ({self.chunks.n_bytes:,} bytes each)"
        told += f", {len(passes)} over their bins and labels ({sum(passes):,} bytes in all)"
        return [told]


def read_piece(estimator: Any, piece: Piece, labels: Labels) -> tuple[Any, Any, Any, Any]:
    """X, labels, weights and offsets of a piece, when all columns and classes are known."""
    X = check_rows(estimator, piece.X)
    y, of_class = labels.again(as_column(piece.y, len(X)))
    weight, offset = ReadNumbers().read(piece, len(X))
    return X, y, times(weight, of_class), offset


def chunked_rows(
    estimator: Any, chunks: Chunks, labels: Labels, held: Chunks | None, seed: int
) -> ChunkedRows:
    """Read the rows for the first time."""

    def sample_rows(n_features: int) -> int:
        return sample_size(n_features, chunks.sample_rows)

    found = Surveyor(estimator, labels, sample_rows, RowSample(0, seed)).go(chunks)
    check_offsets(found)
    if not labels.settled_at_once:
        estimator.classes_ = labels.classes
    held_rows = None if held is None else look_at(estimator, held, found)
    return ChunkedRows(estimator, found, held_rows, 0.0, chunks)


def check_offsets(survey: Survey) -> None:
    """Raise if offsets do not go with the scores of a row."""
    labels, offset = survey.labels, survey.sample.offset
    n_scores = max(1, len(labels.rows) if len(labels.rows) > 2 else 1)
    if offset is not None and offset.shape[1:] != (() if n_scores == 1 else (n_scores,)):
        raise ValueError(
            f"the pieces' offset has shape (rows, {', '.join(map(str, offset.shape[1:]))}), and a "
            f"row has {n_scores} score(s); give one number for each."
        )


class HeldReader(NamedTuple):
    """Reads validation rows, as the training rows were found to be."""

    estimator: Any
    labels: Labels
    missing: NDArray[np.bool_]
    """Features that have missing values."""
    has_offset: bool

    def read(self, piece: Piece) -> NumberRows:
        """The rows of a piece that have a weight."""
        unknown = self.labels.unknown(as_column(piece.y, len(piece.X)))
        if len(unknown):
            raise ValueError(
                f"y_val has the class {unknown.tolist()[0]!r}, not in y; leave out its rows, "
                "or add rows of it to the training data."
            )
        rows = NumberRows(*present(*read_piece(self.estimator, piece, self.labels)))
        if (rows.offset is not None) != self.has_offset:
            raise ValueError("validation rows and training rows both need an offset, or none.")
        new = np.flatnonzero(columns_with_missing(rows.X) & ~self.missing)
        if len(new):
            raise ValueError(
                f"X_val has missing values in column {new[0]}, and the training rows have none "
                "there; fill them in, or leave out these rows."
            )
        return rows


def look_at(estimator: Any, held: Chunks, survey: Survey) -> HeldRows:
    """A first look at validation rows."""
    assert survey.facts.counted is not None
    missing, has_offset = survey.facts.counted.missing > 0, survey.sample.offset is not None
    reader = HeldReader(estimator, survey.labels, missing, has_offset)
    found = []
    for k, piece in dense_pieces(held):
        with errors_name(f"piece {k}"):
            found.append(held_facts(reader.read(piece)))
    return held_rows(held, found)


class HeldFacts(NamedTuple):
    """Of some validation rows."""

    n_rows: int
    weighted: bool
    low: float
    high: float
    """The smallest and the largest label."""


def held_facts(rows: NumberRows) -> HeldFacts:
    """What is to be known of validation rows before bins."""
    y, weighted = rows.y, rows.weight is not None
    return HeldFacts(len(y), weighted, y.min(initial=np.inf), y.max(initial=-np.inf))


def held_rows(chunks: Any, found: Sequence[HeldFacts]) -> HeldRows:
    """Validation rows of which all pieces were looked at."""
    n_rows = sum(one.n_rows for one in found)
    if n_rows == 0:
        raise ValueError("X_val has no rows with a weight; leave it out, or give some.")
    labels = np.array([min(one.low for one in found), max(one.high for one in found)])
    return HeldRows(chunks, n_rows, any(one.weighted for one in found), labels)
