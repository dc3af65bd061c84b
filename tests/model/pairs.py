"""Made-up pairs on the bins of real rows."""

import numpy as np

from rgboost.data.cuts import make_plan
from rgboost.data.mixed_bins import (
    CategoryPlan,
    columns_with_missing,
    cut_mixed,
    encode_mixed,
    weigh_bins,
)
from rgboost.model import RawPair


def cuts_and_codes(X, categorical=(), max_bins=12, rare=0.0):
    """Bins of rows (numbers as categories where told), with their weights."""
    by_set = np.isin(np.arange(X.shape[1]), categorical)
    missing, plan = columns_with_missing(X), make_plan(max_bins, "quantile")
    cuts = cut_mixed(X, by_set, missing, plan, None, 1, CategoryPlan(least=rare))
    codes = encode_mixed(X, cuts)
    weigh_bins(codes, cuts, None, len(X))
    return cuts, codes[:, : len(X)].astype(np.int64)


def cell_weights(cuts, codes, g, h):
    """Training rows in the cells of a pair."""
    size_g, size_h = cuts.n_values[[g, h]] + 1
    found = np.bincount(codes[g] * size_h + codes[h], minlength=size_g * size_h)
    return found.reshape(size_g, size_h).astype(np.float64)


def raw_pair(cuts, codes, g, h, function):
    """The pair that adds ``function(i, j)`` in the bins i of g and j of h."""
    weights = cell_weights(cuts, codes, g, h)
    i, j = np.indices(weights.shape)
    return RawPair(g, h, np.asarray(function(i, j), np.float64), weights)


def random_pair(cuts, codes, g, h, rng, n_classes=None):
    """A table with some steps on each axis, as quadrants leave it."""
    tail = () if n_classes is None else (n_classes,)

    def make(i, j):
        size_g, size_h = i.shape
        table = np.zeros((size_g, size_h, *tail))
        for _ in range(4):
            s, u = rng.integers(size_g), rng.integers(size_h)
            quadrants = rng.normal(size=(2, 2, *tail))
            table += quadrants[(i <= s).astype(int), (j <= u).astype(int)]
        return table

    return raw_pair(cuts, codes, g, h, make)
