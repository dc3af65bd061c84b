"""One of the two features of a pair, and its bins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.svg import number
from ..model.pair_tables import find_bins
from .shape_function import ShapeFunction, plot_range

Vector = NDArray[np.float64]


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
        """The bins of some values.

        Parameters
        ----------
        x
            Values; of categories their numbers (``codes``).

        Returns
        -------
        array of int
            Bins.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> axis = explanation[0, 1].axes[0]
        >>> axis.bins([0.0, 1.0, np.nan])
        array([0, 1, 2])
        """
        edges = self.cuts if self.codes is None else self.codes
        return find_bins(np.asarray(x, np.float64), edges, self.codes is not None)

    def texts(self) -> list[str]:
        """The bins in words.

        Returns
        -------
        list of str
            A text for each bin.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> axis = explanation[0, 1].axes[0]
        >>> axis.texts()
        ['up to 0.5', 'above 0.5', 'missing']
        """
        if self.categories is not None:
            return [*(str(label) for label in self.categories.tolist()), "missing"]
        at = told_apart(self.cuts)
        if not at:
            return ["any", "missing"]
        inner = [f"{a} to {b}" for a, b in pairwise(at)]
        return [f"up to {at[0]}", *inner, f"above {at[-1]}", "missing"]

    def typical_bins(self, most: int) -> list[int]:
        """Some bins for a picture, in their order.

        Of numbers those at evenly spaced shares of the rows, of categories the heaviest; and that
        of missing values if there were any.

        Parameters
        ----------
        most
            How many at most.

        Returns
        -------
        list of int
            Bins.

        Examples
        --------
        >>> import numpy as np
        >>> from rgboost import RGBMRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
        >>> y = X[:, 0] * X[:, 1]
        >>> model = RGBMRegressor(interactions=[(0, 1)], early_stopping=True).fit(X, y)
        >>> explanation = model.explain_global()
        >>> axis = explanation[0, 1].axes[0]
        >>> axis.typical_bins(2)
        [0, 1]
        """
        own = self.weights[:-1]
        if self.categories is not None:
            heavy = np.argsort(-own, kind="stable")[:most]
            found = sorted(int(k) for k in heavy if own[k] > 0)
        else:
            shares = (np.arange(most) + 0.5) / most * own.sum()
            found = np.unique(np.searchsorted(np.cumsum(own), shares)).tolist()
            found = [k for k in found if k < len(own) and own[k] > 0]
        return [*found, len(own)] if self.has_missing else found


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
