"""Step rules and losses beyond the paper's: the compiled loop against the naive twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rgboost.engines.direct.leaf_search import weighted_quantile
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogCosh,
    Loss,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep, LeafSearch, LineSearch, NewtonStep
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.data_strategies import problems
from tests.engines.checks import big_problem, check_naive, check_threads, labels_for

CASES = [
    (Poisson(), NewtonStep()),
    (Gamma(), LeafSearch()),
    (Gamma(), LineSearch()),
    (Tweedie(1.4), NewtonStep(l2=0.5)),
    (LogCosh(), ConstantStep()),
    (Quantile(0.7), LeafSearch()),
    (AbsoluteError(), LeafSearch()),
]


@pytest.mark.kernel
@pytest.mark.parametrize(("loss", "step"), CASES, ids=str)
@given(problems(max_rows=16, max_features=3), st.booleans())
def test_losses_and_steps(loss, step, problem, weighted):
    X, y, weight = problem
    w = weight if weighted else None
    check_naive(X, labels_for(loss, y), w, loss, RandomGroups(0.5), step)


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize(("loss", "step"), CASES, ids=str)
def test_threads(loss, step):
    X, y = big_problem(n=40_000)
    y = labels_for(loss, y)
    found = check_threads(
        X, y, threads=(1, 2, 3), loss=loss, learner=Stumps(max_bins=20), selection=RandomGroups(3),
        step=step, n_iter=20, learning_rate=1.0, engine="direct",
        validation=Validation(X[:9_000], y[:9_000]),
    )  # fmt: skip
    assert found.trace.train_loss[-1] < found.trace.train_loss[0]


@pytest.mark.parametrize("step", [NewtonStep(), LeafSearch()], ids=str)
def test_with_the_squared_loss_leaves_are_means(step):
    X, y = big_problem(n=300)
    kwargs = dict(loss=Squared(), learner=Stumps(), selection=AllLearners(), n_iter=30)
    a = boost(X, y, step=ConstantStep(), **kwargs).trace
    b = boost(X, y, step=step, **kwargs).trace
    assert b.engine == "direct"
    np.testing.assert_array_equal(a.learner, b.learner)
    np.testing.assert_allclose(a.left, b.left, rtol=1e-9, atol=1e-12)


class SlowPoisson(Loss):
    """The Poisson loss as a user would write it."""

    newton_limit = 1.0

    def value(self, y, f):
        return np.exp(f) - y * f

    def residual(self, y, f):
        return y - np.exp(f)

    def curvature(self, y, f):
        return np.exp(f)


class SlowGamma(Loss):
    """The gamma loss as a user would write it."""

    def value(self, y, f):
        return f + y * np.exp(-f)

    def residual(self, y, f):
        return y * np.exp(-f) - 1


@pytest.mark.parametrize(
    ("loss", "slow", "step"),
    [(Poisson(), SlowPoisson(), NewtonStep()), (Gamma(), SlowGamma(), LeafSearch())],
    ids=str,
)
def test_a_python_loss_gives_the_same_path(loss, slow, step):
    X, y = big_problem(n=300)
    y = labels_for(loss, y)
    a, b = (
        boost(
            X, y, loss=one, learner=Stumps(max_bins=5), selection=RandomGroups(3), step=step,
            n_iter=15, random_state=0, validation=Validation(X[:50], y[:50]), learning_rate=0.5,
        ).trace
        for one in (loss, slow)
    )  # fmt: skip
    np.testing.assert_array_equal(a.learner, b.learner)
    np.testing.assert_allclose(a.left, b.left, rtol=1e-8)
    np.testing.assert_allclose(a.validation_loss, b.validation_loss, rtol=1e-9)


@pytest.mark.kernel
@given(st.integers(1, 40), st.floats(0.01, 0.99), st.booleans(), st.integers(0, 2**32 - 1))
def test_weighted_quantile(n, level, ties, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, n).astype(float) if ties else rng.normal(size=n)
    weights = rng.integers(1, 8, n) / 4.0
    found = weighted_quantile(values.copy(), weights.copy(), level)
    expected = min(v for v in values if weights[values <= v].sum() >= level * weights.sum())
    assert found == expected


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (dict(loss=Huber(1.0), step=NewtonStep()), "has no Newton step: its curvature vanishes"),
        (dict(loss=Quantile(0.5), step=ConstantStep()), "is not smooth: there is no constant step"),
        (dict(learner=Stumps(leaves="signed"), step=NewtonStep()), "needs stumps with free leaves"),
        (dict(learner=Dictionary(np.eye(9)), step=LeafSearch()), "needs stumps with free leaves"),
        (dict(step=NewtonStep(), engine="gram"), "engine='gram' cannot do this: its steps are"),
        (dict(step=LeafSearch(), engine="quadratic"), "engine='quadratic' cannot do this"),
    ],
)
def test_what_does_not_go_together(kwargs, message):
    X, y = np.arange(18.0).reshape(9, 2), np.arange(9.0)
    defaults = dict(loss=Squared(), learner=Stumps(), selection=AllLearners(), n_iter=2)
    with pytest.raises(ValueError, match=message):
        boost(X, y, **{**defaults, **kwargs})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NewtonStep(l2=-1), "l2=-1 must be 0 or greater"),
        (lambda: NewtonStep(max_value=0), "max_value=0 must be greater than 0"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()
