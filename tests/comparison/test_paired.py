"""Standard errors of paired differences."""

import numpy as np
import pytest

from rgboost.comparison.paired import mean_loss, standard_error


def naive(differences, weight, groups):
    """The formula, group by group."""
    total = sum(weight)
    mean = sum(w * d for w, d in zip(weight, differences, strict=True)) / total
    labels = sorted(set(groups))
    squares = 0.0
    for label in labels:
        rows = [i for i, group in enumerate(groups) if group == label]
        squares += sum(weight[i] * (differences[i] - mean) for i in rows) ** 2
    return (len(labels) / (len(labels) - 1) * squares) ** 0.5 / total


@pytest.mark.parametrize("n_groups", [2, 7, 60])
def test_formula(n_groups):
    rng = np.random.default_rng(n_groups)
    d, w = rng.normal(1.0, 2.0, 60), rng.uniform(0.1, 3.0, 60)
    groups = rng.permutation(np.arange(60) % n_groups) + 5
    assert standard_error(d, w, groups) == pytest.approx(naive(d, w, groups), rel=1e-12)
    assert standard_error(d, w) == pytest.approx(naive(d, w, np.arange(60)), rel=1e-12)
    assert mean_loss(d, w) == pytest.approx((w * d).sum() / w.sum(), rel=1e-12)


def test_rows_that_count_the_same():
    """sd / sqrt(n), whatever unit the weights have."""
    d = np.random.default_rng(0).normal(size=50)
    usual = d.std(ddof=1) / np.sqrt(50)
    assert standard_error(d, np.ones(50)) == pytest.approx(usual, rel=1e-12)
    assert standard_error(d, np.full(50, 9.0)) == pytest.approx(usual, rel=1e-12)


def test_groups_of_rows_that_err_alike():
    """Rows told three times are no more rows: groups know it."""
    d = np.random.default_rng(1).normal(size=40)
    once, thrice = np.ones(40), np.ones(120)
    together = standard_error(np.repeat(d, 3), thrice, np.repeat(np.arange(40), 3))
    assert together == pytest.approx(standard_error(d, once), rel=1e-12)
    assert standard_error(np.repeat(d, 3), thrice) < 0.6 * together


def test_how_far_means_of_other_rows_are():
    """What it estimates: the standard deviation of the mean over samples."""
    rng = np.random.default_rng(2)
    samples = rng.exponential(size=(4000, 100))
    estimates = [standard_error(one, np.ones(100)) for one in samples[:500]]
    assert np.mean(estimates) == pytest.approx(samples.mean(axis=1).std(), rel=0.05)


def test_one_group_says_nothing():
    assert standard_error(np.arange(5.0), np.ones(5), np.zeros(5)) == np.inf
    assert standard_error(np.zeros(5), np.ones(5)) == 0.0
