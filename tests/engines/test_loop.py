"""The compiled loop against Algorithm 2 written down plainly (brute force over every split)."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Exponential, Huber, Logistic, Loss, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.data_strategies import problems
from tests.naive import naive_boost, naive_stumps

RULES = [AllLearners(), RandomLearners(0.5), RandomGroup(), RandomGroups(0.5)]
N_ITER = 6


def learner_subsets(boosted, rule, seed, n_iter):
    """The subsets J of a run as plain lists of learners, from the same stream."""
    layout = boosted.prepared.layout
    rng = np.random.default_rng(seed)
    draws = [rule.draw(layout, rng, 1)[0] for _ in range(n_iter)]
    return [list(rule.learners(layout, draw)) for draw in draws]


def check_against_naive(X, y, weight, loss, leaves, rule, step, max_bins=None, sparse=False):
    boosted = boost(
        scipy.sparse.csr_array(X) if sparse else X,
        y,
        loss=loss,
        learner=Stumps(leaves=leaves, max_bins=max_bins),
        selection=rule,
        step=step,
        n_iter=N_ITER,
        weight=weight,
        random_state=7,
        learning_rate=0.8,
    )
    trace = boosted.trace
    if boosted.prepared.layout.n_learners == 0:
        assert (trace.learner == -1).all()
        assert (trace.train_loss == trace.train_loss[0]).all()
        return
    w = np.ones(len(y)) if weight is None else weight
    stumps = naive_stumps(X, max_bins, "quantile", w)
    subsets = learner_subsets(boosted, rule, 7, N_ITER)
    f, path, losses = naive_boost(X, y, loss, stumps, subsets, step, w, leaves, learning_rate=0.8)
    scale = max(1.0, abs(losses[0]))
    flat = np.flatnonzero(np.diff(losses) > -1e-9 * scale)  # from there on only rounding is left
    agree = flat[0] if len(flat) else N_ITER
    np.testing.assert_array_equal(trace.learner[:agree], path[:agree])
    np.testing.assert_allclose(trace.train_loss * w.sum(), losses, rtol=1e-9, atol=1e-9 * scale)
    if agree == N_ITER:
        np.testing.assert_allclose(boosted.model.score(X), f, rtol=1e-8, atol=1e-8)


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
    check_against_naive(X, y, w, Squared(), leaves, rule, ConstantStep(), max_bins, sparse)


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
    check_against_naive(X, y, weight if weighted else None, loss, leaves, RandomGroups(0.5), step)


@pytest.mark.kernel
@pytest.mark.parametrize("loss", [Logistic(0.01), Ridged(Exponential(), 0.1)], ids=repr)
@given(problems(max_rows=16, max_features=3, binary=True), st.booleans(), st.booleans())
def test_binary_losses_with_line_search(loss, problem, signed, weighted):
    X, y, weight = problem
    leaves = "signed" if signed else "free"
    w = weight if weighted else None
    check_against_naive(X, y, w, loss, leaves, AllLearners(), LineSearch())


@pytest.mark.kernel
@given(problems(max_rows=16, max_features=3, binary=True), st.sampled_from(RULES))
def test_logistic_loss_with_constant_step(problem, rule):
    X, y, _ = problem
    check_against_naive(X, y, None, Logistic(), "free", rule, ConstantStep())


def big_problem(n=9_000, p=7, binary=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(X[:, 1])
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, np.sign(y) if binary else y


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Exponential()], ids=repr)
def test_many_chunks_of_rows(loss, leaves):
    """9,000 rows are summed in chunks; the naive twin knows nothing of chunks."""
    X, y = big_problem(binary=not isinstance(loss, Squared))
    check_against_naive(X, y, None, loss, leaves, RandomGroups(3), LineSearch(), max_bins=8)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    check_against_naive(X, y, weight, loss, leaves, RandomGroups(3), LineSearch(), max_bins=8)


@pytest.mark.skipif(not JIT, reason="too slow as plain Python")
@pytest.mark.parametrize("max_bins", [8, 300, None])
@pytest.mark.parametrize("sparse", [False, True])
def test_results_do_not_depend_on_threads(max_bins, sparse):
    X, y = big_problem(n=40_000)
    X[np.abs(X) < 0.5] = 0.0
    data = scipy.sparse.csc_array(X) if sparse else X
    runs = [
        boost(
            data,
            y,
            loss=loss,
            learner=Stumps(max_bins=max_bins),
            selection=RandomGroups(3),
            step=LineSearch(),
            n_iter=30,
            random_state=0,
            n_jobs=n_jobs,
            validation=Validation(X[:10_000] if not sparse else data[:10_000], y[:10_000]),
        )
        for loss in (Squared(), Huber(0.3))
        for n_jobs in (1, 2, 5)
    ]
    for first, others in ((runs[0], runs[1:3]), (runs[3], runs[4:])):
        for other in others:
            for name in ("learner", "left", "right", "train_loss", "validation_loss"):
                np.testing.assert_array_equal(
                    getattr(first.trace, name), getattr(other.trace, name)
                )


@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize(
    "loss", [Squared(), Huber(0.3), Logistic(), Logistic(0.0), Ridged(Huber(0.3), 0.1)], ids=repr
)
def test_descent_inequality(loss, leaves, step):
    """L(f^{m+1}) <= L(f^m) - <b, r>^2 / (2 sigma), in the proof of Theorem strong."""
    X, y = big_problem(n=500, binary=isinstance(loss, Logistic))
    for rule in RULES:
        boosted = boost(
            X, y, loss=loss, learner=Stumps(leaves=leaves), selection=rule, step=step,
            n_iter=200, random_state=1,
        )  # fmt: skip
        losses = boosted.trace.train_loss * len(y)
        bound = losses[:-1] - boosted.trace.gradient_norm**2 / (2 * loss.smoothness)
        assert (losses[1:] <= bound + 1e-12 * losses[0]).all()
        assert losses[-1] < 0.97 * losses[0]


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


def test_validation_loss_is_the_loss_of_the_staged_scores():
    X, y = big_problem(n=600, binary=True)
    loss = Logistic()
    for data in (X, scipy.sparse.csr_array(X)):
        boosted = boost(
            data[:400], y[:400], loss=loss, learner=Stumps(), selection=RandomGroups(2),
            step=ConstantStep(), n_iter=25, random_state=0, start_score=0.3,
            validation=Validation(data[400:], y[400:]),
        )  # fmt: skip
        staged = list(boosted.model.staged_score(data[400:]))
        expected = [loss.value(y[400:], f).mean() for f in [np.full(200, 0.3), *staged]]
        np.testing.assert_allclose(boosted.trace.validation_loss, expected, rtol=1e-12)
        np.testing.assert_allclose(boosted.model.score(data[400:]), staged[-1], rtol=1e-10)
        train = [loss.value(y[:400], f).mean() for f in boosted.model.staged_score(data[:400])]
        np.testing.assert_allclose(boosted.trace.train_loss[1:], train, rtol=1e-12)


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


def test_block_lengths_do_not_change_the_path():
    """The same run cut by a callback that does nothing, and by time, gives the same bits."""
    X, y = big_problem(n=300)
    kwargs = dict(
        loss=Logistic(), learner=Stumps(), selection=RandomGroups(2), step=ConstantStep(),
        random_state=0,
    )  # fmt: skip
    long = boost(X, np.sign(y), n_iter=300, **kwargs).trace
    short = boost(X, np.sign(y), n_iter=37, **kwargs).trace
    np.testing.assert_array_equal(long.learner[:37], short.learner)
    np.testing.assert_array_equal(long.train_loss[:38], short.train_loss)


def test_rows_without_weight_are_not_there():
    X, y = big_problem(n=200)
    weight = np.ones(200)
    weight[::3] = 0.0
    kept = weight > 0
    B = X**2
    for learner, kept_learner in [(Stumps(), Stumps()), (Dictionary(B), Dictionary(B[kept]))]:
        kwargs = dict(
            loss=Squared(), selection=RandomGroups(2), step=ConstantStep(), n_iter=20,
            random_state=0,
        )  # fmt: skip
        a = boost(X, y, learner=learner, weight=weight, **kwargs).trace
        b = boost(X[kept], y[kept], learner=kept_learner, **kwargs).trace
        np.testing.assert_array_equal(a.learner, b.learner)
        np.testing.assert_allclose(a.train_loss, b.train_loss, rtol=1e-12)
