"""The conjugate of a loss with a ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..kernels import evaluate, evaluate_rows
from .base import Conjugate, Vector, contiguous

_NEWTON_STEPS = 200
"""Most steps of `fill_maximisers`, more than bisections alone would need."""

_PLAIN_STEPS = 3
"""Newton's steps without a safeguard. They run at eight rows at a time, the careful ones at one."""

_SLACK = 1e-3
"""Share of an excess by which it may be too large, so that it takes few steps."""


class RidgedConjugate(Conjugate):
    r"""Of l(y, f) + ridge/2 f^2: an infimal convolution, finite for every u,

    .. math:: \inf_v\; l^*(y, v) + \frac{(u - v)^2}{2\, \mathrm{ridge}}, \qquad
              e = \inf_v\; e_l(y, f, v) + \frac{(u - v - \mathrm{ridge} f)^2}{2\, \mathrm{ridge}}.

    Every v in the domain of l* gives an upper bound. The one that is taken is the derivative of l
    at the point :math:`\varphi` where l'(y, φ) + ridge φ = u, found by a safeguarded Newton
    method (`fill_maximisers`); an error in φ makes the bounds looser, never wrong.
    """

    def __init__(self, loss: Any, inner: Conjugate, ridge: float) -> None:
        super().__init__(loss)
        self.inner = inner
        self.ridge = ridge
        self.stiffness = 1.0 / ridge

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)

    def soft_domain(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        """That of l*, moved by the derivative of the ridge, which alone goes on beyond its ends."""
        low, high = self.inner.domain(y)
        return low + self.ridge * f, high + self.ridge * f

    def value(self, y: Vector, u: Vector) -> Vector:
        v = self._derivative_at_maximiser(y, np.zeros_like(u), u, 0.0)
        return self.inner.value(y, v) + (u - v) ** 2 / (2.0 * self.ridge)

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        v = self._derivative_at_maximiser(y, f, u, _SLACK)
        off = u - v - self.ridge * f
        return self.inner.excess(y, f, v) + off * off / (2.0 * self.ridge)

    def _derivative_at_maximiser(self, y: Vector, f: Vector, u: Vector, slack: float) -> Vector:
        """A few plain steps for all rows at once; rows that need more get the careful method."""
        y, f, u = contiguous(y, f, u)
        v, enough = self._plain_derivatives(y, f, u, slack)
        off = ~enough
        if off.any():
            point = np.empty(int(off.sum()))
            fill_maximisers(self.loss.terms, self.ridge, slack, y[off], u[off], f[off], point)
            v[off] = -self.inner.loss.residual(y[off], point)
        return np.clip(v, *self.inner.domain(y))

    def _plain_derivatives(
        self, y: Vector, f: Vector, u: Vector, slack: float
    ) -> tuple[Vector, NDArray[np.bool_]]:
        """(derivatives of l about where that of the loss is u, where that is close enough)."""
        point = f
        _, residual, curvature = evaluate_rows(self.loss.terms, y, point)
        enough = slack * self.ridge / curvature * (residual + u) ** 2
        with np.errstate(all="ignore"):
            for _ in range(_PLAIN_STEPS):
                point = point + (residual + u) / curvature
                _, residual, curvature = evaluate_rows(self.loss.terms, y, point)
            close = (residual + u) ** 2 <= enough
        return -self.inner.loss.residual(y, point), close


@kernel()
def fill_maximisers(terms, convexity, slack, y, u, start, out):
    """A point of each row where the derivative of a strongly convex loss is about u.

    Newton's method from ``start``. The derivative grows by at least ``convexity``, which brackets
    the point; a step that leaves the bracket is replaced by a bisection, and one that leaves more
    than a tenth of the error is followed by one.

    An error E of the derivative makes the excess of `RidgedConjugate` too large by at most
    E^2 / (2 convexity); it is about E_0^2 / (2 curvature) with the error E_0 at the start. The
    search ends when the one is less than the share ``slack`` of the other, or at rounding.
    """
    for i in range(y.shape[0]):
        f = start[i]
        _, residual, curvature = evaluate(terms, y[i], f)
        error = -residual - u[i]
        enough = slack * convexity / curvature * error * error
        reach = abs(error) / convexity
        low = f if error < 0.0 else f - reach
        high = f + reach if error < 0.0 else f
        for _ in range(_NEWTON_STEPS):
            rounding = 4e-16 * (abs(u[i]) + abs(residual))
            if error * error <= enough or abs(error) <= rounding:
                break
            before = abs(error)
            step = f - error / max(curvature, convexity)
            f = step if low < step < high else 0.5 * (low + high)
            _, residual, curvature = evaluate(terms, y[i], f)
            error = -residual - u[i]
            if abs(error) > 0.1 * before:
                low, high = (f, high) if error < 0.0 else (low, f)
                f = 0.5 * (low + high)
                _, residual, curvature = evaluate(terms, y[i], f)
                error = -residual - u[i]
            low, high = (f, high) if error < 0.0 else (low, f)
            if high - low <= 4e-16 * max(abs(low), abs(high)):
                break
        out[i] = f
