"""A family by somebody else: ramps max(0, x_g - s), with the knots s at quantiles of a feature."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rgboost.learners import LearnerFamily
from rgboost.learners.base import Prepared
from rgboost.learners.kernels import Pick, direction, make_pick, search_columns
from rgboost.selection import Layout


class RampArrays(NamedTuple):
    """Features as contiguous rows, the knots of all ramps, what normalises each, and the first ramp
    of each feature."""

    columns: np.ndarray
    knots: np.ndarray
    scale: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True)
class Ramps(LearnerFamily):
    n_knots: int = 5

    def prepare(self, X, weight=None, *, groups=None, names=None, n_jobs=1):
        levels = np.arange(self.n_knots) / self.n_knots
        knots = np.quantile(X, levels, axis=0).T.ravel()
        offsets = self.n_knots * np.arange(X.shape[1] + 1)
        w = np.ones(len(X)) if weight is None else weight
        ramps = columns_of(X, knots, offsets)
        scale = 1.0 / np.sqrt((ramps**2 * w[:, None]).sum(axis=0))
        arrays = RampArrays(np.ascontiguousarray(X.T), knots, scale, offsets)
        return PreparedRamps(arrays, Layout.make(offsets, groups, names), float(X.size))


def columns_of(X, knots, offsets):
    """All ramps as columns of a matrix."""
    return np.maximum(0.0, np.repeat(X, np.diff(offsets), axis=1) - knots)


@dataclass
class PreparedRamps(Prepared):
    arrays: Any
    layout: Layout
    cells: float

    def arrays_for(self, X, n_jobs=1):
        return self.arrays._replace(columns=np.ascontiguousarray(X.T))

    def model(self, path, intercept):
        coef = np.bincount(path.learner, path.left, len(self.arrays.knots)) * self.arrays.scale
        return RampModel(intercept, coef, self.arrays.knots, self.arrays.offsets)


@dataclass(frozen=True)
class RampModel:
    intercept: float
    coef: np.ndarray
    knots: np.ndarray
    offsets: np.ndarray

    def score(self, X, n_jobs=1):
        return self.intercept + columns_of(X, self.knots, self.offsets) @ self.coef


@search_columns.register(RampArrays)
def _search(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    for k in range(k_start, k_stop):
        g = subset.columns[k]
        best_out.score[k] = -1.0
        first, stop = learners.offsets[g], learners.offsets[g + 1]
        chosen = np.arange(first, stop)
        if subset.restricted:
            chosen = subset.learners[subset.first[k] : subset.first[k + 1]]
        for j in chosen:
            inner = 0.0
            for i in range(residual.shape[0]):
                inner += max(0.0, learners.columns[g, i] - learners.knots[j]) * residual[i]
            inner *= learners.scale[j]
            if inner * inner > best_out.score[k] * (1.0 + 1e-9):
                best_out.score[k], best_out.learner[k] = inner * inner, j
                best_out.inner[k] = inner


@make_pick.register(RampArrays)
def _pick(learners, column, learner, inner, total):
    return Pick(learner, column, abs(inner), 1.0 if inner >= 0.0 else -1.0, 0.0)


@direction.register(RampArrays)
def _direction(learners, pick, lo, hi, out):
    scale, knot = pick.left * learners.scale[pick.learner], learners.knots[pick.learner]
    for i in range(lo, hi):
        out[i - lo] = scale * max(0.0, learners.columns[pick.column, i] - knot)
