"""The squared loss."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .base import CompiledLoss, Vector
from .conjugates.closed_forms import SquaredConjugate
from .kernels import evaluate


class SquaredTerms(NamedTuple):
    half: float = 0.5


@evaluate.register(SquaredTerms)
def _evaluate(terms, y, f):
    r = y - f
    return terms.half * r * r, r, 1.0


class Squared(CompiledLoss):
    """l(y, f) = (y - f)^2 / 2: 1-smooth and 1-strongly convex.

    Examples
    --------
    >>> from rgboost.losses import Squared
    >>> Squared().value([3.0], [1.0]), Squared().residual([3.0], [1.0])
    (array([2.]), array([2.]))
    """

    quadratic = True
    translation_invariant = True
    smoothness = 1.0
    strong_convexity = 1.0
    newton_limit = math.inf
    terms = SquaredTerms()

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        return float(np.average(y if offset is None else y - offset, weights=weight))

    def conjugate(self) -> SquaredConjugate:
        return SquaredConjugate(self)
