"""How well a model does on given rows: losses, calibration, lift, residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score, roc_auc_score

from ..explain.page.data import rounded, rounded_list
from .judged import LOG_LOSS, ROOT, Judged, Vector

BINS_OF_CLASSES, BINS_OF_NUMBERS = 10, 20
"""Calibration is looked at in so many groups of rows with similar predictions..."""

LEAST_ROWS = 20
"""...of at least so many rows."""

LIFT_POINTS = 100

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Residuals are drawn by these of their quantiles."""

NORMAL = 1.96
"""Standard errors to either side of a mean: an interval of 95 %."""


def performance(judged: Judged, model: Any) -> dict[str, Any]:
    """Everything about the rows as a whole, as plain values."""
    quantile = bool(model.loss_.quantile_leaves)
    return {
        "rows": len(judged),
        "measures": _of_classes(judged) if judged.of_classes else _of_numbers(judged, model),
        "outputs": None if judged.outputs is None else list(judged.outputs),
        "calibration": [] if quantile else [calibration(judged, k) for k in judged.columns],
        "lift": lift(judged) if judged.of_classes and len(judged.columns) == 1 else None,
        "residuals": None if judged.of_classes else residuals(judged),
        "classes": _by_class(judged) if len(judged.columns) > 1 else None,
    }


def _measure(name: str, value: float, constant: float | None, better: str) -> dict[str, Any]:
    """A figure, that of the best constant prediction, and which way is better."""
    known = None if constant is None else rounded(constant)
    return {"name": name, "value": rounded(value), "constant": known, "better": better}


def _of_numbers(judged: Judged, model: Any) -> list[dict[str, Any]]:
    y, predicted, w = judged.truth[:, 0], judged.predicted[:, 0], judged.weight
    loss, mean = model.loss_, np.full(len(y), np.average(y, weights=w))
    found = []
    if len(y) > 1 and (y != y[0]).any():
        found.append(_measure("R²", r2_score(y, predicted, sample_weight=w), 0.0, "up"))
    own, constant = (mean_squared_error(y, p, sample_weight=w) ** 0.5 for p in (predicted, mean))
    found.append(_measure(ROOT, own, constant, "down"))
    own, constant = (mean_absolute_error(y, p, sample_weight=w) for p in (predicted, mean))
    found.append(_measure("mean absolute error", own, constant, "down"))
    if loss.quantile_leaves:
        share = np.average(y <= predicted, weights=w)
        found.append(_measure("share of rows at or below their prediction", share, None, ""))
    if not loss.quadratic:
        offset = np.zeros(len(y)) if judged.offset is None else judged.offset
        start = loss.best_constant(y, w, judged.offset) + offset
        constant = np.average(loss.value(y, start), weights=w)
        found.append(_measure(judged.loss_name, judged.mean_loss(), constant, "down"))
    return found


def _of_classes(judged: Judged) -> list[dict[str, Any]]:
    truth, predicted, w = judged.truth, judged.predicted, judged.weight
    shares = np.average(truth, axis=0, weights=w)
    if truth.shape[1] == 1:  # of two
        truth, predicted = (np.column_stack([1.0 - z, z]) for z in (truth, predicted))
        shares = np.array([1.0 - shares[0], shares[0]])
    known = shares[shares > 0]
    hits = truth.argmax(axis=1) == predicted.argmax(axis=1)
    squares = np.average(((truth - predicted) ** 2).sum(axis=1), weights=w)
    half = 0.5 if judged.truth.shape[1] == 1 else 1.0
    found = [
        _measure(LOG_LOSS, judged.mean_loss(), -(known * np.log(known)).sum(), "down"),
        _measure("accuracy", np.average(hits, weights=w), shares.max(), "up"),
        _measure("Brier score", half * squares, half * (1.0 - (shares**2).sum()), "down"),
    ]
    area = _area(judged, 0) if judged.truth.shape[1] == 1 else None
    if area is not None:
        found.insert(1, _measure("area under the ROC curve", area, 0.5, "up"))
    return found


def _area(judged: Judged, k: int) -> float | None:
    """Of rows of one class and rows of others, drawn at random: how often the first has the larger
    prediction."""
    truth, w = judged.truth[:, k], judged.weight
    if not 0.0 < np.average(truth, weights=w) < 1.0:
        return None
    return float(roc_auc_score(truth, judged.predicted[:, k], sample_weight=w))


