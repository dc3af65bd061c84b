"""What models are judged by: the loss of held-out rows, in units that mean something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.problem import rows_of
from ..losses import Loss
from ..losses.base import SYNONYMS
from .rows import Rows

R2, D2, LOG_LOSS = "1 - R²", "1 - D²", "log-loss"

_SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Measure:
    """What the loss is called, and what it is multiplied by after ``least`` was taken off.

    Squared losses become 1 - R², and losses whose scores are logarithms of means 1 - D²: the share
    of the (weighted) deviance from the best constant of the held-out rows that a model leaves.
    Others are as they are.
    """

    name: str
    scale: float = 1.0
    least: float = 0.0

    @classmethod
    def of(cls, given: Any, rows: Rows, held: NDArray[np.intp]) -> Measure:
        """That of the rows that are held out; ``given`` is the loss as a parameter says it."""
        loss = rows.loss
        if loss.quadratic or by_means(loss):
            return cls.share(R2 if loss.quadratic else D2, rows, held)
        name = SYNONYMS.get(given, given) if isinstance(given, str) else ""
        known = {"logistic": LOG_LOSS, "absolute": "mean absolute error"}
        return cls(known.get(name, f"mean {loss!r} loss"))

    @classmethod
    def share(cls, name: str, rows: Rows, held: NDArray[np.intp]) -> Measure:
        """Of what the best constant loses more than a perfect model does."""
        loss, y, weight = rows.loss, rows.checked.y[held], rows.weight[held]
        offset = rows_of(rows.checked.offset, held)
        constant = loss.best_constant(y, weight, offset) + (0.0 if offset is None else offset)
        perfect = y if loss.quadratic else loss.link(np.maximum(y, _SMALLEST))
        ends = [
            float(np.average(loss.value(y, np.broadcast_to(f, y.shape)), weights=weight))
            for f in (constant, perfect)
        ]
        return cls(name, 1.0 / (ends[0] - ends[1]) if ends[0] > ends[1] else 1.0, ends[1])

    def losses(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Losses of rows in these units."""
        return self.scale * (losses - self.least)


def by_means(loss: Loss) -> bool:
    """Whether scores are means by a link, as with counts."""
    return not loss.labels_are_classes and type(loss).link is not Loss.link
