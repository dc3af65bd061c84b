"""The Huber loss."""

from __future__ import annotations

from typing import NamedTuple

from .._core.validation import check_positive
from .base import CompiledLoss
from .conjugates.closed_forms import HuberConjugate
from .kernels import evaluate


class HuberTerms(NamedTuple):
    delta: float


@evaluate.register(HuberTerms)
def _evaluate(terms, y, f):
    r = y - f
    inside = min(max(r, -terms.delta), terms.delta)
    # Inside the band: r^2/2. Outside: delta |r| - delta^2/2. Both are inside * (r - inside/2).
    curvature = 1.0 if abs(r) <= terms.delta else 0.0
    return inside * (r - 0.5 * inside), inside, curvature


class Huber(CompiledLoss):
    """l(y, f) = (y - f)^2 / 2 if |y - f| <= delta, else delta |y - f| - delta^2 / 2.

    1-smooth, not strongly convex.

    Parameters
    ----------
    delta : float
        Errors up to delta count by their square, larger ones by their size. An estimator that is
        given ``loss="huber"`` takes the spread of the labels.

    Examples
    --------
    >>> from rgboost.losses import Huber
    >>> Huber(delta=1.0).value([0.0, 0.0], [0.5, 10.0])
    array([0.125, 9.5  ])
    """

    translation_invariant = True
    smoothness = 1.0

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = check_positive(delta, "delta")

    @property
    def terms(self) -> HuberTerms:
        return HuberTerms(self.delta)

    def conjugate(self) -> HuberConjugate:
        return HuberConjugate(self)

    def __repr__(self) -> str:
        return f"Huber(delta={self.delta:g})"
