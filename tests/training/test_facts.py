"""What is known before rows are binned: counts of values, and the splits that they make."""

import numpy as np
import pytest
import scipy.sparse

from rgboost.learners import Stumps
from rgboost.losses import Logistic, Squared
from rgboost.training import Validation
from rgboost.training.plan.facts import MOST_COUNTED, SAMPLE, Values, facts_of

from .situations import make_rows

KINDS = ["numbers", "few", "binary", "zeros", "missing", "both", "levels", "sparse", "words"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_bins", [2, 17, 255, None])
@pytest.mark.parametrize("least", [0.0, 0.03])
def test_cuts_are_those_of_bins(kind, max_bins, least):
    X = make_rows(700, 5, kind)
    if least and kind in ("missing", "both"):
        X = np.where(np.isnan(X), 0.0, X)  # there sides are weighed with missing values
    found, heaviest = Values.of(X).cuts(max_bins, least)
    rows = X.toarray() if scipy.sparse.issparse(X) else X
    for g in range(5):
        column = rows[:, [g]]
        there = column[~np.isnan(column)][:, None]
        prepared = Stumps(max_bins=max_bins, min_weight_fraction_leaf=least).prepare(there)
        assert found[g] == prepared.layout.n_learners
        left = np.concatenate([[0], prepared.cuts.left_weight, [len(there)]])
        assert heaviest[g] == pytest.approx(np.diff(left).max() / 700)


def test_sparse_values_are_those_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    dense = np.round(rng.normal(size=(300, 6)), 1) * (rng.random((300, 6)) < 0.4)
    dense[:, 5] = 0.0
    dense[:20, 4] = np.nan
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        found, expected = Values.of(kind(dense)), Values.of(dense)
        np.testing.assert_array_equal(found.start, expected.start)
        np.testing.assert_array_equal(found.counts, expected.counts)


def test_columns_without_a_value():
    X = np.full((40, 3), np.nan)
    X[:, 1] = 1.0
    found = Values.of(X)
    assert found.distinct.tolist() == [0, 1, 0]
    assert found.cuts(8, 0.0)[0].tolist() == [0, 0, 0]
    assert Values.of(np.empty((40, 0))).cuts(8, 0.0)[0].tolist() == []


def test_many_rows_are_sampled_evenly():
    X = np.arange(45_000.0)[:, None]
    assert Values.of(X).n_rows == 9000 <= SAMPLE
    assert Values.of(X).cuts(100, 0.0)[0].tolist() == [99]


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_some_of_many_features_are_counted(kind):
    """Those with categories are, and others stand for their neighbours."""
    n = 3 * MOST_COUNTED
    X = np.arange(40.0)[:, None] % np.where(np.arange(n) < n // 2, 4, 10)
    categorical = np.zeros(n, bool)
    categorical[[7, 500]] = True
    X[:, 7], X[:, 500] = np.arange(40) % 2, np.arange(40) % 3
    found = Values.of(kind(X), categorical)
    assert len(found.start) == MOST_COUNTED + 2 + 1
    expected = np.where(np.arange(n) < n // 2, 4, 10)
    expected[[7, 500]] = 2, 3
    at = np.abs(np.arange(n) - n // 2) > 3
    np.testing.assert_array_equal(found.distinct[at], expected[at])
    np.testing.assert_array_equal(
        found.cuts(8, 0.0)[0][at], np.where(expected > 8, 7, expected - 1)[at]
    )
    np.testing.assert_array_equal(found.levels(0.0, None)[categorical], [2, 3])


def test_categories_that_are_rare_or_many_share_one():
    counts = [1, 2, 5, 9, 30]
    X = np.repeat(np.arange(5.0), counts)[:, None]
    found = Values.of(X)
    assert found.levels(0.0, None).tolist() == [5]
    assert found.levels(4.5, None).tolist() == [4]
    assert found.levels(4.5, 3).tolist() == [3]


def test_rows_without_weight_are_not_there():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.repeat([-1.0, 1.0], 50)
    X[0, 1] = np.nan
    weight = np.ones(100)
    weight[:30] = 0.0
    held = Validation(X[:40], y[:40], np.arange(40) % 2.0)
    found = facts_of(
        X, y, Logistic(), weight=weight, groups=np.arange(100) // 10, classes=True, validation=held
    )
    assert (found.rows, found.features, found.stored) == (70, 2, 140)
    assert found.class_rows == (20, 50)
    assert found.n_groups == 7
    assert (found.held_rows, found.held_missing, found.held_weighted) == (20, False, True)
    assert not found.mixed
    assert facts_of(X, y, Squared()).missing.tolist() == [False, True]


def test_folds():
    X = np.zeros((10, 1))
    found = facts_of(X, X[:, 0], Squared()).with_folds(np.array([0, 0, 0, 2, 2, 2, 2, -1, -1, 0]))
    assert (found.n_folds, found.largest_fold) == (2, 4)
