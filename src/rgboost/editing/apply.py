"""An edit made to a fitted estimator: another estimator."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.validation import check_option
from ..model.history import History
from . import operations, whole
from .document import check_edit, checksum, read_document
from .terms import Features, Parts


@dataclass(frozen=True)
class Rows:
    """Labelled rows that a refit is made to."""

    X: Any
    y: Any
    sample_weight: Any = None
    offset: Any = None


def check_editable(model: Any) -> None:
    """Raise if there are no tables to edit."""
    check_is_fitted(model)
    if getattr(model, "coverage_", None) is None:
        why = getattr(model.model_, "no_functions", f"this is a {type(model.model_).__name__}.")
        raise TypeError(f"Only models of stumps can be edited; {why} Use learner='stumps'.")


def apply_edits(
    model: Any,
    edits: str | os.PathLike[str] | Mapping[str, Any],
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    offset: Any = None,
) -> Any:
    """Make the edits of a file to the model that they were written for.

    Parameters
    ----------
    model
        A fitted RGBMRegressor or RGBMClassifier of stumps. It stays as it is.
    edits
        Path of a JSON file, or its content as a dict; see `rgboost.editing.document`.
    X, y, sample_weight, offset
        Rows, for edits with ``"do": "refit"``.

    Returns
    -------
    The edited model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.editing import apply_edits, checksum
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> edits = [{"do": "drop", "term": ["sex"], "reason": "must not matter"}]
    >>> document = {
    ...     "format": "rgboost-edits", "version": 1, "model": checksum(model), "edits": edits
    ... }
    >>> "sex" in apply_edits(model, document).term_names_
    False
    """
    check_editable(model)
    document = read_document(edits)
    own = checksum(model)
    if document["model"] != own:
        raise ValueError(
            f"the edits are for another model: they say {str(document['model'])[:12]}..., and this "
            f"one is {own[:12]}.... Give the model that they were made for."
        )
    rows = None if X is None else Rows(X, y, sample_weight, offset)
    for k, edit in enumerate(document["edits"]):
        try:
            model = apply_edit(model, edit, rows)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            said = error.args[0] if error.args else error
            raise type(error)(f"edit {k}: {said}") from error
    return model


def apply_edit(model: Any, edit: Mapping[str, Any], rows: Rows | None = None) -> Any:
    """The model after one edit, which is kept with it."""
    edit = _with_names(model, check_edit(edit))
    parts = Parts.of(model.model_, model.coverage_, getattr(model, "bands_", None))
    if edit["do"] == "refit":
        edited = _refitted(model, edit, parts, rows)
    else:
        edited, found = copy.copy(model), _edited(model, edit, parts)
        put_parts(edited, found)
    for name in ("_run_state", "bags_"):  # of the model before
        vars(edited).pop(name, None)
    edited.intercept_ = edited.model_.intercept
    history = getattr(model, "edits_", None)
    if history is None:
        history = History([], model.model_.without_path(), model.coverage_)
    record = {**edit, "before": checksum(model)}
    edited.edits_ = replace(history, edits=[*history.edits, record])
    return edited


def _with_names(model: Any, edit: dict[str, Any]) -> dict[str, Any]:
    """The same edit, whose terms are lists of names."""
    found = dict(edit)
    if "term" in edit:
        found["term"] = names_of(model, edit["term"])
    if "keep" in edit:
        if not isinstance(edit["keep"], list | tuple):
            raise ValueError(f"keep={edit['keep']!r:.60} must be a list of terms.")
        found["keep"] = [names_of(model, term) for term in edit["keep"]]
    return found


def put_parts(estimator: Any, parts: Parts) -> None:
    """Give an estimator the model that is made of these parts."""
    estimator.model_, estimator.coverage_ = parts.model()
    vars(estimator).pop("bands_", None)
    bands = parts.made_bands()
    if bands is not None:
        estimator.bands_ = bands


def _edited(model: Any, edit: Mapping[str, Any], parts: Parts) -> Parts:
    """The parts after an edit that needs no rows."""
    do, scores = edit["do"], scores_of(edit.get("class"), parts)
    if do == "intercept":
        given = operations.numbers(edit["value"], "value")
        intercept = parts.intercept.copy()
        if given.ndim and given.shape != (len(scores),):
            raise ValueError(f"value must be a number, or {len(scores)}: one for each class.")
        intercept[list(scores)] = given
        return replace(parts, intercept=intercept)
    if do == "recentre":
        one = edit.get("term")
        some = [*parts.terms] if one is None else [term_of(model, one, parts)]
        return whole.recentre(parts, some)
    if do == "add":
        features, turned = features_of(model, edit["term"])
        if turned:
            raise ValueError("name the features of a new pair in their order in the model.")
        return whole.add(parts, features, edit, model.input_.categorical, model.input_.labels)
    features = term_of(model, edit["term"], parts)
    if do == "drop":
        return whole.drop(parts, features)
    term = parts.terms[features]
    bins, value = edit.get("bins"), edit.get("value", 0.0)
    if features_of(model, edit["term"])[1]:  # the pair the other way round
        bins = bins[::-1] if isinstance(bins, list | tuple) else bins
        value = value if np.ndim(value) < 2 else np.swapaxes(np.asarray(value), 0, 1).tolist()
    where = operations.places(term, bins, scores)
    if do == "set":
        values = operations.set_values(term, where, value)
    elif do == "flatten":
        values = operations.flatten(term, where)
    elif do == "clip":
        values = operations.clip(term, where, edit.get("low"), edit.get("high"))
    elif do == "smooth":
        values = operations.smooth(term, where, edit["width"])
    else:
        axis = _axis(model, features, edit.get("along"))
        values = operations.monotone(term, axis, scores, edit["direction"])
    return parts.with_term(term.with_values(values))


def _refitted(model: Any, edit: Mapping[str, Any], parts: Parts, rows: Rows | None) -> Any:
    """Another estimator, of which the intercept or all but some terms are fitted to rows."""
    what = check_option(edit["what"], "what", ("intercept", "terms"))
    if rows is None:
        raise ValueError("a refit needs rows: give X and y (the program: --data and --target).")
    if what == "intercept":
        if edit.get("keep"):
            raise ValueError("keep is for what='terms'; of the intercept all terms are kept.")
        return model._with_intercept_for(rows)
    kept = [term_of(model, term, parts) for term in edit.get("keep") or ()]
    return model._with_terms_for(rows, parts, kept)


def scores_of(label: Any, parts: Parts) -> Sequence[int]:
    """The scores that an edit is made to."""
    n = len(parts.intercept)
    if label is None:
        return range(n)
    if not parts.classes:
        raise ValueError("class is for models of more than two classes; this one has one score.")
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < n:
        raise ValueError(f"class={label!r} must be the place of a class: 0 to {n - 1}.")
    return [label]


def features_of(model: Any, term: Any) -> tuple[Features, bool]:
    """The features of a term that is named, in the order of the model, and whether that is not the
    order in which they are named."""
    given = [term] if isinstance(term, str | int | np.integer) else term
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= 2:
        raise ValueError(f"term={term!r:.60} must name one feature or two.")
    names = model._feature_names()
    found = [_feature(name, names) for name in given]
    if len(set(found)) < len(found):
        raise ValueError(f"term={term!r:.60} names a feature twice.")
    return tuple(sorted(found)), found != sorted(found)


def names_of(model: Any, term: Any) -> list[str]:
    """The names of a term's features, in the order in which they are given."""
    features, turned = features_of(model, term)
    names = [str(model._feature_names()[g]) for g in features]
    return names[::-1] if turned else names