def _by_class(judged: Judged) -> list[dict[str, Any]]:
    """What becomes of the rows of each class."""
    told = judged.predicted.argmax(axis=1)
    found = []
    for k, name in enumerate(judged.outputs or ()):
        own = judged.truth[:, k] > 0
        w = judged.weight
        both, called, there = (w[rows].sum() for rows in (own & (told == k), told == k, own))
        area = _area(judged, k)
        found.append(
            {
                "name": name,
                "rows": int(own.sum()),
                "share": rounded(there / w.sum()),
                "predicted": rounded(np.average(judged.predicted[:, k], weights=w)),
                "found": rounded(both / there) if there > 0 else None,
                "right": rounded(both / called) if called > 0 else None,
                "area": None if area is None else rounded(area),
            }
        )
    return found


def groups_of_similar(values: Vector, weight: Vector, most: int) -> list[NDArray[np.intp]]:
    """Rows in groups of about the same weight, by ascending values; equal values stay together."""
    n = max(1, min(most, len(values) // LEAST_ROWS))
    order = np.argsort(values, kind="stable")
    known = np.cumsum(weight[order])
    places = np.searchsorted(known, known[-1] * np.arange(1, n) / n)
    edges = np.unique(values[order][places])
    group = np.searchsorted(edges, values[order], side="left")
    parts = np.split(order, np.flatnonzero(np.diff(group)) + 1)
    return [part for part in parts if weight[part].sum() > 0]


def calibration(judged: Judged, k: int) -> list[dict[str, Any]]:
    """Mean prediction and mean label of rows with similar predictions, with an interval of 95 %
    for the latter."""
    truth, predicted, w = judged.truth[:, k], judged.predicted[:, k], judged.weight
    most = BINS_OF_CLASSES if judged.of_classes else BINS_OF_NUMBERS
    found = []
    for rows in groups_of_similar(predicted, w, most):
        mean = float(np.average(truth[rows], weights=w[rows]))
        low, high = interval(truth[rows], w[rows], judged.of_classes)
        found.append(
            {
                "predicted": rounded(np.average(predicted[rows], weights=w[rows])),
                "observed": rounded(mean),
                "low": rounded(low),
                "high": rounded(high),
                "rows": len(rows),
            }
        )
    return found


def interval(values: Vector, weight: Vector, is_share: bool) -> tuple[float, float]:
    """An interval of 95 % for a mean: Wilson's of shares, else by the normal distribution."""
    n = weight.sum() ** 2 / (weight**2).sum()
    mean = float(np.average(values, weights=weight))
    if not is_share:
        spread = np.sqrt(np.average((values - mean) ** 2, weights=weight) / max(n - 1.0, 1.0))
        return mean - NORMAL * spread, mean + NORMAL * spread
    middle = (mean + NORMAL**2 / (2 * n)) / (1 + NORMAL**2 / n)
    half = NORMAL / (1 + NORMAL**2 / n) * np.sqrt(mean * (1 - mean) / n + NORMAL**2 / (4 * n * n))
    return middle - half, middle + half


def lift(judged: Judged) -> dict[str, Any]:
    """The share of the rows of the second class among the rows with the largest predictions."""
    truth, predicted, w = judged.truth[:, 0], judged.predicted[:, 0], judged.weight
    order = np.argsort(-predicted, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(predicted[order])), len(order) - 1)  # of equal ones
    rows, found = np.cumsum(w[order])[ends], np.cumsum((w * truth)[order])[ends]
    if found[-1] == 0.0:
        return {"share": 0.0, "rows": [], "found": [], "least": []}
    shares = rows / rows[-1]
    at = np.unique(np.searchsorted(shares, np.linspace(0.0, 1.0, LIFT_POINTS + 1)[1:] - 1e-12))
    return {
        "share": rounded(found[-1] / rows[-1]),
        "rows": rounded_list(shares[at]),
        "found": rounded_list(found[at] / found[-1]),
        "least": rounded_list(predicted[order][ends][at]),
    }


def residuals(judged: Judged) -> list[dict[str, Any]]:
    """Quantiles of label less prediction, of rows with similar predictions."""
    predicted, w = judged.predicted[:, 0], judged.weight
    off = judged.truth[:, 0] - predicted
    return [
        {
            "predicted": rounded(np.average(predicted[rows], weights=w[rows])),
            "quantiles": rounded_list(weighted_quantiles(off[rows], w[rows], SHARES)),
            "rows": len(rows),
        }
        for rows in groups_of_similar(predicted, w, BINS_OF_NUMBERS)
    ]


def weighted_quantiles(values: Vector, weight: Vector, shares: tuple[float, ...]) -> Vector:
    """The smallest values that have at least these shares of the weight at or below them."""
    order = np.argsort(values, kind="stable")
    known = np.cumsum(weight[order])
    at = np.searchsorted(known, known[-1] * np.array(shares) * (1 - 1e-12))
    return values[order][np.minimum(at, len(values) - 1)]
