"""The editor of a fitted model."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from .._core.atomic import write_atomically
from ..explain import PairFunction, ShapeFunction
from .apply import Rows
from .document import checksum, write_document
from .edits import Edits, Name


class Cost(NamedTuple):
    """Mean losses of rows, ``before`` and ``after`` the edits.

    Examples
    --------
    >>> from rgboost.editing import Cost
    >>> Cost(before=0.5, after=0.75).change
    0.25
    """

    before: float
    after: float

    @property
    def change(self) -> float:
        """after - before: positive, if the edits cost something on these rows."""
        return self.after - self.before


class Editor(Edits):
    """Edits of a fitted model, made one after the other; the model itself is never changed.

    ``model.edit()`` makes one. Every method takes a ``reason``, makes one edit and returns the
    editor, ``editor.model`` is the edited model: an estimator like the one before, which predicts,
    explains and is stored like any other, and has all edits in ``edits_``.

    A ``term`` is the name (or index) of a feature, or a tuple of two for a pair. ``bins`` are
    counted as in ``explain_global()[term].values``, ``(first, last)`` with both ends; the bin after
    the last stands for missing values; `bins` finds those of some values. Of a pair ``bins`` is a
    pair of such pairs. With more than two classes ``label`` is the class whose score is edited, by
    default all are.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=200, interactions=0, random_state=0).fit(X, y)
    >>> editor = model.edit()
    >>> editor = editor.monotone("bmi", "increasing", reason="more weight, more risk")
    >>> editor = editor.drop("sex", reason="must not matter")
    >>> bool(editor.cost(X, y).change > 0)
    True
    >>> edited = editor.model
    >>> print(edited.edits_)  # doctest: +ELLIPSIS
    monotone bmi (direction increasing): more weight, more risk (model ...)
    drop sex: must not matter (model ...)
    """

    @property
    def model(self) -> Any:
        """The model with all edits that were made so far."""
        return copy.copy(self._models[-1])

    @property
    def edits(self) -> list[dict[str, Any]]:
        """The edits of this editor, as in a file of edits."""
        if len(self._models) == 1:
            return []
        made = self._models[-1].edits_.edits[-(len(self._models) - 1) :]
        return [{key: value for key, value in edit.items() if key != "before"} for edit in made]

    def refit_intercept(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, reason: str
    ) -> Self:
        """Fit the intercept to rows: the smallest loss with all terms as they are.

        Parameters
        ----------
        X, y
            Rows and their labels.
        sample_weight, offset
            As in ``fit``.
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
        >>> editor = model.edit().refit_intercept(X, [1.0, 3.0, 2.0, 5.0], reason="new year")
        >>> editor.model.predict(X).round(2)
        array([1., 3., 2., 5.])
        """
        rows = Rows(X, y, sample_weight, offset)
        return self._do("refit", reason, None, rows, what="intercept")

    def refit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        *,
        keep: Sequence[Name],
        reason: str,
    ) -> Self:
        """Fit the other terms anew to rows, with the terms of ``keep`` as they are.

        The model keeps its features and pairs. With a curve the pairs of its feature are kept:
        their tables are what both features do beyond their curves.

        Parameters
        ----------
        X, y
            Rows and their labels.
        sample_weight, offset
            As in ``fit``.
        keep
            The terms that stay.
        reason
            Why: it is kept with the edit.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X = [[a, b] for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)]
        >>> y = [a + b for a, b in X]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> editor = model.edit().flatten(0, reason="must not matter")
        >>> editor = editor.refit(X, y, keep=[0], reason="the rest again")
        >>> sorted({round(float(p), 1) for p in editor.model.predict(X)})
        [1.0, 2.0]
        """
        rows = Rows(X, y, sample_weight, offset)
        return self._do("refit", reason, None, rows, what="terms", keep=keep)

    def undo(self) -> Self:
        """Take the last edit back.

        Returns
        -------
        Self
            The editor.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.edit().drop(0, reason="a test").undo()
        Editor(RGBMRegressor, 0 edits)
        """
        if len(self._models) == 1:
            raise ValueError("there is nothing to undo: this editor has made no edit.")
        self._models.pop()
        return self

    def bins(self, feature: str | int, low: Any, high: Any) -> tuple[int, int]:
        """The bins of a numeric feature that values from ``low`` to ``high`` are in.

        Parameters
        ----------
        feature
            Its name or index.
        low, high
            Values of the feature.

        Returns
        -------
        tuple
            The first and the last bin.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.edit().bins(0, 1.0, 2.5)
        (1, 2)
        """
        shape = self._models[-1].explain_global()[feature]
        if shape.categories is not None:
            raise ValueError(
                f"{shape.name} has categories, not numbers: count them in "
                "explain_global()[...].categories."
            )
        if not low <= high:
            raise ValueError(f"low={low} is above high={high}; exchange them.")
        first, last = np.searchsorted(shape.cuts, [low, high])
        return int(first), int(last)

    def before(self, term: Name) -> ShapeFunction | PairFunction:
        """A term before the edits of this editor.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.

        Returns
        -------
        ShapeFunction or PairFunction
            The term.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.edit().drop(0, reason="a test").before(0)
        ShapeFunction('x0', 4 steps, from -1.75 to 2.25)
        """
        return _function(self._models[0], term)

    def after(self, term: Name) -> ShapeFunction | PairFunction:
        """A term after the edits of this editor; zero where it was dropped.

        Parameters
        ----------
        term
            The feature, or a tuple of two for a pair, by names or indices.

        Returns
        -------
        ShapeFunction or PairFunction
            The term.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> model.edit().drop(0, reason="a test").after(0)
        ShapeFunction('x0', 1 steps, from 0 to 0)
        """
        return _function(self._models[-1], term)

    def cost(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Cost:
        """What the edits cost: the mean loss of these rows before and after.

        Parameters
        ----------
        X, y
            Rows and their labels.
        sample_weight, offset
            As in ``fit``.

        Returns
        -------
        Cost
            Both losses, and their difference ``change``.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> round(model.edit().drop(0, reason="a test").cost(X, y).change, 4)
        1.0937
        """
        ends = self._models[0], self._models[-1]
        return Cost(*(model._mean_loss(X, y, sample_weight, offset) for model in ends))

    def to_json(self) -> str:
        """The edits as a file that ``rgboost edit`` and `rgboost.editing.apply_edits` read.

        Returns
        -------
        str
            JSON.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> import json
        >>> json.loads(model.edit().drop(0, reason="a test").to_json())["edits"]
        [{'do': 'drop', 'term': ['x0'], 'reason': 'a test'}]
        """
        return write_document(checksum(self._models[0]), self.edits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file.

        Parameters
        ----------
        path
            The file; one that is there is replaced.

        Examples
        --------
        >>> from rgboost import RGBMRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 4.0]
        >>> model = RGBMRegressor(max_iter=500, interactions=0, random_state=0).fit(X, y)
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.edit().drop(0, reason="a test").save(Path(folder) / "edits.json")
        """
        write_atomically(path, [self.to_json().encode()])

    def __repr__(self) -> str:
        return f"Editor({type(self._models[0]).__name__}, {len(self._models) - 1} edits)"


def _function(model: Any, term: Name) -> ShapeFunction | PairFunction:
    found: ShapeFunction | PairFunction
    explanation = model.explain_global()
    if isinstance(term, list | tuple) and len(term) == 1:
        term = term[0]
    found = explanation[tuple(term) if isinstance(term, list | tuple) else term]
    return found
