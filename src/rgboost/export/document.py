"""A model as a JSON document; ``model.schema.json`` describes it.

Numbers are written so that reading them gives the same bits.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from ..storage.values import NotStorable, encode
from .extract import extract
from .terms import Axis, Curve, Pair, Terms, Vector, refuse

FORMAT, VERSION = "rgboost model", 1


def schema() -> dict[str, Any]:
    """The JSON Schema of the documents that `to_json` of an estimator gives.

    Examples
    --------
    >>> from rgboost.export import schema
    >>> schema()["title"]
    'rgboost model'
    """
    text = files("rgboost.export").joinpath("model.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def write_document(estimator: Any, written_by: str) -> str:
    """The text of ``estimator.to_json()``."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": written_by,
        "estimator": type(estimator).__name__,
        "loss": _loss(estimator),
        "named": estimator.input_.names is not None,
        **document_of(extract(estimator)),
        "fit": _fit(estimator),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def document_of(terms: Terms) -> dict[str, Any]:
    """`Terms` as plain values: the part of the document that a prediction depends on."""
    return {
        "features": [{"name": f.name, "kind": f.kind} for f in terms.features],
        "link": {"name": terms.link.name, "scale": terms.link.scale},
        "classes": None if terms.classes is None else list(terms.classes),
        "intercept": terms.intercept.tolist(),
        "curves": [_curve(curve) for curve in terms.curves],
        "pairs": [_pair(pair) for pair in terms.pairs],
        "total_weight": terms.total_weight,
    }


def _curve(curve: Curve) -> dict[str, Any]:
    found = {
        **_axis(curve.axis),
        "values": _values(curve.values),
        "weights": curve.weights.tolist(),
    }
    if curve.axis.categories is None:
        found["density"] = {
            "edges": curve.density_edges.tolist(),
            "weights": curve.density.tolist(),
        }
    return found


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "axes": [_axis(axis) for axis in pair.axes],
        "values": _values(pair.values),
        "weights": pair.weights.tolist(),
    }


def _axis(axis: Axis) -> dict[str, Any]:
    if axis.categories is None:
        return {"feature": axis.feature, "edges": axis.edges.tolist()}
    return {
        "feature": axis.feature,
        "categories": list(axis.categories),
        "other": axis.other,
    }


def _values(values: Vector) -> Any:
    """Bins of one output are numbers, of several ones lists."""
    return (values[..., 0] if values.shape[-1] == 1 else values).tolist()


def _loss(estimator: Any) -> Any:
    try:
        return encode(estimator.loss_, {}, "loss")
    except NotStorable:
        refuse(
            f"{estimator.loss_!r} is a loss of your own, and a JSON document holds no code: "
            "from_json could not give it back. Use a loss of rgboost.losses; or export to ONNX, "
            "SQL, Python or JavaScript, which need no loss; or store with pickle or joblib."
        )


def _fit(estimator: Any) -> dict[str, Any]:
    """What is told of the fit: sizes, and losses of some hundred iterations."""
    best = int(getattr(estimator, "best_iteration_", estimator.n_iter_))
    trace = estimator.trace_.thinned(best)
    held = trace.validation_loss
    return {
        "best_iteration": best,
        "runs": trace.n_runs,
        "engine": trace.engine,
        "weak_learners": int(estimator.n_learners_),
        "subset_size": int(estimator.subset_size_),
        "has_offset": bool(getattr(estimator, "has_offset_", False)),
        "zero_based": getattr(estimator, "zero_based_", None),
        "iteration": trace.iteration.tolist(),
        "train_loss": _finite(trace.train_loss),
        "validation_loss": None if held is None else _finite(held),
        "seconds": _finite(trace.seconds),
    }


def _finite(values: Vector) -> list[float | None]:
    """JSON has no word for an infinite loss."""
    return [value if np.isfinite(value) else None for value in values.tolist()]
