"""Algorithm 3 over an explicit matrix, written naively, and optima to compare its losses with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from rgboost.theory.procedure import coordinate_layout


@dataclass(frozen=True)
class Squared:
    sigma: float = 1.0
    mu: float = 1.0

    def value(self, y, f):
        return 0.5 * np.sum((y - f) ** 2)

    def derivative(self, y, f):
        return f - y

    def curvature(self, y, f):
        return np.ones_like(f)


@dataclass(frozen=True)
class Huber:
    d: float = 1.0
    sigma: float = 1.0

    def value(self, y, f):
        r = np.abs(y - f)
        return np.sum(np.where(r <= self.d, 0.5 * r**2, self.d * r - 0.5 * self.d**2))

    def derivative(self, y, f):
        return np.clip(f - y, -self.d, self.d)

    def curvature(self, y, f):
        return (np.abs(y - f) <= self.d).astype(float)


@dataclass(frozen=True)
class RidgeLogistic:
    """log(1 + exp(-y f)) + d/2 f^2 with y = +-1."""

    d: float = 0.1

    @property
    def sigma(self):
        return 0.25 + self.d

    @property
    def mu(self):
        return self.d

    def value(self, y, f):
        return np.sum(np.logaddexp(0.0, -y * f) + self.d / 2 * f**2)

    def derivative(self, y, f):
        return -y / (1.0 + np.exp(y * f)) + self.d * f

    def curvature(self, y, f):
        p = 1.0 / (1.0 + np.exp(-f))
        return p * (1.0 - p) + self.d


def coordinate_descent(B, y, loss, rule, groups, *, step, M, seed):
    """The losses L(beta^0), ..., L(beta^M) of random-then-greedy coordinate descent."""
    layout = coordinate_layout(B.shape[1], groups)
    rng = np.random.default_rng(seed)
    draws = rule.draw(layout, rng, M)
    f = np.zeros(len(y))
    losses = [loss.value(y, f)]
    for m in range(M):
        J = rule.learners(layout, draws[m % len(draws)])
        gradient = B[:, J].T @ loss.derivative(y, f)
        best = np.argmax(np.abs(gradient))
        b = B[:, J[best]]
        if step == "constant":
            rho = -gradient[best] / loss.sigma
        else:
            rho = minimize_scalar(lambda r, f=f, b=b: loss.value(y, f + r * b), tol=1e-12).x
        f = f + rho * b
        losses.append(loss.value(y, f))
    return np.array(losses)


def optimum(B, y, loss):
    """The smallest loss and predictions that attain it, by damped Newton in Range(B)."""
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]
    x = np.zeros(U.shape[1])
    value = loss.value(y, U @ x)
    for _ in range(200):
        f = U @ x
        gradient = U.T @ loss.derivative(y, f)
        if np.linalg.norm(gradient) <= 1e-12:
            break
        hessian = (U.T * loss.curvature(y, f)) @ U
        direction = np.linalg.lstsq(hessian, -gradient, rcond=1e-12)[0]
        size = 1.0
        while size > 1e-12 and loss.value(y, U @ (x + size * direction)) > value:
            size /= 2.0
        x = x + size * direction
        value = min(value, loss.value(y, U @ x))
    assert np.linalg.norm(U.T @ loss.derivative(y, U @ x)) <= 1e-9
    return value, U @ x
