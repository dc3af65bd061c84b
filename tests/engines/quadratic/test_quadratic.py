"""The quadratic engine: the loss never rises, and the optimum is that of Algorithm 2."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import RGBMClassifier
from rgboost._core.team import lone_seat
from rgboost.engines.quadratic import runs as quadratic_runs
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Exponential, Huber, Logistic, Loss, Quantile, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroups, RandomLearners
from rgboost.statistics.whole_gram import fill_whole_gram, make_row_bins
from rgboost.steps import ConstantStep, LeafSearch
from rgboost.training import Validation, boost
from tests.data_strategies import problems
from tests.engines.checks import check_held
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
        random_state=0, engine="quadratic",
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
@pytest.mark.parametrize("model", ["majoriser", "newton"])
@pytest.mark.parametrize("loss", [Logistic(0.01), Ridged(Huber(0.5), 0.01)], ids=repr)
def test_it_reaches_the_optimum(loss, model, sparse, monkeypatch):
    X, y = cancer(sparse)
    if model == "majoriser":
        monkeypatch.setattr(type(loss), "newton", False)
    data = scipy.sparse.csr_array(X) if sparse else X
    boosted = run(data, y, loss, tol=1e-10)
    best = optimum(boosted, X, y, loss)
    assert boosted.trace.engine == "quadratic"
    assert 0 <= boosted.trace.train_loss[-1] - best < 1e-5 * best
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    final = loss.value(y, boosted.model.score(data)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(final, rel=1e-9)


def test_long_direct_runs_approach_the_same_loss():
    X, y = cancer()
    loss = Logistic(0.01)
    direct = run(X, y, loss, engine="direct", n_iter=20_000).trace.train_loss[-1]
    quadratic = run(X, y, loss).trace.train_loss[-1]
    assert quadratic <= direct
    assert quadratic == pytest.approx(direct, rel=1e-3)


def test_categories_and_missing_values():
    """The optimum of sets of categories and of missing values on either side, as the direct engine
    comes to it."""
    X, y = cancer()
    X = X.copy()
    X[:, 1] = np.digitize(X[:, 1], np.quantile(X[:, 1], [0.2, 0.4, 0.6, 0.8]))
    X[::5, 2] = np.nan
    settings = dict(learner=Stumps(max_bins=8, categorical=(1,)), start_score=None)
    held = Validation(X[400:], y[400:])
    for loss in (Logistic(0.01), Huber(0.5)):
        direct = run(X[:400], y[:400], loss, engine="direct", n_iter=20_000, **settings)
        found = run(X[:400], y[:400], loss, validation=held, **settings)
        assert (np.diff(found.trace.train_loss) <= 1e-15).all()
        last, best = found.trace.train_loss[-1], direct.trace.train_loss[-1]
        assert last == pytest.approx(best, rel=2e-3)
        model = found.prepared.model(found.trace.path(), found.model.intercept)
        value = loss.value(y[400:], model.score(X[400:])).mean()
        assert found.trace.validation_loss[-1] == pytest.approx(value, rel=1e-9)
        assert found.trace.sets is not None


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
    assert boosted.trace.engine == "quadratic"
    assert (loss.model_curvature(y, y) == loss.smoothness).all()
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    direct = run(X, y, loss, engine="direct", n_iter=3000, start_score=None)
    assert boosted.trace.train_loss[-1] == pytest.approx(direct.trace.train_loss[-1], rel=5e-3)


@pytest.mark.parametrize("loss", [Logistic(0.01), Huber(0.5), SmoothHuber()], ids=repr)
def test_stretches_of_one_iteration_are_algorithm_2(loss, monkeypatch):
    """A quadratic model above the loss, made anew after every iteration, gives the iterates of the
    direct engine."""
    X, y = cancer()
    monkeypatch.setattr(type(loss), "newton", False)
    for name in ("FIRST_STRETCH", "SHORTEST_STRETCH", "LONGER", "SHORTER"):
        monkeypatch.setattr(quadratic_runs, name, 1)
    settings = dict(n_iter=60, tol=0.0, selection=RandomGroups(3))
    a = run(X, y, loss, **settings)
    b = run(X, y, loss, engine="direct", **settings)
    np.testing.assert_array_equal(a.trace.learner, b.trace.learner)
    # Curvature is in integers, rounded up: rows are a billionth heavier.
    np.testing.assert_allclose(a.trace.train_loss, b.trace.train_loss, rtol=1e-6)


def test_held_rows_of_a_long_run():
    X, y = cancer()
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    check_held(
        X[:400], y[:400], Validation(X[400:], y[400:], weight[400:]), weight=weight[:400],
        loss=Logistic(0.01), engine="quadratic", learner=Stumps(max_bins=8), learning_rate=1.0,
        selection=AllLearners(), start_score=0.0, n_iter=100_000, tol=1e-8, near=1e-3,
    )  # fmt: skip


def test_iterations_are_a_limit():
    X, y = cancer()
    boosted = run(X, y, Logistic(0.01), n_iter=37, tol=0.0)
    assert len(boosted.trace) == 37


def test_without_memory_the_direct_engine_goes_on():
    X, y = cancer()
    boosted = run(X, y, Logistic(0.01), gram_memory=3000, n_iter=300)
    assert boosted.trace.engine == boosted.events[0]
    assert "gram_memory was used up; direct from there" in boosted.trace.engine
    assert len(boosted.trace) == 300
    assert (np.diff(boosted.trace.train_loss) <= 1e-15).all()
    final = Logistic(0.01).value(y, boosted.model.score(X)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(final, rel=1e-9)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (dict(loss=Quantile(0.3), step=LeafSearch()), r"Quantile\(.* has no quadratic model"),
        (dict(loss=Exponential(), step=ConstantStep(0.1)), "is no step on a quadratic model"),
        (dict(loss=Logistic(), step=LeafSearch()), "LeafSearch.* is no step on a quadratic model"),
        (dict(loss=Logistic(), learning_rate=1.5), "learning_rate=1.5 is beyond the minimum"),
        (dict(loss=Logistic(), learner=Dictionary(np.eye(569))), "it needs stumps"),
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
    model = RGBMClassifier(engine="quadratic", max_iter=3000, random_state=0).fit(X, y)
    assert model.trace_.engine == "quadratic"
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
