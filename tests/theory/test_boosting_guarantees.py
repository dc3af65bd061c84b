"""Both theorems on runs of the real loop, with stumps on real data."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import Stumps, boost
from rgboost.losses import Huber, Logistic, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.theory import (
    check_guarantee,
    level_set_radius,
    minimal_cosine_angle,
    nonstrong_bound,
    optimal_loss,
    strong_bound,
)
from tests.naive import expand_signed_stumps, naive_stumps
from tests.optimum import smallest_loss

N_ROWS, N_FEATURES, M, N_SEEDS = 200, 3, 60, 10


def problem(loss):
    if isinstance(loss, Logistic):
        X, y = load_breast_cancer(return_X_y=True)
        y = np.where(y == 1, 1.0, -1.0)
    else:
        X, y = load_diabetes(return_X_y=True)
        X, y = X[:, [2, 3, 8]], (y - y.mean()) / y.std()
    return X[:N_ROWS, :N_FEATURES], y[:N_ROWS]


@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Ridged(Huber(0.5), 0.1), Logistic(0.1)], ids=repr)
@pytest.mark.parametrize(
    "rule", [AllLearners(), RandomLearners(3), RandomGroup(), RandomGroups(2)], ids=repr
)
def test_theorem_strong(rule, loss, step):
    X, y = problem(loss)
    stumps = naive_stumps(X, 4, "quantile", np.ones(N_ROWS))
    B = expand_signed_stumps(X, stumps) / np.sqrt(N_ROWS)
    groups = [[s.learner for s in stumps if s.feature == g] for g in range(N_FEATURES)]
    theta = minimal_cosine_angle(B, rule, groups).lower
    best = smallest_loss(B, y, loss) * N_ROWS
    deterministic = isinstance(rule, AllLearners)
    losses = N_ROWS * np.array(
        [
            boost(
                X, y, loss=loss, learner=Stumps(leaves="signed", max_bins=4), selection=rule,
                step=step, n_iter=M, random_state=seed,
            ).trace.train_loss
            for seed in range(1 if deterministic else N_SEEDS)
        ]
    )  # fmt: skip
    gap = losses[0, 0] - best
    bound = strong_bound(np.arange(M + 1), gap, loss.strong_convexity, loss.smoothness, theta)
    report = check_guarantee(losses, best, bound, deterministic=deterministic)
    assert report.ok, report.message
    assert bound[-1] < 0.98 * gap  # the theorem says something here
    too_good = strong_bound(np.arange(M + 1), gap, 1.0, 1.0, 0.9)
    assert not check_guarantee(losses, best, too_good, deterministic=deterministic).ok


@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Ridged(Huber(0.5), 0.1), Logistic(0.1)], ids=repr)
@pytest.mark.parametrize("rule", [AllLearners(), RandomLearners(3), RandomGroups(2)], ids=repr)
def test_theorem_strong_for_free_leaves(rule, loss, step):
    """With weights, and the angle of the planes from counts of rows."""
    X, y = problem(loss)
    weight = np.random.default_rng(0).random(N_ROWS) + 0.5
    learner = Stumps(max_bins=4)
    theta = minimal_cosine_angle(learner.prepare(X, weight), rule, sample_weight=weight)
    best = optimal_loss(X, y, loss, learner, weight).loss * weight.sum()
    deterministic = isinstance(rule, AllLearners)
    losses = weight.sum() * np.array(
        [
            boost(
                X, y, loss=loss, learner=learner, selection=rule, step=step, n_iter=M,
                weight=weight, random_state=seed,
            ).trace.train_loss
            for seed in range(1 if deterministic else N_SEEDS)
        ]
    )  # fmt: skip
    gap = losses[0, 0] - best
    steps = np.arange(M + 1)
    mu, sigma = loss.strong_convexity, loss.smoothness
    report = check_guarantee(
        losses, best, strong_bound(steps, gap, mu, sigma, theta.lower), deterministic=deterministic
    )
    assert report.ok, report.message
    too_good = strong_bound(steps, gap, 1.0, 1.0, 0.9)
    assert not check_guarantee(losses, best, too_good, deterministic=deterministic).ok


@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("rule", [AllLearners(), RandomGroups(2)], ids=repr)
def test_theorem_non_strong_for_huber(rule, step):
    loss = Huber(1.0)
    X, y = problem(loss)
    learner = Stumps(max_bins=4)
    theta = minimal_cosine_angle(learner.prepare(X), rule).lower
    best = optimal_loss(X, y, loss, learner).loss * N_ROWS
    deterministic = isinstance(rule, AllLearners)
    losses = N_ROWS * np.array(
        [
            boost(
                X, y, loss=loss, learner=learner, selection=rule, step=step, n_iter=M,
                random_state=seed,
            ).trace.train_loss
            for seed in range(1 if deterministic else N_SEEDS)
        ]
    )  # fmt: skip
    gap = losses[0, 0] - best
    # Residuals with a summed loss of at most L have a length of at most L/delta + delta/2.
    D = level_set_radius(2.0 * (losses[0, 0] / loss.delta + loss.delta / 2.0), theta)
    steps = np.arange(M + 1)
    bound = nonstrong_bound(steps, gap, loss.smoothness, D)
    assert check_guarantee(losses, best, bound, deterministic=deterministic).ok
    too_good = nonstrong_bound(steps, gap, loss.smoothness, 1e-3 * D)
    assert not check_guarantee(losses, best, too_good, deterministic=deterministic).ok
