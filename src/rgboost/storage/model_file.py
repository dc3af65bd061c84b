"""Estimators to files and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray
from sklearn.base import is_classifier

from ..losses import Loss
from ..model import ClassStumpModel, StumpModel
from . import schema
from .container import DTYPES, Entry, open_container, parse_json, write_container
from .errors import StorageError
from .labels import decode_input, encode_input
from .values import NotStorable, decode, encode

VERSION = 1
MOST_BYTES = 4 << 30
"""Size of the largest file that is read without being told to."""

_DOCUMENT = {"written_by", "estimator", "parameters", "fitted", "parts"}


def write_model(
    estimator: Any, attributes: Mapping[str, Any], path: str | os.PathLike[str], written_by: str
) -> None:
    """Store a fitted estimator: parameters, fitted values, model, trace. No pickle.

    ``attributes`` are those of the estimator, or some of them smaller.
    """
    _check_kind(estimator)
    fitted = {n: v for n, v in attributes.items() if n.endswith("_") and n[0] != "_"}
    n_features = estimator.n_features_in_
    fitted.pop("feature_names_in_", None)  # those of the input
    tensors = encode_input(fitted.pop("input_"))
    if "cv_loss_" in fitted:
        tensors["cv.loss"] = fitted.pop("cv_loss_")
    parts = {
        name: _encode_part(name, schema.PARTS[name], value, tensors)
        for name, value in _parts_of(fitted).items()
    }
    unknown = sorted(set(fitted) - set(schema.FITTED))
    if unknown:
        raise StorageError(
            f"{unknown[0]} of this {type(estimator).__name__} has no place in version {VERSION} of "
            "the format: delete it, or use pickle or skops."
        )
    document = {
        "written_by": written_by,
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _encode(name, value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in schema.NOT_STORED
        },
        "fitted": {name: _encode(name, value) for name, value in fitted.items()},
        "parts": parts,
    }
    schema.check_entries({n: Entry.of(array) for n, array in tensors.items()}, n_features, parts)
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    write_container(path, VERSION, text, tensors)


def read_model(path: str | os.PathLike[str], kinds: Iterable[type], most_bytes: int) -> Any:
    """The estimator in a file, one of the given classes; `StorageError` if there is none."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        try:
            return _read(file, {kind.__name__: kind for kind in kinds}, most_bytes)
        except StorageError as error:
            raise StorageError(f"{os.fspath(path)} cannot be loaded. {error}") from error


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe is to be refused, not to be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: Any, kinds: Mapping[str, type], most_bytes: int) -> Any:
    container = open_container(file, VERSION, most_bytes)
    document = parse_json(container.document, "document")
    _check_keys(document, _DOCUMENT, set(), "document")
    schema.require(schema.is_text(document["written_by"]), "written_by")
    kind = kinds.get(document["estimator"]) if schema.is_text(document["estimator"]) else None
    if kind is None:
        raise StorageError("Its estimator is not one of " + ", ".join(kinds) + ".")
    estimator = _make(kind, document["parameters"])
    fitted = _decode_values(document["fitted"], schema.FITTED, "fitted")
    schema.require(is_classifier(estimator) == ("classes_" in fitted), "fitted.classes_")
    optional = {name for name, part in schema.PARTS.items() if part.optional}
    _check_keys(document["parts"], set(schema.PARTS) - optional, optional, "parts")
    schema.check_entries(container.entries, fitted["n_features_in_"], document["parts"])
    tensors = container.read()
    fitted["input_"] = decode_input(tensors, fitted["n_features_in_"])
    if fitted["input_"].names is not None:
        fitted["feature_names_in_"] = fitted["input_"].names
    if "cv.loss" in tensors:
        fitted["cv_loss_"] = tensors["cv.loss"]
    fitted |= _decode_parts(document["parts"], tensors, fitted)
    vars(estimator).update(fitted)
    return estimator


def _parts_of(fitted: dict[str, Any]) -> dict[str, Any]:
    """The parts of a fitted estimator, taken out of its attributes."""
    model = fitted.pop("model_")
    wide = model.wide if isinstance(model, ClassStumpModel) else model
    parts = {"model": wide, "trace": fitted.pop("trace_"), "coverage": fitted.pop("coverage_")}
    if wide.categories is not None:
        parts["categories"] = wide.categories
    return parts


