"""Naive twins: the formulas written down plainly, slow and easy to check by eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rgboost.learners.kernels import TIE
from rgboost.steps import LeafStep, LineSearch, NewtonStep


@dataclass
class NaiveStump:
    feature: int
    threshold: float
    learner: int


def naive_cuts(x, max_bins, kind, weight):
    """(thresholds, left weights) of one feature by the definition in `choose_cuts`."""
    values = np.unique(x)
    below = np.array([weight[x <= v].sum() for v in values])
    after = set()
    if max_bins is None or len(values) <= max_bins:
        after = set(range(len(values) - 1))
    else:
        n_even = 0 if kind == "quantile" else (max_bins - 1) // 2
        n_quantile = max_bins - 1 - n_even
        for i in range(1, n_quantile + 1):
            after.add(int(np.argmax(below >= weight.sum() * i / (n_quantile + 1))))
        for i in range(1, n_even + 1):
            edge = values[0] + (values[-1] - values[0]) * (i / (n_even + 1))
            after.add(int(np.flatnonzero(values <= edge)[-1]))
        after.discard(len(values) - 1)
    order = sorted(after)
    thresholds = []
    for k in order:
        middle = 0.5 * values[k] + 0.5 * values[k + 1]
        thresholds.append(middle if values[k] <= middle < values[k + 1] else values[k])
    return np.array(thresholds), below[order]


def naive_stumps(X, max_bins, kind, weight):
    stumps = []
    for g in range(X.shape[1]):
        for s in naive_cuts(X[:, g], max_bins, kind, weight)[0]:
            stumps.append(NaiveStump(g, s, len(stumps)))
    return stumps


def stump_vector(stump, X, r, weight, leaves):
    """(<b, r>, b): the normalised weak-learner, its sign such that <b, r> >= 0."""
    left = X[:, stump.feature] <= stump.threshold
    if leaves == "signed":
        b = np.where(left, 1.0, -1.0)
    else:
        b = np.where(left, np.average(r[left], weights=weight[left]), 0.0)
        b[~left] = np.average(r[~left], weights=weight[~left])
    norm = np.sqrt(weight @ (b * b))
    b = b / norm if norm > 0 else np.zeros_like(b)
    inner = weight @ (b * r)
    return abs(inner), -b if inner < 0 else b


def first_best(scores):
    """Index of the largest score; ties (to a share of TIE) go to the smallest index."""
    squares = np.square(scores)
    return int(np.argmax(squares >= squares.max() * (1 - TIE)))


def naive_boost(X, y, loss, stumps, subsets, step, weight, leaves, start=0.0, learning_rate=1.0):
    """Algorithm 2 over an explicit list of stumps; ``subsets`` are lists of learner indices."""
    f = np.full(len(y), start)
    path = []
    losses = [weight @ loss.value(y, f)]
    for J in subsets:
        r = loss.residual(y, f)
        vectors = [stump_vector(stumps[j], X, r, weight, leaves) for j in J]
        best = first_best([inner for inner, _ in vectors])
        gradient, b = vectors[best]
        if isinstance(step, LeafStep):
            stump = stumps[J[best]]
            left = X[:, stump.feature] <= stump.threshold
            value = [naive_leaf(loss, y[s], f[s], weight[s], step) for s in (left, ~left)]
            move = np.where(left, *value)
        else:
            rho = step.constant(loss)
            move = b * (step.find(loss, y, f, b, weight) if rho is None else rho * gradient)
        f = f + learning_rate * move
        path.append(J[best])
        losses.append(weight @ loss.value(y, f))
    return f, np.array(path), np.array(losses)


def naive_leaf(loss, y, f, weight, step):
    """The value of a leaf with these rows."""
    if isinstance(step, NewtonStep):
        value = (weight @ loss.residual(y, f)) / (weight @ loss.curvature(y, f) + step.l2)
        return np.clip(value, -step.limit(loss), step.limit(loss))
    if loss.smoothness is None and loss.newton_limit is None:  # a kink: the best is at a row
        values = np.sort(y - f)
        losses = np.array([weight @ loss.value(y, f + c) for c in values])
        return values[np.argmax(losses <= losses.min() + 1e-12)]
    return LineSearch().find(loss, y, f, np.ones_like(y), weight)


def expand_signed_stumps(X, stumps):
    """B of the signed stumps, columns not yet normalised."""
    columns = [np.where(X[:, s.feature] <= s.threshold, 1.0, -1.0) for s in stumps]
    return np.column_stack(columns)
