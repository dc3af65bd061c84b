"""The step functions of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import brief, shortened
from .._core.svg import row_of
from ..data.mixed_bins import OTHERS, find_categories
from ..model import Coverage
from .pictures import global_pictures, shape_picture
from .scale import SCORE, Scale

OTHERS_LABEL = "(other)"
"""Rare categories, which share a value, and with them all that are not known."""


@dataclass(frozen=True)
class ShapeFunction:
    """What a feature adds to the score: ``values[k]`` where ``edges[k] < x <= edges[k + 1]``, or
    where x is ``categories[k]``; ``missing`` where it is missing. An unknown category is one of
    those that are called ``"(other)"``, and counts as missing where there are none.

    Attributes
    ----------
    feature, name : index and name of the feature.
    cuts : the K - 1 places where the function steps; none if the feature is categorical.
    values : its K values, from left to right, or by category. With C > 2 classes (K, C): a
        function for each class.
    weights : the weight (without ``sample_weight``: the number) of training rows on each step, or
        in each category.
    density_edges, density : the same on finer cells, for a picture of the data: one more weight
        than edges, the first and the last cell are open. None of a categorical feature.
    missing : the value for missing values; with C > 2 classes (C,).
    missing_weight : the weight of the training rows that have none.
    categories : the labels of the categories, or None if the feature is not categorical.
    codes : the numbers of the categories in the matrix of rows, or None.
    classes : the labels of C > 2 classes, or None.
    scale : what the function adds to, in words: ``str(scale)`` is such as "log-odds of class yes".
    """

    feature: int
    name: str
    cuts: NDArray[np.float64]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    density_edges: NDArray[np.float64]
    density: NDArray[np.float64]
    missing: Any = 0.0
    missing_weight: float = 0.0
    categories: NDArray | None = None
    codes: NDArray[np.float64] | None = None
    classes: NDArray | None = None
    scale: Scale = SCORE

    @property
    def edges(self) -> NDArray[np.float64]:
        """The K + 1 ends of the steps; the first and the last are infinite."""
        return np.concatenate([[-np.inf], self.cuts, [np.inf]])

    @property
    def mean(self) -> Any:
        """The mean value over the training rows; with several classes, of each."""
        values, weights = self._with_missing()
        found = np.average(values, axis=0, weights=weights)
        return float(found) if values.ndim == 1 else found

    @property
    def spread(self) -> float:
        """The standard deviation over the training rows; of several classes, the root of the sum
        of their squares."""
        values, weights = self._with_missing()
        off = values - self.mean
        scale = float(np.abs(off).max())  # squares of very large and very small values exist, too
        if scale == 0.0:
            return 0.0
        squares = (off / scale) ** 2
        squares = squares if squares.ndim == 1 else squares.sum(axis=1)
        return scale * float(np.sqrt(np.average(squares, weights=weights)))

    def _with_missing(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and weights, those of missing values last."""
        values = np.concatenate([self.values, np.asarray(self.missing, np.float64)[None]])
        return values, np.append(self.weights, self.missing_weight)

    @property
    def plot_range(self) -> tuple[float, float]:
        """An interval that holds all edges, with some room at both ends, for a picture."""
        edges = 0.25 * self.density_edges  # differences of the largest numbers exist, too
        low, high = (edges[[0, -1]]) if len(edges) else (-0.125, 0.125)
        room = max(0.04 * (high - low), 0.5 * float(np.diff(edges).min(initial=0.25)))
        room = 0.25 if low == high else min(room, 0.5 * (high - low))
        most = float(np.finfo(np.float64).max)
        return 4.0 * max(float(low - room), -most / 4), 4.0 * min(float(high + room), most / 4)

    def at(self, x: Any) -> NDArray[np.float64]:
        """The function at some values of the feature; categories by their numbers (``codes``)."""
        values, _ = self._with_missing()
        found = np.asarray(x, np.float64)
        if self.codes is not None:
            return values[find_categories(found, self.codes)]
        place = np.searchsorted(self.cuts, found)
        return values[np.where(np.isnan(found), len(self.values), place)]

    def centered(self) -> ShapeFunction:
        """The function less its mean."""
        return replace(self, values=self.values - self.mean, missing=self.missing - self.mean)

    def of_class(self, label: Any) -> ShapeFunction:
        """The function of a class, by its label; of the first of two, with its sign turned."""
        scale, take = self.scale.choose(label, self.classes)
        missing = float(take(self.missing))
        return replace(self, values=take(self.values), missing=missing, classes=None, scale=scale)

    def __repr__(self) -> str:
        kind = "steps" if self.categories is None else "categories"
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        low, high = self.values.min(), self.values.max()
        return (
            f"ShapeFunction({shortened(self.name, 40)!r}, {len(self.values)} {kind}{several}, "
            f"from {low:.6g} to {high:.6g})"
        )

    def _repr_html_(self) -> str:
        note = f"What it adds to the {self.scale}."
        return row_of([shape_picture(self)], note, () if self.classes is None else self.classes)


