r"""Convex conjugates of the losses, :math:`l^*(y, u) = \sup_f\, (u f - l(y, f))`.

The Fenchel-Young inequality :math:`l(y, f) + l^*(y, u) \ge u f` turns any u into a lower bound of
the loss. The amount by which it is not tight is the *excess*

.. math:: e(y, f, u) = l(y, f) + l^*(y, u) - u f \ge 0,

zero exactly where u is the derivative of l at f. Certificates are sums of excesses, which are
computed without the cancellation that the three terms would suffer: at the optimum of a loss they
are tiny differences of large numbers.

All functions take and give arrays, one entry a row. Where a formula has no closed form, what is
given is never below the conjugate or the excess (up to rounding), so that bounds stay bounds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Conjugate(ABC):
    r"""The conjugate :math:`l^*` of a loss."""

    stiffness: float = math.inf
    """To go beyond the end of `soft_domain` by x costs about stiffness / 2 x^2."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss

    def soft_domain(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        """The u of each row at which l*(y, u) is not much larger than the loss at f makes it."""
        return self.domain(y)

    @abstractmethod
    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """The smallest and the largest u of each row for which l*(y, u) is finite."""

    @abstractmethod
    def value(self, y: Vector, u: Vector) -> Vector:
        """l*(y_i, u_i); infinite outside of the domain."""

    @abstractmethod
    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        """l(y_i, f_i) + l*(y_i, u_i) - u_i f_i; infinite outside of the domain."""

    def _unless_outside(self, y: Vector, u: Vector, inside: Vector) -> Vector:
        low, high = self.domain(y)
        return np.where((u >= low) & (u <= high), inside, np.inf)

    def __repr__(self) -> str:
        return f"conjugate({self.loss!r})"


def contiguous(*rows: Vector) -> list[Vector]:
    """As kernels want them."""
    return [np.ascontiguousarray(row, np.float64) for row in rows]
