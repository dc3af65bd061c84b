"""Edits of a model's terms, one method each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .apply import Rows, apply_edit, check_editable

Name = str | int | Sequence[str | int]


class Edits:
    """What `Editor` can do to terms and the intercept without any rows."""

    def __init__(self, model: Any) -> None:
        check_editable(model)
        self._models = [model]

    def set(
        self, term: Name, value: Any, bins: Any = None, *, reason: str, label: Any = None
    ) -> Self:
        """Give bins a value.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        value
            A number, or one for each of the bins.
        bins
            The first and the last bin of those that are changed (of a pair, two such pairs); by
            default all. See `bins`.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().set(0, 0.0, bins=(3, 3), reason="few rows")
        >>> editor.model.predict(X).round(2)
        array([0.  , 2.  , 1.  , 1.75])
        """
        return self._do("set", reason, label, term=term, value=value, bins=bins)

    def flatten(self, term: Name, bins: Any = None, *, reason: str, label: Any = None) -> Self:
        """Give bins their mean over the training rows.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        bins
            The first and the last bin of those that are changed (of a pair, two such pairs); by
            default all. See `bins`.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().flatten(0, bins=(1, 2), reason="noise")
        >>> editor.model.predict(X).round(2)
        array([0. , 1.5, 1.5, 4. ])
        """
        return self._do("flatten", reason, label, term=term, bins=bins)

    def clip(
        self,
        term: Name,
        low: float | None = None,
        high: float | None = None,
        bins: Any = None,
        *,
        reason: str,
        label: Any = None,
    ) -> Self:
        """Move values below ``low`` there, and those above ``high``.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        low, high
            Ends of what the term may add; None leaves that side as it is.
        bins
            The first and the last bin of those that are changed (of a pair, two such pairs); by
            default all. See `bins`.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().clip(0, high=1.0, reason="a limit")
        >>> editor.model.predict(X).round(2)
        array([0.  , 2.  , 1.  , 2.75])
        """
        return self._do("clip", reason, label, term=term, low=low, high=high, bins=bins)

    def smooth(
        self, term: Name, width: int = 1, bins: Any = None, *, reason: str, label: Any = None
    ) -> Self:
        """Give bins the mean of themselves and their neighbours, weighted by the training rows.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        width
            How many neighbours on either side.
        bins
            The first and the last bin of those that are changed (of a pair, two such pairs); by
            default all. See `bins`.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().smooth(0, reason="noise")
        >>> editor.model.predict(X).round(2)
        array([1.  , 1.  , 2.33, 2.5 ])
        """
        return self._do("smooth", reason, label, term=term, width=width, bins=bins)

    def monotone(
        self,
        term: Name,
        direction: str,
        along: str | None = None,
        *,
        reason: str,
        label: Any = None,
    ) -> Self:
        """Make a term rise or fall: isotonic regression, weighted by the training rows.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        direction
            ``"increasing"`` or ``"decreasing"``.
        along
            Of a pair, the feature along which it rises or falls.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().monotone(0, "increasing", reason="a rule")
        >>> editor.model.predict(X).round(2)
        array([0. , 1.5, 1.5, 4. ])
        """
        return self._do("monotone", reason, label, term=term, direction=direction, along=along)

    def drop(self, term: Name, *, reason: str) -> Self:
        """Remove a term; its mean over the training rows goes to the intercept.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        reason
            Why: it is kept with the edit.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().drop(0, reason="must not matter")
        >>> editor.model.predict(X).round(2)
        array([1.75, 1.75, 1.75, 1.75])
        """
        return self._do("drop", reason, None, term=term)

    def add(
        self,
        term: Name,
        value: Any,
        *,
        weights: Any,
        reason: str,
        cuts: Any = None,
        categories: Any = None,
    ) -> Self:
        """Add a term that the model does not have.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.
        value
            What it adds, an entry for each bin, that of missing values last.
        weights
            The weight of the training rows in each bin: it decides what the mean of the term
            is, and its importance.
        reason
            Why: it is kept with the edit.
        cuts
            The thresholds of a numeric feature; of a pair, this or categories for each feature.
        categories
            The labels of a categorical feature.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X = [[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]
        >>> model = RGBMRegressor(max_iter=500, interactions=0).fit(X, [0.0, 2.0, 1.0, 4.0])
        >>> step = {"weights": [2, 2, 0], "cuts": [4.0], "reason": "known"}
        >>> editor = model.edit().add(1, [0.0, 3.0, 0.0], **step)
        >>> editor.model.predict([[0.0, 1.0], [0.0, 9.0]]).round(2)
        array([0., 3.])
        """
        given = {"cuts": cuts, "categories": categories}
        return self._do("add", reason, None, term=term, value=value, weights=weights, **given)

    def recentre(self, term: Name | None = None, *, reason: str) -> Self:
        """Move means of terms to the intercept.

        What a pair says of one feature goes to its curve. Scores stay as they are.

        Parameters
        ----------
        term
            The term, as in `set`; by default all.
        reason
            Why: it is kept with the edit.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().recentre(reason="for the report")
        >>> editor.model.predict(X).round(2)
        array([0., 2., 1., 4.])
        """
        return self._do("recentre", reason, None, term=term)

    def set_intercept(self, value: Any, *, reason: str, label: Any = None) -> Self:
        """Give the intercept a value.

        Parameters
        ----------
        value
            A number; of several classes one for each, or one for ``label``.
        reason
            Why: it is kept with the edit.
        label
            Of more than two classes the one whose score is edited; by default all.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().set_intercept(0.0, reason="centred")
        >>> editor.model.predict(X).round(2)
        array([-1.75,  0.25, -0.75,  2.25])
        """
        return self._do("intercept", reason, label, value=value)

    def _do(self, do: str, reason: str, label: Any, rows: Rows | None = None, **keys: Any) -> Self:
        model = self._models[-1]
        given = {key: _plain(value) for key, value in keys.items() if value is not None}
        if label is not None:
            given["class"] = _place(model, label)
        self._models.append(apply_edit(model, {"do": do, **given, "reason": reason}, rows))
        return self


def _place(model: Any, label: Any) -> int:
    """The place of a class among those of a model of several."""
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) <= 2:
        raise ValueError(
            f"label={label!r} is for models of more than two classes; this one has one score."
        )
    known = classes.tolist()
    if label not in known:
        raise ValueError(f"label={label!r} is none of the classes {known}.")
    return int(known.index(label))


def _plain(value: Any) -> Any:
    """As JSON would have it: lists and Python's own numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
