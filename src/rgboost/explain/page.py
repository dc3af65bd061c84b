"""A model as one HTML file that needs nothing else, neither files nor a network."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._core.atomic import write_atomically
from .global_explanation import GlobalExplanation
from .pair_function import PairAxis, PairFunction, mean_in_bins
from .shape_function import ShapeFunction

CURVE_POINTS = 400
"""A learning curve is drawn through at most so many iterations."""

CATEGORIES_MOST = 30
"""A feature with more categories is drawn with the heaviest of them."""

PAIRS_MOST = 60
"""Pairs that are drawn, the strongest ones: each has thousands of values."""

_SHADES = 5000
"""Values of pairs are whole numbers up to this one, of either sign."""

_DIGITS = 6


def write_page(estimator: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a page about a fitted model: importances, learning curve, shape functions, pairs.

    The page is one file: it works offline and loads nothing. Terms can be searched; pictures
    are drawn when they come into view, so that models of thousands of features open at once.

    Parameters
    ----------
    estimator : a fitted `RGBMRegressor` or `RGBMClassifier` with stumps.
    path : where to write; a file that is there is replaced.
    title : heading of the page; by default the name of the estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_diabetes
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.explain.page import write_page
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RGBMRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(model, os.path.join(folder, "model.html"), title="Diabetes")
    """
    check_is_fitted(estimator)
    text = files("rgboost.explain").joinpath("page.html").read_text(encoding="utf-8")
    head = type(estimator).__name__ if title is None else title
    # The data last: a name of a feature may look like a placeholder.
    text = text.replace("{{title}}", html.escape(head)).replace("{{data}}", _script_json(estimator))
    write_atomically(path, [text.encode(errors="replace")])


def page_data(estimator: Any) -> dict[str, Any]:
    """What the page shows, as plain values."""
    explanation = estimator.explain_global().centered()
    shares = dict(zip(map(id, explanation.terms), explanation.term_importances, strict=True))
    pairs = explanation.pairs[:PAIRS_MOST]
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
    return {
        "formula": f"{what} = {', '.join(f'{value:.6g}' for value in start)} (the mean"
        f"{'' if several is None else ' of each class'}) + the sum of the shape functions"
        f"{' and of the pairs' if explanation.pairs else ''}",
        "scale": what,
        "classes": None if several is None else [str(label) for label in several],
        "facts": list(facts.items()),
        "curve": _curve(estimator.trace_, more),
        "features": [_feature(s, shares[id(s)]) for s in explanation.by_importance()],
        "pairs": [_pair(pair, explanation, shares[id(pair)]) for pair in pairs],
        "left_out_pairs": len(explanation.pairs) - len(pairs),
        "left_out_share": _rounded(sum(shares[id(p)] for p in explanation.pairs[PAIRS_MOST:])),
        "unused": len(explanation.names) - len(explanation),
    }


def _feature(shape: ShapeFunction, importance: float) -> dict[str, Any]:
    """A function; ``values`` has a list for each class (one if there are not more than two)."""
    kept = np.arange(len(shape.values))
    if shape.categories is not None:
        kept = np.sort(np.argsort(-shape.weights, kind="stable")[:CATEGORIES_MOST])
    return {
        "name": shape.name,
        "feature": shape.feature,
        "importance": _rounded(importance),
        "range": _list(shape.plot_range),
        "cuts": _list(shape.cuts),
        "values": [_list(one) for one in np.atleast_2d(shape.values[kept].T)],
        "weights": _list(shape.weights[kept]),
        "missing": _list(np.atleast_1d(shape.missing)) if shape.missing_weight > 0 else None,
        "missing_weight": _rounded(shape.missing_weight),
        "categories": None if shape.categories is None else _texts(shape.categories[kept]),
        "left_out": len(shape.values) - len(kept),
        "cells": _list(shape.density_edges),
        "density": _list(shape.density),
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
    return {
        "name": pair.name,
        "importance": _rounded(importance),
        "axes": list(axes),
        "unit": unit,
        "values": [[_whole(value / unit) for value in one] for one in drawn],
        "weights": _list(pair.weights[cells].ravel()),
        "most": [
            _list((p if c is None else p.of_class(c)).most for p in (pair, whole)) for c in labels
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
        "range": _list(axis.plot_range),
        "cuts": _list(axis.cuts),
        "categories": None if axis.categories is None else _texts(axis.categories[kept]),
        "missing": axis.has_missing,
        "left_out": last - len(kept),
    }
    drawn = np.append(kept, last) if axis.has_missing else kept
    shown["curve"] = [_list(one) for one in np.atleast_2d(mean_in_bins(curve, axis)[drawn].T)]
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
        "train": _list(trace.train_loss[at]),
        "validation": None if held is None else _list(held[at]),
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


def _texts(labels: Iterable[Any]) -> list[str]:
    return [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]


def _list(values: Iterable[float]) -> list[float | None]:
    return [_rounded(value) for value in values]


def _rounded(value: float) -> float | None:
    """None for what JSON has no word for, such as an infinite loss."""
    shown = float(f"{value:.{_DIGITS}g}")
    return shown if math.isfinite(shown) else None


def _script_json(estimator: Any) -> str:
    """JSON that cannot end the script element which holds it."""
    text = json.dumps(page_data(estimator), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
