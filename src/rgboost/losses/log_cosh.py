"""The log-cosh loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._core.math import EXPONENT_MIN, exp, twice_artanh
from .._core.validation import check_positive
from .base import CompiledLoss
from .kernels import evaluate


class LogCoshTerms(NamedTuple):
    scale: float
    log_2: float = math.log(2.0)


@evaluate.register(LogCoshTerms)
def _evaluate(terms, y, f):
    scale = terms.scale
    r = (y - f) / scale
    e = exp(max(-2.0 * abs(r), EXPONENT_MIN))  # never overflows: the exponent is not positive
    both = 1.0 / ((1.0 + e) * (2.0 + e))  # one division for 1/(1 + e) and for log(1 + e)
    inverse = (2.0 + e) * both
    value = abs(r) + twice_artanh(e * (1.0 + e) * both) - terms.log_2
    slope = scale * (1.0 - e) * inverse
    return scale * scale * value, slope if r >= 0.0 else -slope, 4.0 * e * inverse * inverse


class LogCosh(CompiledLoss):
    """l(y, f) = s^2 log cosh((y - f) / s), with s the ``scale``: (y - f)^2 / 2 near the label, and
    s |y - f| - s^2 log 2 far away.

    1-smooth. The curvature 1 / cosh((y - f) / s)^2 vanishes far away, so it is not strongly convex
    (1 / cosh(d / s)^2 where |y - f| <= d) and there is no Newton step.

    Parameters
    ----------
    scale : float
        Where squares turn into absolute values. An estimator that is given ``loss="log-cosh"``
        takes the spread of the labels.

    Examples
    --------
    >>> from rgboost.losses import LogCosh
    >>> LogCosh(scale=1.0).residual([0.0], [100.0])
    array([-1.])
    """

    translation_invariant = True
    smoothness = 1.0

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = check_positive(scale, "scale")

    @property
    def terms(self) -> LogCoshTerms:
        return LogCoshTerms(self.scale)

    def __repr__(self) -> str:
        return f"LogCosh(scale={self.scale:g})"
