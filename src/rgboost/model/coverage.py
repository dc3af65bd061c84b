"""Where the training rows lie on the features of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from .._core.stored import are_starts, are_weights, check_arrays, require
from ..data.cuts import Cuts
from ..data.mixed_bins import MixedCuts
from .path import Path
from .stump_model import StumpModel

Vector = NDArray[np.float64]

DENSITY_CELLS = 32
"""Features with more thresholds than this have their density on evenly spaced cells."""

_SHARES = np.linspace(0.0, 1.0, DENSITY_CELLS - 1)

_ARRAYS = {
    "weights": "f8 cuts+used", "missing": "f8 used", "starts": "i8 used+1", "edges": "f8 edges",
    "density": "f8 edges+used", "category_weights": "f8 categories",
    "category_missing": "f8 categorical",
}  # fmt: skip


@dataclass(frozen=True)
class Term:
    """What one feature adds to the score, and where the training rows lie on it.

    ``values`` has an entry for each step between ``cuts``, or for each of the categories whose
    numbers are ``codes``; ``missing`` is what is added where x is missing. With several classes
    these have a column for each. ``weights`` and ``missing_weight`` are those of the training rows;
    ``edges`` and ``density`` are finer (see `Coverage`), and empty for a categorical feature.
    """

    feature: int
    values: NDArray[np.float64]
    missing: Any
    weights: Vector
    missing_weight: float
    cuts: Vector
    edges: Vector
    density: Vector
    codes: Vector | None = None


@one_line
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

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        model = fitted["model_"]
        model = getattr(model, "wide", model)
        tables = model.categories
        n_categorical, n_values = (len(tables.features), len(tables.values)) if tables else (0, 0)
        sizes = {"used": len(model.features), "cuts": len(model.cuts)}
        check_arrays(
            self, "coverage_", _ARRAYS,
            sizes | {"categorical": n_categorical, "categories": n_values},
        )  # fmt: skip
        require(type(self.total) is float, "coverage_.total")
        require(are_starts(self.starts, len(self.edges)), "coverage_.starts")
        require(np.isfinite(self.edges).all(), "coverage_.edges")
        good = np.isfinite(self.density).all() and (self.density >= 0).all()
        require(good, "coverage_.density")
        steps = pairwise(model.starts + np.arange(len(model.starts)))
        for missing, (a, b) in zip(self.missing, steps, strict=True):
            require(are_weights(np.append(self.weights[a:b], missing)), "coverage_.weights")
        steps = pairwise(tables.starts if tables else ())
        for missing, (a, b) in zip(self.category_missing, steps, strict=True):
            weights = np.append(self.category_weights[a:b], missing)
            require(are_weights(weights), "coverage_.category_weights")

    @classmethod
    def of(cls, model: StumpModel, path: Path, cuts: Cuts, total: float) -> Coverage:
        """From the weights at or below the thresholds; no pass over the rows.

        ``path`` is that of the model, its weak-learners are thresholds by their index in ``cuts``.
        """
        used = np.unique(path.learner)
        below = cuts.left_weight[used[used >= 0]]
        starts, edges, density = _density(model.features, cuts, total)
        weights = _between(below, model.starts, total)
        none, none_missing = np.empty(0), np.zeros(len(model.features))
        return cls(float(total), weights, none_missing, starts, edges, density, none, none)

    @classmethod
    def of_mixed(cls, model: StumpModel, cuts: MixedCuts) -> Coverage:
        """The same where features have missing values or categories."""
        weights, missing, edges, density = [], [], [], []
        for g, (a, b) in zip(model.features, pairwise(model.starts), strict=True):
            thresholds, below, known, unknown = _bins_of(cuts, int(g))
            at = np.searchsorted(thresholds, model.cuts[a:b])
            weights.append(_steps(below[at], known))
            missing.append(unknown)
            if len(thresholds) > DENSITY_CELLS:
                cells = _spaced(thresholds[0], thresholds[-1])
                below = np.interp(cells, thresholds, below)
                thresholds = cells
            edges.append(thresholds)
            density.append(_steps(below, known))
        sizes = [len(e) for e in edges]
        by_category: list[Vector] = []
        if model.categories is not None:
            by_category = [cuts.weights_of(g) for g in model.categories.features]
        return cls(
            total=float(cuts.total_weight),
            weights=_join(weights),
            missing=np.array(missing, np.float64),
            starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            edges=_join(edges),
            density=_join(density),
            category_weights=_join([found[:-1] for found in by_category]),
            category_missing=np.array([found[-1] for found in by_category], np.float64),
        )

    def terms(self, model: Any) -> Iterator[Term]:
        """The terms of the model that this is the coverage of: categorical features first."""
        model, none = model.wide, np.empty(0)
        tables = model.categories
        for k, (a, b) in enumerate(pairwise(() if tables is None else tables.starts)):
            yield Term(
                int(tables.features[k]), tables.tables[a:b], _scalar(tables.missing[k]),
                self.category_weights[a:b], float(self.category_missing[k]),
                none, none, none, tables.values[a:b],
            )  # fmt: skip
        spans = zip(pairwise(model.starts), pairwise(self.starts), strict=True)
        for k, ((a, b), (c, d)) in enumerate(spans):
            now = slice(a + k, b + k + 1)
            yield Term(
                int(model.features[k]), model.tables[now], _scalar(model.missing[k]),
                self.weights[now], float(self.missing[k]),
                model.cuts[a:b], self.edges[c:d], self.density[c + k : d + k + 1],
            )  # fmt: skip


def _scalar(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def _density(
    features: NDArray[np.int64], cuts: Cuts, total: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    first, size = cuts.offsets[features], np.diff(cuts.offsets)[features]
    few = size <= DENSITY_CELLS
    starts = _starts(np.where(few, size, DENSITY_CELLS - 1))
    edges, below = np.empty(starts[-1]), np.empty(starts[-1])
    source, target = _ranges(first[few], size[few]), _ranges(starts[:-1][few], size[few])
    edges[target], below[target] = cuts.thresholds[source], cuts.left_weight[source]
    many = np.flatnonzero(~few)
    last = first[many] + size[many] - 1
    cells = _spaced(cuts.thresholds[first[many], None], cuts.thresholds[last, None])
    for k, own in zip(many, cells, strict=True):
        span, now = slice(first[k], first[k] + size[k]), slice(starts[k], starts[k + 1])
        edges[now] = own
        below[now] = np.interp(own, cuts.thresholds[span], cuts.left_weight[span])
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


def _bins_of(cuts: MixedCuts, g: int) -> tuple[Vector, Vector, float, float]:
    """Thresholds of a numeric feature, the weights at or below each, those of all its known
    values and of its missing ones."""
    found = cuts.weights_of(g)
    below = np.cumsum(found[:-1])
    return cuts.edges_of(g), below[:-1], float(below[-1]), float(found[-1])


def _spaced(low: Any, high: Any) -> Vector:
    """Evenly spaced edges, also where high - low would overflow."""
    return (1.0 - _SHARES) * low + _SHARES * high


def _steps(below: Vector, total: float) -> Vector:
    """Weights between neighbouring edges of a feature, from the weights below each of them."""
    return np.maximum(np.diff(below, prepend=0.0, append=total), 0.0)  # rounding may undercut 0


def _join(parts: list[Vector]) -> Vector:
    return np.concatenate(parts) if parts else np.empty(0)
