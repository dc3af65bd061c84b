r"""The conjugate of the logistic loss, and its excess, eight rows at a time.

In terms of the margin m = y f and :math:`q = -y u`, the derivative of log(1 + exp(-m)) is -p(m),
p(m) = 1/(1 + exp(m)), and the excess is the Kullback-Leibler divergence of two coins,

.. math:: D(q, p) = q \log\frac{q}{p} + (1 - q) \log\frac{1 - q}{1 - p}.

Loops are straight-line code with the functions of `rgboost._core.math`, so that they vectorise.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from ..._core.jit import kernel, scalar
from ..._core.math import EXPONENT_MIN, exp, log, twice_artanh
from .base import Conjugate, Vector, contiguous
from .ridged import RidgedConjugate

_CLOSE = 0.5
"""Share of a probability below which a change of it is computed as a change."""


class LogisticConjugate(Conjugate):
    r"""Of log(1 + exp(-y f)): with :math:`q = -y u \in [0, 1]`,

    .. math:: l^* = q \log q + (1 - q) \log(1 - q), \qquad
              e = q \log\frac{q}{p} + (1 - q) \log\frac{1 - q}{1 - p},

    where p = 1/(1 + exp(y f)): the Kullback-Leibler divergence of two coins.
    """

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def value(self, y: Vector, u: Vector) -> Vector:
        q = np.clip(-y * u, 0.0, 1.0)
        return self._unless_outside(y, u, xlogy(q, q) + xlog1py(1.0 - q, -q))

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        divergence = np.empty(len(y))
        fill_divergence(*contiguous(y, f, u), divergence)
        return divergence


class RidgedLogisticConjugate(RidgedConjugate):
    """Of log(1 + exp(-y f)) + ridge/2 f^2: a start that is known, and a loop of its own."""

    def _plain_derivatives(
        self, y: Vector, f: Vector, u: Vector, slack: float
    ) -> tuple[Vector, NDArray[np.bool_]]:
        v, enough = np.empty(len(y)), np.empty(len(y), np.bool_)
        fill_ridged_derivatives(self.ridge, slack, y, f, u, v, enough)
        return v, enough


@scalar()
def both_chances(margin):
    """1/(1 + exp(m)) and 1/(1 + exp(-m)); beyond 700 on either side as they are at 700."""
    e = exp(max(-abs(margin), EXPONENT_MIN))
    inverse = 1.0 / (1.0 + e)
    small = e * inverse
    return (small, inverse) if margin >= 0.0 else (inverse, small)


@scalar()
def log_ratio(a, b, change):
    """log(a / b) for a >= 0 and b > 0 with a - b = ``change``; any number for a = 0.

    Where the change is at most half of b, the logarithm is accurate relative to it.
    """
    close = abs(change) <= _CLOSE * b
    ratio = 1.0 if close else a / b
    return log(ratio) + twice_artanh(change / (a + b) if close else 0.0)


@kernel()
def fill_divergence(y, f, u, out):
    """D(q, p) of every row, infinite where q is no probability."""
    for i in range(y.shape[0]):
        margin, q = y[i] * f[i], -y[i] * u[i]
        p, not_p = both_chances(margin)
        change = q - p
        first = q * log_ratio(q, p, change)
        second = (1.0 - q) * log_ratio(1.0 - q, not_p, -change)
        beyond = max(abs(margin) + EXPONENT_MIN, 0.0) * (q if margin >= 0.0 else 1.0 - q)
        inside = 0.0 <= q <= 1.0
        out[i] = max(first + second, 0.0) + beyond if inside else math.inf


@scalar()
def newton(ridge, aim, m):
    """A step towards the root of ridge m - p(m) = aim."""
    p, not_p = both_chances(m)
    return m - (ridge * m - p - aim) / (ridge + p * not_p)


@kernel()
def fill_ridged_derivatives(ridge, slack, y, f, u, v_out, enough_out):
    r"""The derivative v = -y p(m) of the loss without the ridge where the one with it is u.

    So m is the root of ridge m - p(m) = y u. The start is the root with ridge y f in place of
    ridge m, or, where that is no probability, nearly one; then two steps of Newton's method. A
    residual E makes the excess too large by E^2 / (2 ridge) at most. It is enough where that is
    the share ``slack`` of E_0^2 / (2 curvature), about the excess, with E_0 and the curvature at f.
    """
    end = min(ridge, 0.25)
    for i in range(y.shape[0]):
        margin, aim = y[i] * f[i], y[i] * u[i]
        p, not_p = both_chances(margin)
        first = ridge * margin - p - aim
        enough = slack * ridge / (ridge + p * not_p) * first * first
        q = min(max(ridge * margin - aim, end), 1.0 - end)
        m = log((1.0 - q) / q)
        m = newton(ridge, aim, newton(ridge, aim, m))
        p, _ = both_chances(m)
        residual = ridge * m - p - aim
        v_out[i] = -y[i] * p
        enough_out[i] = residual * residual <= enough
