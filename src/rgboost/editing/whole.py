"""Edits that move something between terms, or make and remove them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import OTHERS
from ..explain.shape_function import OTHERS_LABEL
from ..model.pair_tables import find_bins
from ..model.with_pairs import purify
from .operations import numbers
from .terms import Features, Parts, Term, Vector

_ROUNDING = 1e-13


def drop(parts: Parts, features: Features) -> Parts:
    """Without a term; its mean over the training rows goes to the intercept."""
    found = parts.without(features)
    return replace(found, intercept=found.intercept + parts.terms[features].mean)


def recentre(parts: Parts, some: Iterable[Features]) -> Parts:
    """The same scores, where these curves have the mean zero over the training rows, and these
    pairs along each axis."""
    order = sorted(some, key=len, reverse=True)  # pairs first: they add to curves
    for features in order:
        if len(features) == 2:
            parts = _purified(parts, features)
    for features in order:
        if len(features) == 1:
            term = parts.terms[features]
            parts = parts.with_term(term.shifted(-term.mean))
            parts = replace(parts, intercept=parts.intercept + term.mean)
    return parts


def _purified(parts: Parts, features: Features) -> Parts:
    """What a pair says of one feature is moved to its curve, and the mean to the intercept."""
    pair = parts.terms[features]
    pure = purify(pair.values, pair.weights)
    left = pair.values - pure.rows[:, None] - pure.columns - pure.constant
    moved = max(float(np.abs(x).max(initial=0.0)) for x in pure[1:])
    if moved <= _ROUNDING * float(np.abs(pair.values).max(initial=0.0)):
        return parts  # it is pure
    parts = replace(parts, intercept=parts.intercept + pure.constant)
    for axis, effects in enumerate((pure.rows, pure.columns)):
        if effects.any():
            parts = parts.with_term(_curve_with(parts, pair, axis, effects))
    return parts.with_term(pair.with_values(left))


def _curve_with(parts: Parts, pair: Term, axis: int, effects: NDArray[np.float64]) -> Term:
    """The curve of a feature of a pair, and ``effects`` of the pair's bins."""
    features, edges, by_set = (pair.features[axis],), pair.edges[axis], pair.categorical[axis]
    curve = parts.terms.get(features)
    if curve is None:
        weights = pair.weights.sum(axis=1 - axis)
        density = (edges, weights[:-1]) if not by_set else (np.empty(0), np.empty(0))
        return Term(features, (by_set,), (edges,), effects, weights, density)
    if not np.isin(edges, curve.edges[0]).all():
        raise ValueError(
            f"the pair of the features {pair.features} has thresholds that the curve of feature "
            f"{features[0]} has not, and cannot be made pure: drop the curve first, or recentre "
            "other terms by name."
        )
    ends = curve.edges[0] if by_set else np.append(curve.edges[0], np.inf)
    return curve.with_values(
        curve.values + effects[find_bins(np.append(ends, np.nan), edges, by_set)]
    )


def add(
    parts: Parts,
    features: Features,
    edit: Mapping[str, Any],
    categorical: NDArray[np.bool_],
    labels: Mapping[int, NDArray],
) -> Parts:
    """With a new term, which has its bins, values and weights from an edit."""
    if features in parts.terms:
        raise ValueError("the model has such a term already: set its values, or drop it first.")
    by_set = tuple(bool(categorical[g]) for g in features)
    given = edit.get("categories" if by_set == (True,) else "cuts")
    if given is None or (len(features) == 1 and "cuts" in edit and "categories" in edit):
        raise ValueError(
            "add needs the bins of the term: cuts of a numeric feature, categories of a "
            "categorical one, and of a pair cuts with a list of either for each of the two."
        )
    sides = [given] if len(features) == 1 else given
    if not isinstance(sides, list | tuple) or len(sides) != len(features):
        raise ValueError("cuts of a pair are two lists, one for each feature.")
    edges, orders = [], []
    for g, one, is_set in zip(features, sides, by_set, strict=True):
        found, order = _categories(one, labels.get(g)) if is_set else _cuts(one)
        edges.append(found)
        orders.append(order)
    shape = tuple(len(order) for order in orders)
    weights = numbers(edit["weights"], "weights")
    values = numbers(edit["value"], "value")
    n_scores = len(parts.intercept)
    if weights.shape != shape or (weights < 0).any() or not weights.sum() > 0:
        raise ValueError(
            f"weights must be {shape} numbers of 0 or more, not all 0: those of the training rows "
            "in the bins, that of missing values last."
        )
    if values.shape not in (shape, (*shape, n_scores)):
        raise ValueError(f"value must be {shape} numbers: one for each bin, missing values last.")
    values = values.reshape(*shape, -1)
    if values.shape[-1] == 1:
        values = np.repeat(values, n_scores, axis=-1)
    inside = np.ix_(*orders)
    values, weights = values[inside], weights[inside]
    plain = len(features) == 1 and not by_set[0]
    density = (edges[0], weights[:-1]) if plain else (np.empty(0), np.empty(0))
    return parts.with_term(Term(features, by_set, tuple(edges), values, weights, density))


def _cuts(given: Any) -> tuple[Vector, list[int]]:
    found = numbers(given, "cuts")
    if found.ndim != 1 or (np.diff(found) <= 0).any():
        raise ValueError(f"cuts={given!r:.60} must be a list of numbers that ascend.")
    return found, list(range(len(found) + 2))


def _categories(given: Any, labels: NDArray | None) -> tuple[Vector, list[int]]:
    """Numbers of categories in ascending order, and the places of their bins as given."""
    known = {} if labels is None else {label: float(k) for k, label in enumerate(labels.tolist())}
    if not isinstance(given, list | tuple) or any(isinstance(one, list | dict) for one in given):
        raise ValueError(f"categories={given!r:.60} must be a list of labels of the feature.")
    codes = []
    for label in given:
        code = OTHERS if label == OTHERS_LABEL else known.get(label)
        if labels is None and code is None:
            code = float(numbers(label, "categories"))
        if code is None:
            raise ValueError(f"{label!r} is no category of the feature; it has {list(known)[:8]}.")
        codes.append(code)
    order = np.argsort(codes, kind="stable")
    if not codes or len(set(codes)) < len(codes):
        raise ValueError("categories must be a list of different categories, one at least.")
    return np.array(codes)[order], [*order.tolist(), len(codes)]
