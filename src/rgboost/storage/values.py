"""Values, arrays and objects as JSON and tensors, and back.

Numbers, strings, None and lists are themselves. All else is an object with a tag:

    {"tuple": [...]}     {"dict": [[key, value], ...]}     {"float": "inf"}     {"objects": [...]}
    {"array": "model_.cuts"}                               the tensor of that name
    {"array": "classes_", "dtype": "<U5"}                  its bytes; the last axis is one entry
    {"array": "input_.categorical", "bits": 9}             9 truth values, eight in a byte
    {"object": "Huber", "arguments": {"delta": 1.0}}       a class of `stored_classes`

``objects`` are those of a one-dimensional array of strings and numbers. The dtype of an array with
fields is a list of their [name, type, shape].
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import learners, losses, selection, steps
from .._core.stored import StorageError, require
from ..data.input import InputSchema
from ..model import ClassStumpModel, Coverage, StumpModel, TreesModel
from ..model.bands import Bands
from ..model.category_tables import CategoryTables
from ..model.history import History
from ..model.leaf_lines import LeafLines
from ..model.pair_tables import PairTables
from ..training import Trace

Tensors = dict[str, NDArray]

CHECKED = (
    StumpModel, ClassStumpModel, TreesModel, LeafLines, CategoryTables, PairTables, Coverage,
    Trace, InputSchema, History, Bands,
)  # fmt: skip
"""Classes with a method ``check_stored``, for what compiled code reads."""

NOT_STORED = {"callbacks", "certificates"}
"""Functions, which only matter while fitting, and objects of `rgboost.theory`: what is loaded has
the defaults."""

_DEPTH_MOST = 16
_PLAIN = r"[<|][biuf][1248]"
_LAST_LETTER = 0x10FFFF


@cache
def stored_classes() -> dict[str, type]:
    """The classes whose objects can be stored: losses, rules and families of this package, and
    what a fitted estimator consists of."""
    found: dict[str, type] = {
        kind.__name__: kind
        for kind in (learners.Monotone, learners.Pairs, learners.Trees, *CHECKED)
    }
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


def encode(value: Any, tensors: Tensors, name: str) -> Any:
    """A value as JSON, its arrays put into ``tensors`` under names that begin with ``name``.

    Raises `NotStorable` for functions, objects of foreign classes, ...
    """
    if isinstance(value, np.ndarray):
        return _encode_array(value, tensors, name)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return [encode(item, tensors, f"{name}.{i}") for i, item in enumerate(value)]
    if type(value) is tuple:
        return {"tuple": encode(list(value), tensors, name)}
    if isinstance(value, dict):
        return {"dict": encode([[k, v] for k, v in value.items()], tensors, name)}
    kind = type(value).__name__
    if stored_classes().get(kind) is not type(value):
        raise NotStorable(value)
    stored = [a for a in inspect.signature(type(value)).parameters if a not in NOT_STORED]
    arguments = {a: encode(getattr(value, a), tensors, f"{name}.{a}") for a in stored}
    return {"object": kind, "arguments": arguments}


def _encode_array(array: NDArray, tensors: Tensors, name: str) -> Any:
    dtype = array.dtype.newbyteorder("<")
    if dtype.kind == "O" and array.ndim == 1 and _are_simple(array):
        return {"objects": encode(list(array), tensors, name)}
    if not _can_be_read(dtype):
        raise NotStorable(array)
    if dtype.kind == "b" and array.ndim == 1:
        tensors[name] = np.packbits(array)
        return {"array": name, "bits": len(array)}
    tensors[name] = np.array(array, dtype, order="C", ndmin=array.ndim)
    if re.fullmatch(_PLAIN, dtype.str):
        return {"array": name}
    tensors[name] = tensors[name][..., None].view(np.uint8)
    return {"array": name, "dtype": _describe(dtype)}


def _are_simple(items: Iterable[Any]) -> bool:
    return all(isinstance(item, str | int | float) for item in items)


def _describe(dtype: np.dtype[Any]) -> Any:
    if dtype.names is None:
        return dtype.str
    return [[name, dtype[name].base.str, list(dtype[name].shape)] for name in dtype.names]


def _can_be_read(dtype: np.dtype[Any]) -> bool:
    """Whether a type is what reading makes of its description."""
    try:
        return dtype.itemsize > 0 and _dtype(_describe(dtype)) == dtype
    except StorageError:
        return False


def _dtype(description: Any) -> np.dtype[Any]:
    if isinstance(description, list):
        fields = [(str(n), _dtype(kind), tuple(shape)) for n, kind, shape in description]
        return np.dtype(fields)
    require(re.fullmatch(rf"{_PLAIN}|<U[0-9]{{1,9}}", description), "dtype")
    return np.dtype(description)


def decode(value: Any, tensors: Tensors, depth: int = 0) -> Any:
    """What `encode` was given; its arrays are taken out of ``tensors``.

    `StorageError` for anything that `encode` does not write.
    """
    if depth > _DEPTH_MOST:
        raise StorageError(f"One of its values is nested more than {_DEPTH_MOST} deep.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [decode(item, tensors, depth + 1) for item in value]
    for tags, read in _READERS.items():
        if set(value) == set(tags):
            try:
                return read(*(value[tag] for tag in tags), tensors, depth + 1)
            except StorageError:
                raise
            except Exception as error:  # a constructor's: all of them say that the file is wrong
                raise StorageError(f"One of its values is not valid: {error}") from error
    raise StorageError(f"One of its values has the unknown keys {sorted(value)[:4]}.")


def _decode_list(items: Any, tensors: Tensors, depth: int) -> list[Any]:
    if not isinstance(items, list):
        raise StorageError("One of its values is not the list that it should be.")
    return decode(items, tensors, depth)


def _decode_tuple(items: Any, tensors: Tensors, depth: int) -> tuple[Any, ...]:
    return tuple(_decode_list(items, tensors, depth))


def _decode_dict(items: Any, tensors: Tensors, depth: int) -> dict[Any, Any]:
    return dict(_decode_list(items, tensors, depth))


def _decode_float(text: Any, tensors: Tensors, depth: int) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise StorageError("One of its numbers is not a number.")
    return float(text)


def _decode_objects(items: Any, tensors: Tensors, depth: int) -> NDArray[np.object_]:
    found = _decode_list(items, tensors, depth)
    if not _are_simple(found):
        raise StorageError("One of its arrays is not one-dimensional.")
    array = np.empty(len(found), object)
    array[:] = found
    return array


def _decode_array(name: Any, tensors: Tensors, depth: int) -> NDArray:
    require(name in tensors, str(name)[:60], "is missing")
    return tensors.pop(name)


def _decode_typed_array(name: Any, description: Any, tensors: Tensors, depth: int) -> NDArray:
    array, dtype = _decode_array(name, tensors, depth), _dtype(description)
    require(array.dtype == np.uint8 and array.shape[-1] == dtype.itemsize, name)
    if dtype.kind == "U":
        require(int(array.view("<u4").max(initial=0)) <= _LAST_LETTER, name)
    return array.view(dtype)[..., 0]


def _decode_bits(name: Any, n: Any, tensors: Tensors, depth: int) -> NDArray[np.bool_]:
    array = _decode_array(name, tensors, depth)
    require(type(n) is int and array.dtype == np.uint8 and array.shape == ((n + 7) // 8,), name)
    return np.unpackbits(array, count=n).view(np.bool_)


def _decode_object(name: Any, arguments: Any, tensors: Tensors, depth: int) -> Any:
    kind = stored_classes().get(name)
    if kind is None:
        raise StorageError(
            f"It has an object of the class {str(name)[:40]!r}, which this version of rgboost "
            "does not know; install a newer one."
        )
    require(not NOT_STORED & set(arguments), f"{name}", "has what is not stored")
    return kind(**{a: decode(item, tensors, depth) for a, item in arguments.items()})


_READERS: Mapping[tuple[str, ...], Callable[..., Any]] = {
    ("tuple",): _decode_tuple,
    ("dict",): _decode_dict,
    ("float",): _decode_float,
    ("objects",): _decode_objects,
    ("array",): _decode_array,
    ("array", "dtype"): _decode_typed_array,
    ("array", "bits"): _decode_bits,
    ("object", "arguments"): _decode_object,
}
