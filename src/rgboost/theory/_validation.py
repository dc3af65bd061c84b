"""Checks of vectors and matrices that several files of this folder share; those of numbers are in
`rgboost._core.validation`.

Every error names the parameter, the value it had and what to pass instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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
