"""Means of losses, and how sure the differences between them are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def mean_loss(losses: Vector, weight: Vector) -> float:
    """sum_i w_i l_i / sum_i w_i."""
    return float(np.average(losses, weights=weight))


def standard_error(differences: Vector, weight: Vector, groups: NDArray | None = None) -> float:
    r"""The standard error of the weighted mean D of paired differences d_i.

    .. math:: se^2 = \frac{G}{G-1} \sum_g \Big(\sum_{i \in g} w_i (d_i - D)\Big)^2 \Big/ W^2

    over G groups of rows that belong together (without groups every row is one): the linearised
    variance of a ratio, which for equal weights and no groups is the usual sd(d) / sqrt(n). The
    models are taken as they are: it says how far other rows could move the difference, not how far
    models of other training rows could.
    """
    n = len(differences)
    group = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    share = weight / weight.sum()
    off = share * (differences - float(np.sum(share * differences)))
    sums = np.bincount(group, off)
    if len(sums) < 2:
        return float("inf")
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.sum(sums**2)))