def _decode_parts(
    values: Mapping[str, Any], tensors: Mapping[str, NDArray], fitted: Mapping[str, Any]
) -> dict[str, Any]:
    """The attributes that `_parts_of` took apart, checked."""

    def decode_part(name: str, **extra: Any) -> Any:
        return _decode_part(name, schema.PARTS[name], values[name], tensors, found, **extra)

    found = dict(fitted)
    categories = decode_part("categories") if "categories" in values else None
    wide = decode_part("model", categories=categories)
    found["model_"] = wide
    parts = {"trace_": decode_part("trace"), "coverage_": decode_part("coverage")}
    model = ClassStumpModel(wide) if wide.tables.ndim == 2 else wide
    return {"model_": model, **parts}


def _check_kind(estimator: Any) -> None:
    if not isinstance(estimator.loss_, Loss) or not _is_storable(estimator.loss_):
        raise StorageError(
            f"loss={estimator.loss!r} is a loss of your own, and a stored model holds no code; use "
            "a loss of rgboost.losses, or store with pickle or joblib, which import your class."
        )
    if not isinstance(estimator.model_, StumpModel | ClassStumpModel):
        raise StorageError(
            f"learner={type(estimator.learner).__name__} is a dictionary, whose weak-learners are "
            "functions or rows of the training data, and a stored model holds neither; use "
            "stumps, or store with pickle or joblib (with functions that can be imported)."
        )


def _is_storable(value: Any) -> bool:
    try:
        encode(value)
    except NotStorable:
        return False
    return True


def _encode(name: str, value: Any) -> Any:
    try:
        return encode(value)
    except NotStorable as error:
        raise StorageError(
            f"{name} holds {error.args[0]!r}, which cannot be stored: a stored model holds numbers "
            f"and text. Call set_params({name}=...) with its default before saving if you do not "
            "need it any more, or use pickle or joblib."
        ) from error


def _encode_part(
    name: str, part: schema.Part, value: Any, tensors: dict[str, NDArray]
) -> dict[str, Any]:
    known = {*part.values, *part.tensors, *part.left_out}
    unknown = sorted(set(vars(value)) - known)
    if unknown:
        raise StorageError(f"{name}.{unknown[0]} has no place in version {VERSION} of the format.")
    for item, spec in part.tensors.items():
        array = getattr(value, item)
        if array is not None:
            tensors[f"{name}.{item}"] = array.astype(DTYPES[spec.dtype], casting="safe", copy=False)
    found = {item: getattr(value, item) for item in part.values}
    return {item: _encode(item, v) for item, v in found.items() if v is not None}


def _decode_part(
    name: str,
    part: schema.Part,
    values: Any,
    tensors: Mapping[str, NDArray],
    fitted: Mapping[str, Any],
    **extra: Any,
) -> Any:
    found = {**_decode_values(values, part.values, name), **extra}
    for item, spec in part.tensors.items():
        if f"{name}.{item}" in tensors:
            found[item] = tensors[f"{name}.{item}"]
        elif spec.optional:
            found[item] = None
    value = part.kind(**found)
    part.check(value, fitted)
    return value


def _decode_values(values: Any, specs: Mapping[str, schema.Value], what: str) -> dict[str, Any]:
    required = {name for name, spec in specs.items() if not spec.optional}
    _check_keys(values, required, set(specs) - required, what)
    found = {name: decode(value) for name, value in values.items()}
    for name, value in found.items():
        schema.require(specs[name].is_valid(value), f"{what}.{name}")
    return found


def _check_keys(values: Any, required: set[str], optional: set[str], what: str) -> None:
    schema.require(isinstance(values, dict), what)
    for name in sorted(required - set(values)):
        schema.require(False, f"{what}.{name}", "is missing")
    for name in sorted(set(values) - required - optional):
        schema.require(False, f"{what}.{name[:60]}", "is not known to this version of rgboost")


def _make(kind: Any, parameters: Any) -> Any:
    """An estimator; parameters that the file does not have keep their defaults."""
    known = set(kind().get_params(deep=False))
    _check_keys(parameters, set(), known, "parameters")
    return kind(**{name: decode(value) for name, value in parameters.items()})
