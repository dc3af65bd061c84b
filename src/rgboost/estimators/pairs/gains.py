"""What rows that were held out gain by pairs, block by block of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners.pairs.columns import Columns
from ...learners.pairs.tables import models_of_runs
from ...losses import Loss
from ...training import Boosted

Vector = NDArray[np.float64]

BLOCK_ENTRIES = 1 << 20
"""Contributions of pairs to rows, scores and losses that are kept at a time."""


def models_of_all(boosted: Boosted, loss: Loss) -> list[Any]:
    """What each of the runs adds to its curves."""
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
