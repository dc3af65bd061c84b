"""The scalar formulas of a loss, chosen by the class of its terms, and loops over them."""

from __future__ import annotations

import numpy as np

from .._core.jit import by_type, kernel
from .._core.math import blocked_sum


@by_type(inline=True)
def evaluate(terms, y, f):
    """(value, residual, curvature) of the loss at one row.

    Callers use what they need; the compiler drops the rest.
    """


_MOST = 1e30
"""Of a number in single precision: sums of them stay finite."""


def _rounded(terms, y, f, scale):
    _, residual, curvature = evaluate(terms, y, f)
    residual = min(max(scale * residual, -_MOST), _MOST)
    return np.float32(residual), np.float32(min(scale * curvature, _MOST))


@by_type(inline=True, otherwise=_rounded)
def evaluate_single(terms, y, f, scale):
    """(residual, curvature) of the loss at one row, times ``scale``, in single precision.

    A loss that has formulas of its own for it takes twice as many rows at a time.
    """


def _one_by_one(terms, y, f, work):
    for i in range(y.shape[0]):
        work[i], _, _ = evaluate(terms, y[i], f[i])
    return blocked_sum(work, y.shape[0])


@by_type(otherwise=_one_by_one)
def sum_of_losses(terms, y, f, work):
    """The sum of the losses of some rows; ``work`` is room for a number of each of them."""


@kernel()
def evaluate_rows(terms, y, f):
    """(value, residual, curvature) of the loss at every row."""
    value = np.empty(y.shape[0])
    residual = np.empty(y.shape[0])
    curvature = np.empty(y.shape[0])
    for i in range(y.shape[0]):
        value[i], residual[i], curvature[i] = evaluate(terms, y[i], f[i])
    return value, residual, curvature
