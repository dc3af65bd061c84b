from math import log, sqrt

import numpy as np
import pytest

from rgboost.theory import (
    check_guarantee,
    iterations_needed,
    level_set_radius,
    nonstrong_bound,
    rate_per_epoch,
    recommended_subset_size,
    strong_bound,
)


def test_strong_bound_is_the_formula():
    M = np.array([0, 1, 7, 1000])
    expected = (1 - 0.5 / 2.0 * 0.3**2) ** M * 12.0
    np.testing.assert_allclose(strong_bound(M, 12.0, 0.5, 2.0, 0.3), expected, rtol=1e-13)
    assert strong_bound(3, 12.0, 0.5, 2.0, 0.3).shape == ()
    # A tiny rate is not lost to 1 - rate = 1.
    assert strong_bound(10**18, 1.0, 1.0, 1.0, 1e-9) == pytest.approx(np.exp(-1.0), rel=1e-12)


def test_strong_bound_at_the_edges():
    np.testing.assert_array_equal(strong_bound([0, 1, 2], 5.0, 1.0, 1.0, 1.0), [5.0, 0.0, 0.0])
    np.testing.assert_array_equal(strong_bound([0, 9], 0.0, 1.0, 1.0, 0.5), [0.0, 0.0])


def test_nonstrong_bound_is_the_formula():
    M = np.array([0, 1, 7, 1000])
    expected = 1 / (1 / 12.0 + M / (2 * 0.25 * 3.0**2))
    np.testing.assert_allclose(nonstrong_bound(M, 12.0, 0.25, 3.0), expected, rtol=1e-13)
    assert (nonstrong_bound(M[1:], 12.0, 0.25, 3.0) <= 2 * 0.25 * 3.0**2 / M[1:]).all()
    np.testing.assert_array_equal(nonstrong_bound([0, 5], 0.0, 1.0, 1.0), [0.0, 0.0])


def test_nonstrong_bound_solves_the_proofs_recursion():
    """1/delta_{m+1} = 1/delta_m + 1/(2 sigma D^2)."""
    bound = nonstrong_bound(np.arange(50), 3.0, 0.7, 2.0)
    np.testing.assert_allclose(np.diff(1 / bound), 1 / (2 * 0.7 * 4.0), rtol=1e-10)


@pytest.mark.parametrize("epsilon", [7.9, 1.0, 1e-3, 1e-9])
@pytest.mark.parametrize("theta", [0.9, 0.2, 0.01])
def test_iterations_needed_for_a_strongly_convex_loss(epsilon, theta):
    M = iterations_needed(epsilon, 8.0, sigma=2.0, mu=0.5, theta=theta)
    assert strong_bound(M, 8.0, 0.5, 2.0, theta) <= epsilon
    assert strong_bound(M - 1, 8.0, 0.5, 2.0, theta) > epsilon
    assert pytest.approx(log(8.0 / epsilon) / -np.log1p(-0.25 * theta**2), abs=1.001) == M


@pytest.mark.parametrize("epsilon", [7.9, 1.0, 1e-3, 1e-9])
def test_iterations_needed_for_any_smooth_loss(epsilon):
    M = iterations_needed(epsilon, 8.0, sigma=2.0, D=3.0)
    assert nonstrong_bound(M, 8.0, 2.0, 3.0) <= epsilon
    assert nonstrong_bound(M - 1, 8.0, 2.0, 3.0) > epsilon
    assert pytest.approx(36.0 * (1 / epsilon - 1 / 8.0), abs=1.001) == M


def test_iterations_needed_for_a_gap_that_is_met_exactly():
    for k in range(1, 300):
        strong = float(strong_bound(k, 8.0, 0.5, 2.0, 0.3))
        assert iterations_needed(strong, 8.0, sigma=2.0, mu=0.5, theta=0.3) == k
        smooth = float(nonstrong_bound(k, 8.0, 2.0, 3.0))
        assert iterations_needed(smooth, 8.0, sigma=2.0, D=3.0) == k


