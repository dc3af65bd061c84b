"""Several classes: the compiled loop against Algorithm 2 written down plainly."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from rgboost import RGBMClassifier
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Logistic, Softmax
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch, NewtonStep
from rgboost.theory import certificate
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.data_strategies import problems
from tests.engines.test_loop import N_ITER, big_problem, learner_subsets
from tests.naive import first_best, naive_stumps

CONSTANT = ConstantStep()


def naive_class_leaf(y, f, r, weight, loss, step):
    """The values of a leaf with these rows, one for each class."""
    if isinstance(step, NewtonStep):
        p = loss.inverse_link(f)
        curvature = 2 * weight @ (p * (1 - p) + loss.ridge) + step.l2
        values = np.clip(weight @ r / curvature, -loss.newton_limit, loss.newton_limit)
        return values - values.mean()
    return weight @ r / (weight.sum() * loss.smoothness)


def naive_class_boost(X, y, loss, stumps, subsets, step, weight, rate, start=0.0):
    """Algorithm 2 with stumps whose leaves hold a value for each class."""
    f = np.full((len(y), loss.n_classes), start)
    path, losses, gradients = [], [weight @ loss.value(y, f)], []
    for J in subsets:
        r = loss.residual(y, f)
        blocks = []
        for j in J:
            left = X[:, stumps[j].feature] <= stumps[j].threshold
            means = [weight[s] @ r[s] / weight[s].sum() for s in (left, ~left)]
            blocks.append(np.where(left[:, None], *means))
        norms = [np.sqrt(weight @ (block * block).sum(axis=1)) for block in blocks]
        best = first_best(norms)
        stump = stumps[J[best]]
        left = X[:, stump.feature] <= stump.threshold
        sides = [naive_class_leaf(y[s], f[s], r[s], weight[s], loss, step) for s in (left, ~left)]
        f = f + rate * np.where(left[:, None], *sides)
        path.append(J[best])
        gradients.append(norms[best])
        losses.append(weight @ loss.value(y, f))
    return f, np.array(path), np.array(losses), np.array(gradients)


def class_labels(y, n_classes):
    """Classes from numbers, each of them at least once if there are rows enough."""
    codes = np.floor(np.abs(y) * 1e6) % n_classes
    codes[:n_classes] = np.arange(min(n_classes, len(y)))
    return codes


def check_classes(X, y, weight, rule, n_classes, max_bins=None, sparse=False, step=CONSTANT):
    loss = Softmax(n_classes, 0.01)
    boosted = boost(
        scipy.sparse.csr_array(X) if sparse else X, y, loss=loss, learner=Stumps(max_bins=max_bins),
        selection=rule, step=step, n_iter=N_ITER, weight=weight, random_state=7,
        learning_rate=0.8,
    )  # fmt: skip
    trace = boosted.trace
    if boosted.prepared.layout.n_learners == 0:
        assert (trace.learner == -1).all()
        assert not trace.left.any()
        return
    w = np.ones(len(y)) if weight is None else weight
    stumps = naive_stumps(X, max_bins, "quantile", w)
    subsets = learner_subsets(boosted, rule, 7, N_ITER)
    f, path, losses, gradients = naive_class_boost(X, y, loss, stumps, subsets, step, w, 0.8)
    flat = np.flatnonzero(np.diff(losses) > -1e-9 * losses[0])
    agree = flat[0] if len(flat) else N_ITER
    np.testing.assert_array_equal(trace.learner[:agree], path[:agree])
    np.testing.assert_allclose(trace.train_loss * w.sum(), losses, rtol=1e-9)
    if agree == N_ITER:
        np.testing.assert_allclose(trace.gradient_norm, gradients, rtol=1e-9)
        data = scipy.sparse.csr_array(X) if sparse else X
        np.testing.assert_allclose(boosted.model.score(data), f, rtol=1e-8, atol=1e-9)
        *_, last = boosted.model.staged_score(data)
        np.testing.assert_allclose(last, f, rtol=1e-8, atol=1e-9)


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
    check_classes(X, class_labels(y, n_classes), weight, rule, n_classes, max_bins, sparse)


@pytest.mark.kernel
@given(problems(max_rows=16, max_features=3), st.booleans())
def test_newton_leaf_values(problem, weighted):
    X, y, weight = problem
    weight = weight if weighted else None
    step = NewtonStep(l2=0.1)
    check_classes(X, class_labels(y, 3), weight, RandomGroups(0.5), 3, step=step)


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


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
def test_many_chunks_of_rows():
    X, y = big_problem()
    check_classes(X, class_labels(np.round(y, 1), 4), None, RandomGroups(3), 4, max_bins=8)


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize(
    ("max_bins", "sparse", "step"),
    [
        (8, False, ConstantStep()),
        (8, False, NewtonStep()),
        (300, False, ConstantStep()),
        (8, True, ConstantStep()),
    ],
)
def test_results_do_not_depend_on_threads(max_bins, sparse, step):
    X, y = big_problem(n=40_000)
    X[np.abs(X) < 0.5] = 0.0
    data = scipy.sparse.csr_array(X) if sparse else X
    y = class_labels(np.round(y, 1), 3)
    a, *others = (
        boost(
            data, y, loss=Softmax(3), learner=Stumps(max_bins=max_bins), selection=RandomGroups(3),
            step=step, n_iter=20, random_state=0, n_jobs=n_jobs,
            validation=Validation(data[:9_000], y[:9_000]), start_score=None,
        ).trace
        for n_jobs in (1, 2, 5)
    )  # fmt: skip
    for b in others:
        for name in ("learner", "left", "right", "train_loss", "validation_loss"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_descent_inequality_and_validation():
    """L(f^{m+1}) <= L(f^m) - <b, r>^2 / (2 sigma), with sigma = 1/2 + ridge."""
    X, y = big_problem(n=500)
    y = class_labels(np.round(y, 1), 4)
    loss = Softmax(4)
    boosted = boost(
        X[:400], y[:400], loss=loss, learner=Stumps(), selection=RandomGroups(2), n_iter=100,
        step=ConstantStep(), random_state=0, validation=Validation(X[400:], y[400:]),
        start_score=None,
    )  # fmt: skip
    losses = boosted.trace.train_loss * 400
    bound = losses[:-1] - boosted.trace.gradient_norm**2 / (2 * loss.smoothness)
    assert (losses[1:] <= bound + 1e-12 * losses[0]).all()
    staged = [loss.value(y[400:], f).mean() for f in boosted.model.staged_score(X[400:])]
    assert len(staged) == boosted.best_iteration  # the model is the best one
    losses = boosted.trace.validation_loss[1 : len(staged) + 1]
    np.testing.assert_allclose(losses, staged, rtol=1e-11)


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
