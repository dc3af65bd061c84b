"""Whether pairs earn their place: what rows that were held out lose with and without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners.pairs.columns import Columns
from ...learners.pairs.tables import models_of_runs
from ...losses import Loss
from ...model.with_pairs import add_model
from ...training import Boosted
from ...training.plan.pair_rules import SHARE_OF_GAIN, STANDARD_ERRORS
from .rows import PairRows

Vector = NDArray[np.float64]

BLOCK_ENTRIES = 1 << 20
"""Contributions of pairs to rows, scores and losses that are kept at a time."""
MOST_COUNTS = 24
"""Numbers of pairs that losses are looked at for."""


@dataclass
class Judged:
    """Pairs, the strongest first, and what held-out rows gain with the first ``counts[i]`` of them:
    the mean fall of the loss, ``gain[i]``, and its standard error, ``error[i]``. ``loss`` is that
    of the curves alone."""

    boosted: Boosted
    order: Columns
    counts: NDArray[np.int64]
    loss: float
    gain: Vector
    error: Vector

    @classmethod
    def of(cls, boosted: Boosted, rows: PairRows, loss: Loss) -> Judged:
        order = np.empty((0, 2), np.int64)
        if boosted.model.wide.pairs is not None:  # type: ignore[attr-defined]
            order = boosted.model.wide.pairs.features  # type: ignore[attr-defined]
        counts = np.geomspace(1, max(1, len(order)), MOST_COUNTS).round().astype(np.int64)
        counts = np.append(0, np.unique(counts[counts <= len(order)]))
        gains = Gains(len(counts))
        for k, model in enumerate(_models_of_runs(boosted, loss)):
            for some in held_losses(model, rows.held(k), loss, order, counts):
                gains.add(*some)
        return cls(boosted, order, counts, gains.loss, gains.gain, gains.error)

    def run_models(self, loss: Loss) -> list[Any]:
        """What each of several runs adds to its curves; none where there is one run."""
        return _models_of_runs(self.boosted, loss) if self.boosted.trace.n_runs > 1 else []

    @property
    def worth_it(self) -> bool:
        """Whether all pairs together gain by more than noise."""
        return bool(self.gain[-1] > STANDARD_ERRORS * self.error[-1])

    def fewest(self) -> int:
        """How many of the strongest pairs have nearly all of the gain."""
        if self.gain.max() <= 0.0:
            return 0
        return int(self.counts[np.argmax(self.gain >= SHARE_OF_GAIN * self.gain.max())])

    def told(self, n: int) -> str:
        """The gain of the first n pairs in words."""
        at = min(int(np.searchsorted(self.counts, n)), len(self.counts) - 1)
        if self.gain[at] <= 0.0:
            return "held-out rows gain nothing"
        return (
            f"the loss of held-out rows goes from {self.loss:.6g} to "
            f"{self.loss - self.gain[at]:.6g}, by {self.gain[at] / self.error[at]:.1f} standard "
            "errors"
        )

    def model(self, curves: Any, n: int) -> Any:
        """The curves with the first n pairs; what the others explain by single features stays."""
        return add_model(curves, with_first_pairs(self.boosted.model, n))


def _models_of_runs(boosted: Boosted, loss: Loss) -> list[Any]:
    paths = [boosted.run_path(k) for k in range(boosted.trace.n_runs)]
    return models_of_runs(boosted.prepared, paths, loss.outputs if loss.outputs > 1 else None)


class Gains:
    """Falls of the loss of rows that come block by block: nothing of the size of all is kept."""

    def __init__(self, n: int) -> None:
        self.scale = 0.0
        """Of losses: squares of very large and very small numbers exist, too."""
        self.weight: Any = 0.0
        self.squares: Any = 0.0
        """Sums of weights, and of their squares."""
        self._loss: Any = 0.0
        self._gain: Vector = np.zeros(n)
        self._middle: Vector = np.zeros(n)
        self._spread: Vector = np.zeros(n)
        """Of gains under the squares of weights: mean, and sum of squares around it."""

    def add(self, before: Vector, after: Vector, weight: Vector) -> None:
        """Losses of more rows, without pairs and (rows, counts) with them."""
        self.scale = self.scale or float(np.abs(before).max(initial=0.0)) or 1.0
        gains, square = (before[:, None] - after) / self.scale, weight**2
        self.weight += weight.sum()
        self._loss += weight @ before
        self._gain += weight @ gains
        squares = square.sum()
        if squares == 0.0:
            return
        middle = square @ gains / squares
        off, both = middle - self._middle, self.squares + squares
        self._spread += square @ (gains - middle) ** 2 + off**2 * self.squares * squares / both
        self._middle += off * squares / both
        self.squares = both

    @property
    def loss(self) -> float:
        """The mean loss without pairs."""
        return float(self._loss / self.weight)

    @property
    def gain(self) -> Vector:
        """The mean fall of the loss."""
        return self.scale * self._gain / self.weight

    @property
    def error(self) -> Vector:
        """Its standard error: sqrt(sum_i w_i^2 (gain_i - gain)^2) / sum_i w_i."""
        off = self._middle - self._gain / self.weight
        return self.scale * np.sqrt(self._spread + self.squares * off**2) / self.weight


def with_first_pairs(model: Any, n: int) -> Any:
    """The same curves, and the first n of the pairs."""
    pairs = model.wide.pairs
    if pairs is None or n >= len(pairs):
        return model
    wide = replace(model.wide, pairs=pairs.take(np.arange(n)) if n else None)
    return wide if model is model.wide else replace(model, wide=wide)


def held_losses(
    model: Any, held: Any, loss: Loss, order: Columns, counts: NDArray[np.int64]
) -> Iterator[tuple[Vector, Vector, Vector]]:
    """Blocks of held-out rows: losses by the curves alone, whose scores they have, and with
    ``model`` added, of its pairs those that are among the first of ``order`` (rows, counts); and
    weights."""
    X, y, weight, score = held
    pairs, curves = model.wide.pairs, with_first_pairs(model, 0)
    known = {tuple(pair): i for i, pair in enumerate(order.tolist())}
    place = [] if pairs is None else [known.get(tuple(p), -1) for p in pairs.features.tolist()]
    entries = 2 * (len(order) + 1) * loss.outputs + 4 * len(counts)
    step = max(1, BLOCK_ENTRIES // entries)
    for lo in range(0, len(y), step):
        now = slice(lo, lo + step)
        scores = np.zeros((len(order) + 1, *score[now].shape))
        scores[0] = score[now] + curves.score(X[now])
        if pairs is not None:
            contributions = pairs.contributions(X[now])
            for i, at in enumerate(place):
                if at >= 0:
                    scores[at + 1] = contributions[:, i]
        np.cumsum(scores, axis=0, out=scores)
        after = np.column_stack([loss.value(y[now], scores[count]) for count in counts])
        own = np.ones(len(after)) if weight is None else weight[now]
        yield loss.value(y[now], score[now]), after, own
