"""Binning against its definition, one feature and one value at a time."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.data.binning import bin_dense, bin_sparse, count_below, encode_dense, encode_sparse
from rgboost.data.cuts import between, make_plan
from rgboost.data.sparse_columns import sparse_columns
from tests.data_strategies import problems
from tests.naive import naive_cuts

plans = st.tuples(st.sampled_from([None, 2, 3, 5]), st.sampled_from(["quantile", "hybrid"]))


@pytest.mark.kernel
@given(problems(), plans, st.booleans())
def test_cuts_and_codes(problem, plan, weighted):
    X, _, weight = problem
    cuts, codes = bin_dense(X, make_plan(*plan), weight if weighted else None)
    w = weight if weighted else np.ones(len(X))
    for g in range(X.shape[1]):
        thresholds, left_weight = naive_cuts(X[:, g], *plan, w)
        mine = slice(cuts.offsets[g], cuts.offsets[g + 1])
        np.testing.assert_array_equal(cuts.thresholds[mine], thresholds)
        np.testing.assert_allclose(cuts.left_weight[mine], left_weight, rtol=1e-14)
        np.testing.assert_array_equal(
            codes[g, : len(X)], (X[:, g][:, None] > thresholds[None]).sum(axis=1)
        )


@pytest.mark.kernel
@given(problems(), plans, st.booleans(), st.sampled_from(["csc", "csr", "coo"]))
def test_sparse_is_dense(problem, plan, weighted, kind):
    X, _, weight = problem
    w = weight if weighted else None
    cuts, codes = bin_dense(X, make_plan(*plan), w)
    sparse = scipy.sparse.csc_array(X).asformat(kind)
    sparse_cuts, entries = bin_sparse(sparse_columns(sparse), make_plan(*plan), w)
    np.testing.assert_array_equal(sparse_cuts.offsets, cuts.offsets)
    np.testing.assert_array_equal(sparse_cuts.thresholds, cuts.thresholds)
    np.testing.assert_allclose(sparse_cuts.left_weight, cuts.left_weight, rtol=1e-14)
    for g in range(X.shape[1]):
        column = np.full(len(X), entries.zero_code[g])
        stored = slice(entries.indptr[g], entries.indptr[g + 1])
        column[entries.rows[stored]] = entries.codes[stored]
        np.testing.assert_array_equal(column, codes[g, : len(X)])


def test_columns_of_a_sparse_matrix_with_zeros_and_duplicates():
    data = np.array([1.0, 2.0, 0.0, 3.0, 4.0])
    matrix = scipy.sparse.csr_array((data, [2, 0, 1, 0, 0], [0, 3, 5]), shape=(2, 3))
    columns = sparse_columns(matrix)
    assert columns.indptr.tolist() == [0, 2, 2, 3]
    assert columns.rows.tolist() == [0, 1, 0]
    assert columns.data.tolist() == [2.0, 7.0, 1.0]
    np.testing.assert_array_equal(matrix.data, data)


@pytest.mark.kernel
def test_columns_of_rows_in_any_order():
    data = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    matrix = scipy.sparse.csr_array((data, [2, 0, 3, 0, 2], [0, 3, 3, 5]), shape=(3, 4))
    columns = sparse_columns(matrix)
    assert columns.indptr.tolist() == [0, 2, 2, 4, 5]
    assert columns.rows.tolist() == [0, 2, 0, 2, 0]
    assert columns.data[columns.order].tolist() == [2.0, 4.0, 1.0, 5.0, 3.0]


@pytest.mark.kernel
def test_columns_of_rows_with_duplicates():
    data = np.array([1.0, 2.0, 3.0, 4.0])
    matrix = scipy.sparse.csr_array((data, [1, 0, 1, 1], [0, 3, 4]), shape=(2, 2))
    columns = sparse_columns(matrix)
    assert columns.indptr.tolist() == [0, 1, 3]
    assert columns.rows.tolist() == [0, 0, 1]
    assert columns.data.tolist() == [2.0, 4.0, 4.0]


@given(problems(), plans)
def test_integer_weights_are_repeated_rows(problem, plan):
    X, _, weight = problem
    times = (2 * weight).astype(int)
    cuts, _ = bin_dense(X, make_plan(*plan), times.astype(float))
    repeated, _ = bin_dense(np.repeat(X, times, axis=0), make_plan(*plan))
    np.testing.assert_array_equal(cuts.thresholds, repeated.thresholds)
    np.testing.assert_array_equal(cuts.left_weight, repeated.left_weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_types_orders_and_threads(dtype, order, n_jobs):
    X = np.random.default_rng(0).normal(size=(1100, 50)).astype(dtype)
    cuts, codes = bin_dense(np.asarray(X, order=order), make_plan(16, "hybrid"), None, n_jobs)
    same, same_codes = bin_dense(X.astype(np.float64), make_plan(16, "hybrid"))
    np.testing.assert_array_equal(cuts.thresholds, same.thresholds)
    np.testing.assert_array_equal(codes, same_codes)
    np.testing.assert_array_equal(encode_dense(X[::-1], cuts, n_jobs)[:, :1100], codes[:, 1099::-1])
    strided = np.empty((1100, 100), dtype)[:, ::2]
    strided[:] = X
    np.testing.assert_array_equal(bin_dense(strided, make_plan(16, "hybrid"))[1], codes)


def test_hundred_percentiles_are_equal_shares():
    x = np.random.default_rng(0).permutation(20_000).astype(float)[:, None]
    cuts, codes = bin_dense(x, make_plan(100, "quantile"))
    assert len(cuts.thresholds) == 99
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(codes[0]), 200)


def test_hybrid_keeps_the_tails_apart():
    x = np.random.default_rng(0).exponential(size=(20_000, 1))
    largest_gap = [
        np.diff(np.append(bin_dense(x, make_plan(64, kind))[0].thresholds, x.max())).max()
        for kind in ("quantile", "hybrid")
    ]
    assert largest_gap[1] < 0.5 * largest_gap[0]


def test_more_than_256_bins_are_two_bytes():
    x = np.arange(300.0)[:, None]
    cuts, codes = bin_dense(x, make_plan(None, "quantile"))
    assert codes.dtype == np.uint16
    np.testing.assert_array_equal(codes[0, :300], np.arange(300))
    assert encode_dense(x, cuts).dtype == np.uint16
    few = np.repeat(np.arange(3.0), 200)[:, None]
    assert bin_dense(few, make_plan(None, "quantile"))[1].dtype == np.uint8


def test_at_most_65535_splits():
    x = np.random.default_rng(0).permutation(70_000).astype(np.float32)[:, None]
    cuts, codes = bin_dense(x, make_plan(None, "quantile"))
    assert 60_000 < len(cuts.thresholds) <= 65_535
    assert codes.max() == len(cuts.thresholds)


@pytest.mark.kernel
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False))
def test_thresholds_separate_neighbours(a, b):
    a, b = min(a, b), max(a, b)
    if a < b < np.inf and a > -np.inf:
        assert a <= between(a, b) < b
        up = np.nextafter(a, np.inf)
        assert between(a, up) == a


@pytest.mark.kernel
@given(st.lists(st.integers(-5, 5), unique=True), st.floats(-7, 7))
def test_search(cuts, x):
    cuts = np.sort(np.array(cuts, dtype=float))
    assert count_below(cuts, x) == (cuts < x).sum()


def test_encoding_unseen_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * (rng.random((50, 3)) < 0.5)
    cuts, _ = bin_sparse(sparse_columns(scipy.sparse.csc_array(X)), make_plan(8, "quantile"))
    other = rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.5)
    dense = encode_dense(other, cuts)
    entries = encode_sparse(sparse_columns(scipy.sparse.csc_array(other)), cuts)
    for g in range(3):
        column = np.full(20, entries.zero_code[g])
        stored = slice(entries.indptr[g], entries.indptr[g + 1])
        column[entries.rows[stored]] = entries.codes[stored]
        np.testing.assert_array_equal(column, dense[g, :20])


@pytest.mark.parametrize("n_rows", range(300, 308))
def test_bins_that_turn_out_to_be_few_are_stored_in_one_byte(n_rows):
    """More than 256 bins are allowed, and no column has so many values."""
    X = np.random.default_rng(0).integers(0, 20, (n_rows, 3)).astype(float)
    cuts, codes = bin_dense(X, make_plan(1024, "quantile"))
    assert codes.dtype == np.uint8
    assert codes.shape[1] % 8 == 0
    np.testing.assert_array_equal(codes, encode_dense(X, cuts))
