"""The leaves of a weak-learner that an iteration chose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Leaves(NamedTuple):
    """The weak-learner that an iteration chose: the leaf of every row, and in each leaf the sums of
    residuals (leaves, outputs), those as they are and those that it was chosen by, which may be
    smoothed, and the weights. ``keep_order(values, weights)`` changes values of leaves so that they
    fulfil constraints; None: there are none. ``lines`` are linear functions in the leaves
    (`rgboost.learners.trees.lines`); None: each has one value."""

    leaf: NDArray[np.uint8]
    raw: Vector
    sums: Vector
    weights: Vector
    keep_order: Any = None
    lines: Any = None

    @property
    def means(self) -> Vector:
        """S_q / W_q; 0 where a leaf has no weight."""
        return divided(self.sums, self.weights[:, None])

    @property
    def gradient(self) -> float:
        """<b, r>, with b the normalised weak-learner."""
        return float(np.sqrt(np.sum(self.sums * self.means)))

    @property
    def trust(self) -> Vector:
        """By how much to shorten values that are found from the rows themselves."""
        return np.clip(np.where(self.raw == 0.0, 1.0, divided(self.sums, self.raw)), 0.0, 1.0)


def divided(above: Vector, below: Vector) -> Vector:
    """above / below, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros(np.shape(above)), where=below != 0.0)