def _feature(name: Any, names: Sequence[str]) -> int:
    if isinstance(name, str):
        if name in names:
            return names.index(name)
        some = ", ".join(repr(other) for other in names[:5])
        raise ValueError(f"no feature has the name {name!r}; the first of them are {some}.")
    if isinstance(name, bool) or not isinstance(name, int | np.integer):
        raise ValueError(f"term has {name!r}, which is no name of a feature.")
    if not 0 <= name < len(names):
        raise ValueError(f"feature {name} does not exist; use 0 to {len(names) - 1}.")
    return int(name)


def term_of(model: Any, term: Any, parts: Parts) -> Features:
    """The features of a term that the model has."""
    features, _ = features_of(model, term)
    if features in parts.terms:
        return features
    names = model._feature_names()
    own = [" x ".join(names[g] for g in key) for key in parts.terms]
    more = f" and {len(own) - 8} more" if len(own) > 8 else ""
    raise ValueError(
        f"the model has no term {' x '.join(names[g] for g in features)!r}; its terms are "
        f"{', '.join(own[:8]) or 'none'}{more}. (do='add' makes one.)"
    )


def _axis(model: Any, features: Features, along: Any) -> int:
    if along is None:
        if len(features) == 2:
            raise ValueError("monotone of a pair needs along: the name of one of its features.")
        return 0
    names = [model._feature_names()[g] for g in features]
    return names.index(check_option(along, "along", names))
