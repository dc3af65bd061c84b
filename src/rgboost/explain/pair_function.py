"""What a pair of features adds to the score, beyond what each of them does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import shortened
from .._core.svg import number, row_of
from ..model.pair_tables import PairTables, find_bins, weighted_spread
from .band import Band, Deviation
from .frames import bins_of, make_frame, repeated, with_classes
from .heat_map import heat_maps
from .scale import SCORE, Scale
from .shape_function import ShapeFunction, labels_of, plot_range

Vector = NDArray[np.float64]

SLICES_MOST = 5

COLOURED = 0.99
"""The share of the training rows whose values are told apart by colours."""


@dataclass(frozen=True)
class PairAxis:
    """One of the two features of a pair: bins for its values, then one for missing values.

    Attributes
    ----------
    feature, name
        Index and name of the feature.
    cuts
        The thresholds between its bins; none if it is categorical.
    weights
        The weight of the training rows in each bin, that of missing values last.
    density_edges, density
        Where the training rows lie, finer; see `ShapeFunction`.
    categories, codes
        Labels and numbers of its categories, or None.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rgboost import RGBMRegressor
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 2)), columns=["a", "b"])
    >>> model = RGBMRegressor(interactions=[("a", "b")], random_state=0).fit(X, X.a * X.b)
    >>> pair = model.explain_global()["a", "b"]
    >>> first, second = pair.axes
    >>> first.name, bool((np.diff(first.cuts) > 0).all())
    ('a', True)
    """

    feature: int
    name: str
    cuts: Vector
    weights: Vector
    density_edges: Vector
    density: Vector
    categories: NDArray | None = None
    codes: Vector | None = None

    @property
    def has_missing(self) -> bool:
        """Whether training rows lacked a value."""
        return bool(self.weights[-1] > 0)

    @property
    def plot_range(self) -> tuple[float, float]:
        """An interval that holds the values, for a picture."""
        return plot_range(self.density_edges)

    def bins(self, x: Any) -> NDArray[np.int64]:
        """The bins of some values; categories by their numbers (``codes``)."""
        edges = self.cuts if self.codes is None else self.codes
        return find_bins(np.asarray(x, np.float64), edges, self.codes is not None)

    def texts(self) -> list[str]:
        """The bins in words."""
        if self.categories is not None:
            return [*(str(label) for label in self.categories.tolist()), "missing"]
        at = told_apart(self.cuts)
        if not at:
            return ["any", "missing"]
        inner = [f"{a} to {b}" for a, b in pairwise(at)]
        return [f"up to {at[0]}", *inner, f"above {at[-1]}", "missing"]

    def typical_bins(self, most: int) -> list[int]:
        """At most so many bins, in their order: of numbers those at evenly spaced shares of the
        rows, of categories the heaviest; and that of missing values if there were any."""
        own = self.weights[:-1]
        if self.categories is not None:
            heavy = np.argsort(-own, kind="stable")[:most]
            found = sorted(int(k) for k in heavy if own[k] > 0)
        else:
            shares = (np.arange(most) + 0.5) / most * own.sum()
            found = np.unique(np.searchsorted(np.cumsum(own), shares)).tolist()
            found = [k for k in found if k < len(own) and own[k] > 0]
        return [*found, len(own)] if self.has_missing else found


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
        """The function at some values of both features; categories by their numbers."""
        return self.values[self.axes[0].bins(x_g), self.axes[1].bins(x_h)]

    def centered(self) -> PairFunction:
        """The function less its mean."""
        return replace(self, values=self.values - self.mean)

    def with_curves(self, first: ShapeFunction, second: ShapeFunction) -> PairFunction:
        """What both features say in all: the pair and the curves of both, each less its mean. Where
        a curve has several steps within a bin, its mean over the rows there is taken."""
        added = [mean_in_bins(c, a) for c, a in zip((first, second), self.axes, strict=True)]
        values = self.values + added[0][:, None] + added[1][None]
        return replace(self, values=values, whole=True, deviation=None)

    def of_class(self, label: Any) -> PairFunction:
        """The function of a class, by its label; of the first of two, with its sign turned."""
        scale, take = self.scale.choose(label, self.classes)
        deviation = self.deviation
        if deviation is not None:
            deviation = replace(deviation, values=np.abs(take(deviation.values)))
        values = take(self.values)
        return replace(self, values=values, classes=None, scale=scale, deviation=deviation)

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"`` with a row for every cell (of
        several classes one for each): the ``term``, the bin of the first and of the second feature
        (``first_from``, ``first_to``, ``first_category``, ``first_missing``, ...), the ``weight``
        of the training rows and the ``value``."""
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
        """0 for the first feature, 1 for the second; by its name, or by that number."""
        if along in self.names:
            return self.names.index(str(along))
        if along not in (0, 1):
            raise ValueError(f"along={along!r} is none of the features {self.names}; or 0, 1.")
        return int(along)

    def slices(self, along: int | str = 0, most: int = SLICES_MOST) -> list[Slice]:
        """Functions of one feature, for at most ``most`` values of the other (and for missing
        ones, if there were any).

        ``along`` is the feature that they are functions of: 0 or 1, or its name.
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
        """A heat map; of several classes, one for each."""
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


def told_apart(cuts: Vector) -> list[str]:
    """Cuts in as many digits as tell neighbours apart, four at least."""
    found = [number(cut) for cut in cuts]
    for digits in range(5, 18):
        if all(a != b for a, b in pairwise(found)):
            break
        found = [f"{cut:.{digits}g}" for cut in cuts]
    return found


def mean_in_bins(curve: ShapeFunction, axis: PairAxis) -> Vector:
    """A curve less its mean, in the bins of an axis; that of missing values last."""
    curve = curve.centered()
    missing = np.asarray(curve.missing)[None]
    if axis.codes is not None:
        return np.concatenate([curve.at(axis.codes), missing])
    ends = np.append(np.union1d(axis.cuts, curve.cuts), np.inf)  # of parts within bin and step
    inside, step = np.searchsorted(axis.cuts, ends), np.searchsorted(curve.cuts, ends)
    share = np.maximum(curve.weights, 1e-300)[step] / np.bincount(step)[step]
    parts = np.zeros((len(axis.cuts) + 1, len(ends)))
    parts[inside, np.arange(len(ends))] = share
    parts /= parts.sum(axis=1, keepdims=True)
    return np.concatenate([parts @ curve.values[step], missing])


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
