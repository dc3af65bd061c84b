"""The quantile (pinball) loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.validation import check_real
from .base import CompiledLoss, Vector
from .kernels import evaluate


class PinballTerms(NamedTuple):
    """The slopes of the loss above and below the score."""

    above: float
    below: float


@evaluate.register(PinballTerms)
def _evaluate(terms, y, f):
    r = y - f
    residual = terms.above if r > 0.0 else (-terms.below if r < 0.0 else 0.0)
    return residual * r, residual, 0.0


class PinballLoss(CompiledLoss):
    """A loss that is linear above and below its label, with a kink between.

    0-strongly convex and not smooth: there is no constant step, no Newton step. The values of
    leaves are weighted quantiles of y - f (`rgboost.steps.LeafSearch`); line search works too.
    """

    translation_invariant = True
    quantile_leaves = True
    terms: PinballTerms

    def best_constant(
        self, y: Vector, weight: Vector | None = None, offset: Vector | None = None
    ) -> float:
        """The weighted quantile; the smallest one where there are several."""
        y = y if offset is None else y - offset
        level = self.terms.above / (self.terms.above + self.terms.below)
        order = np.argsort(y, kind="stable")
        below = np.cumsum(np.ones_like(y) if weight is None else weight[order])
        return float(y[order][np.searchsorted(below, level * below[-1])])


class Quantile(PinballLoss):
    """l(y, f) = level (y - f) if y > f, else (1 - level) (f - y): its minimiser is a quantile.

    Not smooth; see `PinballLoss` for the steps that are allowed.

    Parameters
    ----------
    level : float
        The share of labels that shall lie below the predictions, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Quantile
    >>> Quantile(0.9).best_constant(np.arange(1.0, 101.0))
    90.0
    """

    def __init__(self, level: float = 0.5) -> None:
        self.level = check_real(level, "level")
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level={level} must be greater than 0 and less than 1.")

    @property
    def terms(self) -> PinballTerms:  # type: ignore[override]
        return PinballTerms(self.level, 1.0 - self.level)

    def __repr__(self) -> str:
        return f"Quantile(level={self.level:g})"
