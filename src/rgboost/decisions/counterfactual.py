"""The smallest change of one feature that takes a row across a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.validation import check_real
from ..data.mixed_bins import OTHERS
from ..explain import GlobalExplanation, LocalExplanation, PairFunction

Vector = NDArray[np.float64]

_BLOCK = 1 << 22
"""Scores of rows at candidates that are kept at a time."""


@dataclass(frozen=True)
class Counterfactuals:
    """For every row the value of one feature that takes its prediction to the other side of a
    threshold, with all other features as they are.

    Attributes
    ----------
    feature
        The name of the feature.
    found
        Array (rows,) of bool: whether there is such a value.
    values
        Array (rows,): the value, NaN (a category: None) where there is none. For a numeric feature
        it is the closest one there is.
    changes
        Array (rows,): the value less the one that the row has; None for categories.
    before, after
        Array (rows,): predictions (probabilities) with the row's own value, and with the one of
        ``values``.
    threshold
        The threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, interactions=0, random_state=0).fit(X, y)
    >>> found = model.counterfactual(X[:5], "bmi", threshold=150.0)
    >>> bool((found.after[found.found] != found.before[found.found]).all())
    True
    """

    feature: str
    found: NDArray[np.bool_]
    values: NDArray
    changes: Vector | None
    before: Vector
    after: Vector
    threshold: float

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        lines = [f"{self.feature}: the closest value across {self.threshold:g}"]
        for i, found in enumerate(self.found):
            told = f"{self.values[i]} ({self.before[i]:.4g} to {self.after[i]:.4g})"
            lines.append(f"  row {i}: {told if found else 'none'}")
        return "\n".join(lines)


class Candidates(NamedTuple):
    """Intervals of values within which no term of the feature changes; a category, or a value of a
    grid, is an interval by itself. The better one comes first where two are as close."""

    low: Vector
    high: Vector


def counterfactual(
    model: Any,
    X: Any,
    feature: str | int,
    threshold: float | None = None,
    *,
    label: Any = None,
    grid: Any = None,
    offset: Any = None,
) -> Counterfactuals:
    """See `rgboost.RGBMClassifier.counterfactual`."""
    explanation: GlobalExplanation = model.explain_global()
    g = explanation._index(feature)
    prediction = Prediction.of(model, label, threshold)
    local = LocalExplanation.of(explanation, model._check_rows(X))
    score = local.score()
    known = model._check_offset(offset, len(score))
    score = score if known is None else score + known
    before = prediction.of_scores(score)
    labels, by_set = model.input_.labels.get(g), bool(model.input_.categorical[g])
    terms = [(k, term) for k, term in enumerate(explanation.terms) if g in term.features]
    values, after, own = np.full(len(score), np.nan), before.copy(), np.full(len(score), np.nan)
    if terms and len(score):
        own = local.values[:, list(local.features).index(g)].astype(np.float64)
        some = _candidates(terms, g, by_set, grid, labels, local.values.dtype)
        added = _added(terms, g, some, local)
        rest = score - sum(local.contributions[:, k] for k, _ in terms)
        step = max(1, _BLOCK // (len(some.low) * (1 if score.ndim == 1 else score.shape[1])))
        for lo in range(0, len(score), step):
            now = slice(lo, lo + step)
            predicted = prediction.of_scores(rest[now, None] + added(now))
            sides = predicted >= prediction.threshold, before[now, None] >= prediction.threshold
            values[now], best = _closest(own[now], some, sides[0] != sides[1], by_set)
            good = ~np.isnan(values[now])
            after[now] = np.where(good, predicted[np.arange(len(best)), best], before[now])
    name = str(explanation.names[g])
    found = ~np.isnan(values)
    if not by_set:
        changes = values - own
        return Counterfactuals(name, found, values, changes, before, after, prediction.threshold)
    shown = np.full(len(found), None, object)
    for i in np.flatnonzero(found):
        shown[i] = values[i] if labels is None else labels[int(values[i])]
    return Counterfactuals(name, found, shown, None, before, after, prediction.threshold)


def _closest(
    own: Vector, some: Candidates, crossed: NDArray[np.bool_], by_set: bool
) -> tuple[Vector, NDArray[np.intp]]:
    """The value of each row that is closest to its own among candidates that cross, NaN where there
    is none, and which candidate it is."""
    closest = np.clip(own[:, None], some.low, some.high)
    distance = np.abs(closest - own[:, None])
    other = distance > 0.0  # a rounding at the threshold is no crossing
    if by_set:
        closest = np.broadcast_to(some.low, crossed.shape)
        other, distance = closest != own[:, None], np.zeros(crossed.shape)
    distance = np.where(crossed & other, distance, np.inf)
    best, rows = np.argmin(distance, axis=1), np.arange(len(own))
    return np.where(np.isfinite(distance[rows, best]), closest[rows, best], np.nan), best


class Prediction(NamedTuple):
    """What is compared with the threshold."""

    model: Any
    place: int | None
    """Of the class whose probability it is; None of a regression."""
    threshold: float

    @classmethod
    def of(cls, model: Any, label: Any, threshold: float | None) -> Prediction:
        classes = getattr(model, "classes_", None)
        if classes is None:
            if label is not None:
                raise ValueError(f"label={label!r} is for classifiers; leave it out.")
            if threshold is None:
                raise ValueError("threshold is missing: the prediction that is to be crossed.")
            return cls(model, None, check_real(threshold, "threshold"))
        known = classes.tolist()
        if label is None and len(known) > 2:
            raise ValueError(f"label is missing: say whose probability, one of {known}.")
        if label is not None and label not in known:
            raise ValueError(f"label={label!r} is none of the classes {known}.")
        place = len(known) - 1 if label is None else known.index(label)
        threshold = 0.5 if threshold is None else check_real(threshold, "threshold")
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"threshold={threshold:g} is no probability between 0 and 1.")
        return cls(model, place, threshold)

    def of_scores(self, scores: Vector) -> Vector:
        """Predictions; of several classes ``scores`` has a last axis."""
        found: Vector
        if self.place is None:
            found = self.model.loss_.inverse_link(scores)
            return np.asarray(found)
        if len(self.model.classes_) > 2:
            flat = scores.reshape(-1, scores.shape[-1])
            found = self.model._probabilities(flat)[:, self.place]
            return found.reshape(scores.shape[:-1])
        found = self.model._probabilities(scores.ravel())[:, self.place]
        return found.reshape(scores.shape)


def _candidates(
    terms: list[Any], g: int, by_set: bool, grid: Any, labels: Any, dtype: Any
) -> Candidates:
    """Where the feature can go; categories with the most training rows come first."""
    if grid is not None:
        return _of_grid(grid, by_set, labels)
    edges, heavy = _edges(terms, g)
    if by_set:
        codes = edges[edges != OTHERS]
        codes = codes[np.argsort(-heavy[edges != OTHERS], kind="stable")]
        return Candidates(codes, codes)
    low, high = [-np.inf], []
    for edge in edges:  # a value is compared as the rows have it: in 32 bits, or 64
        near = dtype.type(edge)
        below = near if near <= edge else np.nextafter(near, dtype.type(-np.inf))
        above = near if near > edge else np.nextafter(near, dtype.type(np.inf))
        high.append(float(below))
        low.append(float(above))
    high.append(np.inf)
    first, last = np.array(low), np.array(high)
    there = first <= last
    return Candidates(first[there], last[there])


def _edges(terms: list[Any], g: int) -> tuple[Vector, Vector]:
    """All thresholds of a feature, or all its categories, and weights of the latter."""
    found: dict[float, float] = {}
    for _, term in terms:
        axis = term
        if isinstance(term, PairFunction):
            axis = term.axes[term.features.index(g)]
        edges = axis.cuts if axis.codes is None else axis.codes
        for edge, weight in zip(edges, axis.weights, strict=False):
            found[float(edge)] = max(found.get(float(edge), 0.0), float(weight))
    edges = np.array(sorted(found))
    return edges, np.array([found[edge] for edge in edges])


def _of_grid(grid: Any, by_set: bool, labels: Any) -> Candidates:
    """The values that the feature may have."""
    if by_set and labels is not None:
        known = {label: float(k) for k, label in enumerate(labels.tolist())}
        unknown = [value for value in grid if value not in known]
        if unknown:
            raise ValueError(f"grid has {unknown[0]!r}, which is no category of the feature.")
        values = np.array([known[value] for value in grid], np.float64)
    else:
        values = np.asarray(grid, np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("grid must be a list of finite values, one at least.")
    return Candidates(values, values)


def _added(terms: list[Any], g: int, some: Candidates, local: LocalExplanation) -> Any:
    """What the terms of the feature add to some rows at each candidate: (rows, candidates), with
    several classes one axis more."""
    inside = np.where(np.isfinite(some.low), some.low, some.high)
    inside = np.where(np.isfinite(inside), inside, 0.0)
    columns = {int(feature): k for k, feature in enumerate(local.features)}

    def added(rows: slice) -> Vector:
        total: Any = 0.0
        for _, term in terms:
            if not isinstance(term, PairFunction):
                total = total + term.at(inside)[None]
                continue
            axis = term.features.index(g)
            other = term.features[1 - axis]
            place = term.axes[1 - axis].bins(local.values[rows, columns[other]])
            table = np.moveaxis(term.values, axis, 1)[place]  # (rows, bins of the feature, ...)
            total = total + table[:, term.axes[axis].bins(inside)]
        return np.asarray(total)

    return added
