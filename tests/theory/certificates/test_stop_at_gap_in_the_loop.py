"""StopAtGap on real runs of every engine."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import Stumps, boost
from rgboost.losses import Logistic, Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep
from rgboost.theory import StopAtGap, optimal_loss


@pytest.mark.parametrize("engine", ["direct", "gram", "quadratic"])
def test_it_stops_at_a_certified_gap(engine):
    loss = Squared() if engine == "gram" else Logistic(0.01)
    X, y = (load_diabetes if engine == "gram" else load_breast_cancer)(return_X_y=True)
    X = X[:, :4]
    y = (y - y.mean()) / y.std() if engine == "gram" else np.where(y == 1, 1.0, -1.0)
    learner = Stumps(max_bins=6)
    stop = StopAtGap(1e-3, every=20)
    boosted = boost(
        X, y, loss=loss, learner=learner, selection=AllLearners(), step=ConstantStep(),
        n_iter=200_000, engine=engine, callbacks=[stop], tol=0.0,
    )  # fmt: skip
    best = optimal_loss(X, y, loss, learner).loss
    assert stop.stopped
    assert len(boosted.trace) < 200_000
    assert 0 <= boosted.trace.train_loss[-1] - best <= 1e-3
    for iteration, found in zip(stop.iterations, stop.certificates, strict=True):
        assert found.gap >= boosted.trace.train_loss[iteration] - best - 1e-10
