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


def trust_of_levels(squares, weights, noise, few):
    """Credibility of each category by sum S^2 / W, as in `rgboost.learners.credibility`."""
    total, present = weights.sum(), np.count_nonzero(weights)
    room = total - (weights**2).sum() / total
    if present <= few or noise <= 0 or room <= 0:
        return np.ones(len(weights))
    spread = max(0.0, squares[weights > 0].sum() - (present - few) * noise) / room
    return np.array([w * spread / (w * spread + noise) if spread > 0 else 0.0 for w in weights])


def mean_of(sums, weights):
    return np.divide(sums, weights, out=np.zeros_like(sums), where=weights > 0)


def order_levels(sums, weights, noise, few):
    """The order of categories a by how their mean residual changes along b, and how far each is
    trusted: ``sums`` and ``weights`` are (a, b), b in the order in which it is cut."""
    both = weights.sum(axis=1)
    cuts = []
    for j in range(1, sums.shape[1]):
        sides = [(sums[:, :j], weights[:, :j]), (sums[:, j:], weights[:, j:])]
        said = [mean_of(s.sum(axis=1) ** 2, w.sum(axis=1)) for s, w in sides]
        cuts.append(sum(one.sum() for one in said))
    j = 1 + int(np.argmax(cuts)) if cuts else 1
    left, left_w = sums[:, :j].sum(axis=1), weights[:, :j].sum(axis=1)
    right, right_w = sums[:, j:].sum(axis=1), weights[:, j:].sum(axis=1)
    squares = mean_of(left**2 + right**2, both)
    change = mean_of(right, right_w) - mean_of(left, left_w)
    change[(left_w == 0) | (right_w == 0)] = 0.0
    if not cuts:
        change = mean_of(left, both)
    trust = trust_of_levels(squares, both, noise, few)
    return np.argsort(change * trust, kind="stable"), trust


def best_with_categories(sums, weights, categorical, noise, few):
    """The score of the best cut of a pair of which either feature, or both, are categories; numbers
    have no missing values. ``sums`` and ``weights`` are by bins, (a, b)."""
    a, b = sums.shape
    order_g, order_h = np.arange(a), np.arange(b)
    smooth = sums.copy()
    if all(categorical):
        strongest = int(np.argmax(mean_of(sums**2, weights).sum(axis=1)))
        order_h = np.argsort(mean_of(sums[strongest], weights[strongest]), kind="stable")
    if categorical[0]:
        order_g, trust = order_levels(smooth[:, order_h], weights[:, order_h], noise, few)
        smooth = smooth * trust[:, None]
    if categorical[1]:
        order_h, trust = order_levels(smooth[order_g].T, weights[order_g].T, noise, few)
        smooth = smooth * trust
    best = 0.0
    for s in range(1, a):
        for u in range(1, b):
            score = 0.0
            for rows in (order_g[:s], order_g[s:]):
                for columns in (order_h[:u], order_h[u:]):
                    inside = np.ix_(rows, columns)
                    if weights[inside].sum() > 0:
                        score += smooth[inside].sum() ** 2 / weights[inside].sum()
            best = max(best, score)
    return best
