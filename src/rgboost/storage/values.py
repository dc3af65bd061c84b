"""Parameters as JSON and back.

Numbers, strings, None and lists are themselves. All else is an object with a tag:

    {"tuple": [...]}     {"dict": [[key, value], ...]}     {"float": "inf"}
    {"array": [...], "dtype": "int64"}                     one-dimensional
    {"object": "Huber", "arguments": {"delta": 1.0}}       a class of `stored_classes`
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import learners, losses, selection, steps
from .errors import StorageError

_DEPTH_MOST = 16
_TEXT_MOST = 16 << 20
"""Bytes that an array of strings may take: one long entry makes all of them long."""


@cache
def stored_classes() -> dict[str, type]:
    """The classes whose objects can be stored: losses, rules and families of this package."""
    found: dict[str, type] = {"Monotone": learners.Monotone}
    for module, base in (
        (losses, losses.Loss),
        (selection, selection.SelectionRule),
        (steps, steps.StepRule),
        (learners, learners.Stumps),
    ):
        found |= _concrete(module, base)
    return found


def _concrete(module: ModuleType, base: type) -> dict[str, type]:
    kinds = {name: kind for name, kind in vars(module).items() if inspect.isclass(kind)}
    rules = {name: kind for name, kind in kinds.items() if issubclass(kind, base)}
    if base is not learners.Stumps:
        rules = {name: kind for name, kind in rules.items() if kind not in (base, steps.LeafStep)}
    return {name: kind for name, kind in rules.items() if not inspect.isabstract(kind)}


class NotStorable(Exception):
    """Carries the value that has no place in a file."""


def encode(value: Any) -> Any:
    """A value as JSON; raises `NotStorable` for functions, objects of foreign classes, ..."""
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    name = type(value).__name__
    if stored_classes().get(name) is not type(value):
        raise NotStorable(value)
    arguments = inspect.signature(type(value)).parameters
    return {"object": name, "arguments": {a: encode(getattr(value, a)) for a in arguments}}


def _encode_array(array: NDArray) -> Any:
    kind = array.dtype.kind
    texts = kind == "O" and all(isinstance(item, str | int | float) for item in array)
    if array.ndim != 1 or not (kind in "biufU" or texts):
        raise NotStorable(array)
    if kind == "U":
        dtype = f"str{array.dtype.itemsize // 4}"
    else:
        dtype = "object" if kind == "O" else array.dtype.name
    return {"array": [encode(item) for item in array], "dtype": dtype}


def decode(value: Any, depth: int = 0) -> Any:
    """What `encode` was given; `StorageError` for anything that it does not write."""
    if depth > _DEPTH_MOST:
        raise StorageError(f"One of its values is nested more than {_DEPTH_MOST} deep.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [decode(item, depth + 1) for item in value]
    for tags, read in _READERS.items():
        if set(value) == set(tags):
            try:
                return read(value, depth + 1)
            except StorageError:
                raise
            except Exception as error:  # a constructor's: all of them say that the file is wrong
                raise StorageError(f"One of its values is not valid: {error}") from error
    raise StorageError(f"One of its values has the unknown keys {sorted(value)[:4]}.")


def _decode_tuple(value: dict[str, Any], depth: int) -> tuple[Any, ...]:
    return tuple(decode(_listed(value["tuple"]), depth))


def _decode_dict(value: dict[str, Any], depth: int) -> dict[Any, Any]:
    return {decode(key, depth): decode(item, depth) for key, item in _listed(value["dict"])}


def _decode_float(value: dict[str, Any], depth: int) -> float:
    if value["float"] not in ("inf", "-inf", "nan"):
        raise StorageError("One of its numbers is not a number.")
    return float(value["float"])


def _decode_array(value: dict[str, Any], depth: int) -> NDArray:
    items, dtype = decode(_listed(value["array"]), depth), value["dtype"]
    if any(isinstance(item, list | tuple | dict | np.ndarray) for item in items):
        raise StorageError("One of its arrays is not one-dimensional.")
    if dtype == "object":
        array = np.empty(len(items), object)
        array[:] = items
        return array
    text = re.fullmatch(r"str([0-9]{1,8})", dtype)
    if text:
        width = int(text.group(1))
        if 4 * width * len(items) > _TEXT_MOST or any(len(item) > width for item in items):
            raise StorageError("One of its arrays of strings is too long.")
        return np.array(items, dtype=f"<U{width}")
    if not re.fullmatch(r"bool|u?int(8|16|32|64)|float(16|32|64)", dtype):
        raise StorageError("One of its arrays has an unknown type.")
    return np.array(items, dtype=dtype)


def _decode_object(value: dict[str, Any], depth: int) -> Any:
    kind = stored_classes().get(value["object"])
    if kind is None:
        raise StorageError(
            f"It has an object of the class {str(value['object'])[:40]!r}, which this version of "
            "rgboost does not know; install a newer one."
        )
    return kind(**{name: decode(item, depth) for name, item in value["arguments"].items()})


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise StorageError("One of its values is not the list that it should be.")
    return value


_READERS: Mapping[tuple[str, ...], Callable[[dict[str, Any], int], Any]] = {
    ("tuple",): _decode_tuple,
    ("dict",): _decode_dict,
    ("float",): _decode_float,
    ("array", "dtype"): _decode_array,
    ("object", "arguments"): _decode_object,
}
