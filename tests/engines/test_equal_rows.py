"""Rows that share bins and label weigh as much as all of them."""

import numpy as np
import pytest

from rgboost.engines.direct.equal_rows import FEWEST_ROWS, merge_equal_rows, row_keys
from rgboost.learners import Stumps
from rgboost.losses import Softmax
from rgboost.selection import AllLearners, RandomLearners
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import Validation, boost
from tests.conftest import JIT


def few_distinct(n, seed=0, n_values=4, missing=False):
    """(X, y, weight) with at most 3 * 4^3 different rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, 3)).astype(float)
    y = ((X[:, 0] + X[:, 1] * (X[:, 2] > 1) + rng.integers(0, 2, n)) % 3).astype(float)
    if missing:
        X[X[:, 1] == 2, 1] = np.nan
    return X, y, rng.uniform(0.5, 2.0, n)


def prepared(X, categorical=()):
    return Stumps(max_bins=None, categorical=categorical).prepare(X).arrays


@pytest.mark.parametrize("categorical", [(), (2,)])
@pytest.mark.parametrize("weighted", [False, True])
def test_merged_rows_are_the_distinct_ones(categorical, weighted):
    X, y, weight = few_distinct(FEWEST_ROWS)
    arrays = prepared(X, categorical)
    merged, labels, weights, kept = merge_equal_rows(arrays, y, weight if weighted else None)
    every = np.column_stack([arrays.codes[:, : len(y)].T, y])
    _, first, group = np.unique(every, axis=0, return_index=True, return_inverse=True)
    sums = np.bincount(group.ravel(), weight if weighted else None)
    order = np.argsort(first)
    np.testing.assert_array_equal(merged.codes[:, : len(labels)], arrays.codes[:, first[order]])
    np.testing.assert_array_equal(kept, first[order])
    np.testing.assert_array_equal(labels, y[first[order]])
    np.testing.assert_allclose(weights, sums[order], rtol=1e-12)
    assert type(merged) is type(arrays)
    np.testing.assert_array_equal(merged.words, merged.codes.view(np.uint64))


def test_rows_stay_as_they_are_if_most_differ():
    X, y, weight = few_distinct(FEWEST_ROWS)
    X[:, 0] = np.random.default_rng(0).permutation(len(y)) // 1.5
    arrays = prepared(X)
    assert merge_equal_rows(arrays, y, weight) == (arrays, y, weight, slice(None))
    few = few_distinct(FEWEST_ROWS - 1)
    assert merge_equal_rows(prepared(few[0]), *few[1:])[2] is few[2]


def test_different_rows_with_one_key_are_not_merged(monkeypatch):
    X, y, weight = few_distinct(FEWEST_ROWS)
    arrays = prepared(X)
    one_key = np.ones(len(y), np.uint64)
    monkeypatch.setattr("rgboost.engines.direct.equal_rows.row_keys", lambda codes, y: one_key)
    assert merge_equal_rows(arrays, y, weight)[1] is y


def test_keys_differ_by_every_column_and_the_label():
    codes = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]], np.uint8)
    keys = row_keys(codes, np.array([0.0, 0.0, 0.0, 1.0, 0.0]))
    assert keys[0] == keys[4]
    assert len(set(keys.tolist())) == 4


@pytest.mark.skipif(not JIT, reason="many rows")
@pytest.mark.parametrize("categorical", [(), (2,)])
@pytest.mark.parametrize("step", [ConstantStep(), NewtonStep()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_is_that_to_all_rows(monkeypatch, categorical, step, weighted):
    X, y, weight = few_distinct(6000, missing=True)
    Z, z, held_weight = few_distinct(2000, seed=1, missing=True)
    if not weighted:
        weight = held_weight = None
    settings = dict(
        loss=Softmax(3, 0.01), learner=Stumps(categorical=categorical), selection=AllLearners(),
        step=step, n_iter=30, weight=weight, validation=Validation(Z, z, held_weight),
        learning_rate=0.5, random_state=0,
    )  # fmt: skip
    merged = boost(X, y, **settings)
    monkeypatch.setattr("rgboost.engines.direct.equal_rows.FEWEST_ROWS", 10**9)
    every = boost(X, y, **settings)
    np.testing.assert_allclose(merged.trace.train_loss, every.trace.train_loss, rtol=1e-10)
    held = merged.trace.validation_loss, every.trace.validation_loss
    np.testing.assert_allclose(*held, rtol=1e-10)
    np.testing.assert_allclose(merged.model.score(Z), every.model.score(Z), rtol=1e-7, atol=1e-9)


@pytest.mark.skipif(not JIT, reason="many rows")
def test_a_run_on_merged_rows_goes_on_where_it_stopped():
    X, y, weight = few_distinct(6000)
    settings = dict(
        loss=Softmax(3, 0.01), learner=Stumps(), selection=RandomLearners(4), step=NewtonStep(),
        weight=weight, learning_rate=0.5, random_state=0, keep_state=True,
    )  # fmt: skip
    whole = boost(X, y, n_iter=40, **settings)
    half = boost(X, y, n_iter=15, **settings)
    rest = boost(X, y, n_iter=40, resume=half.state, **settings)
    np.testing.assert_array_equal(whole.trace.train_loss, rest.trace.train_loss)
    np.testing.assert_array_equal(whole.model.score(X), rest.model.score(X))
