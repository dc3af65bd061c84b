"""Certificates whose solvers are broken on purpose: bounds may become loose, never wrong.

The bound rests on the conjugate loss and on the inner products of the vector that is used, which
are computed after the solver is done. So whatever the solver returns, and whatever it claims about
it, no combination of weak-learners within the radius may have a loss below the bound.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes

from rgboost import Stumps, boost
from rgboost.losses import Huber, Logistic, Ridged, Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep
from rgboost.theory.certificates.certificate import certificate
from rgboost.theory.dual import search
from rgboost.theory.dual.projection import Factor
from tests.theory.certificates.test_optimal import best_loss, explicit, one_thread  # noqa: F401

LOSSES = [Squared(), Huber(0.5), Ridged(Huber(0.5), 0.01), Logistic(0.0), Logistic(0.01)]


def fitted(loss, n_iter, leaves="free"):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:, [2, 3, 8]], (y - y.mean()) / y.std()
    if isinstance(loss, Logistic):
        y = np.where(y > 0, 1.0, -1.0)
    weight = np.random.default_rng(0).random(len(y)) + 0.2
    learner = Stumps(leaves, max_bins=5)
    boosted = boost(
        X, y, loss=loss, learner=learner, selection=AllLearners(), step=ConstantStep(),
        n_iter=n_iter, weight=weight, start_score=0.1, engine="direct",
    )  # fmt: skip
    return X, y, weight, boosted


def true_gap(boosted, y, loss, weight):
    columns = explicit(boosted.prepared, len(y))
    return boosted.trace.train_loss[-1] - best_loss(columns, y, loss, weight, 0.1)


@pytest.mark.parametrize("noise", [1e-9, 1e-4, 0.03, 1.0])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_solver_that_lies_about_its_solution(loss, exact, noise, monkeypatch):
    rng = np.random.default_rng(1)
    honest = search.newton_step

    def lying(*arguments):
        step = honest(*arguments)
        error = noise * np.abs(step.dual).max() * rng.normal(size=len(step.dual))
        return replace(step, dual=step.dual + error, sums=np.zeros_like(step.sums), error=0.0)

    monkeypatch.setattr(search, "newton_step", lying)
    X, y, weight, boosted = fitted(loss, 20)
    truth = true_gap(boosted, y, loss, weight)
    found = certificate(boosted, X, y, weight, loss=loss, exact=exact, radius=30.0)
    assert found.gap >= truth - 1e-12
    assert found.decrease <= truth + 1e-12
    if found.residual_projection_error > 0.0:  # not the bound of v = 0, which needs no solver
        assert found.residual_projection_error > 1e-3 * noise
        assert found.radius == 30.0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_factor_of_another_matrix(loss, monkeypatch):
    right = Factor.solve
    rng = np.random.default_rng(2)

    def wrong(self, s):
        return right(self, s) * (1.0 + rng.random(len(s)))

    monkeypatch.setattr(Factor, "solve", wrong)
    X, y, weight, boosted = fitted(loss, 20)
    truth = true_gap(boosted, y, loss, weight)
    found = certificate(boosted, X, y, weight, loss=loss, exact=True)
    assert found.gap >= truth - 1e-12
    if found.radius == math.inf:
        assert found.residual_projection_error < 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("leaves", ["free", "signed"])
def test_no_combination_that_is_searched_for_is_below_the_bound(loss, leaves):
    """By a quasi-Newton method that knows nothing of duals, from several starts."""
    X, y, weight, boosted = fitted(loss, 10, leaves)
    columns = explicit(boosted.prepared, len(y))
    found = certificate(boosted, X, y, weight, loss=loss, tightness=1.001)
    total = weight.sum()

    def objective(beta):
        f = 0.1 + columns @ beta
        slope = -(columns.T @ (weight * loss.residual(y, f))) / total
        return weight @ loss.value(y, f) / total, slope

    rng = np.random.default_rng(3)
    reached = []
    for _ in range(3):
        start = rng.normal(size=columns.shape[1])
        reached.append(minimize(objective, start, jac=True, options={"gtol": 1e-9}).fun)
        assert reached[-1] >= found.lower_bound - 1e-12
    assert min(reached) <= found.lower_bound + 0.01 * found.gap + 1e-6  # and the search is good


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("rows_apart", [1, 3])
def test_features_that_are_nearly_the_same(rows_apart, exact):
    """Combinations that almost cancel: the two features differ in very few rows."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 6, 400).astype(float)
    twin = x.copy()
    twin[:rows_apart] = (twin[:rows_apart] + 1) % 6
    X = np.column_stack([x, twin, rng.integers(0, 3, 400)])
    y = np.sin(x) + rng.normal(size=400)
    y[:rows_apart] += 25.0  # what only the difference of the two can explain
    boosted = boost(
        X, y, loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(),
        n_iter=30, engine="direct",
    )  # fmt: skip
    columns = explicit(boosted.prepared, 400)
    truth = boosted.trace.train_loss[-1] - best_loss(columns, y, Squared())
    found = certificate(boosted, X, y, loss=Squared(), exact=exact, max_products=400)
    assert truth * (1 - 1e-10) <= found.gap <= 3.0 * truth
    assert found.radius == math.inf
