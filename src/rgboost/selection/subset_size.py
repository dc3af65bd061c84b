"""t, the size of the random subset: a count, a fraction, the square root, or all."""

from __future__ import annotations

import math
import numbers
from typing import Literal

import numpy as np

SubsetSize = int | float | Literal["sqrt", "all"]


def resolve_subset_size(t: SubsetSize, n: int, *, of: str = "groups", available: int | None = None):
    """The number of items that a subset size means.

    Parameters
    ----------
    t : int, float, "sqrt" or "all"
        A count (1 <= t <= n), a fraction of n (0 < t <= 1; rounded to the nearest integer, halves
        to even, at least 1), ``"sqrt"`` (the integer part of the square root of n) or ``"all"``.
    n : int
        How many there are to draw from, as the user counts them.
    of : str
        What is counted, for the error message.
    available : int, optional
        How many of the n hold a weak-learner. A fraction and ``"sqrt"`` refer to this number, and
        no count is larger than it.
    """
    available = n if available is None else available
    if isinstance(t, str):
        if t not in ("sqrt", "all"):
            raise ValueError(
                f"subset_size={t!r} is not known; use a count, a fraction, 'sqrt' or 'all'."
            )
        return min(max(1, math.isqrt(available)), available) if t == "sqrt" else available
    if isinstance(t, bool | np.bool_) or not isinstance(t, numbers.Real):
        raise TypeError(f"subset_size must be a number, 'sqrt' or 'all', got {t!r}.")
    if isinstance(t, numbers.Integral):
        if not 1 <= t <= n:
            raise ValueError(
                f"subset_size={t} is impossible: there are {n} {of}; "
                f"use a count from 1 to {n}, a fraction, 'sqrt' or 'all'."
            )
        return min(int(t), available)
    if not 0.0 < t <= 1.0:
        raise ValueError(
            f"subset_size={t} is impossible: a fraction must be in (0, 1]; "
            f"pass an integer for a count of {of}."
        )
    return min(max(1, round(float(t) * available)), available)
