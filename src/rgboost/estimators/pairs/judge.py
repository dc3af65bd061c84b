"""Whether pairs earn their place: what rows that were held out lose with and without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners.pairs.columns import Columns
from ...losses import Loss
from ...model.with_pairs import add_model
from ...training import Boosted
from ...training.plan.pair_rules import SHARE_OF_GAIN, STANDARD_ERRORS
from .gains import models_of_all, with_first_pairs

Vector = NDArray[np.float64]

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
    def of(cls, boosted: Boosted, rows: Any, loss: Loss) -> Judged:
        order = np.empty((0, 2), np.int64)
        if boosted.model.wide.pairs is not None:  # type: ignore[attr-defined]
            order = boosted.model.wide.pairs.features  # type: ignore[attr-defined]
        counts = np.geomspace(1, max(1, len(order)), MOST_COUNTS).round().astype(np.int64)
        counts = np.append(0, np.unique(counts[counts <= len(order)]))
        gains = rows.gains(boosted, loss, order, counts)
        return cls(boosted, order, counts, gains.loss, gains.gain, gains.error)

    def run_models(self, loss: Loss) -> list[Any]:
        """What each of several runs adds to its curves; none where there is one run."""
        return models_of_all(self.boosted, loss) if self.boosted.trace.n_runs > 1 else []

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
