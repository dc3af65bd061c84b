"""Pure interactions: zero means along both axes, against repeated sweeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rgboost.model.with_pairs import purify


def naive_pure(table, weights, sweeps=20_000):
    """Take away the weighted means of rows, then those of columns, until nothing is left."""
    table = table.copy()
    for _ in range(sweeps):
        before = table.copy()
        for axis in (1, 0):
            total = weights.sum(axis=axis)
            sums = (weights * table).sum(axis=axis)
            table -= np.expand_dims(
                np.divide(sums, total, np.zeros_like(sums), where=total > 0), axis
            )
        if np.abs(table - before).max() < 1e-14:
            break
    table[weights.sum(axis=1) == 0] = 0
    table[:, weights.sum(axis=0) == 0] = 0
    return table


def check(table, weights):
    """The conditions that say what pure is."""
    found = purify(table, weights)
    most = np.abs(table).max()
    wide = weights.reshape(*weights.shape, *[1] * (table.ndim - 2))
    i, j = weights.sum(axis=1) > 0, weights.sum(axis=0) > 0
    for axis, some in ((1, i), (0, j)):
        means = (wide * found.table).sum(axis=axis)[some] / wide.sum(axis=axis)[some]
        assert np.abs(means).max() <= 1e-10 * most
    for effects, axis in ((found.rows, 1), (found.columns, 0)):
        own = weights.sum(axis=axis)
        assert np.abs(own @ effects).max() <= 1e-12 * most * weights.sum()
        assert (effects[own == 0] == 0).all()
    mean = (wide * table).sum(axis=(0, 1)) / weights.sum()
    np.testing.assert_allclose(found.constant, mean, rtol=0, atol=1e-12 * most)
    total = found.table + found.rows[:, None] + found.columns[None] + found.constant
    inside = np.ix_(i, j)
    np.testing.assert_allclose(total[inside], table[inside], rtol=0, atol=1e-12 * most)
    assert (found.table[~i] == 0).all()
    assert (found.table[:, ~j] == 0).all()
    return found


def some_table(rng, classes=None):
    shape = rng.integers(1, 12, size=2)
    table = rng.normal(size=(*shape, *([] if classes is None else [classes])))
    weights = rng.random(shape) * (rng.random(shape) < rng.choice([0.3, 0.7, 1.0]))
    weights[rng.integers(shape[0])] *= rng.integers(2)
    weights[rng.integers(shape[0]), rng.integers(shape[1])] += 0.5
    return table, weights


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 3]))
def test_it_is_what_sweeps_end_at(seed, classes):
    table, weights = some_table(np.random.default_rng(seed), classes)
    found = check(table, weights)
    for c in range(classes or 1):
        one = table if classes is None else table[..., c]
        own = found.table if classes is None else found.table[..., c]
        there = weights > 0  # elsewhere, where blocks meet, sweeps decide otherwise who has a mean
        np.testing.assert_allclose(own[there], naive_pure(one, weights)[there], atol=1e-7)


@given(st.integers(0, 2**32 - 1))
def test_wild_weights_and_values(seed):
    rng = np.random.default_rng(seed)
    table, weights = some_table(rng)
    weights = weights * 10.0 ** rng.uniform(-9, 9, weights.shape)
    check(table * 10.0 ** rng.uniform(-6, 6, table.shape), weights)
    outer = 10.0 ** rng.uniform(-9, 9, weights.shape[0])[:, None]
    check(1e200 * table, outer * weights)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_features_does_not_matter(seed):
    table, weights = some_table(np.random.default_rng(seed))
    one, other = purify(table, weights), purify(table.T, weights.T)
    np.testing.assert_allclose(one.table, other.table.T, atol=1e-9)
    np.testing.assert_allclose(one.rows, other.columns, atol=1e-9)


def test_blocks_share_their_means():
    table = np.array([[3.0, 9.0], [9.0, -1.0]])
    found = check(table, np.eye(2))
    np.testing.assert_allclose(found.table, [[0, 8], [8, 0]], atol=1e-12)
    np.testing.assert_allclose(found.rows, [1, -1])
    np.testing.assert_allclose(found.columns, [1, -1])


def test_additive_tables_have_nothing_pure():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=30), rng.normal(size=40)
    found = check(a[:, None] + b, rng.random((30, 40)))
    assert np.abs(found.table).max() < 1e-13


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 2)])
def test_zeros(shape):
    found = purify(np.zeros(shape), np.ones(shape))
    assert not np.any(found.table)
    assert found.constant == 0
    nothing = purify(np.ones(shape), np.zeros(shape))
    assert not np.any(nothing.table)
    assert nothing.constant == 0
