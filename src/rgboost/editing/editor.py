"""The editor of a fitted model."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from .._core.atomic import write_atomically
from ..explain import PairFunction, ShapeFunction
from .apply import Rows, apply_edit, check_editable
from .document import checksum, write_document

Name = str | int | Sequence[str | int]


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


class Editor:
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

    def __init__(self, model: Any) -> None:
        check_editable(model)
        self._models = [model]

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

    def set(
        self, term: Name, value: Any, bins: Any = None, *, reason: str, label: Any = None
    ) -> Self:
        """Give bins a value: a number, or one for each of them."""
        return self._do("set", reason, label, term=term, value=value, bins=bins)

    def flatten(self, term: Name, bins: Any = None, *, reason: str, label: Any = None) -> Self:
        """Give bins their mean over the training rows."""
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
        """Move values below ``low`` there, and those above ``high``."""
        return self._do("clip", reason, label, term=term, low=low, high=high, bins=bins)

    def smooth(
        self, term: Name, width: int = 1, bins: Any = None, *, reason: str, label: Any = None
    ) -> Self:
        """Give bins the mean of themselves and ``width`` neighbours on either side, weighted by the
        training rows in them."""
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
        """Make a term rise or fall: isotonic regression of its values, weighted by the training
        rows. ``direction`` is "increasing" or "decreasing"; of a pair ``along`` is the feature."""
        return self._do("monotone", reason, label, term=term, direction=direction, along=along)

    def drop(self, term: Name, *, reason: str) -> Self:
        """Remove a term; its mean over the training rows goes to the intercept."""
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

        ``cuts`` are the thresholds of a numeric feature, ``categories`` the labels of a categorical
        one; of a pair ``cuts`` has a list of either for each feature. ``value`` has an entry for
        each bin, that of missing values last, and so have ``weights``, those of the training rows
        in the bins: they decide what the mean of the term is, and its importance.
        """
        given = {"cuts": cuts, "categories": categories}
        return self._do("add", reason, None, term=term, value=value, weights=weights, **given)

    def recentre(self, term: Name | None = None, *, reason: str) -> Self:
        """Move the mean of a term, or of all, to the intercept, and what a pair says of one feature
        to its curve. Scores stay as they are."""
        return self._do("recentre", reason, None, term=term)

    def set_intercept(self, value: Any, *, reason: str, label: Any = None) -> Self:
        """Give the intercept a value."""
        return self._do("intercept", reason, label, value=value)

    def refit_intercept(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, reason: str
    ) -> Self:
        """Fit the intercept to rows: the smallest loss with all terms as they are."""
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
        """
        rows = Rows(X, y, sample_weight, offset)
        return self._do("refit", reason, None, rows, what="terms", keep=keep)

    def undo(self) -> Self:
        """Take the last edit back."""
        if len(self._models) == 1:
            raise ValueError("there is nothing to undo: this editor has made no edit.")
        self._models.pop()
        return self

    def bins(self, feature: str | int, low: Any, high: Any) -> tuple[int, int]:
        """The bins of a numeric feature that values from ``low`` to ``high`` are in."""
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
        """A term before the edits of this editor."""
        return _function(self._models[0], term)

    def after(self, term: Name) -> ShapeFunction | PairFunction:
        """A term after them; zero where it was dropped."""
        return _function(self._models[-1], term)

    def cost(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Cost:
        """What the edits cost: the mean loss of these rows before and after."""
        ends = self._models[0], self._models[-1]
        return Cost(*(model._mean_loss(X, y, sample_weight, offset) for model in ends))

    def to_json(self) -> str:
        """The edits as a file that ``rgboost edit`` and `rgboost.editing.apply_edits` read."""
        return write_document(checksum(self._models[0]), self.edits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file."""
        write_atomically(path, [self.to_json().encode()])

    def __repr__(self) -> str:
        return f"Editor({type(self._models[0]).__name__}, {len(self._models) - 1} edits)"

    def _do(self, do: str, reason: str, label: Any, rows: Rows | None = None, **keys: Any) -> Self:
        model = self._models[-1]
        given = {key: _plain(value) for key, value in keys.items() if value is not None}
        if label is not None:
            given["class"] = _place(model, label)
        self._models.append(apply_edit(model, {"do": do, **given, "reason": reason}, rows))
        return self


def _function(model: Any, term: Name) -> ShapeFunction | PairFunction:
    found: ShapeFunction | PairFunction
    explanation = model.explain_global()
    if isinstance(term, list | tuple) and len(term) == 1:
        term = term[0]
    found = explanation[tuple(term) if isinstance(term, list | tuple) else term]
    return found


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
