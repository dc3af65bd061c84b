"""A model as one HTML file that needs nothing else, neither files nor a network."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._atomic import write_atomically
from .global_explanation import ShapeFunction

CURVE_POINTS = 400
"""A learning curve is drawn through at most so many iterations."""

_DIGITS = 6


def write_page(estimator: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a page about a fitted model: importances, learning curve, shape functions.

    The page is one file: it works offline and loads nothing. Features can be searched; pictures
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
    importances = explanation.importances
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
    if hasattr(estimator, "classes_"):
        facts["classes"] = ", ".join(str(label) for label in estimator.classes_)
    return {
        "formula": "score = "
        f"{explanation.intercept:.6g} (the mean score) + the sum of the shape functions",
        "facts": list(facts.items()),
        "curve": _curve(estimator.trace_),
        "features": [_feature(s, importances[s.feature]) for s in explanation.by_importance()],
        "unused": len(explanation.names) - len(explanation),
    }


def _feature(shape: ShapeFunction, importance: float) -> dict[str, Any]:
    return {
        "name": shape.name,
        "feature": shape.feature,
        "importance": _rounded(importance),
        "range": _list(shape.plot_range),
        "cuts": _list(shape.cuts),
        "values": _list(shape.values),
        "weights": _list(shape.weights),
        "cells": _list(shape.density_edges),
        "density": _list(shape.density),
    }


def _curve(trace: Any) -> dict[str, Any]:
    n = len(trace.train_loss)
    at = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).astype(int))
    held = trace.validation_loss
    return {
        "iteration": at.tolist(),
        "train": _list(trace.train_loss[at]),
        "validation": None if held is None else _list(held[at]),
    }


def _list(values: Iterable[float]) -> list[float]:
    return [_rounded(value) for value in values]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _script_json(estimator: Any) -> str:
    """JSON that cannot end the script element which holds it."""
    text = json.dumps(page_data(estimator), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