def test_iterations_needed_at_the_edges():
    assert iterations_needed(8.0, 8.0, sigma=1.0, mu=1.0, theta=0.5) == 0
    assert iterations_needed(9.0, 8.0, sigma=1.0, D=1.0) == 0
    assert iterations_needed(1.0, 0.0, sigma=1.0, D=1.0) == 0
    assert iterations_needed(1e-9, 8.0, sigma=1.0, mu=1.0, theta=1.0) == 1
    huge = iterations_needed(1e-12, 1.0, sigma=1.0, mu=1e-9, theta=1e-6)
    assert huge == pytest.approx(log(1e12) * 1e21, rel=1e-6)


def test_level_set_radius():
    assert level_set_radius(6.0, 0.25) == 24.0


@pytest.mark.parametrize("p", [1, 2, 10, 100, 5_000])
def test_rate_per_epoch_has_the_remarks_two_forms(p):
    mu, sigma = 0.3, 1.1
    for t in {1, 2, int(sqrt(p)), int(sqrt(p)) + 1, p} & set(range(1, p + 1)):
        rate = rate_per_epoch(p, t, mu, sigma)
        inner = mu / (p * sigma) if t >= sqrt(p) else t**2 * mu / (p**2 * sigma)
        assert rate.asymptotic == pytest.approx((1 - inner) ** (p / t), rel=1e-12)
        assert rate.exact == pytest.approx(rate.asymptotic, rel=1e-11)
        assert 0.0 < rate.exact < 1.0


@pytest.mark.parametrize("p", [1, 2, 3, 5, 8, 12, 30, 90, 100, 101, 123, 500])
def test_recommended_subset_size_has_the_best_rate(p):
    advice = recommended_subset_size(p)
    assert abs(advice.t - sqrt(p)) < 1.0
    rates = [rate_per_epoch(p, t, 1e-3, 1.0).exact for t in range(1, p + 1)]
    assert rates[advice.t - 1] <= min(rates) * (1 + 1e-9)
    assert f"t = {advice.t}" in advice.reason
    assert "orthogonal" in advice.reason


def test_a_subset_above_the_root_promises_no_more_per_iteration():
    from rgboost.theory import random_learners_angle

    angles = [random_learners_angle(100, t) for t in range(1, 101)]
    assert (np.diff(angles[:10]) > 0).all()
    assert set(angles[9:]) == {0.1}


GAPS = np.array([4.0, 2.0, 1.0, 0.5])


def test_deterministic_runs_must_obey_in_every_iteration():
    bound = np.array([4.0, 2.5, 1.0, 0.6])
    report = check_guarantee(10.0 + GAPS, 10.0, bound, deterministic=True)
    assert report.ok
    assert report.worst_ratio == pytest.approx(1.0, abs=1e-9)
    assert report.worst_iteration == 2
    assert "obeys the bound" in report.message
    report = check_guarantee(10.0 + GAPS, 10.0, bound * [1, 1, 0.9, 1], deterministic=True)
    assert not report.ok
    assert report.worst_ratio == pytest.approx(1 / 0.9, rel=1e-9)
    assert "is above the bound: at worst 1.111 times it, in iteration 2" in report.message


def test_one_bad_run_is_enough():
    losses = 10.0 + np.vstack([GAPS / 2, GAPS / 2, GAPS * [1, 1, 1, 1.5]])
    report = check_guarantee(losses, 10.0, GAPS, deterministic=True)
    assert not report.ok
    assert report.worst_iteration == 3


def test_the_start_counts_only_if_it_fails():
    report = check_guarantee(GAPS, 0.0, [4.0, 4.0, 4.0, 4.0], deterministic=True)
    assert report.ok
    assert (report.worst_iteration, report.worst_ratio) == (1, pytest.approx(0.5))
    report = check_guarantee(GAPS, 0.0, [3.0, 4.0, 4.0, 4.0], deterministic=True)
    assert (report.ok, report.worst_iteration) == (False, 0)


def test_bound_as_a_function_and_rounding():
    report = check_guarantee(
        1e6 + GAPS * (1 + 1e-8), 1e6, lambda M: 4.0 * 0.5**M, deterministic=True
    )
    assert report.ok
    assert check_guarantee([3.0, 0.0], 0.0, [3.0, 0.0], deterministic=True).ok
    assert not check_guarantee([3.0, 1.0], 0.0, [3.0, 0.0], deterministic=True).ok


