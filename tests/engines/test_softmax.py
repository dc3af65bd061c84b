"""Several classes: the compiled loop against Algorithm 2 written down plainly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from rgboost import RGBMClassifier
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Logistic, Softmax
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch, NewtonStep
from rgboost.theory import certificate
from rgboost.training import boost
from tests.data_strategies import problems
from tests.engines.checks import big_problem, check_naive, class_labels


@pytest.mark.kernel
@given(
    problems(max_rows=16, max_features=3),
    st.sampled_from([AllLearners(), RandomLearners(0.5), RandomGroups(0.5)]),
    st.sampled_from([3, 5]),
    st.sampled_from([None, 3]),
    st.booleans(),
    st.booleans(),
)
def test_classes(problem, rule, n_classes, max_bins, weighted, sparse):
    X, y, weight = problem
    weight = weight if weighted else None
    check_naive(
        X, class_labels(y, n_classes), weight, Softmax(n_classes, 0.01), rule, ConstantStep(),
        max_bins=max_bins, sparse=sparse,
    )  # fmt: skip


@pytest.mark.kernel
@given(problems(max_rows=16, max_features=3), st.booleans())
def test_newton_leaf_values(problem, weighted):
    X, y, weight = problem
    weight = weight if weighted else None
    step = NewtonStep(l2=0.1)
    check_naive(X, class_labels(y, 3), weight, Softmax(3, 0.01), RandomGroups(0.5), step)


@pytest.mark.parametrize("selection", [AllLearners(), RandomLearners(20)], ids=repr)
def test_whole_newton_steps_do_not_overshoot(selection):
    """With the diagonal of the Hessian alone, two classes of a leaf would go back and forth."""
    X, y = load_iris(return_X_y=True)
    losses = boost(
        X, y.astype(float), loss=Softmax(3), learner=Stumps(), selection=selection,
        step=NewtonStep(), n_iter=100, learning_rate=1.0, random_state=0,
    ).trace.train_loss  # fmt: skip
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.012


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=6))
def test_twice_the_diagonal_lies_above_the_hessian(shares):
    p = np.array(shares) / np.sum(shares)
    hessian = np.diag(p) - np.outer(p, p)
    assert np.linalg.eigvalsh(2 * np.diag(np.diag(hessian)) - hessian).min() >= -1e-12


def test_two_classes_are_the_logistic_loss():
    """Softmax of (-f/2, f/2) is the logistic loss of f; its constant step is the same, too."""
    X, y = big_problem(n=300, binary=True)
    kwargs = dict(learner=Stumps(), selection=RandomGroups(2), n_iter=40, random_state=0)
    binary = boost(X, y, loss=Logistic(0.0), step=ConstantStep(), **kwargs)
    both = boost(X, (y > 0) * 1.0, loss=Softmax(2, 0.0), step=ConstantStep(), **kwargs)
    np.testing.assert_array_equal(binary.trace.learner, both.trace.learner)
    np.testing.assert_allclose(binary.trace.train_loss, both.trace.train_loss, rtol=1e-10)
    scores = both.model.score(X)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], binary.model.score(X), rtol=1e-8)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (dict(step=LineSearch()), "is not for more than two classes; use step='constant'"),
        (
            dict(learner=Stumps(leaves="signed")),
            "needs stumps with free leaves",
        ),
        (dict(learner=Dictionary(np.eye(9))), "needs stumps with free leaves"),
        (
            dict(engine="quadratic", step=ConstantStep(0.1)),
            "engine='quadratic' cannot do this: .* is no step on a quadratic model",
        ),
        (dict(engine="gram"), "engine='gram' cannot do this: it needs the squared loss"),
    ],
)
def test_what_does_not_go_together(kwargs, message):
    X, y = np.arange(18.0).reshape(9, 2), np.arange(9.0) % 3
    defaults = dict(
        loss=Softmax(3), learner=Stumps(), selection=AllLearners(), step=ConstantStep(), n_iter=2
    )
    with pytest.raises(ValueError, match=message):
        boost(X, y, **{**defaults, **kwargs})


def test_certificates_are_for_one_score():
    X, y = np.arange(18.0).reshape(9, 2), np.arange(9) % 3
    model = RGBMClassifier(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="this one has more than two classes"):
        certificate(model, X, y)
