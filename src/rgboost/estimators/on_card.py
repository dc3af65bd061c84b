"""Training rows whose sums are made on a card: the siblings of `rgboost.estimators.held_out`'s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..cuda.card import Card
from ..cuda.chunks import CardChunks
from ..cuda.source import CardSource
from ..data.cuts import columns_with_missing
from ..data.elsewhere import MatrixElsewhere
from ..data.mixed_bins import Counted, weigh_categories
from ..engines.problem import rows_of
from ..losses import Loss
from ..statistics.base import Facts as RowFacts
from ..statistics.folded_rows import NumberRows
from ..statistics.pieces import MemoryRows
from ..training.plan import Facts
from ..training.plan.on_card import REMEDY, obstacles
from ..training.plan.rules import sample_size
from .chunked.rows import ChunkedRows
from .held_out import TrainingRows


@dataclass(frozen=True)
class RowsOnCard:
    """`TrainingRows` that are sent to a card; see there for the methods. ``seed`` is that of the
    sample that thresholds follow from."""

    rows: TrainingRows
    card: Card
    seed: int
    categorical: NDArray[np.int64]
    sources: list[CardSource] = field(default_factory=list)

    @property
    def sample(self) -> TrainingRows:
        return self.rows

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def has_offset(self) -> bool:
        return self.rows.has_offset

    def check_labels(self, loss: Loss) -> None:
        self.rows.check_labels(loss)

    def columns_to_fit(self, estimator: Any, resume: Any) -> None:
        return None

    def facts(self, loss: Loss, categorical: NDArray[np.bool_], **more: Any) -> Facts:
        found = self.rows.facts(loss, categorical, **more)
        size = sample_size(self.rows.n_features, None)
        return replace(found, sample_rows=size, card=self.card.device, card_memory=self.card.memory)

    def shared_out(self, facts: Facts, cv: Any, seed: int) -> tuple[NDArray[np.int64], Facts]:
        return self.rows.shared_out(facts, cv, seed)

    def held_out(self, share: float, seed: int) -> Self:
        return replace(self, rows=self.rows.held_out(share, seed))

    def for_learner(self, learner: Any) -> Any:
        return self.rows.for_learner(learner)

    def in_folds(self, fold: NDArray[np.int64], settings: dict[str, Any]) -> dict[str, Any]:
        found = self.rows.in_folds(fold, settings)
        rows = NumberRows(*(found.pop(name) for name in ("X", "y", "weight", "offset")))
        fold = found.pop("fold")
        source = self._source(rows, fold)
        return {**found, "X": None, "y": None, "statistics": source, "fold": int(fold.max()) + 1}

    def for_boost(self) -> dict[str, Any]:
        rows, held = self.rows, None
        if rows.validation is not None:
            one = rows.validation.with_positive_weight()
            held = NumberRows(one.X, one.y, one.weight, one.offset)
        X, y, weight, offset = rows.X, rows.y, rows.weight, rows.offset
        if len(rows.present) < len(y):
            X, y = X[rows.present], y[rows.present]
            weight, offset = (rows_of(part, rows.present) for part in (weight, offset))
        source = self._source(NumberRows(X, y, weight, offset), held=held)
        return {"X": None, "y": None, "statistics": source}

    def _source(
        self,
        rows: NumberRows,
        fold: NDArray[np.int64] | None = None,
        held: NumberRows | None = None,
    ) -> CardSource:
        size = sample_size(self.rows.n_features, None)
        facts = facts_of_sample(rows, self.rows.stratified, self.categorical, size, self.seed)
        source = CardSource(self.card, facts, rows, fold, held)
        self.sources.append(source)
        return source

    def close(self) -> list[str]:
        """What there is to tell: whether the rows were too many for the card."""
        pieces = max((source.pieces for source in self.sources), default=1)
        return [] if pieces <= 1 else [f"the rows did not fit on the card at once: {pieces} pieces"]


def facts_of_sample(
    rows: NumberRows, classes: bool, categorical: NDArray[np.int64], size: int, seed: int
) -> RowFacts:
    """What is known of rows before they are in bins, by all of them, or, if they are more than
    ``size``, by a sample."""
    every = MemoryRows(*rows).cuts(classes)
    X, y, weight, offset = rows
    n_rows = len(y)
    elsewhere = isinstance(X, MatrixElsewhere)
    if n_rows <= size:
        return every._replace(X=X.to_host()) if elsewhere else every
    places = np.sort(np.random.default_rng(seed).choice(n_rows, size, replace=False))
    mine = y[places], rows_of(weight, places), rows_of(offset, places)
    missing = X.weigh_missing(weight) if elsewhere else weigh_missing(X, weight)
    levels = {int(g): weigh_categories(X, g, weight) for g in categorical}
    total = float(n_rows if weight is None else weight.sum())
    counted = Counted(n_rows, total, missing, levels)
    some = X[places].to_host() if elsewhere else X[places]
    return RowFacts(some, *mine, every.labels, every.label_weights, counted, places)


def weigh_missing(X: Any, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The weight of the rows in which each column is missing."""
    missing = np.zeros(X.shape[1])
    for g in np.flatnonzero(columns_with_missing(X)):
        there = np.isnan(X[:, g])
        missing[g] = there.sum() if weight is None else weight[there].sum()
    return missing


def rows_on_card(estimator: Any, rows: TrainingRows, resume: Any) -> RowsOnCard:
    """Rows for a fit on a card; an error if it cannot be had there."""
    device = estimator.device
    if scipy.sparse.issparse(rows.X):
        raise ValueError(
            f"X is sparse, and device={device!r} has no sums of sparse rows; use {REMEDY}, which "
            "is made for them, or X.toarray() if it fits into memory."
        )
    if resume is not None:
        raise ValueError(f"resume is not for device={device!r}: leave it out, or use {REMEDY}.")
    card = Card(device, estimator.device_memory)
    categorical = np.flatnonzero(estimator.input_.categorical)
    return RowsOnCard(rows, card, estimator._seeds_of_fit()[1], categorical)


def chunks_on_card(estimator: Any, read: Callable[[], ChunkedRows]) -> ChunkedRows:
    """Rows in pieces for a fit on a card. That it is there is found out before they are read."""
    card = Card(estimator.device, estimator.device_memory)
    return replace(read(), kind=partial(CardChunks, card))


def refuse_early(estimator: Any) -> None:
    """Raise for parameters that do not go with a card, before rows are looked at."""
    found = next(obstacles(estimator.get_params(deep=False)), None)
    if found is not None:
        what, why, remedy = found
        raise ValueError(
            f"{what} is not for device={estimator.device!r}: {why}. "
            f"{remedy[:1].upper()}{remedy[1:]}."
        )
