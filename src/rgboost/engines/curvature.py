"""What Newton steps on rows and quadratic models of the loss share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from .problem import RowSet, with_offset

Vector = NDArray[np.float64]

LIGHTEST = 0.05
"""The least weight h of a side of a split, as a share of that of a usual row at the null model:
below it, a step is a matter of few rows that the model is sure of. A share, because curvature has
the unit of the labels if the score is a logarithm of their mean."""


def newton_start(loss: Loss, rows: RowSet, start: float) -> float:
    """From a constant score to what is best for these rows, nearly; finite even if they have labels
    of one class only."""
    score = np.full(len(rows.y), with_offset(start, rows.offset))
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    curvature = weight @ loss.model_curvature(rows.y, score)
    return start + float(weight @ loss.residual(rows.y, score) / curvature)


def in_units_of_the_largest(weight: Vector | None) -> Vector | None:
    """Weights whose sums neither overflow nor vanish, whatever their unit."""
    return None if weight is None else weight / weight.max()