def random_runs(rng, n_seeds, M, rate):
    """Runs whose mean gap is rate^m exactly, with multiplicative luck in each step."""
    steps = rate * rng.uniform(0.9, 1.1, (n_seeds, M))
    return np.hstack([np.ones((n_seeds, 1)), np.cumprod(steps, axis=1)])


def test_random_runs_are_judged_by_their_mean():
    M = np.arange(31)
    passed = [
        check_guarantee(
            random_runs(np.random.default_rng(s), 40, 30, 0.9), 0.0, 0.9**M, deterministic=False
        ).ok
        for s in range(200)
    ]
    assert np.mean(passed) >= 0.985  # a bound that holds with equality passes
    runs = random_runs(np.random.default_rng(0), 40, 30, 0.9)
    assert (runs > 0.9**M * (1 + 1e-9)).any()  # though single runs are above it
    report = check_guarantee(runs, 0.0, 0.88**M, deterministic=False)
    assert not report.ok
    assert "mean gap of 40 runs" in report.message


def test_higher_confidence_is_more_lenient():
    runs = random_runs(np.random.default_rng(1), 10, 20, 0.9)
    ratios = [
        check_guarantee(
            runs, 0.0, 0.9 ** np.arange(21), deterministic=False, confidence=level
        ).worst_ratio
        for level in (0.5, 0.9, 0.999)
    ]
    assert ratios[0] > ratios[1] > ratios[2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: strong_bound(-1, 1.0, 1.0, 1.0, 0.5), "M=-1 is impossible; pass numbers"),
        (lambda: strong_bound(1, -1.0, 1.0, 1.0, 0.5), "initial_gap=-1.0 is impossible"),
        (lambda: strong_bound(1, 1.0, 0.0, 1.0, 0.5), "mu=0.0 .*nonstrong_bound"),
        (lambda: strong_bound(1, 1.0, 2.0, 1.0, 0.5), "mu=2.0 .*at most sigma=1.0"),
        (lambda: strong_bound(1, 1.0, 1.0, -1.0, 0.5), "sigma=-1.0 .*smoothness"),
        (lambda: strong_bound(1, 1.0, 1.0, 1.0, 1.5), "theta=1.5 .*at most 1"),
        (lambda: strong_bound(1, 1.0, 1.0, 1.0, 0.0), "theta=0.0 .*above 0"),
        (lambda: strong_bound(1, 1.0, "a", 1.0, 0.5), "mu must be a number, got 'a'"),
        (lambda: nonstrong_bound(1, 1.0, 1.0, 0.0), "D=0.0 .*level_set_radius"),
        (lambda: iterations_needed(0.0, 1.0, sigma=1.0, D=1.0), "epsilon=0.0 .*positive"),
        (lambda: iterations_needed(0.1, 1.0, sigma=1.0), "fit neither theorem"),
        (
            lambda: iterations_needed(0.1, 1.0, sigma=1.0, mu=1.0, theta=0.5, D=1.0),
            "pass mu and theta .* or D alone",
        ),
        (lambda: level_set_radius(-1.0, 0.5), "C=-1.0 is impossible"),
        (lambda: recommended_subset_size(0), "p=0 is impossible"),
        (lambda: rate_per_epoch(5, 9, 1.0, 1.0), "t=9 .*from 1 to p=5"),
        (
            lambda: check_guarantee(GAPS, 0.6, GAPS, deterministic=True),
            "optimum=0.6 is above the loss 0.5.* sum over samples",
        ),
        (
            lambda: check_guarantee(GAPS, 0.0, GAPS, deterministic=False),
            "losses holds 1 run; .*deterministic=True",
        ),
        (
            lambda: check_guarantee(GAPS, 0.0, GAPS, deterministic=True, confidence=1.0),
            "confidence=1.0",
        ),
        (
            lambda: check_guarantee(GAPS, 0.0, GAPS[:2], deterministic=True),
            "bound has 2 coordinates; pass one with 4",
        ),
        (
            lambda: check_guarantee([[np.nan]], 0.0, [1.0], deterministic=True),
            "losses has shape",
        ),
    ],
)
def test_impossible_arguments_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
