"""What holds for every engine and loss: checks that the tests of all of them call.

A case is a loss and an engine; `settings` are arguments of `boost`.
"""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps, boost
from rgboost.losses import Exponential, Gamma, Logistic, Poisson, Softmax, Squared, Tweedie
from rgboost.model import Path
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import Validation
from rgboost.training.driver import BlockLength
from tests.naive import naive_boost, naive_class_boost, naive_stretches, naive_stumps

LOSSES = [Squared(), Logistic(), Softmax(3)]
ENGINES = ["direct", "quadratic", "gram"]
CASES = [
    (loss, engine) for loss in LOSSES for engine in ENGINES if engine != "gram" or loss.quadratic
]
cases = pytest.mark.parametrize(("loss", "engine"), CASES, ids=str)

N_ITER = 6
"""Iterations beside a naive twin."""


def big_problem(n=9_000, p=7, binary=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(X[:, 1])
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, np.sign(y) if binary else y


def class_labels(y, n_classes):
    """Classes from numbers, each of them at least once if there are rows enough."""
    codes = np.floor(np.abs(y) * 1e6) % n_classes
    codes[:n_classes] = np.arange(min(n_classes, len(y)))
    return codes


def labels_for(loss, y):
    """Labels that suit the loss, from any."""
    if isinstance(loss, Softmax):
        return class_labels(np.round(y, 1), loss.n_classes)
    if isinstance(loss, Logistic | Exponential):
        return np.where(y > 0, 1.0, -1.0)
    if isinstance(loss, Gamma):
        return np.exp(y)
    if isinstance(loss, Poisson | Tweedie):
        counts = np.floor(2 * np.abs(y))
        counts[0] = 1.0
        return counts
    return y


def run(X, y, **settings):
    defaults = dict(
        learner=Stumps(max_bins=16), selection=RandomGroups(2), step=ConstantStep(), n_iter=60,
        learning_rate=0.5, start_score=None, random_state=0, tol=0.0,
    )  # fmt: skip
    return boost(X, y, **{**defaults, **settings})


def mean_loss(loss, y, score, weight=None):
    return np.average(loss.value(y, score), weights=weight)


def learner_subsets(boosted, rule, seed, n_iter):
    """The subsets J of a run as plain lists of learners, from the same stream."""
    layout = boosted.prepared.layout
    rng = np.random.default_rng(seed)
    draws = [rule.draw(layout, rng, 1)[0] for _ in range(n_iter)]
    return [list(rule.learners(layout, draw)) for draw in draws]


def check_same_bits(trace, other):
    """The same choices, with the same losses."""
    assert len(trace) == len(other) > 0
    assert (trace.train_loss != trace.train_loss[0]).any()
    for name in trace.choices.dtype.names:
        np.testing.assert_array_equal(getattr(trace, name), getattr(other, name))
    np.testing.assert_array_equal(trace.train_loss, other.train_loss)
    np.testing.assert_array_equal(trace.validation_loss, other.validation_loss)


def check_threads(X, y, *, threads=(1, 2, 5), **settings):
    """Results do not depend on the number of threads."""
    first, *others = (run(X, y, **{**settings, "n_jobs": n}) for n in threads)
    for other in others:
        check_same_bits(first.trace, other.trace)
    return first


def check_blocks(X, y, monkeypatch, **settings):
    """Results do not depend on the clock, which says how long blocks are; nor do the first choices
    on how many are to come."""
    found = []
    for length in (1, 7, 50, 10**6):
        monkeypatch.setattr(BlockLength, "next", lambda self, left, n=length: min(n, left))
        found.append(run(X, y, **settings))
    first, *others = found
    for other in others:
        check_same_bits(first.trace, other.trace)
    short = run(X, y, **{**settings, "n_iter": 37})
    begin = Path(first.trace.choices[: 37 * first.trace.n_runs])
    np.testing.assert_array_equal(short.trace.choices, begin.choices)


def check_descent(X, y, *, loss, engine, **settings):
    """L(f^{m+1}) <= L(f^m) - <b, r>^2 / (2 sigma), in the proof of Theorem strong. On quadratic
    models, which are others, the loss never rises."""
    boosted = run(X, y, loss=loss, engine=engine, **{"learning_rate": 1.0, **settings})
    assert boosted.trace.engine == engine
    losses = boosted.trace.train_loss * len(y)
    fall = 0.0
    if engine != "quadratic":
        fall = boosted.trace.gradient_norm**2 / (2 * loss.smoothness)
    assert (losses[1:] <= losses[:-1] - fall + 1e-12 * losses[0]).all()
    assert losses[-1] < 0.97 * losses[0]


def check_weights(X, y, *, loss, engine, **settings):
    """A row that weighs k is k rows; one that weighs 0 is not there."""
    count = np.random.default_rng(5).integers(0, 4, size=len(y))
    rows, weight = np.repeat(np.arange(len(y)), count), count.astype(float)
    held = np.arange(len(y))[::3]
    again = np.repeat(held, count[held])
    one, other = (
        run(X[i], y[i], loss=loss, engine=engine, weight=w, validation=Validation(X[j], y[j], v),
            **settings).trace
        for i, w, j, v in ((slice(None), weight, held, weight[held]), (rows, None, again, None))
    )  # fmt: skip
    assert one.engine == other.engine == engine
    quadratic = engine == "quadratic"
    rtol = 1e-5 if quadratic else 1e-9  # curvature is in integers
    # On models of losses that are not quadratic, the unit of weights is that of the heaviest row.
    unit = np.sqrt(weight.max()) if quadratic and not loss.quadratic else 1.0
    np.testing.assert_array_equal(one.learner, other.learner)
    for name in ("left", "right", "gradient_norm"):
        a, b = getattr(one, name), getattr(other, name)
        a = unit * a if name == "gradient_norm" else a
        np.testing.assert_allclose(a, b, rtol=10 * rtol, atol=rtol * np.abs(b).max())
    np.testing.assert_allclose(one.train_loss, other.train_loss, rtol=rtol)
    np.testing.assert_allclose(one.validation_loss, other.validation_loss, rtol=rtol)


def check_held(X, y, held, *, loss, engine, weight=None, near=2e-2, **settings):
    """The losses of training rows and of rows that are held out are those of the model, iteration
    by iteration; on quadratic models where stretches end, and those of the best one nearly."""
    boosted = run(
        X, y, loss=loss, engine=engine, weight=weight, validation=held, **settings
    )  # fmt: skip
    trace, start = boosted.trace, boosted.model.intercept
    assert boosted.best_iteration == np.argmin(trace.validation_loss)
    assert len(list(boosted.model.staged_score(X))) == boosted.best_iteration
    sides = [(X, y, weight, trace.train_loss), (held.X, held.y, held.weight, trace.validation_loss)]
    whole = boosted.prepared.model(trace.path(), start)
    for rows, labels, w, losses in sides:
        null = np.zeros((len(labels), *np.shape(start))) + start
        staged = [null, *whole.staged_score(rows)]
        assert len(staged) == len(losses) == len(trace) + 1
        expected = np.array([mean_loss(loss, labels, f, w) for f in staged])
        np.testing.assert_allclose(whole.score(rows), staged[-1], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(losses[[0, -1]], expected[[0, -1]], rtol=1e-9)
        best = mean_loss(loss, labels, boosted.model.score(rows), w)
        assert best == pytest.approx(expected[boosted.best_iteration], rel=1e-10)
        if engine == "quadratic":
            assert best == pytest.approx(losses[boosted.best_iteration], rel=near)
        else:
            rtol = {"direct": 1e-12, "gram": 1e-9}[engine]
            np.testing.assert_allclose(losses, expected, rtol=rtol)
    return boosted


def check_naive(
    X, y, weight, loss, rule, step, leaves="free", max_bins=None, sparse=False, engine="direct"
):
    """The iterates are those of Algorithm 2 written down plainly, from the same subsets."""
    data = scipy.sparse.csr_array(X) if sparse else X
    boosted = boost(
        data, y, loss=loss, learner=Stumps(leaves=leaves, max_bins=max_bins), selection=rule,
        step=step, n_iter=N_ITER, weight=weight, random_state=7, learning_rate=0.8, engine=engine,
    )  # fmt: skip
    trace = boosted.trace
    assert trace.engine == engine
    if boosted.prepared.layout.n_learners == 0:
        assert (trace.learner == -1).all()
        assert (trace.train_loss == trace.train_loss[0]).all()
        assert not trace.left.any()
        return
    w = np.ones(len(y)) if weight is None else weight
    stumps = naive_stumps(X, max_bins, "quantile", w)
    subsets = learner_subsets(boosted, rule, 7, N_ITER)
    several, scale = loss.outputs > 1, 0.0
    if several:
        twin = naive_class_boost(X, y, loss, stumps, subsets, step, w, 0.8)
    else:
        twin = naive_boost(X, y, loss, stumps, subsets, step, w, leaves, learning_rate=0.8)
        scale = max(1.0, abs(twin[2][0]))  # losses can come near 0
    f, path, losses, gradients = twin
    flat = np.flatnonzero(np.diff(losses) > -1e-9 * (scale or losses[0]))  # rounding is left
    agree = flat[0] if len(flat) else N_ITER
    np.testing.assert_array_equal(trace.learner[:agree], path[:agree])
    np.testing.assert_allclose(trace.train_loss * w.sum(), losses, rtol=1e-9, atol=1e-9 * scale)
    if agree == N_ITER:
        np.testing.assert_allclose(trace.gradient_norm, gradients, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(boosted.model.score(data), f, rtol=1e-8, atol=1e-8)
        *_, last = boosted.model.staged_score(data)
        np.testing.assert_allclose(last, f, rtol=1e-8, atol=1e-8)


def check_stretches(X, y, *, loss, selection, **more):
    """Runs on quadratic models are those of the definition; stretches have 20 iterations."""
    found = run(
        X, y, loss=loss, selection=selection, engine="quadratic", step=NewtonStep(),
        learning_rate=0.3, **more,
    )  # fmt: skip
    learner, left, right, ends = naive_stretches(
        X, y, found, loss, selection, [20, 20, 20], rate=0.3, **more
    )
    trace, at = found.trace, [20, 40, 60]
    np.testing.assert_array_equal(trace.learner, learner)
    np.testing.assert_allclose(trace.left, left, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(trace.right, right, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(trace.train_loss[at], ends[:, 0], rtol=1e-6)
    if "fold" in more:
        np.testing.assert_allclose(trace.validation_loss[at], ends[:, 1], rtol=1e-6)
    assert (np.diff(trace.train_loss) < 0).all()
