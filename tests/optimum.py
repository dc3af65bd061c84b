"""The best loss that any combination of weak-learners can reach, from a dense matrix of them: to
compare `rgboost.theory.optimal_loss` with."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from rgboost.losses import Loss


def indicator_columns(X: NDArray[np.floating], thresholds: list[NDArray[np.float64]]) -> NDArray:
    """A constant, and 1[x_g <= s] for every threshold: they span all stumps."""
    columns = [np.ones((len(X), 1))]
    columns += [(X[:, [g]] <= s[None]).astype(float) for g, s in enumerate(thresholds)]
    return np.hstack(columns)


def smallest_loss(B: NDArray[np.float64], y: NDArray[np.float64], loss: Loss) -> float:
    """min over beta of the mean loss of B beta, by Newton's method on an orthonormal basis.

    The basis Q of the range of B comes from B B' (rows are few), so the cost does not grow with
    the cube of the columns. Steps are halved until the loss falls; the decrement at the end
    bounds the error far below what a plot shows.
    """
    values, vectors = scipy.linalg.eigh(B @ B.T)
    Q = vectors[:, values > values[-1] * len(values) * np.finfo(float).eps]
    z = np.zeros(Q.shape[1])
    value = loss.value(y, Q @ z).sum()
    for _ in range(200):
        f = Q @ z
        gradient = -(Q.T @ loss.residual(y, f))
        hessian = (Q.T * (loss.curvature(y, f) + 1e-14)) @ Q
        direction = -scipy.linalg.solve(hessian, gradient, assume_a="pos")
        decrement = -float(gradient @ direction)
        step = 1.0
        while (new := loss.value(y, Q @ (z + step * direction)).sum()) > value and step > 1e-10:
            step *= 0.5
        if decrement < 1e-13 * max(value, 1e-300) or new >= value:
            break
        z += step * direction
        value = new
    return float(value) / len(y)
