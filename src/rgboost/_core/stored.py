"""What an object that comes from a file must fulfil before anybody reads its arrays.

A class whose objects can be stored has a method ``check_stored(fitted)`` that compares its fields
with each other and with the other attributes of the estimator, by the functions here: compiled code
follows indices without looking. See `rgboost.storage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class StorageError(ValueError):
    """A model that cannot be stored, or a file that is not a whole model of a known version.

    Examples
    --------
    >>> import rgboost
    >>> try:
    ...     rgboost.load("no such folder/model.rgb")
    ... except (OSError, rgboost.storage.StorageError):
    ...     print("no model there")
    no model there
    """

    __module__ = "rgboost.storage"  # where people find it


def require(condition: Any, name: str, what: str = "is not valid") -> None:
    if not condition:
        raise StorageError(f"Its value {name} {what}.")


def check_arrays(owner: Any, name: str, specs: Mapping[str, str], sizes: dict[str, int]) -> None:
    """Compare types and shapes of arrays with specifications such as ``"f8 cuts+used *"``.

    A size is set where it is met first, and must be the same from then on. ``*`` is the axis of
    several classes: there is none unless ``sizes`` has it. A type that ends with ``?`` may be None.
    """
    for field, spec in specs.items():
        array, (kind, *axes) = getattr(owner, field), spec.split()
        if array is None and kind.endswith("?"):
            continue
        axes = [axis for axis in axes if axis != "*" or "*" in sizes]
        good = isinstance(array, np.ndarray) and array.dtype == kind.removesuffix("?")
        require(good and array.ndim == len(axes), f"{name}.{field}")
        for axis, size in zip(axes, array.shape, strict=True):
            if "+" in axis:
                expected = sum(int(t) if t.isdigit() else sizes[t] for t in axis.split("+"))
            else:
                expected = sizes.setdefault(axis, size)
            require(size == expected, f"{name}.{field}")


def all_or_none(values: Iterable[Any], name: str) -> bool:
    """Whether all are there; it is an error if only some are."""
    found = [value is not None for value in values]
    require(all(found) or not any(found), name, "is there without the rest of the path, or missing")
    return all(found)


def ascends(values: NDArray) -> bool:
    return bool((values[1:] > values[:-1]).all())


def within(values: NDArray[np.int64], low: int, end: int) -> bool:
    return not values.size or (int(values.min()) >= low and int(values.max()) < end)


def are_weights(values: NDArray[np.float64]) -> bool:
    """A mean with these weights exists."""
    return bool((values >= 0).all()) and 0 < float(values.sum()) < np.inf


def are_starts(starts: NDArray[np.int64], total: int) -> bool:
    increasing = bool((starts[1:] >= starts[:-1]).all())
    return int(starts[0]) == 0 and int(starts[-1]) == total and increasing
