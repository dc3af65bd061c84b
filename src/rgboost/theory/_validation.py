"""Checks of parameters that several files of this folder share.

Every error names the parameter, the value it had and what to pass instead.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    remedy: str,
) -> float:
    """``value`` as a finite float inside the given range."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}; {remedy}.")
    number = float(value)
    outside = (
        not math.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (at_most is not None and number > at_most)
        or (below is not None and number >= below)
    )
    if outside:
        raise ValueError(f"{name}={value!r} is impossible; {remedy}.")
    return number


def check_integer(
    name: str, value: Any, *, at_least: int, at_most: int | None = None, remedy: str
) -> int:
    """``value`` as an int inside the given range."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}; {remedy}.")
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        raise ValueError(f"{name}={number} is impossible; {remedy}.")
    return number


def check_vector(name: str, value: ArrayLike, size: int | None = None) -> Floats:
    """``value`` as a finite one-dimensional float64 array, of the given size if there is one."""
    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"{name} has shape {vector.shape}; pass a vector with at least one coordinate."
        )
    if size is not None and vector.size != size:
        raise ValueError(f"{name} has {vector.size} coordinates; pass one with {size}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} holds NaN or infinity; pass finite numbers.")
    return vector


def check_matrix(name: str, value: ArrayLike) -> Floats:
    """``value`` as a finite float64 matrix with at least one row and one column."""
    matrix = np.asarray(value, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(
            f"{name} has shape {matrix.shape}; pass a matrix with one row per sample and one "
            "column per weak-learner."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} holds NaN or infinity; pass finite numbers.")
    return matrix
