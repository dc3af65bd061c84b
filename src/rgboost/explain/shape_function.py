"""What a feature adds to the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.svg import row_of
from ..data.mixed_bins import OTHERS
from ..model.pair_tables import find_bins, weighted_spread
from .band import LEVEL, Band, Deviation
from .frames import bins_of, make_frame, with_classes
from .pictures import shape_picture
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
    feature, name
        Index and name of the feature.
    cuts
        The K - 1 places where the function steps; none if the feature is categorical.
    values
        Its K values, from left to right, or by category. With C > 2 classes (K, C): a function for
        each class.
    weights
        The weight (without ``sample_weight``: the number) of training rows on each step, or in each
        category.
    density_edges, density
        The same on finer cells, for a picture of the data: one more weight than edges, the first
        and the last cell are open. None of a categorical feature.
    missing
        The value for missing values; with C > 2 classes (C,).
    missing_weight
        The weight of the training rows that have none.
    categories
        The labels of the categories, or None if the feature is not categorical.
    codes
        The numbers of the categories in the matrix of rows, or None.
    classes
        The labels of C > 2 classes, or None.
    scale
        What the function adds to, in words: ``str(scale)`` is such as "log-odds of class yes".
    deviation
        How far runs or bags are apart, or None; see `band`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=100, random_state=0).fit(X, y)
    >>> curve = model.explain_global()["bmi"]
    >>> curve.name, len(curve.values) == len(curve.cuts) + 1
    ('bmi', True)
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
    deviation: Deviation | None = None

    @property
    def features(self) -> tuple[int]:
        """The feature; see `PairFunction`."""
        return (self.feature,)

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
        return weighted_spread(*self._with_missing())

    def _with_missing(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and weights, those of missing values last."""
        values = np.concatenate([self.values, np.asarray(self.missing, np.float64)[None]])
        return values, np.append(self.weights, self.missing_weight)

    @property
    def band(self) -> Band | None:
        """How sure the function is: ``low`` and ``high`` around its values, that for missing values
        last, and in ``text`` what they are. Of the mean of several runs one standard deviation over
        the runs: how much the curve depends on the rows, no interval. Of a model with ``bags`` an
        interval of 90 %, see `interval`. None where there was one run, or the term was edited."""
        return None if self.deviation is None else self.deviation.band(self._with_missing()[0])

    def interval(self, level: float = LEVEL) -> Band:
        """The interval of a model with ``bags``, bin by bin, of the function less its mean.

        Parameters
        ----------
        level
            The nominal share of intervals that hold the true value.

        Returns
        -------
        Band
            ``low``, ``high`` and ``text``.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from rgboost import RGBMRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RGBMRegressor(max_iter=50, bags=5, interactions=0, random_state=0).fit(X, y)
        >>> model.explain_global()["bmi"].interval(0.9).text
        '90 % interval (nominal) from 5 bags'
        """
        if self.deviation is None:
            raise ValueError(f"there are no bags of {self.name}; fit with bags=20, say.")
        return self.deviation.band(self._with_missing()[0], level)

    @property
    def plot_range(self) -> tuple[float, float]:
        """An interval that holds all edges, with some room at both ends, for a picture."""
        return plot_range(self.density_edges)

    def at(self, x: Any) -> NDArray[np.float64]:
        """The function at some values of the feature.

        Parameters
        ----------
        x
            Values; of categories their numbers (``codes``).

        Returns
        -------
        array
            What the function adds there.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> curve.at([0.2, 3.5]).round(2)
        array([-1.75,  2.25])
        """
        values, _ = self._with_missing()
        by_set = self.codes is not None
        edges = self.cuts if self.codes is None else self.codes
        return values[find_bins(np.asarray(x, np.float64), edges, by_set)]

    def centered(self) -> ShapeFunction:
        """The function less its mean.

        Returns
        -------
        ShapeFunction
            A function of mean zero.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> abs(curve.centered().mean) < 1e-12
        True
        """
        return replace(self, values=self.values - self.mean, missing=self.missing - self.mean)

    def of_class(self, label: Any) -> ShapeFunction:
        """The function of a class; of the first of two, with its sign turned.

        Parameters
        ----------
        label
            One of the classes.

        Returns
        -------
        ShapeFunction
            The function of one score.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> bool((curve.of_class("no").values == -curve.values).all())
        True
        """
        scale, take = self.scale.choose(label, self.classes)
        missing, deviation = float(take(self.missing)), self.deviation
        if deviation is not None:
            deviation = replace(deviation, values=np.abs(take(deviation.values)))
        return replace(
            self, values=take(self.values), missing=missing, classes=None, scale=scale,
            deviation=deviation,
        )  # fmt: skip

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns of `to_frame`.

        Returns
        -------
        dict
            A list for each column.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> curve.to_columns()["to"]
        [0.5, 1.5, 2.5, inf, None]
        """
        values, weights = self._with_missing()
        bins = {"term": [self.name] * len(weights), **bins_of(self.cuts, self.categories)}
        bins["weight"] = weights.tolist()
        classes = None if self.classes is None else self.classes.tolist()
        return with_classes(bins, values, classes)

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with a row for every step or category, that of missing values last.

        It has the ``term``, ``from`` and ``to`` of numbers, the ``category``, whether it is of
        ``missing`` values, the ``weight`` of the training rows and the ``value``. Of several
        classes there is a row for each.

        Parameters
        ----------
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        Returns
        -------
        data frame
            The function.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> curve.to_frame()["value"].round(2).tolist()[:4]
        [-1.75, 0.25, -0.75, 2.25]
        """
        return make_frame(self.to_columns(), backend)

    def __repr__(self) -> str:
        kind = "steps" if self.categories is None else "categories"
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        low, high = self.values.min(), self.values.max()
        return (
            f"ShapeFunction({shortened(self.name, 40)!r}, {len(self.values)} {kind}{several}, "
            f"from {low:.6g} to {high:.6g})"
        )

    def pictures(self, importance: float | None = None) -> list[str]:
        """Small pictures for a page or a notebook: one, for all classes.

        Parameters
        ----------
        importance
            A number to write beside the name, or None.

        Returns
        -------
        list of str
            SVG.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> curve = model.explain_global()[0]
        >>> len(curve.pictures())
        1
        """
        return [shape_picture(self, importance)]

    def _repr_html_(self) -> str:
        note = f"What it adds to the {self.scale}."
        return row_of(self.pictures(), note, () if self.classes is None else self.classes)


def labels_of(codes: NDArray[np.float64] | None, own: NDArray | None) -> NDArray | None:
    """The labels of categories; `OTHERS_LABEL` for those that share a value."""
    if codes is None:
        return None
    shared = len(codes) > 0 and codes[-1] == OTHERS
    alone = codes[:-1] if shared else codes
    labels = alone if own is None else own[alone.astype(np.intp)]
    return np.array([*labels.tolist(), OTHERS_LABEL], dtype=object) if shared else labels


def plot_range(density_edges: NDArray[np.float64]) -> tuple[float, float]:
    """An interval that holds all edges, with some room at both ends, for a picture."""
    edges = 0.25 * density_edges  # differences of the largest numbers exist, too
    low, high = (edges[[0, -1]]) if len(edges) else (-0.125, 0.125)
    room = max(0.04 * (high - low), 0.5 * float(np.diff(edges).min(initial=0.25)))
    room = 0.25 if low == high else min(room, 0.5 * (high - low))
    most = float(np.finfo(np.float64).max)
    return 4.0 * max(float(low - room), -most / 4), 4.0 * min(float(high + room), most / 4)
