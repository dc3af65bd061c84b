"""What the page about a model shows, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..global_explanation import GlobalExplanation
from ..pair_axis import PairAxis, mean_in_bins
from ..pair_function import PairFunction
from ..shape_function import ShapeFunction

CURVE_POINTS = 400
"""A learning curve is drawn through at most so many iterations."""

CATEGORIES_MOST = 30
"""A feature with more categories is drawn with the heaviest of them."""

PAIRS_MOST = 60
"""Pairs that are drawn, the strongest ones: each has thousands of values."""

_SHADES = 5000
"""Values of pairs are whole numbers up to this one, of either sign."""

_DIGITS = 6


def page_data(estimator: Any) -> dict[str, Any]:
    """What the page shows, as plain values."""
    explanation = estimator.explain_global().centered()
    shares = dict(zip(map(id, explanation.terms), explanation.term_importances, strict=True))
    pairs = explanation.pairs[:PAIRS_MOST]
    history = getattr(estimator, "edits_", None)
    before = None if history is None else estimator.unedited().explain_global().centered()
    facts = {
        "estimator": type(estimator).__name__,
        "loss": repr(estimator.loss_),
        "iterations": f"{estimator.n_iter_:,}",
        "training loss": f"{estimator.trace_.train_loss[-1]:.6g}",
        "rows (weight)": f"{explanation.total_weight:,.6g}",
        "features": f"{len(explanation.names):,}",
        "used features": f"{len(explanation):,}",
        "engine": estimator.trace_.engine,
    }
    if explanation.pairs:
        facts["pairs of features"] = f"{len(explanation.pairs):,}"
    more = getattr(estimator, "pair_trace_", None) if explanation.pairs else None
    if more is not None:
        facts["iterations"] += f", {more.iteration[-1]:,} with pairs"
        facts["training loss"] = f"{more.train_loss[-1]:.6g}"
    if hasattr(estimator, "classes_"):
        facts["classes"] = ", ".join(str(label) for label in estimator.classes_)
    start = np.atleast_1d(explanation.intercept)
    several, scale = explanation.classes, explanation.scale
    if scale.label is not None:
        facts["positive class"] = str(scale.label)
    what = str(scale) if several is None else f"{scale} of each class"
    bands = {term.band.text for term in explanation.terms if term.band is not None}
    return {
        "band": "; ".join(sorted(bands)) or None,
        "formula": f"{what} = {', '.join(f'{value:.6g}' for value in start)} (the mean"
        f"{'' if several is None else ' of each class'}) + the sum of the shape functions"
        f"{' and of the pairs' if explanation.pairs else ''}",
        "scale": what,
        "classes": None if several is None else [str(label) for label in several],
        "facts": list(facts.items()),
        "curve": _curve(estimator.trace_, more),
        "edited": [] if history is None else history.lines(),
        "features": [_feature(s, shares[id(s)], before) for s in explanation.by_importance()],
        "pairs": [_pair(pair, explanation, shares[id(pair)]) for pair in pairs],
        "left_out_pairs": len(explanation.pairs) - len(pairs),
        "left_out_share": rounded(sum(shares[id(p)] for p in explanation.pairs[PAIRS_MOST:])),
        "unused": len(explanation.names) - len(explanation),
    }


def _changed(
    shape: ShapeFunction, before: GlobalExplanation | None, kept: NDArray[np.int64]
) -> dict[str, Any] | None:
    """The function as it was before edits, if they changed it; of the categories that are drawn."""
    if before is None:
        return None
    old, tail = before[shape.feature], np.shape(before.intercept)
    values, missing = old.values, np.broadcast_to(old.missing, tail)
    if shape.codes is not None:
        values = np.broadcast_to(old.at(shape.codes), (len(shape.values), *tail))
    same = np.array_equal(old.cuts, shape.cuts) and np.allclose(
        [*values.ravel(), *missing.ravel()],
        [*shape.values.ravel(), *np.ravel(shape.missing)],
        rtol=1e-9,
        atol=1e-9 * float(np.abs(shape.values).max(initial=0.0)),
    )
    if same:
        return None
    drawn = values if shape.codes is None else values[kept]
    return {
        "cuts": rounded_list(old.cuts),
        "values": [rounded_list(one) for one in np.atleast_2d(drawn.T)],
        "missing": rounded_list(missing.ravel()),
    }


def _feature(
    shape: ShapeFunction, importance: float, before: GlobalExplanation | None
) -> dict[str, Any]:
    """A function; ``values`` has a list for each class (one if there are not more than two),
    ``off`` how far its band reaches to either side."""
    kept = np.arange(len(shape.values))
    if shape.categories is not None:
        kept = np.sort(np.argsort(-shape.weights, kind="stable")[:CATEGORIES_MOST])
    off = None if shape.band is None else 0.5 * (shape.band.high - shape.band.low)
    return {
        "name": shape.name,
        "feature": shape.feature,
        "importance": rounded(importance),
        "range": rounded_list(shape.plot_range),
        "cuts": rounded_list(shape.cuts),
        "kept": kept.tolist() if shape.categories is not None else None,
        "n_bins": len(shape.values),
        "values": [rounded_list(one) for one in np.atleast_2d(shape.values[kept].T)],
        "off": None if off is None else [rounded_list(one) for one in np.atleast_2d(off[kept].T)],
        "missing_off": None if off is None else rounded_list(np.atleast_1d(off[-1])),
        "weights": rounded_list(shape.weights[kept]),
        "missing": rounded_list(np.atleast_1d(shape.missing)) if shape.missing_weight > 0 else None,
        "missing_weight": rounded(shape.missing_weight),
        "categories": None if shape.categories is None else texts(shape.categories[kept]),
        "left_out": len(shape.values) - len(kept),
        "before": _changed(shape, before, kept),
        "cells": rounded_list(shape.density_edges),
        "density": rounded_list(shape.density),
    }


def _pair(pair: PairFunction, explanation: GlobalExplanation, importance: float) -> dict[str, Any]:
    """A pair; ``values`` has, for each class, the rows of its table one after the other, in units
    of ``unit``; ``most`` what full colours stand for, of each class: without, and with the curves
    of both features."""
    whole = explanation.together(*pair.features)
    curves = [explanation[axis.feature] for axis in pair.axes]
    axes, bins = zip(*map(_pair_axis, pair.axes, curves), strict=True)
    cells = np.ix_(*bins)
    labels = [None] if pair.classes is None else pair.classes.tolist()
    drawn = pair.values[cells].reshape(len(bins[0]) * len(bins[1]), -1).T
    most = float(np.abs(drawn[np.isfinite(drawn)]).max(initial=0.0))
    unit = most / _SHADES or 1.0
    off = None
    if pair.band is not None:
        wide = 0.5 * (pair.band.high - pair.band.low)[cells].reshape(drawn.shape[1], -1).T
        off = [[_whole(value / unit) for value in one] for one in wide]
    return {
        "name": pair.name,
        "importance": rounded(importance),
        "axes": list(axes),
        "unit": unit,
        "values": [[_whole(value / unit) for value in one] for one in drawn],
        "off": off,
        "weights": rounded_list(pair.weights[cells].ravel()),
        "most": [
            rounded_list((p if c is None else p.of_class(c)).most for p in (pair, whole))
            for c in labels
        ],
    }


def _pair_axis(axis: PairAxis, curve: ShapeFunction) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """An axis of a pair, and the bins that are drawn, that of missing values last; ``curve`` has
    what the feature by itself adds in them, for each class."""
    last = len(axis.weights) - 1
    kept = np.arange(last)
    if axis.categories is not None:
        kept = np.sort(np.argsort(-axis.weights[:-1], kind="stable")[:CATEGORIES_MOST])
    shown: dict[str, Any] = {
        "name": axis.name,
        "range": rounded_list(axis.plot_range),
        "cuts": rounded_list(axis.cuts),
        "categories": None if axis.categories is None else texts(axis.categories[kept]),
        "missing": axis.has_missing,
        "left_out": last - len(kept),
    }
    drawn = np.append(kept, last) if axis.has_missing else kept
    shown["curve"] = [
        rounded_list(one) for one in np.atleast_2d(mean_in_bins(curve, axis)[drawn].T)
    ]
    return shown, drawn


def _whole(value: float) -> int | None:
    return round(value) if math.isfinite(value) else None


def _curve(trace: Any, more: Any = None) -> dict[str, Any]:
    """Losses of a fit; those of the rounds with pairs go on where the curves end."""
    n = len(trace.train_loss)
    at = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).astype(int))
    held = trace.validation_loss
    found: dict[str, Any] = {
        "iteration": trace.iteration[at].tolist(),
        "train": rounded_list(trace.train_loss[at]),
        "validation": None if held is None else rounded_list(held[at]),
        "pairs_from": None,
    }
    if more is not None:
        found["pairs_from"] = start = int(trace.iteration[-1])
        rest = _curve(more)
        found["iteration"] += [start + k for k in rest["iteration"]]
        found["train"] += rest["train"]
        if held is not None and rest["validation"] is not None:
            found["validation"] += rest["validation"]
    return found


def texts(labels: Iterable[Any]) -> list[str]:
    return [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]


def rounded_list(values: Iterable[float]) -> list[float | None]:
    return [rounded(value) for value in values]


def rounded(value: float) -> float | None:
    """None for what JSON has no word for, such as an infinite loss."""
    shown = float(f"{value:.{_DIGITS}g}")
    return shown if math.isfinite(shown) else None
