"""Conjugates of the squared, the Huber and the exponential loss."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from .base import Conjugate, Vector

_CLOSE = 0.5
"""Share of a probability below which a change of it is computed as a change."""


class SquaredConjugate(Conjugate):
    r""":math:`l^* = u^2/2 + u y` and :math:`e = (u - (f - y))^2 / 2`, for every u."""

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)

    def value(self, y: Vector, u: Vector) -> Vector:
        return 0.5 * u * u + u * y

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        return 0.5 * (u - (f - y)) ** 2


class HuberConjugate(Conjugate):
    r""":math:`l^* = u^2/2 + u y` for :math:`|u| \le \delta`.

    With :math:`\rho = f - y` and c the nearest number to it in :math:`[-\delta, \delta]`,
    :math:`e = (c - u)^2/2 + (c - u)(\rho - c)`; no term is negative.
    """

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full(len(y), -self.loss.delta), np.full(len(y), self.loss.delta)

    def value(self, y: Vector, u: Vector) -> Vector:
        return self._unless_outside(y, u, 0.5 * u * u + u * y)

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        rho = f - y
        inside = np.clip(rho, -self.loss.delta, self.loss.delta)
        off = inside - u
        return self._unless_outside(y, u, 0.5 * off * off + off * (rho - inside))


class ExponentialConjugate(Conjugate):
    r"""Of exp(-y f): with :math:`q = -y u \ge 0` and p = exp(-y f),
    :math:`l^* = q \log q - q` and :math:`e = q \log(q/p) - q + p`."""

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        end = np.where(y > 0, -np.inf, np.inf)
        return np.minimum(end, 0.0), np.maximum(end, 0.0)

    def value(self, y: Vector, u: Vector) -> Vector:
        q = np.maximum(-y * u, 0.0)
        return self._unless_outside(y, u, xlogy(q, q) - q)

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        q = np.maximum(-y * u, 0.0)
        p = self.loss.value(y, f)
        far = xlogy(q, q) + q * (y * f) - q + p
        change = q - p
        with np.errstate(divide="ignore", invalid="ignore"):
            near = q * np.log1p(change / p) - change
        close = np.abs(change) <= _CLOSE * p
        return self._unless_outside(y, u, np.maximum(np.where(close, near, far), 0.0))
