"""Naive twins for features with missing values and categories: every split by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tests.naive import naive_cuts


def numeric_sides(x, max_bins, weight):
    """The left rows of each split of a numeric column, in the order of the weak-learners."""
    known = ~np.isnan(x)
    if not known.any():
        return []
    cuts = naive_cuts(x[known], max_bins, "quantile", weight[known])[0]
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
