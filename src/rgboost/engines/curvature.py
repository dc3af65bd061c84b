"""Quadratic models of a smooth loss.

Near scores f the loss is close to

    l(y, f + d) ~ l(y, f) - r d + h/2 d^2

with r the residual and h the curvature. A step of r/h longer than the loss's ``newton_limit`` is
where the quadratic model is far from the loss: there h is |r|/limit. Of a loss without such a limit
h is its smoothness sigma: the quadratic model lies above the loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from .problem import RowSet, with_offset

Vector = NDArray[np.float64]

LIGHTEST = 0.05
"""The least weight h of a side of a split, as a share of that of a usual row at the null model:
below it, a step is a matter of few rows that the model is sure of. A share, because curvature has
the unit of the labels if the score is a logarithm of their mean."""


def curvature_of(loss: Loss, y: Vector, score: Vector) -> Vector:
    """h, so large that no step r/h from these scores is beyond the ``newton_limit``."""
    limit = loss.newton_limit
    if limit is None or not loss.has_curvature:
        assert loss.smoothness is not None
        return np.full(len(y), loss.smoothness)
    return np.maximum(loss.curvature(y, score), np.abs(loss.residual(y, score)) / limit)


def newton_start(loss: Loss, rows: RowSet, start: float) -> float:
    """From a constant score to what is best for these rows, nearly; finite even if they have labels
    of one class only."""
    score = np.full(len(rows.y), with_offset(start, rows.offset))
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    curvature = weight @ curvature_of(loss, rows.y, score)
    return start + float(weight @ loss.residual(rows.y, score) / curvature)


def in_units_of_the_largest(weight: Vector | None) -> Vector | None:
    """Weights whose sums neither overflow nor vanish, whatever their unit."""
    return None if weight is None else weight / weight.max()


def in_few_units(curvature: Vector, order: NDArray[np.int64]) -> tuple[float, NDArray[Any]]:
    """A unit, and curvature in whole units that sum up to what 16 bits hold.

    Rows are rounded up or down such that every stretch of them, in this order, has its sum: where
    there are more rows than units, some rows stand for others. The quadratic model is a rougher one
    then, still of some weights of rows.
    """
    total, most = float(curvature.sum()), np.iinfo(np.uint16).max
    times = most * float(curvature.max()) // total  # so that rows that are alike weigh the same
    unit = float(curvature.max()) / times if times else total / most
    found = np.empty(len(curvature), np.int32)
    found[order] = np.diff(np.rint(np.cumsum(curvature[order]) / unit), prepend=0.0)
    return unit, found
