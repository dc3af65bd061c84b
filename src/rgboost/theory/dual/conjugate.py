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

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from ..._core.jit import kernel
from ...losses import Exponential, Huber, Logistic, Loss, Ridged, Squared
from ...losses.base import Vector
from ...losses.kernels import evaluate, evaluate_rows
from .logistic_excess import fill_divergence, fill_ridged_derivatives

_NEWTON_STEPS = 200
"""Most steps of `fill_maximisers`, more than bisections alone would need."""

_PLAIN_STEPS = 3
"""Newton's steps without a safeguard. They run at eight rows at a time, the careful ones at one."""

_SLACK = 1e-3
"""Share of an excess by which it may be too large, so that it takes few steps."""

_CLOSE = 0.5
"""Share of a probability below which a change of it is computed as a change."""


class Conjugate(ABC):
    r"""The conjugate :math:`l^*` of a loss."""

    stiffness: float = math.inf
    """To go beyond the end of `soft_domain` by x costs about stiffness / 2 x^2."""

    def __init__(self, loss: Loss) -> None:
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

    def __init__(self, loss: Huber) -> None:
        super().__init__(loss)
        self.delta = loss.delta

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        return np.full(len(y), -self.delta), np.full(len(y), self.delta)

    def value(self, y: Vector, u: Vector) -> Vector:
        return self._unless_outside(y, u, 0.5 * u * u + u * y)

    def excess(self, y: Vector, f: Vector, u: Vector) -> Vector:
        rho = f - y
        inside = np.clip(rho, -self.delta, self.delta)
        off = inside - u
        return self._unless_outside(y, u, 0.5 * off * off + off * (rho - inside))


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
        fill_divergence(*_contiguous(y, f, u), divergence)
        return divergence


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


class RidgedConjugate(Conjugate):
    r"""Of l(y, f) + ridge/2 f^2: an infimal convolution, finite for every u,

    .. math:: \inf_v\; l^*(y, v) + \frac{(u - v)^2}{2\, \mathrm{ridge}}, \qquad
              e = \inf_v\; e_l(y, f, v) + \frac{(u - v - \mathrm{ridge} f)^2}{2\, \mathrm{ridge}}.

    Every v in the domain of l* gives an upper bound. The one that is taken is the derivative of l
    at the point :math:`\varphi` where l'(y, φ) + ridge φ = u, found by a safeguarded Newton
    method (`fill_maximisers`); an error in φ makes the bounds looser, never wrong.
    """

    def __init__(self, loss: Loss, inner: Conjugate, ridge: float) -> None:
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
        y, f, u = _contiguous(y, f, u)
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


class RidgedLogisticConjugate(RidgedConjugate):
    """Of log(1 + exp(-y f)) + ridge/2 f^2: a start that is known, and a loop of its own."""

    def _plain_derivatives(
        self, y: Vector, f: Vector, u: Vector, slack: float
    ) -> tuple[Vector, NDArray[np.bool_]]:
        v, enough = np.empty(len(y)), np.empty(len(y), np.bool_)
        fill_ridged_derivatives(self.ridge, slack, y, f, u, v, enough)
        return v, enough


def conjugate(loss: Loss) -> Conjugate:
    """The conjugate of a built-in loss.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.losses import Squared
    >>> from rgboost.theory.dual.conjugate import conjugate
    >>> conjugate(Squared()).value(np.array([1.0]), np.array([2.0]))
    array([4.])
    """
    if type(loss) is Squared:
        return SquaredConjugate(loss)
    if type(loss) is Huber:
        return HuberConjugate(loss)
    if type(loss) is Exponential:
        return ExponentialConjugate(loss)
    if type(loss) is Logistic:
        plain = LogisticConjugate(Logistic(0.0))
        return RidgedLogisticConjugate(loss, plain, loss.ridge) if loss.ridge else plain
    if type(loss) is Ridged:
        return RidgedConjugate(loss, conjugate(loss.inner), loss.ridge)
    raise ValueError(
        f"the conjugate of {loss!r} is not known; use Squared, Huber, Logistic or Exponential of "
        "rgboost.losses, or one of them inside Ridged."
    )


def _contiguous(*rows: Vector) -> list[Vector]:
    return [np.ascontiguousarray(row, np.float64) for row in rows]


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
