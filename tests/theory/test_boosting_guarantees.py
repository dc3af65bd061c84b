"""Theorem strong on runs of the real loop, with signed stumps on real data."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import Stumps, boost
from rgboost.experiments.optimum import smallest_loss
from rgboost.losses import Huber, Logistic, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.theory import check_guarantee, minimal_cosine_angle, strong_bound
from tests.naive import expand_signed_stumps, naive_stumps

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
