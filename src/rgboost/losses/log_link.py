"""What the losses of positive means share: the score is the logarithm of the mean."""

from __future__ import annotations

import numpy as np

from .._core.math import EXPONENT_MIN
from .base import CompiledLoss, Link, Vector

EXPONENT_MAX = 300.0
"""Exponents are cut here: exp(300) is about 1e130, sums over rows and their squares stay finite."""

LARGEST_LABEL = 1e130
"""exp(EXPONENT_MAX), rounded: the largest mean that a score can say."""


class LogLinkLoss(CompiledLoss):
    """A loss whose minimiser is f = log E[y]: predictions are exp(f).

    Scores beyond 300 in the direction in which the loss grows like an exponential count as 300.
    """

    newton_limit = 1.0
    score_name = "log of the mean"
    exported_link = Link("log")
    zero_allowed = True

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        mean = float(np.average(y, weights=weight))
        if mean > 0.0 and offset is not None:
            return super().best_constant(y, weight, offset)
        if mean <= 0.0:
            raise ValueError(
                f"{self!r} needs a label greater than 0 among the rows with positive weight: "
                "the score is the logarithm of the mean."
            )
        return float(np.log(mean))

    def link(self, mean: Vector) -> Vector:
        return np.asarray(np.log(mean))

    def inverse_link(self, f: Vector) -> Vector:
        """The mean exp(f)."""
        return np.asarray(np.exp(np.clip(f, EXPONENT_MIN, -EXPONENT_MIN)))

    def check_labels(self, y: Vector) -> None:
        bad = y < 0.0 if self.zero_allowed else y < 1.0 / LARGEST_LABEL
        bad |= y > LARGEST_LABEL
        if bad.any():
            low = "0" if self.zero_allowed else "1e-130"
            raise ValueError(
                f"{self!r} expects labels from {low} to 1e130, got {y[bad][0]:g}; "
                "use another loss (such as 'squared') for other labels."
            )
