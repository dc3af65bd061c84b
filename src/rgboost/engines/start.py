"""Where a run starts from: the constant score of the null model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss
from .problem import RowSet


def start_of(loss: Loss, rows: RowSet, start_score: float | None) -> Any:
    """The score of the null model, with several classes one for each; infinite where sums overflow.

    None: the best constant for these rows.
    """
    if start_score is None:
        beside = {} if rows.offset is None else {"offset": rows.offset}
        with np.errstate(over="ignore", invalid="ignore"):
            return loss.best_constant(rows.y, rows.weight, **beside)
    if loss.outputs > 1:
        return np.full(loss.outputs, float(start_score))
    return float(start_score)
