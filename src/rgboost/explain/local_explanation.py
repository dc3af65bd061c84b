"""What the features contribute to the scores of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import brief
from .._core.svg import row_of
from ..data.mixed_bins import OTHERS
from ..data.sparse_columns import take_columns
from .frames import make_frame
from .global_explanation import GlobalExplanation
from .pair_axis import PairAxis
from .pictures import in_words, local_pictures
from .scale import SCORE, Scale
from .shape_function import ShapeFunction

Axis = ShapeFunction | PairAxis


@dataclass(frozen=True)
class LocalExplanation:
    """score_i = intercept + contributions[i, 0] + contributions[i, 1] + ...

    Added from left to right (as `score` does) this is the raw score of a dense row, bit by bit;
    any other order, and the raw score of sparse rows, which starts from the score of a row of
    zeros, differ by rounding. With C > 2 classes there is a score for each.

    Attributes
    ----------
    intercept
        The score that boosting started from; with several classes (C,).
    contributions
        Array (rows, terms): the values of the functions of one feature, then those of pairs; with
        several classes (rows, terms, C).
    names
        Names of the terms: that of the feature, or both, as in ``latitude x longitude``.
    terms
        For each term the places of its features in ``features``: one or two of them.
    means
        The mean contribution of each term over the training rows; (terms, C).
    features
        Indices of the used features: categorical ones first, then the others.
    values : array (rows, used features): their values; of categories their numbers, see
        `shown_values` for their labels.
    labels
        For each used feature the labels of its categories by number, or None.
    classes
        The labels of C > 2 classes, or None.
    scale
        What the score is, in words: ``str(scale)`` is such as "log-odds of class yes".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=100, random_state=0).fit(X, y)
    >>> reasons = model.explain_local(X[:2])
    >>> reasons.contributions.shape == (2, len(reasons.names))
    True
    >>> bool((reasons.score() == model.predict(X[:2])).all())
    True
    """

    intercept: Any
    contributions: NDArray[np.float64]
    values: NDArray[np.floating]
    features: NDArray[np.int64]
    names: Sequence[str]
    means: NDArray[np.float64]
    labels: Sequence[Mapping[float, Any] | None] = ()
    classes: NDArray | None = None
    scale: Scale = SCORE
    terms: Sequence[tuple[int, ...]] = ()

    @classmethod
    def of(cls, explanation: GlobalExplanation, X: Any) -> LocalExplanation:
        """The values of functions and pairs at rows; ``explain_local`` of the estimators calls it.

        Parameters
        ----------
        explanation
            Of the model.
        X
            Rows that were checked.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.explain_local(X)  # rather than by hand
        LocalExplanation(4 rows, 1 used features, intercept=1.75)
        """
        terms = explanation.terms
        axes: dict[int, Axis] = {shape.feature: shape for shape in explanation.functions}
        for pair in explanation.pairs:  # maybe of features that have no curve
            for axis in pair.axes:
                axes.setdefault(axis.feature, axis)
        order = list(axes)
        features = np.array(order, np.int64)
        place = {g: k for k, g in enumerate(order)}
        values = columns_of(X, features)
        tail = np.shape(explanation.intercept)
        contributions = np.empty((len(values), len(terms), *tail))
        places = [tuple(place[g] for g in term.features) for term in terms]
        for k, term in enumerate(terms):
            contributions[:, k] = term.at(*(values[:, i] for i in places[k]))
        return cls(
            intercept=explanation.intercept,
            contributions=contributions,
            values=values,
            features=features,
            names=[term.name for term in terms],
            means=np.array([term.mean for term in terms]).reshape(len(terms), *tail),
            labels=[_labels(axes[g]) for g in order],
            classes=explanation.classes,
            scale=explanation.scale,
            terms=places,
        )

    def __repr__(self) -> str:
        several = "" if self.classes is None else f", {len(self.classes)} classes"
        n_pairs = sum(len(places) == 2 for places in self.terms)
        pairs = f", {n_pairs} pairs" if n_pairs else ""
        return (
            f"LocalExplanation({len(self.values)} rows, {len(self.features)} used features"
            f"{pairs}{several}, intercept={brief(self.intercept)})"
        )

    def _repr_html_(self) -> str:
        return row_of(*local_pictures(self))

    def score(self) -> NDArray[np.float64]:
        """The raw score of every row: intercept and contributions, added from left to right.

        Returns
        -------
        array (rows,) or (rows, classes)
            Scores.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> bool((local.score() == model.predict(X)).all())
        True
        """
        score = np.tile(np.asarray(self.intercept, np.float64), (len(self.values), 1))
        score = score if self.contributions.ndim == 3 else score[:, 0]
        for k in range(self.contributions.shape[1]):
            score += self.contributions[:, k]
        return score

    def centered(self) -> LocalExplanation:
        """Contributions less their means, which go to the intercept: the mean raw score.

        Returns
        -------
        LocalExplanation
            The same scores.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> local.centered().contributions[:, 0].round(2)
        array([-1.75,  0.25, -0.75,  2.25])
        """
        means = self.means.sum(axis=0)
        return replace(
            self,
            intercept=self.intercept + (means if means.ndim else float(means)),
            contributions=self.contributions - self.means,
            means=np.zeros_like(self.means),
        )

    def of_class(self, label: Any) -> LocalExplanation:
        """The explanation of a class's score; of the first of two, with signs turned.

        Parameters
        ----------
        label
            One of the classes.

        Returns
        -------
        LocalExplanation
            The explanation of one score.

        Examples
        --------
        >>> from rgboost import RGBMClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
        >>> model = RGBMClassifier(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> bool((local.of_class("no").score() == -local.score()).all())
        True
        """
        scale, take = self.scale.choose(label, self.classes)
        return replace(
            self,
            intercept=float(take(self.intercept)),
            contributions=take(self.contributions),
            means=take(self.means),
            classes=None,
            scale=scale,
        )

    def shown_values(self) -> NDArray[np.object_]:
        """The values of every term, for people.

        Categories have their labels, missing values are None, and a pair has the tuple of both.

        Returns
        -------
        array (rows, terms) of objects
            The values.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> local.shown_values()[:, 0].tolist()
        [0.0, 1.0, 2.0, 3.0]
        """
        columns = [self._shown(k) for k in range(len(self.features))]
        shown = np.empty((len(self.values), len(self.terms)), object)
        for k, places in enumerate(self.terms):
            shown[:, k] = columns[places[0]]
            if len(places) > 1:
                for row, values in enumerate(zip(*(columns[i] for i in places), strict=True)):
                    shown[row, k] = values
        return shown

    def _shown(self, k: int) -> list[Any]:
        """A column of ``values``, for people."""
        x, labels = self.values[:, k], self.labels[k]
        if labels is None:
            return x.astype(object).tolist()
        others = labels.get(OTHERS)
        return [None if v != v else labels.get(v, others) for v in x.tolist()]

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with the ``intercept`` and a column for every term.

        The sum of a row is its score. With several classes there is a row for each of them, and the
        columns ``row`` and ``class`` come first.

        Parameters
        ----------
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        Returns
        -------
        data frame
            The contributions.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> local.to_frame().round(2).iloc[0].to_dict()
        {'intercept': 1.75, 'x0': -1.75}
        """
        n = len(self.contributions)
        found: dict[str, Any] = {}
        if self.classes is not None:
            found["row"] = np.repeat(np.arange(n), len(self.classes))
            found["class"] = self.classes.tolist() * n
        found["intercept"] = np.tile(self.intercept, n)
        for k, name in enumerate(self.names):
            while name in found:
                name += "_"
            found[name] = self.contributions[:, k].ravel()
        return make_frame(found, backend)

    def to_shap(self) -> Any:
        """A `shap.Explanation`, for the plots of the package shap (``pip install shap``).

        Its values are the SHAP values with the training rows as background, which for an additive
        model are the centered contributions, exactly; its base value is the mean raw score. With
        several classes values are (rows, terms, classes), and base values (rows, classes).
        ``output_names`` are the labels of the classes, or what the one score is. A pair has a
        column of its own (SHAP would halve it between its features); its data are NaN, and both
        values in words in ``display_data``.

        Returns
        -------
        shap.Explanation
            The values.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> local = model.explain_local(X)
        >>> local.to_shap()  # doctest: +SKIP
        >>> local.centered().contributions.shape  # of its values
        (4, 1)
        """
        try:
            from shap import Explanation
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap") from error
        centered, shown = self.centered(), self.shown_values()
        data = np.full(shown.shape, np.nan, self.values.dtype)
        for k, places in enumerate(self.terms):
            if len(places) == 1:
                data[:, k] = self.values[:, places[0]]
            else:
                shown[:, k] = [", ".join(map(in_words, values)) for values in shown[:, k]]
        return Explanation(
            values=centered.contributions,
            base_values=np.full((len(self.values), *np.shape(self.intercept)), centered.intercept),
            data=data,
            display_data=shown,
            feature_names=list(self.names),
            output_names=str(self.scale)
            if self.classes is None
            else [str(label) for label in self.classes],
        )


def columns_of(X: Any, features: NDArray[np.int64]) -> NDArray[np.floating]:
    """Some columns of rows, in that order."""
    if not scipy.sparse.issparse(X):
        return np.asarray(X[:, features])
    order = np.argsort(features)
    values = np.empty((X.shape[0], len(features)), X.dtype)
    values[:, order] = take_columns(X, features[order]).toarray()
    return values


def _labels(axis: Axis) -> Mapping[float, Any] | None:
    if axis.codes is None or axis.categories is None:
        return None
    return dict(zip(axis.codes.tolist(), axis.categories.tolist(), strict=True))
