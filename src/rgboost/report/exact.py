"""The tables of a model with all their digits, for arithmetic in the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.mixed_bins import find_categories
from ..data.sparse_columns import take_columns
from ..explain.page.data import texts
from ..export.terms import Axis, Curve, Pair, Terms

Vector = NDArray[np.float64]

CELLS_LOOKED_AT = 1 << 22
"""Where the fields start is found out from rows with so many values, but from some rows."""


class Inputs:
    """The features that a model uses as fields, the most important ones first.

    The value of a field is a number, or the place of a category among ``choices[i]``: of one that
    is not there the place after the last. Missing values are NaN.
    """

    def __init__(self, model: Any, terms: Terms) -> None:
        shares = model._importance_of_used()
        self.features = np.array(sorted(shares, key=lambda g: (-shares[g], g)), np.int64)
        self.place = {g: i for i, g in enumerate(self.features.tolist())}
        self.names = [terms.features[g].name for g in self.features]
        self.choices: list[list[Any] | None] = [None] * len(self.features)
        self.has_labels = [g in model.input_.labels for g in self.place]
        for axis in (axis for term in terms.terms for axis in term.axes):
            i, own = self.place[axis.feature], model.input_.labels.get(axis.feature)
            if own is not None:
                self.choices[i] = own.tolist()
            elif axis.categories is not None:
                self.choices[i] = sorted({*(self.choices[i] or ()), *axis.categories})

    def values(self, X: Any) -> Vector:
        """Rows of the model's matrix as values of the fields."""
        if scipy.sparse.issparse(X):
            order = np.argsort(self.features)
            rows = np.empty((X.shape[0], len(order)))
            rows[:, order] = take_columns(X, self.features[order]).toarray()
        else:
            rows = np.array(X[:, self.features], np.float64)
        for i, choices in enumerate(self.choices):
            if choices is not None and not self.has_labels[i]:  # the matrix has the categories
                known = ~np.isnan(rows[:, i])
                rows[known, i] = find_categories(rows[known, i], np.array(choices, np.float64))
        return rows

    def starts(self, X: Any) -> list[float | None]:
        """Where the fields start: medians, of four digits, and the most frequent categories."""
        n_rows = max(1000, CELLS_LOOKED_AT // max(1, len(self.features)))
        step = -(-X.shape[0] // n_rows)
        rows = self.values(X.tocsr()[::step] if scipy.sparse.issparse(X) else X[::step])
        found: list[float | None] = []
        for x, choices in zip(rows.T, self.choices, strict=True):
            known = x[~np.isnan(x)]
            if not len(known):
                found.append(None)
            elif choices is None:
                found.append(float(f"{np.quantile(known, 0.5, method='lower'):.4g}"))
            else:
                found.append(float(np.bincount(known.astype(np.int64)).argmax()))
        return found

    def to_list(self, X: Any) -> list[dict[str, Any]]:
        """Plain values, for the page."""
        return [
            {
                "name": name,
                "feature": int(g),
                "labels": None if choices is None else texts(choices),
                "start": start,
            }
            for name, g, choices, start in zip(
                self.names, self.features, self.choices, self.starts(X), strict=True
            )
        ]


def exact_tables(terms: Terms, inputs: Inputs) -> dict[str, Any]:
    """The model as ``score.js`` reads it: `Terms`, with bins for the places of categories.

    The value of a term is ``values[bin]``, of a pair ``values[bin_g * size_h + bin_h]``; of several
    classes each is a row of numbers.
    """
    return {
        "intercept": packed(terms.intercept),
        "link": {"name": terms.link.name, "scale": terms.link.scale},
        "terms": [_term(term, inputs) for term in terms.terms],
    }


def _term(term: Curve | Pair, inputs: Inputs) -> dict[str, Any]:
    places = [inputs.place[axis.feature] for axis in term.axes]
    flat = term.values.reshape(term.weights.size, -1)
    return {
        "inputs": places,
        "axes": [_axis(a, inputs.choices[i]) for a, i in zip(term.axes, places, strict=True)],
        "values": packed(flat),
        "mean": packed(np.average(flat, axis=0, weights=term.weights.ravel())),
    }


def _axis(axis: Axis, choices: list[Any] | None) -> dict[str, Any]:
    """Thresholds; or the bin of every choice, and of whatever else."""
    if choices is None or axis.categories is None:
        return {"cuts": packed(axis.edges), "size": axis.size}
    bins = {category: k for k, category in enumerate(axis.categories)}
    found = [bins.get(choice, axis.unknown) for choice in choices]
    return {"bins": [*found, axis.unknown], "size": axis.size}


def packed(values: Any) -> str:
    """Numbers of 64 bits, as text."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()
