"""Who is compared: a constant, sums of curves and pairs, and trees."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._core.loading import working_seconds
from ..engines.problem import rows_of, with_offset
from ..losses import Loss
from .rows import Rows, Split


class Size(NamedTuple):
    """What there is to look at in a model, and to store. Of a class that cannot be stored the bytes
    are NaN."""

    curves: float
    heat_maps: float
    trees: float
    bytes: float


@dataclass(frozen=True)
class Fitted:
    """A model of some rows: the scores that it gives those that were held out."""

    scores: NDArray[np.float64]
    size: Size
    seconds: float


class Entrant(Protocol):
    """Somebody who takes part."""

    @property
    def name(self) -> str: ...

    @property
    def estimator(self) -> Any:
        """Not fitted; None of the constant."""

    @property
    def is_peer(self) -> bool: ...

    def fit(self, rows: Rows, split: Split) -> Fitted:
        """Fit the rows of the split, and give scores to those that it holds out."""


@dataclass(frozen=True)
class Constant:
    """The same answer for every row: what no model should be worse than."""

    name: str = "constant"
    estimator: Any = None
    is_peer: bool = False

    def fit(self, rows: Rows, split: Split) -> Fitted:
        train, held = split
        y, offset = rows.checked.y, rows.checked.offset
        began = working_seconds()
        start: Any = best_constant(rows.loss, y[train], rows.weight[train], rows_of(offset, train))
        seconds = working_seconds() - began
        scores = np.broadcast_to(
            with_offset(start, rows_of(offset, held)), (len(held), *np.shape(start))
        )
        return Fitted(np.array(scores), Size(0, 0, 0, np.asarray(start).nbytes), seconds)


def best_constant(loss: Loss, y: Any, weight: Any, offset: Any) -> Any:
    """That of rows with a positive weight."""
    there = weight > 0
    return loss.best_constant(y[there], weight[there], rows_of(offset, there))


@dataclass(frozen=True)
class Ours:
    """An estimator of this package."""

    name: str
    estimator: Any
    is_peer: bool = False

    def fit(self, rows: Rows, split: Split) -> Fitted:
        train, held = split
        given, model = rows.arguments(train), clone(self.estimator)
        began = working_seconds()
        model.fit(**given)
        seconds = working_seconds() - began
        return Fitted(rows.scores_of(model, held), size_of(model), seconds)


def size_of(model: Any) -> Size:
    """What there is to look at in a fitted model."""
    stored = stored_bytes(model)
    if hasattr(model.model_, "n_trees"):
        return Size(0, 0, model.model_.n_trees, stored)
    terms = [len(term) for term in model.term_features_]
    return Size(terms.count(1), terms.count(2), 0, stored)


def stored_bytes(model: Any) -> float:
    """Bytes of the file of a model; NaN where there is none, as with a loss of one's own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rgb"
        try:
            model.save(path)
        except (TypeError, ValueError):
            return float("nan")
        return float(path.stat().st_size)


def our_entrants(template: Any, pairs: Sequence[Any], n_features: int) -> list[Ours]:
    """Curves, curves with so many ``pairs``, and trees; as many pairs as there are is all."""
    possible = n_features * (n_features - 1) // 2
    found = [Ours("curves", clone(template).set_params(interactions=0))]
    counts = [count for count in pairs if count == "all" or count < possible]
    if possible and len(counts) < len(pairs) and "all" not in counts:
        counts.append("all")
    for count in counts if possible else []:
        name = "all pairs" if count == "all" else f"{count} pair{'s' * (count > 1)}"
        found.append(Ours(name, clone(template).set_params(interactions=count)))
    return [*found, Ours("trees", clone(template).set_params(learner="trees", interactions=0))]


def that_can_be_had(
    entrants: Sequence[Ours], rows: Rows, split: Split
) -> tuple[list[Ours], dict[str, str]]:
    """Those whose plan can be made, and why not of the others. The first has to."""
    first, *others = entrants
    given = rows.arguments(split[0])
    clone(first.estimator).plan(**given)
    kept, left_out = [first], {}
    for one in others:
        try:
            clone(one.estimator).plan(**given)
        except (TypeError, ValueError) as reason:
            left_out[one.name] = why_not(one, reason)
        else:
            kept.append(one)
    return kept, left_out


def why_not(one: Entrant, reason: Exception) -> str:
    """What an error says of one of ours that cannot be had."""
    return str(reason).removeprefix(f"interactions={one.estimator.interactions!r} ")
