"""Where the training rows lie on the features of a model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..data.binning import Cuts
from ..data.mixed_bins import MixedCuts
from .stump_model import StumpModel

Vector = NDArray[np.float64]

DENSITY_CELLS = 32
"""Features with more thresholds than this have their density on evenly spaced cells."""


@dataclass(frozen=True)
class Coverage:
    """Weights of the training rows, for the features that a model uses, in its order.

    ``weights`` has the weight of the rows on each step of ``StumpModel.tables``, and ``missing``
    that of the rows where a feature is missing. The density is finer than the steps (interpolated
    where a feature has many thresholds): feature k has the edges ``edges[starts[k]:starts[k + 1]]``
    and one more weight than edges, ``density[starts[k] + k:starts[k + 1] + k + 1]``; its first and
    its last cell are open. ``category_weights`` and ``category_missing`` are the weights of the
    categories of ``StumpModel.categories`` and of its missing values (empty if there are none).
    ``total`` is the weight of all rows.
    """

    total: float
    weights: Vector
    missing: Vector
    starts: NDArray[np.int64]
    edges: Vector
    density: Vector
    category_weights: Vector
    category_missing: Vector

    @classmethod
    def of(cls, model: StumpModel, cuts: Cuts | MixedCuts, total: float) -> Coverage:
        """From the weights of the bins; no pass over the rows."""
        weights, missing, edges, density = [], [], [], []
        for g, (a, b) in zip(model.features, pairwise(model.starts), strict=True):
            thresholds, below, known, gaps = _bins_of(cuts, int(g), total)
            at = np.searchsorted(thresholds, model.cuts[a:b])
            weights.append(_between(below[at], known))
            missing.append(gaps)
            if len(thresholds) > DENSITY_CELLS:
                cells = _spaced(thresholds[0], thresholds[-1])
                below = np.interp(cells, thresholds, below)
                thresholds = cells
            edges.append(thresholds)
            density.append(_between(below, known))
        sizes = [len(e) for e in edges]
        by_category: list[Vector] = []
        if model.categories is not None and isinstance(cuts, MixedCuts):
            by_category = [cuts.weights_of(g) for g in model.categories.features]
        return cls(
            total=float(total),
            weights=_join(weights),
            missing=np.array(missing, np.float64),
            starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            edges=_join(edges),
            density=_join(density),
            category_weights=_join([found[:-1] for found in by_category]),
            category_missing=np.array([found[-1] for found in by_category], np.float64),
        )


def _bins_of(cuts: Cuts | MixedCuts, g: int, total: float) -> tuple[Vector, Vector, float, float]:
    """Thresholds of a numeric feature, the weights at or below each, those of all its known
    values and of its missing ones."""
    if isinstance(cuts, MixedCuts):
        found = cuts.weights_of(g)
        below = np.cumsum(found[:-1])
        return cuts.edges_of(g), below[:-1], float(below[-1]), float(found[-1])
    span = slice(cuts.offsets[g], cuts.offsets[g + 1])
    return cuts.thresholds[span], cuts.left_weight[span], total, 0.0


def _spaced(low: float, high: float) -> Vector:
    """Evenly spaced edges, also where high - low would overflow."""
    share = np.linspace(0.0, 1.0, DENSITY_CELLS - 1)
    return (1.0 - share) * low + share * high


def _between(below: Vector, total: float) -> Vector:
    """Weights between neighbouring edges, from the weights below each of them."""
    return np.maximum(np.diff(below, prepend=0.0, append=total), 0.0)  # rounding may undercut 0


def _join(parts: list[Vector]) -> Vector:
    return np.concatenate(parts) if parts else np.empty(0)
