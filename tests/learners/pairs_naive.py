"""Quadrant stumps by brute force: all pairs, all cuts, one after the other."""

from __future__ import annotations

import numpy as np


def splits_of(values, missing, levels=None):
    """All left sides of a feature, as truth values of the rows, in the order of their numbers.

    ``values`` are bins, ``missing`` marks rows without one. ``levels``: the order of categories.
    """
    if levels is not None:
        return [np.isin(values, levels[: k + 1]) for k in range(len(levels) - 1)]
    m = int(values[~missing].max()) + 1
    if not missing.any():
        return [values <= s for s in range(m - 1)]
    right = [~missing & (values <= s) for s in range(m)]
    left = [missing | (values <= s) for s in range(m - 1)]
    return right + left


def quadrants_of(left_g, left_h):
    """The quadrant of every row."""
    return np.where(left_g, 0, 2) + np.where(left_h, 0, 1)


def scores_of_pair(residual, weight, splits_g, splits_h):
    """sum_q S_q^2 / W_q of every weak-learner; residuals are weighted (outputs, rows)."""
    found = []
    for left_g in splits_g:
        for left_h in splits_h:
            leaf = quadrants_of(left_g, left_h)
            mass = np.bincount(leaf, weight, 4)
            sums = np.array([np.bincount(leaf, r, 4) for r in residual])
            there = mass > 0
            found.append(float(np.sum(sums[:, there] ** 2 / mass[there])))
    return np.array(found)


def columns_of_pair(splits_g, splits_h):
    """For every weak-learner its four indicators, (rows, 4): orthogonal columns."""
    for left_g in splits_g:
        for left_h in splits_h:
            leaf = quadrants_of(left_g, left_h)
            yield (leaf[:, None] == np.arange(4)).astype(float)


def boost_pairs(bins, y, pairs, draws, *, n_iter, rate, weight=None, stumps=False):
    """Algorithm 2 for the squared loss with constant steps, as it is written."""
    weight = np.ones(len(y)) if weight is None else weight
    missing = np.zeros(len(y), bool)
    score, path = np.zeros(len(y)), []
    for m in range(n_iter):
        residual = y - score
        best = (-1.0, None)
        for k in draws[m]:
            g, h = pairs[k]
            splits_h = [np.ones(len(y), bool)] if h < 0 else splits_of(bins[:, h], missing)
            splits_g = splits_of(bins[:, g], missing)
            scores = scores_of_pair([weight * residual], weight, splits_g, splits_h)
            j = int(np.argmax(scores >= scores.max() * (1 - 1e-9)))
            if scores[j] > best[0] * (1 + 1e-9):
                leaf = quadrants_of(splits_g[j // len(splits_h)], splits_h[j % len(splits_h)])
                best = (scores[j], (k, j, leaf))
        k, j, leaf = best[1]
        mass, sums = np.bincount(leaf, weight, 4), np.bincount(leaf, weight * residual, 4)
        values = rate * np.divide(sums, mass, out=np.zeros(4), where=mass > 0)
        score = score + values[leaf]
        path.append((k, j, values))
    return score, path
