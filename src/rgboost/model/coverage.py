"""Where the training rows lie on the features of a model."""

from __future__ import annotations

from dataclasses import dataclass

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
    def of(
        cls, model: StumpModel, learner: NDArray[np.int64], cuts: Cuts, total: float
    ) -> Coverage:
        """From the weights at or below the thresholds; no pass over the rows.

        ``learner`` are the weak-learners of the run, thresholds by their index in ``cuts``; the
        path of the model is where it begins.
        """
        used = np.unique(learner[: len(model.feature)])
        below = cuts.left_weight[used[used >= 0]]
        starts, edges, density = _density(model.features, cuts, total)
        return cls(float(total), _between(below, model.starts, total), starts, edges, density)


def _density(
    features: NDArray[np.int64], cuts: Cuts, total: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    first, size = cuts.offsets[features], np.diff(cuts.offsets)[features]
    few = size <= DENSITY_CELLS
    starts = _starts(np.where(few, size, DENSITY_CELLS - 1))
    edges, below = np.empty(starts[-1]), np.empty(starts[-1])
    source, target = _ranges(first[few], size[few]), _ranges(starts[:-1][few], size[few])
    edges[target], below[target] = cuts.thresholds[source], cuts.left_weight[source]
    share = np.linspace(0.0, 1.0, DENSITY_CELLS - 1)
    for k in np.flatnonzero(~few):
        span, now = slice(first[k], first[k] + size[k]), slice(starts[k], starts[k + 1])
        thresholds = cuts.thresholds[span]
        # Not low + share (high - low): the difference of the largest numbers overflows.
        edges[now] = (1.0 - share) * thresholds[0] + share * thresholds[-1]
        below[now] = np.interp(edges[now], thresholds, cuts.left_weight[span])
    return starts, edges, _between(below, starts, total)


def _between(
    below: NDArray[np.float64], starts: NDArray[np.int64], total: float
) -> NDArray[np.float64]:
    """Weights between neighbouring edges of each feature, from the weights below each edge."""
    n = len(starts) - 1
    upper = np.full(len(below) + n, total)
    upper[np.arange(len(below)) + np.repeat(np.arange(n), np.diff(starts))] = below
    weights = np.diff(upper, prepend=0.0)
    first = starts[:-1] + np.arange(n)
    weights[first] = upper[first]
    return np.maximum(weights, 0.0)  # rounding may undercut 0


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _ranges(first: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """first[0], first[0] + 1, ... (size[0] of them), first[1], ..."""
    starts = _starts(size)
    return np.arange(starts[-1]) + np.repeat(first - starts[:-1], size)