@dataclass(frozen=True)
class GlobalExplanation:
    """score(x) = intercept + sum of the shape functions.

    ``functions`` has those of the features that the model uses: categorical features first, then
    the others, each in the order of the features. ``explanation["name"]`` or
    ``explanation[index]`` gives that of any feature (of an unused one: zero). ``importances`` has
    an entry per feature, see ``feature_importances_``. With more than two classes there is a score
    for each: ``intercept`` and the values of functions have an entry for each of ``classes``.
    ``scale`` says in words what the score is, such as "log-odds of class yes".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=200, random_state=0).fit(X, y)
    >>> shape = model.explain_global()["sex"]
    >>> shape.edges.round(3), shape.weights
    (array([ -inf, 0.003,   inf]), array([235., 207.]))
    """

    intercept: Any
    functions: tuple[ShapeFunction, ...]
    names: Sequence[str]
    total_weight: float
    classes: NDArray | None = None
    scale: Scale = SCORE

    @classmethod
    def of(
        cls,
        model: Any,
        coverage: Coverage | None,
        names: Sequence[str],
        labels: Mapping[int, NDArray] | None = None,
        classes: NDArray | None = None,
        scale: Scale = SCORE,
    ) -> GlobalExplanation:
        """From the tables of a fitted model; ``labels[g]`` are those of feature g's categories."""
        if coverage is None:
            raise TypeError(
                "Only models of stumps have shape functions; this one is a combination of a "
                "dictionary's columns, see model_.coef."
            )
        classes = classes if np.ndim(model.intercept) else None
        functions = tuple(
            ShapeFunction(
                feature=term.feature,
                name=str(names[term.feature]),
                cuts=term.cuts,
                values=term.values,
                weights=term.weights,
                density_edges=term.edges,
                density=term.density,
                missing=term.missing,
                missing_weight=term.missing_weight,
                categories=_labels_of(term.codes, (labels or {}).get(term.feature)),
                codes=term.codes,
                classes=classes,
                scale=scale,
            )
            for term in coverage.terms(model)
        )
        return cls(model.intercept, functions, names, coverage.total, classes, scale)

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
        means: Any = sum(shape.mean for shape in self.functions)
        functions = tuple(shape.centered() for shape in self.functions)
        return replace(self, intercept=self.intercept + means, functions=functions)

    def __repr__(self) -> str:
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        return (
            f"GlobalExplanation({len(self)} shape functions of {len(self.names)} features"
            f"{several}, intercept={brief(self.intercept)}, total_weight={self.total_weight:.6g})"
        )

    def _repr_html_(self) -> str:
        return row_of(*global_pictures(self))

    def of_class(self, label: Any) -> GlobalExplanation:
        """The model of a class's score, by its label; of the first of two, with signs turned."""
        scale, take = self.scale.choose(label, self.classes)
        functions = tuple(shape.of_class(label) for shape in self.functions)
        intercept = float(take(self.intercept))
        return replace(self, intercept=intercept, functions=functions, classes=None, scale=scale)

    def __len__(self) -> int:
        return len(self.functions)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self.functions)

    def __getitem__(self, feature: str | int) -> ShapeFunction:
        g = self._index(feature)
        for shape in self.functions:
            if shape.feature == g:
                return shape
        none, zero = np.empty(0), np.zeros(np.shape(self.intercept))
        rows = np.array([self.total_weight])
        missing = zero if zero.ndim else 0.0
        name = str(self.names[g])
        return ShapeFunction(
            g,
            name,
            none,
            zero[None],
            rows,
            none,
            rows,
            missing,
            classes=self.classes,
            scale=self.scale,
        )

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


def _labels_of(codes: NDArray[np.float64] | None, own: NDArray | None) -> NDArray | None:
    """The labels of categories; `OTHERS_LABEL` for those that share a value."""
    if codes is None:
        return None
    shared = len(codes) > 0 and codes[-1] == OTHERS
    alone = codes[:-1] if shared else codes
    labels = alone if own is None else own[alone.astype(np.intp)]
    return np.array([*labels.tolist(), OTHERS_LABEL], dtype=object) if shared else labels
