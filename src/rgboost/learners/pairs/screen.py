"""How much each pair explains by itself: one look at all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ..kernels import Subset
from .look import whole_look
from .search import PairArrays, make_found, search_all

_NONE = np.zeros(0, np.int64)


def screen_pairs(
    arrays: PairArrays, residual: NDArray[np.float64], team: Team
) -> NDArray[np.float64]:
    """The share of the residuals, weighted (outputs, rows), that the best quadrant stump of each
    pair explains: <b, r>^2 / <r, r>."""
    found = make_found(len(arrays.pairs), len(residual))
    weighted = len(arrays.weight) > 0
    largest = float(np.abs(residual).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(len(arrays.pairs))
    residual = residual / largest  # squares of very large and very small ones exist, too
    total = float((residual**2 / arrays.weight if weighted else residual**2).sum())
    every = Subset(np.arange(len(arrays.pairs)), False, _NONE, _NONE)
    look = whole_look(arrays, every.columns)
    search_all(arrays, every, look, residual, 0, residual.shape[1], found, team)
    return np.maximum(found.score, 0.0) / total
