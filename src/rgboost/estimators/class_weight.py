"""Weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.validation import check_positive


def apply_class_weight(
    class_weight: Any,
    classes: NDArray,
    codes: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Weights of the rows times those of their classes. ``codes`` are positions in ``classes``.

    ``"balanced"``: every class has the same weight in all, and the sum of weights stays what it
    was. Weights of rows count: a weight of two is a row twice. Of ``classes`` some may have no row.
    """
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(codes, weight, len(classes))
        there = sums > 0
        factors = there.astype(np.float64)
        factors[there] = sums.sum() / (there.sum() * sums[there])
    elif isinstance(class_weight, Mapping):
        position = {label: k for k, label in enumerate(classes.tolist())}
        factors = np.ones(len(classes))
        for label, factor in class_weight.items():
            if label not in position:
                raise ValueError(
                    f"class_weight has the label {label!r}, which is not in y; "
                    f"the classes are {classes.tolist()}."
                )
            factors[position[label]] = check_positive(factor, f"class_weight[{label!r}]")
    else:
        raise ValueError(
            f"class_weight={class_weight!r} is not known; use None, 'balanced' or a dict of "
            "a weight for each class."
        )
    return factors[codes] if weight is None else factors[codes] * weight
