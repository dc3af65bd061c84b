"""The tables of a model with all their digits, for arithmetic in the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, softmax

from ..data.mixed_bins import find_categories
from ..data.sparse_columns import take_columns
from ..explain.global_explanation import GlobalExplanation
from ..explain.page.data import texts
from ..explain.pair_function import PairAxis
from ..explain.shape_function import ShapeFunction
from ..model.pair_tables import find_bins

Vector = NDArray[np.float64]
Axis = ShapeFunction | PairAxis

ROWS_LOOKED_AT = 20_000
"""Where the fields start is found out from so many rows."""

LINKS = {
    "identity": lambda f: f,
    "log": np.exp,
    "logit": expit,
    "half logit": lambda f: expit(2.0 * f),
}
"""From scores to predictions, as ``score.js`` has them."""


class Inputs:
    """The used features as fields: the numbers that their values have in the matrix of rows.

    A number is itself. A category is its place among ``codes[i]``; one that is not there has the
    place after the last. Missing values are NaN.
    """

    def __init__(self, explanation: GlobalExplanation, labels: Mapping[int, NDArray]) -> None:
        axes: dict[int, list[Axis]] = {}
        for term in explanation.terms_by_importance():
            for axis in term.axes if hasattr(term, "axes") else (term,):
                axes.setdefault(axis.feature, []).append(axis)
        self.features = np.array(list(axes), np.int64)
        self.place = {g: i for i, g in enumerate(axes)}
        self.names = [found[0].name for found in axes.values()]
        self.codes: list[Vector | None] = []
        self.labels: list[list[str] | None] = []
        for g, found in axes.items():
            own = labels.get(g)
            if found[0].codes is None:
                codes = None
            elif own is not None:
                codes = np.arange(float(len(own)))
            else:
                codes = np.unique(np.concatenate([axis.codes for axis in found]))
                codes = codes[np.isfinite(codes)]
            self.codes.append(codes)
            named: Any = codes if own is None else own
            self.labels.append(None if codes is None else texts(named.tolist()))

    def values(self, X: Any) -> Vector:
        """The rows of a matrix as values of fields."""
        if scipy.sparse.issparse(X):
            order = np.argsort(self.features)
            rows = np.empty((X.shape[0], len(order)))
            rows[:, order] = take_columns(X, self.features[order]).toarray()
        else:
            rows = np.array(X[:, self.features], np.float64)
        for i, codes in enumerate(self.codes):
            if codes is not None:
                known = ~np.isnan(rows[:, i])
                rows[known, i] = find_categories(rows[known, i], codes)
        return rows

    def typical(self, X: Any) -> list[float | None]:
        """Where the fields start: medians, of four digits, and the most frequent categories."""
        step = max(1, X.shape[0] // ROWS_LOOKED_AT)
        rows = self.values(X[::step] if not scipy.sparse.issparse(X) else X.tocsr()[::step])
        found: list[float | None] = []
        for x, codes in zip(rows.T, self.codes, strict=True):
            known = x[~np.isnan(x)]
            if not len(known):
                found.append(None)
            elif codes is None:
                found.append(float(f"{np.quantile(known, 0.5, method='lower'):.4g}"))
            else:
                found.append(float(np.bincount(known.astype(np.int64)).argmax()))
        return found

    def to_dict(self, X: Any) -> list[dict[str, Any]]:
        starts = self.typical(X)
        return [
            {"name": name, "feature": int(g), "labels": labels, "start": start}
            for name, g, labels, start in zip(
                self.names, self.features, self.labels, starts, strict=True
            )
        ]


def exact_tables(model: Any, inputs: Inputs) -> dict[str, Any]:
    """The model as ``score.js`` reads it: score = intercept + the value of every term, in their
    order, as `LocalExplanation.score` adds them.

    The value of a term is ``values[bin]``, of a pair ``values[bin_g * size_h + bin_h]``; bins of
    missing values are the last of an axis; of several classes each is a row of numbers.
    """
    explanation = model.explain_global()
    return {
        "intercept": packed(np.atleast_1d(explanation.intercept)),
        "link": link_of(model),
        "terms": [_term(term, inputs) for term in explanation.terms],
    }


def _term(term: Any, inputs: Inputs) -> dict[str, Any]:
    pair = hasattr(term, "axes")
    axes: Sequence[Axis] = term.axes if pair else (term,)
    values = term.values
    if not pair:
        values = np.concatenate([values, np.asarray(term.missing, np.float64)[None]])
    return {
        "names": list(term.names) if pair else [term.name],
        "inputs": [inputs.place[axis.feature] for axis in axes],
        "axes": [_axis(axis, inputs.codes[inputs.place[axis.feature]]) for axis in axes],
        "values": packed(values),
        "mean": packed(np.atleast_1d(term.mean)),
    }


def _axis(axis: Axis, codes: Vector | None) -> dict[str, Any]:
    """Thresholds, or the bin of every place among ``codes`` and of what is not there."""
    if codes is None or axis.codes is None:
        return {"cuts": packed(axis.cuts), "size": len(axis.cuts) + 2}
    unknown = codes[-1] + 1.0 if len(codes) else 0.0
    bins = find_bins(np.append(codes, unknown), axis.codes, True)
    return {"bins": bins.tolist(), "size": len(axis.codes) + 1}


def packed(values: Any) -> str:
    """Numbers of 64 bits, as text."""
    return base64.b64encode(np.ascontiguousarray(values, "<f8").tobytes()).decode()


def link_of(model: Any) -> str | None:
    """The name of the function from scores to predictions, told by its values; None of one that the
    page does not know: it then shows scores."""
    loss = model.loss_
    if loss.outputs > 1:
        scores = np.random.default_rng(0).normal(0.0, 3.0, (20, loss.outputs))
        return "softmax" if np.allclose(loss.inverse_link(scores), softmax(scores, 1)) else None
    scores = np.linspace(-9.0, 9.0, 73)
    found = loss.inverse_link(scores)
    same = (k for k, link in LINKS.items() if np.allclose(found, link(scores), rtol=1e-12, atol=0))
    return next(same, None)
