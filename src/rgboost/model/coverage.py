"""Where the training rows lie on the features of a model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..data.binning import Cuts
from .stump_model import StumpModel

DENSITY_CELLS = 32
"""Features with more thresholds than this have their density on evenly spaced cells."""


@dataclass(frozen=True)
class Coverage:
    """Weights of the training rows, for the features that a model uses, in its order.

    ``weights`` has the weight of the rows on each step of ``StumpModel.tables``. The density is
    finer than the steps (interpolated where a feature has many thresholds): feature k has the
    edges ``edges[starts[k]:starts[k + 1]]`` and one more weight than edges,
    ``density[starts[k] + k:starts[k + 1] + k + 1]``; its first and its last cell are open.
    ``total`` is the weight of all rows.
    """

    total: float
    weights: NDArray[np.float64]
    starts: NDArray[np.int64]
    edges: NDArray[np.float64]
    density: NDArray[np.float64]

    @classmethod
    def of(cls, model: StumpModel, cuts: Cuts, total: float) -> Coverage:
        """From the weights at or below the thresholds; no pass over the rows."""
        weights, edges, density = [], [], []
        for g, (a, b) in zip(model.features, pairwise(model.starts), strict=True):
            span = slice(cuts.offsets[g], cuts.offsets[g + 1])
            thresholds, below = cuts.thresholds[span], cuts.left_weight[span]
            at = np.searchsorted(thresholds, model.cuts[a:b])
            weights.append(_between(below[at], total))
            if len(thresholds) > DENSITY_CELLS:
                cells = _spaced(thresholds[0], thresholds[-1])
                below = np.interp(cells, thresholds, below)
                thresholds = cells
            edges.append(thresholds)
            density.append(_between(below, total))
        sizes = [len(e) for e in edges]
        return cls(
            total=float(total),
            weights=_join(weights),
            starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            edges=_join(edges),
            density=_join(density),
        )


def _spaced(low: float, high: float) -> NDArray[np.float64]:
    """Evenly spaced edges, also where high - low would overflow."""
    share = np.linspace(0.0, 1.0, DENSITY_CELLS - 1)
    return (1.0 - share) * low + share * high


def _between(below: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Weights between neighbouring edges, from the weights below each of them."""
    return np.maximum(np.diff(below, prepend=0.0, append=total), 0.0)  # rounding may undercut 0


def _join(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate(parts) if parts else np.empty(0)
