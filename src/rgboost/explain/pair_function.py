"""What a pair of features adds to the score, beyond what each of them does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.svg import row_of
from ..model.pair_tables import PairTables, weighted_spread
from .band import Band, Deviation
from .frames import bins_of, make_frame, repeated, with_classes
from .heat_map import heat_maps
from .pair_axis import PairAxis, mean_in_bins
from .scale import SCORE, Scale
from .shape_function import ShapeFunction, labels_of

Vector = NDArray[np.float64]

SLICES_MOST = 5

COLOURED = 0.99
"""The share of the training rows whose values are told apart by colours."""


class Slice(NamedTuple):
    """A pair where one of its features is in one bin: a function of the other."""

    label: str
    """That bin in words."""
    function: ShapeFunction


@dataclass(frozen=True)
class PairFunction:
    """What two features add to the score together: ``values[i, j]`` where the first one is in its
    bin i and the second one in its bin j, bins of missing values last.

    It is pure: along each axis its mean over the training rows is zero, whatever the other feature
    is. What either feature does by itself is in its `ShapeFunction`.

    Attributes
    ----------
    axes
        The two `PairAxis`, with thresholds or categories.
    values
        (bins of the first, bins of the second); with C > 2 classes (.., .., C).
    weights
        The weight of the training rows in each cell.
    classes
        The labels of C > 2 classes, or None.
    scale
        What the function adds to, in words.
    whole
        Whether the curves of both features are in it; see `with_curves`.
    deviation
        How far runs or bags are apart, or None; see `band`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rgboost import RGBMRegressor
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 2)), columns=["a", "b"])
    >>> model = RGBMRegressor(interactions=[("a", "b")], random_state=0).fit(X, X.a * X.b)
    >>> pair = model.explain_global()["a", "b"]
    >>> pair.name, pair.values.shape == pair.weights.shape
    ('a x b', True)
    >>> bool(abs(pair.mean) < 1e-6)
    True
    """

    axes: tuple[PairAxis, PairAxis]
    values: Vector
    weights: Vector
    classes: NDArray | None = None
    scale: Scale = SCORE
    whole: bool = False
    deviation: Deviation | None = None

    @property
    def features(self) -> tuple[int, int]:
        """Indices of both features."""
        return self.axes[0].feature, self.axes[1].feature

    @property
    def names(self) -> tuple[str, str]:
        """Names of both features."""
        return self.axes[0].name, self.axes[1].name

    @property
    def name(self) -> str:
        """Both names, such as ``latitude x longitude``."""
        return " x ".join(self.names)

    @property
    def mean(self) -> Any:
        """The mean value over the training rows, zero but for rounding; of several classes, of
        each."""
        flat = self.values.reshape(self.weights.size, -1)
        found = np.average(flat, axis=0, weights=self.weights.ravel())
        return float(found[0]) if self.values.ndim == 2 else found

    @property
    def spread(self) -> float:
        """The standard deviation over the training rows; of several classes, the root of the sum
        of their squares."""
        return weighted_spread(self.values, self.weights)

    @property
    def band(self) -> Band | None:
        """As `ShapeFunction.band`, for every cell."""
        return None if self.deviation is None else self.deviation.band(self.values)

    @property
    def most(self) -> float:
        """The absolute value that 99 % of the training rows are within, for the colours of a
        picture: a few odd rows would leave the others pale. 1 if all are zero."""
        found, rows = np.abs(self.values[self.weights > 0]), self.weights[self.weights > 0]
        if found.ndim == 2:
            rows = np.repeat(rows[:, None], found.shape[1], axis=1)
        finite = np.isfinite(found)
        found, rows = found[finite], rows[finite]
        order = np.argsort(found)
        known = np.cumsum(rows[order])
        if not len(known):
            return 1.0
        most = found[order][np.searchsorted(known, COLOURED * known[-1])]
        return float(most) or float(found.max()) or 1.0

    @property
    def near(self) -> NDArray[np.bool_]:
        """Cells that training rows are in or next to; the others are guesses."""
        return near_rows(self.weights, *(axis.categories is None for axis in self.axes))

    def at(self, x_g: Any, x_h: Any) -> Vector:
        """The function at some values of both features.

        Parameters
        ----------
        x_g, x_h
            Values of the first and of the second; of categories their numbers.

        Returns
        -------
        array
            What the pair adds there.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> pair.at([0.0, 1.0], [0.0, 1.0]).shape
        (2,)
        """
        return self.values[self.axes[0].bins(x_g), self.axes[1].bins(x_h)]

    def centered(self) -> PairFunction:
        """The function less its mean.

        Returns
        -------
        PairFunction
            A function of mean zero.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> abs(pair.centered().mean) < 1e-12
        True
        """
        return replace(self, values=self.values - self.mean)

    def with_curves(self, first: ShapeFunction, second: ShapeFunction) -> PairFunction:
        """What both features say in all: the pair and the curves of both, each less its mean.

        Where a curve has several steps within a bin, its mean over the rows there is taken.

        Parameters
        ----------
        first, second
            The curves, in the order of ``names``.

        Returns
        -------
        PairFunction
            The sum, with ``whole`` True.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> pair.with_curves(explanation[0], explanation[1]).whole
        True
        """
        added = [mean_in_bins(c, a) for c, a in zip((first, second), self.axes, strict=True)]
        values = self.values + added[0][:, None] + added[1][None]
        return replace(self, values=values, whole=True, deviation=None)

    def of_class(self, label: Any) -> PairFunction:
        """The function of a class; of the first of two, with its sign turned.

        Parameters
        ----------
        label
            One of the classes.

        Returns
        -------
        PairFunction
            The function of one score.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMClassifier
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] != X[:, 1]
        >>> model = RGBMClassifier(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> pair = model.explain_global()[0, 1]
        >>> bool((pair.of_class(False).values == -pair.values).all())
        True
        """
        scale, take = self.scale.choose(label, self.classes)
        deviation = self.deviation
        if deviation is not None:
            deviation = replace(deviation, values=np.abs(take(deviation.values)))
        values = take(self.values)
        return replace(self, values=values, classes=None, scale=scale, deviation=deviation)

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with a row for every cell; of several classes one for each.

        It has the ``term``, the bin of the first and of the second feature (``first_from``,
        ``first_to``, ``first_category``, ``first_missing``, ...), the ``weight`` of the training
        rows and the ``value``.

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
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> len(pair.to_frame()) == pair.values.size
        True
        """
        first, second = self.axes
        size = self.weights.shape
        cells: dict[str, list[Any]] = {
            "term": [self.name] * self.weights.size,
            **repeated(bins_of(first.cuts, first.categories, "first_"), size[1]),
            **repeated(bins_of(second.cuts, second.categories, "second_"), 1, size[0]),
            "weight": self.weights.ravel().tolist(),
        }
        classes = None if self.classes is None else self.classes.tolist()
        return make_frame(with_classes(cells, self.values, classes), backend)

    def place(self, along: int | str) -> int:
        """Which of the two features it is.

        Parameters
        ----------
        along
            Its name, or 0 or 1.

        Returns
        -------
        int
            0 for the first feature, 1 for the second.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> pair.place("x1")
        1
        """
        if along in self.names:
            return self.names.index(str(along))
        if along not in (0, 1):
            raise ValueError(f"along={along!r} is none of the features {self.names}; or 0, 1.")
        return int(along)

    def slices(self, along: int | str = 0, most: int = SLICES_MOST) -> list[Slice]:
        """Functions of one feature, where the other is in one bin.

        Parameters
        ----------
        along
            The feature that they are functions of: 0 or 1, or its name.
        most
            For how many values of the other at most; one more for missing
            values, if there were any.

        Returns
        -------
        list of Slice
            Each with its ``label`` and its ``function``.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> [one.label for one in pair.slices("x0")]
        ['up to 0.5', 'above 0.5']
        """
        k = self.place(along)
        values, weights = np.moveaxis(self.values, k, 0), np.moveaxis(self.weights, k, 0)
        own, other = self.axes[k], self.axes[1 - k]
        texts = other.texts()
        return [
            Slice(
                texts[b],
                ShapeFunction(
                    own.feature, f"{own.name} where {other.name} is {texts[b]}", own.cuts,
                    values[:-1, b], weights[:-1, b], own.density_edges, own.density,
                    values[-1, b] if values.ndim == 3 else float(values[-1, b]),
                    float(weights[-1, b]), own.categories, own.codes, self.classes, self.scale,
                ),
            )
            for b in other.typical_bins(most)
        ]  # fmt: skip

    def __repr__(self) -> str:
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        a, b = self.weights.shape
        return (
            f"PairFunction({shortened(self.name, 60)!r}, {a} by {b} bins{several}, "
            f"from {self.values.min():.6g} to {self.values.max():.6g})"
        )

    def pictures(self, importance: float | None = None) -> list[str]:
        """Small heat maps for a page or a notebook; of several classes, one for each.

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
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> pair = explanation[0, 1]
        >>> len(pair.pictures())
        1
        """
        return heat_maps(self, importance)

    def _repr_html_(self) -> str:
        beyond = ", their curves and the pair" if self.whole else " beyond what each of them does"
        note = f"What both add to the {self.scale}{beyond}. The first is "
        note += "from left to right, the second from bottom to top."
        return row_of(self.pictures(), note)


def near_rows(weights: NDArray[np.float64], *of_numbers: bool) -> NDArray[np.bool_]:
    """Cells that training rows are in, or in their neighbours; axes of numbers have neighbours."""
    near = weights > 0
    for axis, numbers in enumerate(of_numbers):
        if numbers:
            values = np.moveaxis(near, axis, 0)[:-1]
            left, right = values[:-1].copy(), values[1:].copy()
            values[1:] |= left
            values[:-1] |= right
    return near


def pair_functions(
    pairs: PairTables | None,
    curves: Sequence[ShapeFunction],
    names: Sequence[str],
    labels: Mapping[int, NDArray],
    classes: NDArray | None,
    scale: Scale,
) -> Iterator[PairFunction]:
    """The pairs of a model, in its order; where rows lie on a feature is known from its curve."""
    known = {shape.feature: shape for shape in curves}
    for j in range(0 if pairs is None else len(pairs)):
        assert pairs is not None
        weights = pairs.weights_of(j)
        axes = []
        for k in (0, 1):
            g, edges = int(pairs.features[j, k]), pairs.edges_of(j, k)
            by_set, own = bool(pairs.categorical[j, k]), weights.sum(axis=1 - k)
            curve, none = known.get(g), np.empty(0)
            finer = (edges, own[:-1]) if curve is None else (curve.density_edges, curve.density)
            axes.append(
                PairAxis(
                    feature=g,
                    name=str(names[g]),
                    cuts=none if by_set else edges,
                    weights=own,
                    density_edges=none if by_set else finer[0],
                    density=none if by_set else finer[1],
                    categories=labels_of(edges, labels.get(g)) if by_set else None,
                    codes=edges if by_set else None,
                )
            )
        yield PairFunction((axes[0], axes[1]), pairs.table(j), weights, classes, scale)
