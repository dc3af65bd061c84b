"""Bins of features with missing values and categories against their definition."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.data.binning import bin_dense
from rgboost.data.cuts import make_plan
from rgboost.data.mixed_bins import (
    columns_with_missing,
    cut_mixed,
    encode_mixed,
    encode_mixed_sparse,
    weigh_bins,
    weigh_sparse_bins,
    without_missing,
)
from tests.naive import naive_cuts


def random_columns(rng, n, p, categorical):
    X = np.where(categorical, rng.integers(-2, 4, size=(n, p)), rng.normal(size=(n, p)))
    X[rng.random((n, p)) < 0.3] = 0.0
    X[rng.random((n, p)) < rng.choice([0.0, 0.3, 1.0], p=[0.5, 0.4, 0.1], size=p)] = np.nan
    return X


def naive_edges(x, categorical, max_bins, weight):
    known = ~np.isnan(x)
    if categorical:
        return np.unique(x[known])
    if not known.any():
        return np.empty(0)
    return naive_cuts(x[known], max_bins, "quantile", weight[known])[0]


def naive_codes(x, edges, categorical):
    """The bin of each value by comparison with every edge."""
    codes = []
    for value in x:
        if categorical:
            equal = np.flatnonzero(edges == value)
            codes.append(equal[0] if len(equal) else len(edges))
        else:
            codes.append(len(edges) + 1 if np.isnan(value) else (edges < value).sum())
    return np.array(codes)


@pytest.mark.kernel
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 4), st.sampled_from([None, 3]),
    st.booleans(), st.sampled_from([np.float32, np.float64]),
)  # fmt: skip
def test_bins_and_weights(seed, n, p, max_bins, weighted, dtype):
    rng = np.random.default_rng(seed)
    categorical = rng.random(p) < 0.5
    X = random_columns(rng, n, p, categorical).astype(dtype)
    w = rng.integers(1, 4, size=n) * 0.5 if weighted else np.ones(n)
    weight = w if weighted else None
    plan = make_plan(max_bins, "quantile")
    missing = columns_with_missing(X)
    np.testing.assert_array_equal(missing, np.isnan(X).any(axis=0))
    sparse = scipy.sparse.csc_array(X)
    np.testing.assert_array_equal(columns_with_missing(sparse), missing)
    cuts = cut_mixed(X, categorical, missing, plan, weight)
    thin = cut_mixed(sparse, categorical, missing, plan, weight)
    codes, entries = encode_mixed(X, cuts), encode_mixed_sparse(sparse, thin)
    weigh_bins(codes, cuts, weight, n)
    weigh_sparse_bins(entries, thin, weight, n)
    np.testing.assert_allclose(thin.bin_weight, cuts.bin_weight, rtol=1e-12, atol=1e-12)
    assert cuts.total_weight == w.sum()
    for g in range(p):
        edges = naive_edges(X[:, g].astype(float), categorical[g], max_bins, w)
        np.testing.assert_array_equal(cuts.edges_of(g), edges)
        np.testing.assert_array_equal(thin.edges_of(g), edges)
        expected = naive_codes(X[:, g], edges, categorical[g])
        np.testing.assert_array_equal(codes[g, :n], expected)
        column = np.full(n, entries.zero_code[g])
        stored = slice(entries.indptr[g], entries.indptr[g + 1])
        column[entries.rows[stored]] = entries.codes[stored]
        np.testing.assert_array_equal(column, expected)
        shared = set(entries.codes[stored])
        assert entries.only_code[g] == (shared.pop() if len(shared) == 1 else -1)
        weights = [w[expected == b].sum() for b in range(cuts.n_values[g] + 1)]
        np.testing.assert_allclose(cuts.weights_of(g), weights)
        assert cuts.has_missing[g] == missing[g]


def test_rows_with_missing_values_in_bins_made_without():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[:, 1] = 2.0
    cuts, codes = bin_dense(X, make_plan(8, "quantile"))
    mixed = without_missing(cuts, 50.0)
    np.testing.assert_array_equal(encode_mixed(X, mixed), codes)
    assert not mixed.has_missing.any()
    for g in (0, 2):
        counts = np.bincount(codes[g, :50], minlength=mixed.n_values[g] + 1)
        np.testing.assert_allclose(mixed.weights_of(g), counts)
    X[0] = np.nan
    np.testing.assert_array_equal(encode_mixed(X, mixed)[:, 0], mixed.n_values)


def test_one_long_column_makes_two_bytes_of_all():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(301.0), rng.normal(size=301)])  # 301: not whole words
    categorical = np.array([True, False])
    cuts = cut_mixed(X, categorical, columns_with_missing(X), make_plan(4, "quantile"), None)
    codes = encode_mixed(X, cuts)
    assert codes.dtype == np.uint16
    np.testing.assert_array_equal(codes[0, :301], np.arange(301))
    np.testing.assert_array_equal(codes[1, :301], naive_codes(X[:, 1], cuts.edges_of(1), False))


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    categorical = np.arange(20) % 2 == 0
    X = random_columns(rng, 500, 20, categorical)
    plan, missing = make_plan(16, "hybrid"), columns_with_missing(X)
    one, three = (cut_mixed(X, categorical, missing, plan, None, n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.edges, three.edges)
    np.testing.assert_array_equal(encode_mixed(X, one, 1), encode_mixed(X, one, 3))
