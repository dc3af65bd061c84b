"""Linear functions in the leaves of trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.stored import are_starts, ascends, check_arrays, require, within

_ARRAYS = {
    "place": "i8 leaves slopes", "slopes": "f8 leaves slopes", "low": "f8 leaves",
    "high": "f8 leaves", "features": "i8 lined", "starts": "i8 lined+1", "edges": "f8 edges",
    "steps": "f8 edges+lined",
}  # fmt: skip


@dataclass(frozen=True)
class LeafLines:
    """What a leaf says is its value plus sum_k slopes[leaf, k] z[place[leaf, k]], not less than
    ``low`` and not more than ``high``; ``place`` is -1 where there is no such feature.

    z[j] is a step function of feature ``features[j]``: it jumps after ``starts[j]:starts[j + 1]``
    of ``edges``, and has one of ``steps`` more, from ``starts[j] + j`` on. It is 0 for missing
    values.
    """

    place: NDArray[np.int64]
    slopes: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    edges: NDArray[np.float64]
    steps: NDArray[np.float64]

    def among(self, columns: NDArray[np.int64]) -> LeafLines:
        """The same where features are these columns."""
        return replace(self, features=columns[self.features])

    def arrays(self) -> Lines:
        """For compiled code."""
        return Lines(**vars(self))

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`; the sizes of the model are in ``fitted``."""
        name = "model_.lines"
        check_arrays(self, name, _ARRAYS, {"leaves": fitted["leaves"]})
        require(within(self.place, -1, len(self.features)), f"{name}.place")
        inside = ascends(self.features) and within(self.features, 0, fitted["features"])
        require(inside, f"{name}.features")
        require(are_starts(self.starts, len(self.edges)), f"{name}.starts")
        for a, b in pairwise(self.starts):
            require(ascends(self.edges[a:b]), f"{name}.edges")
        for field in ("slopes", "low", "high", "steps"):
            require(np.isfinite(getattr(self, field)).all(), f"{name}.{field}")
        require((self.low <= self.high).all(), f"{name}.low")


class Lines(NamedTuple):
    """`LeafLines` for compiled code."""

    place: NDArray[np.int64]
    slopes: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    edges: NDArray[np.float64]
    steps: NDArray[np.float64]


def no_lines() -> Lines:
    return Lines(
        np.empty((0, 0), np.int64), np.empty((0, 0)), np.empty(0), np.empty(0),
        np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0), np.empty(0),
    )  # fmt: skip


@kernel()
def look_up(rows, lines, z_out):
    """z of some rows."""
    for j in range(lines.features.shape[0]):
        a, b = lines.starts[j], lines.starts[j + 1]
        g = lines.features[j]
        for i in range(rows.shape[0]):
            x = rows[i, g]
            first, n = a, b - a
            while n > 0:  # how many edges lie below x
                half = n // 2
                if lines.edges[first + half] < x:
                    first += half + 1
                    n -= half + 1
                else:
                    n = half
            z_out[i, j] = 0.0 if x != x else lines.steps[first + j]


@kernel()
def line_value(lines, q, value, z):
    """What leaf q says to a row."""
    for k in range(lines.place.shape[1]):
        j = lines.place[q, k]
        if j < 0:
            break
        value += lines.slopes[q, k] * z[j]
    return min(max(value, lines.low[q]), lines.high[q])
