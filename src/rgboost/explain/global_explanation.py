"""The step functions of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Coverage, StumpModel


@dataclass(frozen=True)
class ShapeFunction:
    """What a feature adds to the score: ``values[k]`` where ``edges[k] < x <= edges[k + 1]``.

    Attributes
    ----------
    feature, name : index and name of the feature.
    cuts : the K - 1 places where the function steps.
    values : its K values, from left to right.
    weights : the weight (without ``sample_weight``: the number) of training rows on each step.
    density_edges, density : the same on finer cells, for a picture of the data: one more weight
        than edges, the first and the last cell are open.
    """

    feature: int
    name: str
    cuts: NDArray[np.float64]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    density_edges: NDArray[np.float64]
    density: NDArray[np.float64]

    @property
    def edges(self) -> NDArray[np.float64]:
        """The K + 1 ends of the steps; the first and the last are infinite."""
        return np.concatenate([[-np.inf], self.cuts, [np.inf]])

    @property
    def mean(self) -> float:
        """The mean value over the training rows."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def spread(self) -> float:
        """The standard deviation over the training rows."""
        off = self.values - self.mean
        scale = float(np.abs(off).max())  # squares of very large and very small values exist, too
        if scale == 0.0:
            return 0.0
        return scale * float(np.sqrt(np.average((off / scale) ** 2, weights=self.weights)))

    @property
    def plot_range(self) -> tuple[float, float]:
        """An interval that holds all edges, with some room at both ends, for a picture."""
        low, high = (self.density_edges[[0, -1]]) if len(self.density_edges) else (-0.5, 0.5)
        room = max(0.04 * (high - low), 0.5 * float(np.diff(self.density_edges).min(initial=1.0)))
        room = 1.0 if low == high else min(room, 0.5 * (high - low))
        return float(low - room), float(high + room)

    def at(self, x: Any) -> NDArray[np.float64]:
        """The function at some values of the feature."""
        return self.values[np.searchsorted(self.cuts, x)]

    def centered(self) -> ShapeFunction:
        """The function less its mean."""
        return replace(self, values=self.values - self.mean)


@dataclass(frozen=True)
class GlobalExplanation:
    """score(x) = intercept + sum of the shape functions.

    ``functions`` has those of the features that the model uses, in the order of the features;
    ``explanation["name"]`` or ``explanation[index]`` gives that of any feature (of an unused one:
    zero). ``importances`` has an entry per feature, see ``feature_importances_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> shape = model.explain_global()["sex"]
    >>> shape.edges.round(3), shape.weights
    (array([ -inf, 0.003,   inf]), array([235., 207.]))
    """

    intercept: float
    functions: tuple[ShapeFunction, ...]
    names: Sequence[str]
    total_weight: float

    @classmethod
    def of(cls, model: Any, coverage: Coverage | None, names: Sequence[str]) -> GlobalExplanation:
        """From the tables of a fitted model."""
        if not isinstance(model, StumpModel) or coverage is None:
            raise TypeError(
                "Only models of stumps have shape functions; this one is a combination of a "
                "dictionary's columns, see model_.coef."
            )
        functions = []
        spans = zip(pairwise(model.starts), pairwise(coverage.starts), strict=True)
        for k, ((a, b), (c, d)) in enumerate(spans):
            g = int(model.features[k])
            functions.append(
                ShapeFunction(
                    feature=g,
                    name=str(names[g]),
                    cuts=model.cuts[a:b],
                    values=model.tables[a + k : b + k + 1],
                    weights=coverage.weights[a + k : b + k + 1],
                    density_edges=coverage.edges[c:d],
                    density=coverage.density[c + k : d + k + 1],
                )
            )
        return cls(model.intercept, tuple(functions), names, coverage.total)

    @property
    def importances(self) -> NDArray[np.float64]:
        """Standard deviations of all features' functions, divided by their sum."""
        spread = np.zeros(len(self.names))
        for shape in self.functions:
            spread[shape.feature] = shape.spread
        total = spread.sum()
        return spread / total if total > 0 else spread

    def by_importance(self) -> list[ShapeFunction]:
        """The functions, the most important one first; ties in the order of the features."""
        return sorted(self.functions, key=lambda shape: -shape.spread)

    def centered(self) -> GlobalExplanation:
        """The same model with functions of mean zero; their means go to the intercept."""
        means = sum(shape.mean for shape in self.functions)
        functions = tuple(shape.centered() for shape in self.functions)
        return replace(self, intercept=self.intercept + means, functions=functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self.functions)

    def __getitem__(self, feature: str | int) -> ShapeFunction:
        g = self._index(feature)
        for shape in self.functions:
            if shape.feature == g:
                return shape
        none = np.empty(0)
        rows = np.array([self.total_weight])
        return ShapeFunction(g, str(self.names[g]), none, np.zeros(1), rows, none, rows)

    def _index(self, feature: str | int) -> int:
        if isinstance(feature, str):
            found = [g for g, name in enumerate(self.names) if name == feature]
            if found:
                return found[0]
            some = ", ".join(repr(name) for name in self.names[:5])
            raise KeyError(f"no feature has the name {feature!r}; the first of them are {some}")
        if not 0 <= feature < len(self.names):
            raise IndexError(f"feature {feature} does not exist; use 0 to {len(self.names) - 1}")
        return int(feature)
