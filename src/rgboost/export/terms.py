"""A fitted model as plain data: all that a prediction depends on, and nothing else.

Every export is written from this form. A score is a sum of look-ups,

    score = intercept + sum of curves: values[bin(x_g)] + sum of pairs: values[bin(x_g), bin(x_h)],

added in this order, and a prediction is what the link makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..losses import Link

Vector = NDArray[np.float64]

Kind = Literal["number", "text", "code"]
"""What a feature is given as: a number; a category that is a string; one that is a number."""


class ExportError(ValueError):
    """A model that cannot be written in some form; the message says what can be done.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import ExportError, extract
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> trees = RGBMRegressor(learner="trees", max_iter=5).fit(X, X[:, 0])
    >>> try:
    ...     extract(trees)
    ... except ExportError:
    ...     print("trees have no curves")
    trees have no curves
    """


def refuse(why: str) -> NoReturn:
    """Raise `ExportError`."""
    raise ExportError(why)


@dataclass(frozen=True)
class Feature:
    """A feature that the model was fitted to, whether it uses it or not.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> terms = extract(model)
    >>> terms.features[0]
    Feature(name='age', kind='number')
    """

    name: str
    kind: Kind


@dataclass(frozen=True)
class Axis:
    """The bins of a feature, numbered from 0.

    Of numbers: bin k holds edges[k - 1] < x <= edges[k], compared as float64, and the last one but
    one all above. Of categories (``categories`` is not None): bin k is ``categories[k]``, and, with
    ``other``, one bin more all categories that are not among them. The last bin is that of missing
    values, and without ``other`` that of unknown categories, too.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> terms = extract(model)
    >>> axis = terms.curves[0].axis
    >>> axis.size == len(axis.edges) + 2
    True
    """

    feature: int
    edges: Vector
    categories: tuple[Any, ...] | None = None
    other: bool = False

    @property
    def missing(self) -> int:
        """The bin of missing values: the last one."""
        if self.categories is None:
            return len(self.edges) + 1
        return len(self.categories) + self.other

    @property
    def unknown(self) -> int:
        """The bin of categories that are not in ``categories``."""
        assert self.categories is not None
        return len(self.categories)

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.missing + 1


@dataclass(frozen=True)
class Curve:
    """What a feature adds: ``values[bin, output]``, and the weight of the training rows in each
    bin. ``density`` is that of numbers on finer cells, one more than ``density_edges``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> terms = extract(model)
    >>> curve = terms.curves[0]
    >>> curve.values.shape == (curve.axis.size, 1)
    True
    """

    axis: Axis
    values: Vector
    weights: Vector
    density_edges: Vector
    density: Vector

    @property
    def axes(self) -> tuple[Axis]:
        return (self.axis,)


@dataclass(frozen=True)
class Pair:
    """What two features add beside their curves: ``values[bin of first, bin of second, output]``,
    and the weight of the training rows in each cell.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = RGBMRegressor(interactions=[(0, 1)], random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> [axis.feature for axis in extract(model).pairs[0].axes]
    [0, 1]
    """

    axes: tuple[Axis, Axis]
    values: Vector
    weights: Vector


@dataclass(frozen=True)
class Terms:
    """A model.

    Attributes
    ----------
    features
        All features, in the order of the columns at fit time.
    intercept
        The score that every row begins with, of each output.
    curves
        In the order in which they are added: categorical features, then the others.
    pairs
        Added after the curves.
    link
        What makes a prediction of a score; see `rgboost.losses.Link`.
    classes
        The labels of a classifier, None of a regression. With two of them there is one score,
        positive for the second; with more there is one for each.
    total_weight
        The weight of all training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.export import extract
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> terms = extract(model)
    >>> [terms.term_name(term) for term in terms.terms][:2]
    ['age', 'sex']
    """

    features: tuple[Feature, ...]
    intercept: Vector
    curves: tuple[Curve, ...]
    pairs: tuple[Pair, ...]
    link: Link
    classes: tuple[Any, ...] | None
    total_weight: float

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return len(self.intercept)

    @property
    def terms(self) -> tuple[Curve | Pair, ...]:
        """Curves and pairs, in the order in which they are added."""
        return (*self.curves, *self.pairs)

    def term_name(self, term: Curve | Pair) -> str:
        """The name of a term, as in ``term_names_`` of the estimator."""
        return " x ".join(self.features[axis.feature].name for axis in term.axes)

    @property
    def term_names(self) -> list[str]:
        """The names of curves and pairs, in the order in which they are added."""
        return [self.term_name(term) for term in self.terms]

    def used(self) -> Iterator[int]:
        """The features that the terms use, ascending."""
        yield from sorted({axis.feature for term in self.terms for axis in term.axes})
