"""The compiled loop against Algorithm 2 written down plainly (brute force over every split)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Exponential, Huber, Logistic, Loss, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.data_strategies import problems
from tests.engines.checks import big_problem, check_naive

RULES = [AllLearners(), RandomLearners(0.5), RandomGroup(), RandomGroups(0.5)]


@pytest.mark.kernel
@given(
    problems(max_rows=16, max_features=3),
    st.sampled_from(RULES),
    st.sampled_from(["free", "signed"]),
    st.sampled_from([None, 3]),
    st.booleans(),
    st.booleans(),
)
def test_squared_loss(problem, rule, leaves, max_bins, weighted, sparse):
    X, y, weight = problem
    w = weight if weighted else None
    check_naive(X, y, w, Squared(), rule, ConstantStep(), leaves, max_bins, sparse)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("loss", "step"),
    [  # without a ridge the loss can be flat along b: the best step is then not one, but many
        (Huber(0.5), ConstantStep()),
        (Ridged(Huber(0.5), 0.1), ConstantStep()),
        (Ridged(Huber(0.5), 0.1), LineSearch()),
    ],
    ids=repr,
)
@given(problems(max_rows=16, max_features=3), st.sampled_from(["free", "signed"]), st.booleans())
def test_huber_loss(loss, step, problem, leaves, weighted):
    X, y, weight = problem
    check_naive(X, y, weight if weighted else None, loss, RandomGroups(0.5), step, leaves)


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [Logistic(0.01), Ridged(Exponential(), 0.1)], ids=repr)
@given(problems(max_rows=16, max_features=3, binary=True), st.booleans(), st.booleans())
def test_binary_losses_with_line_search(loss, problem, signed, weighted):
    X, y, weight = problem
    leaves = "signed" if signed else "free"
    w = weight if weighted else None
    check_naive(X, y, w, loss, AllLearners(), LineSearch(), leaves)


@pytest.mark.kernel
@given(problems(max_rows=16, max_features=3, binary=True), st.sampled_from(RULES))
def test_logistic_loss_with_constant_step(problem, rule):
    X, y, _ = problem
    check_naive(X, y, None, Logistic(), rule, ConstantStep())


def test_types_are_special_cases():
    """Type 2 is Type 3 with t=1, Type 0 is Type 3 with t=G: same stream, same path."""
    X, y = big_problem(n=300)
    for one, other in [
        (RandomGroup(), RandomGroups(1)),
        (AllLearners(), RandomGroups(7)),
        (AllLearners(), RandomGroups("all")),
        (AllLearners(), RandomLearners("all")),
    ]:
        a, b = (
            boost(
                X, y, loss=Squared(), learner=Stumps(), selection=rule, step=ConstantStep(),
                n_iter=40, random_state=3,
            ).trace
            for rule in (one, other)
        )  # fmt: skip
        np.testing.assert_array_equal(a.learner, b.learner)
        np.testing.assert_array_equal(a.left, b.left)
        np.testing.assert_array_equal(a.train_loss, b.train_loss)


def test_the_trace_says_what_was_added():
    X, y = big_problem(n=200)
    boosted = boost(
        X, y, loss=Squared(), learner=Stumps(max_bins=6), selection=RandomGroups(3),
        step=ConstantStep(), n_iter=10, random_state=0,
    )  # fmt: skip
    trace, cuts = boosted.trace, boosted.prepared.cuts
    f = np.zeros(200)
    for m in range(10):
        g = trace.feature[m]
        threshold = cuts.thresholds[cuts.offsets[g] + trace.split[m]]
        f += np.where(X[:, g] <= threshold, trace.left[m], trace.right[m])
        assert trace.train_loss[m + 1] == pytest.approx(0.5 * np.mean((y - f) ** 2), rel=1e-12)
    assert len(trace) == 10
    assert trace.seconds[0] == 0
    assert (np.diff(trace.seconds) > 0).all()


class SlowSquared(Loss):
    """The squared loss as a user would write it."""

    smoothness = 1.0
    strong_convexity = 1.0

    def value(self, y, f):
        return 0.5 * (y - f) ** 2

    def residual(self, y, f):
        return y - f


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
def test_a_python_loss_gives_the_same_path(step, weighted):
    X, y = big_problem(n=300)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=300) if weighted else None
    a, b = (
        boost(
            X, y, loss=loss, learner=Stumps(), selection=RandomGroups(3), step=step, n_iter=30,
            random_state=0, weight=weight, start_score=None, validation=Validation(X[:50], y[:50]),
        )
        for loss in (Squared(), SlowSquared())
    )  # fmt: skip
    np.testing.assert_array_equal(a.trace.learner, b.trace.learner)
    np.testing.assert_allclose(a.trace.train_loss, b.trace.train_loss, rtol=1e-10)
    np.testing.assert_allclose(a.trace.validation_loss, b.trace.validation_loss, rtol=1e-10)
    np.testing.assert_allclose(a.model.score(X), b.model.score(X), rtol=1e-9)


def test_callbacks_see_progress_and_can_stop():
    X, y = big_problem(n=300)
    seen = []

    def stop_after_five(progress):
        seen.append(progress.iteration)
        return progress.iteration >= 5

    boosted = boost(
        X, y, loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(),
        n_iter=100_000, callbacks=[stop_after_five],
    )  # fmt: skip
    assert seen == sorted(seen)
    assert len(boosted.trace) == seen[-1]
    assert 5 <= seen[-1] < 100_000
    assert len(boosted.trace.train_loss) == seen[-1] + 1
    expected = Squared().value(y, boosted.model.score(X)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(expected, rel=1e-10)


def test_rows_of_a_dictionary_without_weight_are_not_there():
    X, y = big_problem(n=200)
    weight = np.ones(200)
    weight[::3] = 0.0
    kept = weight > 0
    B = X**2
    kwargs = dict(
        loss=Squared(), selection=RandomGroups(2), step=ConstantStep(), n_iter=20, random_state=0
    )
    a = boost(X, y, learner=Dictionary(B), weight=weight, **kwargs).trace
    b = boost(X[kept], y[kept], learner=Dictionary(B[kept]), **kwargs).trace
    np.testing.assert_array_equal(a.learner, b.learner)
    np.testing.assert_allclose(a.train_loss, b.train_loss, rtol=1e-12)
