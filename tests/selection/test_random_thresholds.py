"""Thresholds that are drawn evenly from the features."""

import numpy as np
import pytest

from rgboost import RGBMClassifier
from rgboost.learners.kernels import Subset
from rgboost.learners.stumps.splits import best_allowed
from rgboost.selection import Layout, RandomThresholds
from rgboost.selection.layout import columns_of_learners


def layout_of(counts):
    return Layout.make(np.concatenate([[0], np.cumsum(counts)]))


@pytest.mark.parametrize("t", [1, 3, 4, 5, 9])
def test_thresholds_are_spread_over_features(t):
    layout = layout_of([7, 0, 30, 1, 12])
    draw = RandomThresholds(t).draw(layout, np.random.default_rng(0), 4000)
    assert draw.shape == (4000, t)
    assert (np.diff(draw, axis=1) >= 0).all()
    column = np.searchsorted(layout.offsets, draw, side="right") - 1
    times = np.stack([(column == c).sum(axis=1) for c in (0, 2, 3, 4)], axis=1)
    assert times.min() == t // 4
    assert times.max() == -(-t // 4)
    np.testing.assert_allclose(times.mean(axis=0), t / 4, atol=0.04)
    assert len(np.unique(draw)) == 50


def test_thresholds_are_nearest_to_a_quantile():
    """Weights of 60, 10, 20 and 10 rows in four bins: the middles between 60, 70 and 90."""
    layout = layout_of([3]).weighed(np.array([60.0, 70.0, 90.0]), 100.0)
    draw = RandomThresholds(1).draw(layout, np.random.default_rng(0), 100_000).ravel()
    np.testing.assert_allclose(np.bincount(draw) / len(draw), [0.65, 0.15, 0.2], atol=0.006)


def test_thresholds_do_not_depend_on_blocks():
    layout = layout_of([7, 5, 30]).weighed(np.tile(np.arange(1.0, 15.0), 3), 50.0)
    rule = RandomThresholds(2)
    whole = rule.draw(layout, np.random.default_rng(3), 50)
    rng = np.random.default_rng(3)
    pieces = [rule.draw(layout, rng, n) for n in (1, 7, 42)]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))


@pytest.mark.parametrize("t", [1, 3, 4, 5, 9])
def test_columns_are_those_of_the_thresholds(t):
    layout = layout_of([7, 0, 30, 1, 12])
    rule = RandomThresholds(t)
    draw = rule.draw(layout, np.random.default_rng(0), 50)
    found = rule.subsets(layout, np.random.default_rng(0), 50)
    for one, expected in zip(found, columns_of_learners(layout, draw), strict=True):
        np.testing.assert_array_equal(one, expected)


def test_no_more_thresholds_than_there_are():
    assert RandomThresholds(100).size(layout_of([1, 2])) == (3, 3)
    assert RandomThresholds(100).draw(layout_of([0]), np.random.default_rng(0), 2).shape == (2, 0)
    with pytest.raises(ValueError, match="subset_size=0 is impossible"):
        RandomThresholds(0).size(layout_of([1, 2]))


def test_a_threshold_that_is_in_the_subset_twice():
    """Splits 0, 1 and 2 of a column whose first weak-learner is number 10."""
    twice = np.repeat(np.arange(10, 13), 2)
    subset = Subset(np.zeros(1, np.int64), True, np.array([0, 6]), twice)
    assert best_allowed(np.array([1.0, 5.0, 3.0]), 3, subset, 0, 10, 2.0) == (7.0, 1)
    assert best_allowed(np.array([1.0, -np.inf, 3.0]), 3, subset, 0, 10, 0.0) == (3.0, 2)
    assert best_allowed(np.full(3, -np.inf), 3, subset, 0, 10, 0.0) == (-1.0, -1)
    tied = np.array([1.0, 5.0, 5.0 * (1 + 1e-12)])
    assert best_allowed(tied, 3, subset, 0, 10, 0.0)[1] == 1


def test_several_classes_look_at_every_threshold():
    """More thresholds than features, which have few values: the best must be found."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(3000, 2)).astype(float)
    y = np.where(X[:, 0] > 1, 2, rng.integers(0, 2, len(X)))
    model = RGBMClassifier(selection="thresholds", max_iter=30, random_state=0, n_jobs=1).fit(X, y)
    assert model.subset_size_ == 4
    proba = model.predict_proba(X)
    assert proba[X[:, 0] > 1, 2].min() > 0.8
