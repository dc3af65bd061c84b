"""Edits of a model as JSON: what the page writes and ``rgboost edit`` reads.

::

    {
      "format": "rgboost-edits",
      "version": 1,
      "model": "9f2c...",
      "edits": [
        {"term": ["age"], "do": "set", "bins": [3, 5], "value": 0.2, "reason": "too few rows"},
        {"term": ["age", "sex"], "do": "drop", "reason": "not allowed to matter"}
      ]
    }

``model`` is the `checksum` of the model that the first edit is made to: a file for another model is
refused. Edits are made in their order. Every edit has

- ``do``: what is done, see below;
- ``reason``: a text that is not empty;
- ``term``: the names of one or two features, as ``explain_global`` has them. ``"intercept"`` and
  ``"refit"`` have none, ``"recentre"`` may do without: it is then for all terms;
- ``class``, only for models of more than two classes, and optional: the place of one class in
  ``classes_`` (0, 1, ...). Without it an edit is made to the scores of all of them.

Bins are counted from 0, from left to right or in the order of ``ShapeFunction.categories``;
the one after the last stands for missing values. ``bins`` is ``[first, last]``, both included; of
a pair ``[[first, last], [first, last]]``, an interval along each feature, in the order of ``term``.
It may be left out: all bins, that of missing values included.

``set``
    The bins have this ``value``: a number, or a list with one for each of the bins (of a pair, a
    list for each bin of its first feature).
``flatten``
    Their mean over the training rows.
``clip``
    Values are moved to ``low`` or ``high`` (numbers or null) if they are beyond.
``smooth``
    Means over ``width`` neighbours on either side, weighted by the training rows.
``monotone``
    The closest curve with this ``direction``, "increasing" or "decreasing": least squares, weighted
    by the training rows (isotonic regression). Of a pair ``along`` names the feature. Missing
    values stay.
``drop``
    The term goes, its mean to the intercept.
``add``
    A new term: ``cuts`` of a numeric feature or ``categories`` (labels) of a categorical one, of a
    pair ``cuts`` with a list of either for each; ``value`` and ``weights`` (of the training rows)
    have an entry for each bin, that of missing values last.
``recentre``
    Means go to the intercept, and what a pair says of one feature to its curve: the same scores.
``intercept``
    The intercept is ``value``.
``refit``
    ``what`` is "intercept" or "terms": these are fitted to rows that are given beside. ``keep``
    is a list of terms that stay as they are.

Values are on the scale of the score, as ``explain_global()`` has them, not centered. A class axis,
where there is one, comes last: without ``class`` an entry of ``value`` may be a list with a number
for each class.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.validation import check_option
from ..storage import container

FORMAT = "rgboost-edits"
VERSION = 1

KEYS: Mapping[str, tuple[set[str], set[str]]] = {
    "set": ({"term", "value"}, {"bins"}),
    "flatten": ({"term"}, {"bins"}),
    "clip": ({"term"}, {"low", "high", "bins"}),
    "smooth": ({"term", "width"}, {"bins"}),
    "monotone": ({"term", "direction"}, {"along"}),
    "drop": ({"term"}, set()),
    "add": ({"term", "value", "weights"}, {"cuts", "categories"}),
    "recentre": (set(), {"term"}),
    "intercept": ({"value"}, set()),
    "refit": ({"what"}, {"keep"}),
}
"""What an edit must have besides ``do`` and ``reason``, and what it may have."""

_WITHOUT_CLASS = ("drop", "add", "recentre", "refit")


def checksum(model: Any) -> str:
    """SHA-256 of the tables of a fitted model, in hexadecimal digits.

    It is that of the intercept, of all curves and of all pairs; parameters, losses and the path of
    boosting have no part in it. Two models with the same checksum have the same scores.

    Parameters
    ----------
    model : RGBMRegressor or RGBMClassifier
        Fitted.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.editing import checksum
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> len(checksum(model))
    64
    """
    found: dict[str, NDArray] = {}
    _arrays_of(model.model_.wide.without_path(), "", found)
    return container.checksum(found).tobytes().hex()


def _arrays_of(value: Any, name: str, out: dict[str, NDArray]) -> None:
    if is_dataclass(value):
        for field in fields(value):
            _arrays_of(getattr(value, field.name), f"{name}.{field.name}", out)
    elif value is not None:
        out[name] = np.ascontiguousarray(value)


def write_document(model: str, edits: Sequence[Mapping[str, Any]]) -> str:
    """Edits of the model with this checksum as JSON.

    Parameters
    ----------
    model : str
        The `checksum` of the model that the first edit is made to.
    edits : sequence of dicts
        What is done, in order.

    Returns
    -------
    str

    Examples
    --------
    >>> import json
    >>> from rgboost.editing import read_document, write_document
    >>> edit = {"do": "drop", "term": ["sex"], "reason": "not allowed to matter"}
    >>> text = write_document("0" * 64, [edit])
    >>> read_document(json.loads(text))["edits"] == [edit]
    True
    """
    document = {"format": FORMAT, "version": VERSION, "model": model, "edits": list(edits)}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def read_document(source: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """A document of edits from a file, or from what JSON made of one; whether it is one is
    checked, whether its edits fit a model is not.

    Parameters
    ----------
    source : path or dict
        A file, or what JSON made of one.

    Returns
    -------
    dict

    Examples
    --------
    >>> from rgboost.editing import read_document
    >>> edit = {"do": "drop", "term": ["sex"], "reason": "not allowed to matter"}
    >>> document = {"format": "rgboost-edits", "version": 1, "model": "0" * 64, "edits": [edit]}
    >>> len(read_document(document)["edits"])
    1
    """
    document: Any = source
    if isinstance(source, str | os.PathLike):
        with open(source, encoding="utf-8") as file:
            try:
                document = json.load(file)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{os.fspath(source)} is not JSON: {error}") from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(
            f"this is no file of edits: it needs {{'format': {FORMAT!r}, 'version': {VERSION}, "
            "'model': ..., 'edits': [...]}."
        )
    if document.get("version") != VERSION:
        raise ValueError(
            f"the edits have the version {document.get('version')!r}, and this rgboost reads "
            f"version {VERSION}; install a newer one."
        )
    edits = document.get("edits")
    if not isinstance(edits, list):
        raise ValueError("'edits' must be a list of edits.")
    return {"model": document.get("model"), "edits": [check_edit(edit) for edit in edits]}


def check_edit(edit: Any) -> dict[str, Any]:
    """An edit that has the keys that it must have, and no others."""
    if not isinstance(edit, Mapping):
        raise ValueError(f"an edit must be an object with the key 'do', got {edit!r:.60}.")
    do = check_option(edit.get("do"), "do", KEYS)
    needed, possible = KEYS[do]
    possible = possible | (set() if do in _WITHOUT_CLASS else {"class"})
    edit = {key: value for key, value in edit.items() if value is not None}
    given = set(edit) - {"do", "reason"}
    for key in sorted(needed - given):
        raise ValueError(f"the edit do={do!r} needs {key!r}.")
    for key in sorted(given - needed - possible):
        known = ", ".join(sorted(needed | possible)) or "none"
        raise ValueError(f"the edit do={do!r} has the key {key!r}, which it does not know: {known}")
    reason = edit.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(
            f"the edit do={do!r} has no reason; say in a text why: it is kept with the model."
        )
    return edit
