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
from rgboost.model import Coverage, RawPair, with_pairs


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
            s, u = rng.integers(max(1, size_g - 2)), rng.integers(max(1, size_h - 2))
            quadrants = rng.normal(size=(2, 2, *tail))
            table += quadrants[(i <= s).astype(int), (j <= u).astype(int)]
        return table

    return raw_pair(cuts, codes, g, h, make)


def add_pairs(estimator, X, functions, max_bins=12, rare=0.0):
    """A fitted estimator (with so many bins) whose model has pairs: ``functions`` by features,
    ``"random"`` for tables of some steps. They are functions of bins, scaled from 0 to 1.
    Categories that weigh less than ``rare`` share a bin, as they did in its fit."""
    rows = estimator._check_rows(X)
    categorical = np.flatnonzero(estimator.input_.categorical)
    cuts, codes = cuts_and_codes(rows, categorical, max_bins, rare)
    wide, rng = estimator.model_.wide, np.random.default_rng(0)
    for k, g in enumerate(wide.features):
        assert np.isin(wide.cuts[wide.starts[k] : wide.starts[k + 1]], cuts.edges_of(g)).all()
    classes = None if wide.tables.ndim == 1 else wide.tables.shape[1]
    raws = []
    for (g, h), function in functions.items():
        if function == "random":
            raws.append(random_pair(cuts, codes, g, h, rng, classes))
        else:
            a, b = cuts.n_values[[g, h]]
            raws.append(raw_pair(cuts, codes, g, h, lambda i, j: function(i / a, j / b)))  # noqa: B023
    estimator.model_ = with_pairs(estimator.model_, cuts, raws)
    estimator.coverage_ = Coverage.of_mixed(estimator.model_.wide, cuts)
    return estimator
