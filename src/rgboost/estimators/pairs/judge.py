"""Whether pairs earn their place: what rows that were held out lose with and without them."""

from __future__ import annotations

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
"""Contributions of pairs to rows that are kept at a time."""
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
        paths = [boosted.run_path(k) for k in range(boosted.trace.n_runs)]
        n_classes = loss.outputs if loss.outputs > 1 else None
        found = [
            held_losses(model, rows.held(k), loss, order, counts)
            for k, model in enumerate(models_of_runs(boosted.prepared, paths, n_classes))
        ]
        before, after, weight = (np.concatenate(part) for part in zip(*found, strict=True))
        total = weight.sum()
        gains = before[:, None] - after
        gain = weight @ gains / total
        scale = float(np.abs(gains).max()) or 1.0  # squares of very large numbers exist, too
        error = scale * np.sqrt(weight**2 @ ((gains - gain) / scale) ** 2) / total
        return cls(boosted, order, counts, float(weight @ before / total), gain, error)

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


def with_first_pairs(model: Any, n: int) -> Any:
    """The same curves, and the first n of the pairs."""
    pairs = model.wide.pairs
    if pairs is None or n >= len(pairs):
        return model
    wide = replace(model.wide, pairs=pairs.take(np.arange(n)) if n else None)
    return wide if model is model.wide else replace(model, wide=wide)


def held_losses(
    model: Any, held: Any, loss: Loss, order: Columns, counts: NDArray[np.int64]
) -> tuple[Vector, Vector, Vector]:
    """Losses of held-out rows: by the curves alone, whose scores they have, and with ``model``
    added, of its pairs those that are among the first of ``order`` (rows, counts); and weights."""
    X, y, weight, score = held
    pairs, curves = model.wide.pairs, with_first_pairs(model, 0)
    known = {tuple(pair): i for i, pair in enumerate(order.tolist())}
    place = [] if pairs is None else [known.get(tuple(p), -1) for p in pairs.features.tolist()]
    after = np.empty((len(y), len(counts)))
    step = max(1, BLOCK_ENTRIES // (len(order) + 1) // loss.outputs)
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
        for i, count in enumerate(counts):
            after[now, i] = loss.value(y[now], scores[count])
    return loss.value(y, score), after, np.ones(len(y)) if weight is None else weight
