"""An estimator from a JSON document: what `to_json` has written predicts and explains the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.input import InputSchema
from ..data.mixed_bins import OTHERS
from ..losses import Loss
from ..model import ClassStumpModel, Coverage, PairTables, StumpModel
from ..model.category_tables import CategoryTables
from ..storage import assemble
from ..storage.values import decode
from ..training import Trace
from .document import FORMAT, VERSION
from .terms import Axis, Curve, Feature, Pair, Vector, refuse

Labels = dict[int, NDArray]


def read_document(text: str | bytes, kinds: Iterable[type]) -> Any:
    """The estimator in a JSON document, one of the given classes.

    `ExportError` names what is wrong with a document that nobody has written like this.
    """
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        refuse(f"This is no JSON document of a model: {error}. Give what to_json() has written.")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        refuse(f"This JSON has no {FORMAT!r} in it; give what to_json() has written.")
    if document.get("version") != VERSION:
        refuse(
            f"The document has version {document.get('version')!r:.40}, and this rgboost reads "
            f"version {VERSION}; install a newer one."
        )
    found = {kind.__name__: kind for kind in kinds}.get(str(document.get("estimator")))
    if found is None:
        refuse(f"The document is of a {document.get('estimator')!r:.40}, which is no estimator.")
    try:
        loss = decode(document["loss"], {})
        return assemble(found, {"loss": loss}, _attributes(document, loss))
    except KeyError as error:
        refuse(f"The document lacks {error}; see rgboost.export.schema().")
    except Exception as error:  # whatever a made-up document leads to
        refuse(f"The document is not valid: {error} See rgboost.export.schema().")


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _attributes(document: Mapping[str, Any], loss: Loss) -> dict[str, Any]:
    features = [Feature(f["name"], f["kind"]) for f in document["features"]]
    intercept = _numbers(document["intercept"])
    curves = [_curve(one, len(intercept)) for one in document["curves"]]
    pairs = [_pair(one, len(intercept)) for one in document["pairs"]]
    axes = [curve.axis for curve in curves] + [axis for pair in pairs for axis in pair.axes]
    _check_axes(features, axes)
    labels = _labels(features, axes)
    wide = _model(features, intercept, curves, pairs, labels)
    names = np.empty(len(features), object)
    names[:] = [f.name for f in features]
    fit = document["fit"]
    found: dict[str, Any] = {
        "n_features_in_": len(features),
        "n_iter_": fit["iteration"][-1],
        "best_iteration_": fit["best_iteration"],
        "n_learners_": fit["weak_learners"],
        "subset_size_": fit["subset_size"],
        "has_offset_": fit["has_offset"],
        "intercept_": wide.intercept,
        "loss_": loss,
        "input_": InputSchema(
            names if document["named"] else None,
            np.array([f.kind != "number" for f in features], np.bool_),
            labels,
        ),
        "model_": wide if wide.tables.ndim == 1 else ClassStumpModel(wide),
        "trace_": _trace(fit),
        "coverage_": _coverage(float(document["total_weight"]), curves),
    }
    if document["classes"] is not None:
        found["classes_"] = _class_labels(document["classes"])
    if fit["zero_based"] is not None:
        found["zero_based_"] = fit["zero_based"]
    return found


def _curve(one: Mapping[str, Any], outputs: int) -> Curve:
    axis, weights = _axis(one), _numbers(one["weights"])
    values = _table(one["values"], (axis.size,), outputs)
    if axis.categories is not None:
        return Curve(axis, values, weights, np.empty(0), np.empty(0))
    density = one["density"]
    return Curve(axis, values, weights, _numbers(density["edges"]), _numbers(density["weights"]))


def _pair(one: Mapping[str, Any], outputs: int) -> Pair:
    first, second = map(_axis, one["axes"])
    size = first.size, second.size
    weights = _table(one["weights"], size, 1)[..., 0]
    return Pair((first, second), _table(one["values"], size, outputs), weights)


def _axis(one: Mapping[str, Any]) -> Axis:
    if "categories" not in one:
        return Axis(one["feature"], _numbers(one["edges"]))
    return Axis(one["feature"], np.empty(0), tuple(one["categories"]), one["other"])


def _numbers(values: Any) -> Vector:
    return np.array(values, np.float64).reshape(-1)


def _table(values: Any, size: tuple[int, ...], outputs: int) -> Vector:
    return np.array(values, np.float64).reshape(*size, outputs)


KINDS: dict[str, set[type]] = {"number": set(), "text": {str}, "code": {int, float}}
"""The types of categories, by the kind of feature."""


def _check_axes(features: list[Feature], axes: list[Axis]) -> None:
    """Whether the bins of every axis are those of a feature of its kind."""
    for axis in axes:
        if type(axis.feature) is not int or not 0 <= axis.feature < len(features):
            raise ValueError(f"feature {axis.feature!r:.40} of a term is not among the features.")
        name, kind = features[axis.feature].name, features[axis.feature].kind
        known = {type(label) for label in axis.categories or ()} <= KINDS[kind]
        if (axis.categories is None) != (kind == "number") or not known:
            raise ValueError(f"a term of the feature {name!r:.40} has bins of another kind.")


def _labels(features: list[Feature], axes: list[Axis]) -> Labels:
    """The labels of categories that are strings: those that some term knows."""
    known: dict[int, set[str]] = {g: set() for g, f in enumerate(features) if f.kind == "text"}
    for axis in axes:
        if axis.feature in known:
            known[axis.feature] |= set(axis.categories or ())
    found = {}
    for g, labels in known.items():
        found[g] = np.empty(len(labels), object)
        found[g][:] = sorted(labels)
    return found


def _edges(axis: Axis, labels: Labels) -> Vector:
    """Thresholds, or numbers of categories, as models have them."""
    if axis.categories is None:
        return axis.edges
    own = labels.get(axis.feature)
    if own is None:
        codes = _numbers(axis.categories)
    else:
        place = {label: float(k) for k, label in enumerate(own.tolist())}
        codes = _numbers([place[label] for label in axis.categories])
    return np.append(codes, OTHERS) if axis.other else codes


def _model(
    features: list[Feature], intercept: Vector, curves: list[Curve], pairs: list[Pair], own: Labels
) -> StumpModel:
    steps = [curve for curve in curves if curve.axis.categories is None]
    sets = [curve for curve in curves if curve.axis.categories is not None]
    tail = () if len(intercept) == 1 else (len(intercept),)
    categories = None
    if sets:
        categories = CategoryTables(
            features=np.array([curve.axis.feature for curve in sets], np.int64),
            starts=_starts([_edges(curve.axis, own) for curve in sets]),
            values=_joined([_edges(curve.axis, own) for curve in sets]),
            tables=_joined([curve.values[:-1] for curve in sets], tail),
            missing=_joined([curve.values[-1:] for curve in sets], tail),
            iteration=None,
            sets=None,
            feature=None,
        )
    return StumpModel(
        n_features=len(features),
        intercept=intercept if tail else float(intercept[0]),  # type: ignore[arg-type]
        features=np.array([curve.axis.feature for curve in steps], np.int64),
        starts=_starts([curve.axis.edges for curve in steps]),
        cuts=_joined([curve.axis.edges for curve in steps]),
        tables=_joined([curve.values[:-1] for curve in steps], tail),
        missing=_joined([curve.values[-1:] for curve in steps], tail),
        feature=None,
        threshold=None,
        left=None,
        right=None,
        when_missing=None,
        categories=categories,
        pairs=_pair_tables(pairs, tail, own) if pairs else None,
    )


def _pair_tables(pairs: list[Pair], tail: tuple[int, ...], labels: Labels) -> PairTables:
    axes = [axis for pair in pairs for axis in pair.axes]
    by_set = [axis.categories is not None for axis in axes]
    return PairTables(
        features=np.array([axis.feature for axis in axes], np.int64).reshape(-1, 2),
        categorical=np.array(by_set, np.bool_).reshape(-1, 2),
        edge_starts=_starts([_edges(axis, labels) for axis in axes]),
        edges=_joined([_edges(axis, labels) for axis in axes]),
        tables=_joined([pair.values for pair in pairs], tail),
        weights=_joined([pair.weights for pair in pairs]),
    )


def _coverage(total: float, curves: list[Curve]) -> Coverage:
    steps = [curve for curve in curves if curve.axis.categories is None]
    sets = [curve for curve in curves if curve.axis.categories is not None]
    return Coverage(
        total=total,
        weights=_joined([curve.weights[:-1] for curve in steps]),
        missing=_joined([curve.weights[-1:] for curve in steps]),
        starts=_starts([curve.density_edges for curve in steps]),
        edges=_joined([curve.density_edges for curve in steps]),
        density=_joined([curve.density for curve in steps]),
        category_weights=_joined([curve.weights[:-1] for curve in sets]),
        category_missing=_joined([curve.weights[-1:] for curve in sets]),
    )


def _starts(parts: list[Vector]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def _joined(parts: list[Vector], tail: tuple[int, ...] = ()) -> Vector:
    """Parts one after the other, with an axis for several classes or without."""
    return np.concatenate([part.reshape(-1, *tail) for part in parts] or [np.empty((0, *tail))])


def _trace(fit: Mapping[str, Any]) -> Trace:
    held = fit["validation_loss"]
    return Trace(
        train_loss=_losses(fit["train_loss"]),
        validation_loss=None if held is None else _losses(held),
        seconds=_losses(fit["seconds"]),
        choices=None,
        feature=None,
        split=None,
        engine=fit["engine"],
        n_runs=fit["runs"],
        kept=np.array(fit["iteration"], np.int64),
    )


def _losses(values: list[float | None]) -> Vector:
    return _numbers([np.inf if value is None else value for value in values])


def _class_labels(labels: list[Any]) -> NDArray:
    """Strings as objects: NumPy's own would lose zero bytes at their end."""
    texts = any(isinstance(label, str) for label in labels)
    return np.array(labels, object) if texts else np.array(labels)
