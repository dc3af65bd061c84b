"""The surrogate engine: the loss never rises, and the optimum is that of Algorithm 2."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from rgboost.engines.quadratic.surrogate import Majoriser, Newton
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import RGBMClassifier
from rgboost._core.team import lone_seat
from rgboost.learners import Stumps
from rgboost.losses import Exponential, Huber, Logistic, Loss, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.statistics.row_gram import fill_whole_gram, make_row_bins
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.data_strategies import problems
from tests.optimum import indicator_columns, smallest_loss


def cancer(sparse=False):
    X, labels = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    if sparse:
        X = np.where(np.median(X, axis=0) < X, np.round(X, 1), 0.0)
    return X, np.where(labels == 1, 1.0, -1.0)


def run(X, y, loss, **kwargs):
    settings = dict(
        learner=Stumps(max_bins=8), selection=AllLearners(), step=ConstantStep(), n_iter=100_000,
        random_state=0, engine="surrogate",
    )  # fmt: skip
    return boost(X, y, loss=loss, **(settings | kwargs))


def optimum(boosted, X, y, loss):
    cuts = boosted.prepared.cuts
    thresholds = np.split(cuts.thresholds, cuts.offsets[1:-1])
    return smallest_loss(indicator_columns(X, thresholds), y, loss)


class SmoothHuber(Loss):
    """Pseudo-Huber, as a user would write it: no curvature, so only the majoriser can be used."""

    smoothness = 1.0

    def value(self, y, f):
        return np.sqrt(1 + (y - f) ** 2) - 1

    def residual(self, y, f):
        return (y - f) / np.sqrt(1 + (y - f) ** 2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", [Majoriser, Newton])
@pytest.mark.parametrize("loss", [Logistic(0.01), Ridged(Huber(0.5), 0.01)], ids=repr)
def test_it_reaches_the_optimum(loss, model, sparse, monkeypatch):
    X, y = cancer(sparse)
    make = (lambda p, r, m: Newton(p, r)) if model is Newton else Majoriser
    monkeypatch.setattr("rgboost.engines.quadratic.surrogate.choose_model", make)
    data = scipy.sparse.csr_array(X) if sparse else X
    boosted = run(data, y, loss, tol=1e-10)
    best = optimum(boosted, X, y, loss)
    assert boosted.trace.engine == f"surrogate ({model.name})"
    assert 0 <= boosted.trace.train_loss[-1] - best < 1e-5 * best
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    final = loss.value(y, boosted.model.score(data)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(final, rel=1e-9)


def test_long_direct_runs_approach_the_same_loss():
    X, y = cancer()
    loss = Logistic(0.01)
    direct = run(X, y, loss, engine="direct", n_iter=20_000).trace.train_loss[-1]
    surrogate = run(X, y, loss).trace.train_loss[-1]
    assert surrogate <= direct
    assert surrogate == pytest.approx(direct, rel=1e-3)


@pytest.mark.parametrize("rule", [RandomGroups(2), RandomLearners(5)], ids=repr)
@pytest.mark.parametrize("leaves", ["free", "signed"])
def test_every_selection_rule_and_leaf(rule, leaves):
    X, y = cancer()
    loss = Logistic(0.01)
    boosted = run(X, y, loss, learner=Stumps(leaves=leaves, max_bins=8), selection=rule)
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    best = optimum(boosted, X, y, loss)
    # signed stumps have no constant; the free ones do, so theirs is the optimum of the indicators
    slack = 2e-3 if leaves == "free" else 0.1
    assert boosted.trace.train_loss[-1] < best * (1 + slack)


def test_a_python_loss():
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    loss = SmoothHuber()
    boosted = run(X, y, loss, validation=Validation(X[:50], y[:50]), start_score=None)
    assert boosted.trace.engine == "surrogate (majoriser)"
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    direct = run(X, y, loss, engine="direct", n_iter=3000, start_score=None)
    assert boosted.trace.train_loss[-1] == pytest.approx(direct.trace.train_loss[-1], rel=5e-3)


def test_blocks_of_one_iteration_are_algorithm_2(monkeypatch):
    """A majoriser refreshed after every iteration gives the iterates of the direct engine."""
    X, y = cancer()
    loss = Logistic(0.01)
    monkeypatch.setattr("rgboost.engines.quadratic.surrogate.choose_model", Majoriser)
    monkeypatch.setattr(Majoriser, "enough", np.inf)
    monkeypatch.setattr("rgboost.engines.quadratic.surrogate._shortest_part", 1)
    monkeypatch.setattr(Majoriser, "rounds", 0.0)
    settings = dict(n_iter=60, tol=0.0, selection=RandomGroups(3))
    a = run(X, y, loss, **settings)
    b = run(X, y, loss, engine="direct", **settings)
    np.testing.assert_array_equal(a.trace.learner, b.trace.learner)
    np.testing.assert_allclose(a.trace.train_loss, b.trace.train_loss, rtol=1e-10)


def test_validation_loss_and_weights():
    X, y = cancer()
    loss = Logistic(0.01)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    held = Validation(X[400:], y[400:], weight[400:])
    boosted = run(X[:400], y[:400], loss, weight=weight[:400], validation=held)
    final = np.average(loss.value(y[400:], boosted.model.score(X[400:])), weights=weight[400:])
    best = boosted.best_iteration
    assert boosted.trace.validation_loss[best] == pytest.approx(final, rel=1e-9)
    assert boosted.trace.validation_loss.min() == pytest.approx(final, rel=1e-9)
    train = np.average(loss.value(y[:400], boosted.model.score(X[:400])), weights=weight[:400])
    assert boosted.trace.train_loss[best] == pytest.approx(train, rel=1e-9)
    assert len(boosted.trace.train_loss) == len(boosted.trace) + 1


def test_iterations_are_a_limit():
    X, y = cancer()
    boosted = run(X, y, Logistic(0.01), n_iter=37, tol=0.0)
    assert len(boosted.trace) == 37


def test_without_memory_it_ends_and_says_so(monkeypatch):
    X, y = cancer()
    monkeypatch.setattr("rgboost.engines.quadratic.surrogate.choose_model", Majoriser)
    boosted = run(X, y, Logistic(0.01), gram_memory=3000)
    assert "ended where gram_memory was used up" in boosted.trace.engine
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    final = Logistic(0.01).value(y, boosted.model.score(X)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(final, rel=1e-9)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (dict(loss=Exponential(), step=ConstantStep(0.1)), "it needs a smooth loss"),
        (dict(loss=Logistic(), step=LineSearch()), "use step='constant'"),
        (dict(loss=Logistic(), learner=Stumps(max_bins=None)), "at most 2048 bins"),
    ],
)
def test_what_it_cannot_do(kwargs, message):
    X, y = load_breast_cancer(return_X_y=True)
    if "max_bins" in str(kwargs):
        X = np.random.default_rng(0).normal(size=(2100, 2))
        y = np.arange(2100) % 2
    with pytest.raises(ValueError, match=message):
        run(X, np.where(y == 1, 1.0, -1.0), **kwargs)


def test_estimator():
    X, y = load_breast_cancer(return_X_y=True)
    model = RGBMClassifier(engine="surrogate", max_iter=3000, random_state=0).fit(X, y)
    assert model.trace_.engine.startswith("surrogate")
    assert model.score(X, y) > 0.98


@pytest.mark.kernel
@given(problems(max_rows=20), st.sampled_from([2, 3, 200]))
def test_gram_row_by_row(problem, max_bins):
    X, _, weight = problem
    X = X * (np.abs(X) > 0.5)
    prepared = Stumps(max_bins=max_bins).prepare(scipy.sparse.csc_array(X))
    cuts, entries = prepared.cuts, prepared.arrays.entries
    n_splits = int(cuts.offsets[-1])
    n_bins = n_splits + X.shape[1]
    row_bins = make_row_bins(entries, cuts.offsets, len(X))
    out = np.zeros((n_splits, n_splits))
    tables = np.empty((2, n_bins, n_bins))
    fill_whole_gram(row_bins, entries, cuts.offsets, weight, tables, out, lone_seat())
    feature = np.searchsorted(cuts.offsets, np.arange(n_splits), side="right") - 1
    left = X[:, feature] <= cuts.thresholds[None]
    np.testing.assert_allclose(out, left.T @ (left * weight[:, None]), atol=1e-12)


def test_squared_loss_needs_one_refresh():
    """The majoriser of the squared loss is the squared loss."""
    X, y = load_diabetes(return_X_y=True)
    a = run(X, y, Squared(), n_iter=400, tol=0.0)
    assert (np.diff(a.trace.train_loss) <= 1e-9).all()
    b = run(X, y, Squared(), n_iter=400, engine="gram")
    assert a.trace.train_loss[-1] == pytest.approx(b.trace.train_loss[-1], rel=0.05)
