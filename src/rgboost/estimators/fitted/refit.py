"""Some terms of a model fitted anew, beside others that stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...data.input import InputSchema
from ...data.sparse_columns import dense_column
from ...editing.terms import Features, Parts, Term
from ...model.pair_tables import find_bins
from .labelled import Labelled


def free_terms(parts: Parts, kept: Iterable[Features]) -> list[Features]:
    """The terms that are fitted anew.

    A pair is what two features do beyond their curves, and its fit changes these: it stays where a
    curve of its features stays, or is not in the model.
    """
    curves = [key for key in parts.terms if len(key) == 1 and key not in set(kept)]
    pairs = [
        key
        for key in parts.terms
        if len(key) == 2 and key not in set(kept) and all((g,) in curves for g in key)
    ]
    if not curves:
        raise ValueError(
            "keep leaves no term to fit anew: name fewer terms, or use refit_intercept."
        )
    return [*curves, *pairs]


def constant_but(X: Any, features: Sequence[int], schema: InputSchema) -> Any:
    """Rows whose other features have the value 0: nothing can be fitted to those. Categories that
    are not known are missing."""
    if scipy.sparse.issparse(X):
        columns = scipy.sparse.csc_array(X, copy=True)
        free = np.isin(np.arange(X.shape[1]), features)
        columns.data[np.repeat(~free, np.diff(columns.indptr))] = 0.0
        columns.eliminate_zeros()
        return scipy.sparse.csr_array(columns)
    out = np.zeros(X.shape, X.dtype, order="F")
    for g in features:
        out[:, g] = X[:, g]
        labels = schema.labels.get(g)
        if labels is not None:
            out[out[:, g] >= len(labels), g] = np.nan
    return out


def merged(found: Parts, fixed: Parts, rows: Labelled) -> Parts:
    """The terms that were fitted, and those that stayed, with the weights of the rows in their
    bins. Those that stayed keep their bands if the new ones are of the same: as many runs."""
    stayed = {key: counted(term, rows) for key, term in fixed.terms.items()}
    if found.bands is None or fixed.bands is None or not found.bands.like(fixed.bands):
        stayed = {key: replace(term, deviation=None) for key, term in stayed.items()}
    return replace(found, terms={**found.terms, **stayed})


def counted(term: Term, rows: Labelled) -> Term:
    """A term, and how many of these rows are in its bins."""
    X = scipy.sparse.csc_array(rows.X) if scipy.sparse.issparse(rows.X) else rows.X
    columns = [dense_column(X, g) for g in term.features]
    bins = [
        find_bins(x, edges, by_set)
        for x, edges, by_set in zip(columns, term.edges, term.categorical, strict=True)
    ]
    shape = term.weights.shape
    weights = _count(np.ravel_multi_index(bins, shape), rows.weight, term.weights.size)
    edges, density = term.density
    if len(density):
        known = ~np.isnan(columns[0])
        place = np.searchsorted(edges, columns[0][known])
        own = None if rows.weight is None else rows.weight[known]
        density = _count(place, own, len(edges) + 1)
    return replace(term, weights=weights.reshape(shape), density=(edges, density))


def _count(place: Any, weight: Any, size: int) -> NDArray[np.float64]:
    return np.bincount(place, weight, size).astype(np.float64)
