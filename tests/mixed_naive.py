"""Naive twins for features with missing values and categories: every split by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rgboost.steps import LeafStep
from tests.naive import first_best, naive_cuts, naive_leaf


def is_heavy(left, weight, lightest):
    """Whether both sides of a split have enough weight."""
    return min(weight[left].sum(), weight[~left].sum()) >= lightest


def numeric_sides(x, max_bins, weight, lightest=0.0):
    """The left rows of each split of a numeric column, in the order of the weak-learners. Without
    the thresholds that have too little weight on a side wherever missing values go."""
    known = ~np.isnan(x)
    if not known.any():
        return []
    cuts = naive_cuts(x[known], max_bins, "quantile", weight[known])[0]
    cuts = [
        s for s in cuts
        if is_heavy(x <= s, weight, lightest) or is_heavy((x <= s) | ~known, weight, lightest)
    ]  # fmt: skip
    right = [x <= s for s in cuts]  # NaN is on the right
    if known.all():
        return right
    return [*right, known, *[(x <= s) | ~known for s in cuts]]


def subset_sides(x):
    """The left rows of every split of the categories (NaN is one) into two sets, but one of each
    pair of complements."""
    keys = np.where(np.isnan(x), np.inf, x)
    categories = np.unique(keys)
    first, rest = categories[0], categories[1:]
    return [
        np.isin(keys, [first, *chosen])
        for size in range(len(rest))
        for chosen in combinations(rest, size)
    ]


def prefix_sides(x, r, weight):
    """The left rows of the prefixes of the categories in the order of their mean residuals."""
    keys = np.where(np.isnan(x), np.inf, x)
    categories = np.unique(keys)
    means = [np.average(r[keys == c], weights=weight[keys == c]) for c in categories]
    order = categories[np.argsort(means, kind="stable")]
    return [np.isin(keys, order[: k + 1]) for k in range(len(order) - 1)]


def side_vector(left, r, weight, leaves):
    """(<b, r>, b) of a split given by its left rows."""
    if leaves == "signed":
        b = np.where(left, 1.0, -1.0)
    else:
        b = np.empty(len(r))
        for side in (left, ~left):
            b[side] = np.average(r[side], weights=weight[side])
    norm = np.sqrt(weight @ (b * b))
    b = b / norm if norm > 0 else np.zeros_like(b)
    inner = weight @ (b * r)
    return abs(inner), -b if inner < 0 else b


def largest_gradient(sides, r, weight, leaves):
    """The largest <b, r> among splits given by their left rows."""
    return max(side_vector(left, r, weight, leaves)[0] for left in sides)


def mixed_sides(X, categorical, r, weight, lightest=0.0):
    """(feature, left rows) of all weak-learners, in their order."""
    for g, x in enumerate(X.T):
        if categorical[g]:
            sides = prefix_sides(x, r, weight)
        else:
            sides = numeric_sides(x, None, weight, lightest)
        yield from ((g, left) for left in sides)


def ordered_vector(x, left, sign, r, weight, leaves):
    """`side_vector`; where values of x would be in the forbidden order, the best of the rest: the
    constant (free leaves) or nothing."""
    inner, b = side_vector(left, r, weight, leaves)
    known = ~np.isnan(x)
    below, above = b[left & known], b[~left & known]
    if len(below) == 0 or len(above) == 0 or sign * (above[0] - below[0]) >= 0:
        return inner, b
    if leaves == "signed":
        return 0.0, np.zeros_like(b)
    b = np.full_like(b, 1.0 / np.sqrt(weight.sum()))
    inner = weight @ (b * r)
    return abs(inner), -b if inner < 0 else b


def naive_mixed_boost(
    X, categorical, y, loss, subsets, step, weight, *, leaves="free", signs=None, lightest=0.0,
    rate=1.0,
):  # fmt: skip
    """Algorithm 2 over all splits of numbers with missing values, and all prefixes of categories.

    (path, gradients, losses, f); -1 in the path where no weak-learner of J has enough weight on
    both sides.
    """
    signs = np.zeros(X.shape[1]) if signs is None else signs
    f = np.zeros(len(y))
    path, gradients, losses = [], [], [weight @ loss.value(y, f)]
    for J in subsets:
        r = loss.residual(y, f)
        sides = list(mixed_sides(X, categorical, r, weight, lightest))
        J = [j for j in J if is_heavy(sides[j][1], weight, lightest)]
        if J:
            vectors = [
                ordered_vector(X[:, g], left, signs[g], r, weight, leaves)
                for g, left in (sides[j] for j in J)
            ]
            best = first_best([inner for inner, _ in vectors])
            gradient, b = vectors[best]
            left = sides[J[best]][1]
            if isinstance(step, LeafStep):
                value = [naive_leaf(loss, y[s], f[s], weight[s], step) for s in (left, ~left)]
                move = np.where(left, *value)
            else:
                rho = step.constant(loss)
                move = b * (step.find(loss, y, f, b, weight) if rho is None else rho * gradient)
            f = f + rate * move
        path.append(J[best] if J else -1)
        gradients.append(gradient if J else 0.0)
        losses.append(weight @ loss.value(y, f))
    return np.array(path), np.array(gradients), np.array(losses), f
