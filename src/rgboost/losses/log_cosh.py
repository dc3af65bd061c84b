"""The log-cosh loss."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._math import EXPONENT_MIN, exp, twice_artanh
from .base import CompiledLoss
from .kernels import evaluate


class LogCoshTerms(NamedTuple):
    log_2: float = math.log(2.0)


@evaluate.register(LogCoshTerms)
def _evaluate(terms, y, f):
    r = y - f
    e = exp(max(-2.0 * abs(r), EXPONENT_MIN))  # never overflows: the exponent is not positive
    both = 1.0 / ((1.0 + e) * (2.0 + e))  # one division for 1/(1 + e) and for log(1 + e)
    inverse = (2.0 + e) * both
    value = abs(r) + twice_artanh(e * (1.0 + e) * both) - terms.log_2
    slope = (1.0 - e) * inverse
    return value, slope if r >= 0.0 else -slope, 4.0 * e * inverse * inverse


class LogCosh(CompiledLoss):
    """l(y, f) = log cosh(y - f): (y - f)^2 / 2 near the label, |y - f| - log 2 far away.

    1-smooth. The curvature 1 / cosh(y - f)^2 vanishes far away, so it is not strongly convex
    (1 / cosh(d)^2 where |y - f| <= d) and there is no Newton step.
    """

    translation_invariant = True
    smoothness = 1.0
    terms = LogCoshTerms()
