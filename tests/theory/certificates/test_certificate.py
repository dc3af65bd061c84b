"""Certificates compared with gaps that are computed independently, and stopping by them."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import RGBMClassifier, RGBMRegressor, load
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Huber, Logistic, Ridged, Squared
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep
from rgboost.theory.certificates.certificate import certificate
from rgboost.theory.certificates.optimal import optimal_loss
from rgboost.theory.certificates.stopping import StopAtGap
from rgboost.theory.certificates.training import Training
from rgboost.theory.dual.ground import Effort
from rgboost.theory.dual.search import Searcher
from rgboost.training import boost
from tests.data_strategies import problems
from tests.theory.certificates.test_optimal import best_loss, explicit, one_thread  # noqa: F401

ROUNDING = 1e-11


def labels(loss, y):
    binary = isinstance(loss, Logistic)
    return np.where(y > 0, 1.0, -1.0) if binary else y


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


def cancer(n_features=8):
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :n_features], np.where(y == 1, 1.0, -1.0)


def run(X, y, loss, n_iter, learner=None, **kwargs):
    settings = dict(
        learner=learner or Stumps(max_bins=6), selection=AllLearners(), step=ConstantStep(),
        random_state=0, engine="direct",
    )  # fmt: skip
    return boost(X, y, loss=loss, n_iter=n_iter, **(settings | kwargs))


def true_gap(boosted, y, loss, weight=None):
    """The gap by dense Newton on explicit columns."""
    best = best_loss(explicit(boosted.prepared, len(y)), y, loss, weight, boosted.model.intercept)
    return float(boosted.trace.train_loss[-1]) - best


CASES = {
    "squared": (diabetes, Squared()),
    "huber": (diabetes, Huber(0.5)),
    "ridged huber": (diabetes, Ridged(Huber(0.5), 0.01)),
    "logistic": (cancer, Logistic(1e-4)),
    "stronger ridge": (cancer, Logistic(0.01)),
    "no ridge": (lambda: cancer(3), Logistic(0.0)),
}


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize("case", CASES)
def test_never_below_the_true_gap_and_tight(case, leaves, exact):
    data, loss = CASES[case]
    X, y = data()
    weight = np.random.default_rng(1).integers(1, 4, len(y)) * 0.5
    for n_iter in (1, 30, 1000):
        boosted = run(
            X, y, loss, n_iter, Stumps(leaves, max_bins=6), weight=weight, start_score=0.2
        )
        truth = true_gap(boosted, y, loss, weight)
        found = certificate(boosted, X, y, weight, loss=loss, exact=exact, max_products=3000)
        assert found.loss == pytest.approx(boosted.trace.train_loss[-1])
        assert found.gap >= truth - ROUNDING
        assert found.decrease <= truth + ROUNDING
        assert found.gap <= 3.5 * truth + 1e-8 * found.loss
        assert found.lower_bound == found.loss - found.gap
        if exact is None:
            assert found.radius == math.inf
            assert found.residual_projection_error < 1e-12


@given(problems(), st.sampled_from(["free", "signed"]), st.booleans(), st.integers(1, 40))
def test_squared_loss_on_awkward_rows(problem, leaves, sparse, n_iter):
    X, y, weight = problem
    rows = scipy.sparse.csr_array(X) if sparse else X
    learner = Stumps(leaves, max_bins=None)
    boosted = run(rows, y, Squared(), n_iter, learner, weight=weight, start_score=0.3)
    truth = true_gap(boosted, y, Squared(), weight)
    for exact in (None, False):
        settings = dict(loss=Squared(), exact=exact, max_products=1000, n_jobs=1)
        found = certificate(boosted, rows, y, weight, **settings)
        assert found.gap >= truth - ROUNDING
        assert found.gap <= 3.5 * truth + 1e-8


@given(problems(binary=True), st.sampled_from([0.0, 1e-4, 0.1]), st.integers(1, 40))
def test_logistic_loss_on_awkward_rows(problem, ridge, n_iter):
    X, y, weight = problem
    loss = Logistic(ridge)
    boosted = run(X, y, loss, n_iter, Stumps(max_bins=None), weight=weight)
    best = optimal_loss(X, y, loss, Stumps(max_bins=None), weight, exact=False, n_jobs=1)
    truth = boosted.trace.train_loss[-1] - best.loss
    for exact in (None, False):
        found = certificate(boosted, X, y, weight, loss=loss, exact=exact, n_jobs=1)
        assert truth - ROUNDING <= found.gap <= found.loss
        assert found.decrease <= truth + best.certificate.gap + ROUNDING


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_tight_on_the_whole_way_within_the_usual_products(ridge):
    """Steps too long for the domain of the conjugate once made bounds of many times the gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    signal = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=4000)
    y, loss, learner = np.where(signal > 0, 1.0, -1.0), Logistic(ridge), Stumps(max_bins=20)
    best = optimal_loss(X, y, loss, learner).loss
    for n_iter in (1, 30, 100, 300, 1000):
        boosted = run(X, y, loss, n_iter, learner)
        truth = boosted.trace.train_loss[-1] - best
        found = certificate(boosted, X, y, loss=loss, exact=False)
        assert truth - ROUNDING <= found.gap <= 1.4 * truth
        assert found.products <= 20.0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("products", [1, 2, 3, 6])
def test_rigorous_when_conjugate_gradients_are_stopped_early(case, products):
    """Products are counted in halves; 1 ends before the first direction, 2 after it."""
    data, loss = CASES[case]
    X, y = data()
    for n_iter in (5, 200):
        boosted = run(X, y, loss, n_iter)
        truth = true_gap(boosted, y, loss)
        found = certificate(boosted, X, y, loss=loss, exact=False, max_products=products)
        assert found.products <= products + 1.0
        assert truth - ROUNDING <= found.gap <= found.loss + ROUNDING


def test_the_bound_shrinks_with_the_radius_by_the_projection_error():
    X, y = diabetes()
    boosted = run(X, y, Squared(), 50)
    rough = [
        certificate(
            boosted, X, y, loss=Squared(), exact=False, max_products=3, radius=radius, tightness=50
        )
        for radius in (0.0, 1.0, 3.0)
    ]
    error = rough[0].residual_projection_error
    assert error > 1e-4
    assert rough[1].gap - rough[0].gap == pytest.approx(error, rel=1e-6)
    assert rough[2].gap - rough[0].gap == pytest.approx(3 * error, rel=1e-6)
    assert [found.radius for found in rough] == [0.0, 1.0, 3.0]
    # What the radius leaves out: with no room to move, a rough bound is below the truth.
    assert rough[0].gap < true_gap(boosted, y, Squared())


def test_within_the_radius_the_bound_is_attained_by_the_worst_change_of_one_feature():
    """D(f') = sum w (v f' - l*(v)) at the f' for which Cauchy-Schwarz is an equality."""
    X, y = cancer()
    loss = Logistic(0.1)
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    boosted = run(X, y, loss, 3, weight=weight)
    training = Training(boosted.prepared, y, weight, loss, boosted.model.intercept)
    with training.team(1) as team:
        ground = training.ground(training.span(team), exact=False)
        start = boosted.model.score(X)
        searcher = Searcher(ground, start, Effort(products=16.0), radius=0.7)
        found = searcher.run()
    v, score, reference, per_scale = searcher.last
    assert not np.array_equal(score, start)  # the bound is not from the model itself
    assert found.radius == 0.7
    hot = explicit(boosted.prepared, len(y))
    best = None
    for g in range(X.shape[1]):
        A = hot[:, 6 * g : 6 * (g + 1)]
        projected = A @ ((A.T @ (weight * v)) / (A.T @ weight))
        length = np.sqrt(weight @ projected**2)
        if best is None or length > best[0]:
            best = length, projected
    length, projected = best
    worst = start - 0.7 * np.sqrt(weight.sum()) * projected / length
    dual = weight @ (v * worst - ground.conjugate.value(y, v))
    excess = ground.excess(score, v) + per_scale
    assert reference - excess == pytest.approx(dual, rel=1e-4)
    assert reference - excess <= dual + 1e-9
    assert reference - excess <= weight @ loss.value(y, worst)
    assert abs(weight @ (v * (score - start))) > 0.02 * per_scale


def test_an_infinite_radius_by_conjugate_gradients():
    X, y = cancer()
    loss = Logistic(0.01)
    boosted = run(X, y, loss, 100)
    found = certificate(boosted, X, y, loss=loss, exact=False, radius=math.inf)
    assert found.radius == math.inf
    assert found.method == "conjugate gradients"
    assert found.residual_projection_error < 1e-13
    truth = true_gap(boosted, y, loss)
    assert truth - ROUNDING <= found.gap <= 3 * truth


@pytest.mark.parametrize("case", ["squared", "huber", "logistic", "no ridge"])
def test_tiny_at_the_optimum_and_falling_on_the_way(case):
    data, loss = CASES[case]
    X, y = data()
    settings = dict(engine="quadratic", learner=Stumps(max_bins=4), tol=1e-15)
    near = run(X, y, loss, 400_000, **settings)
    found = certificate(near, X, y, loss=loss)
    assert found.relative_gap < 1e-8
    gaps, truths = [], []
    for n_iter in (1, 10, 100, 1000):
        boosted = run(X, y, loss, n_iter, Stumps(max_bins=4))
        gaps.append(certificate(boosted, X, y, loss=loss, tightness=1.2).gap)
        truths.append(true_gap(boosted, y, loss))
    assert all(b < a for a, b in pairwise(gaps))
    assert all(g <= 1.25 * t + 1e-9 for g, t in zip(gaps, truths, strict=True))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("loss", [Squared(), Huber(0.4), Logistic(0.01)], ids=repr)
def test_dictionaries(loss, exact, sparse):
    rng = np.random.default_rng(3)
    B = rng.normal(size=(120, 25)) * (rng.random((120, 25)) < 0.5)
    B[:, 7] = B[:, 3] - 2 * B[:, 4]
    B[:, 11] = 0.0
    y = labels(loss, B @ rng.normal(size=25) + rng.normal(size=120))
    weight = rng.random(120)
    weight[:5] = 0.0
    learner = Dictionary(scipy.sparse.csr_array(B) if sparse else B)
    boosted = run(B, y, loss, 20, learner, weight=weight, start_score=0.5)
    kept = weight > 0
    best = best_loss(B[kept], y[kept], loss, weight[kept], 0.5)
    truth = boosted.trace.train_loss[-1] - best
    found = certificate(boosted, B, y, weight, loss=loss, exact=exact, max_products=500)
    assert truth - ROUNDING <= found.gap <= 3.5 * truth + 1e-8


def test_estimators_with_weights_strings_and_sparse_rows():
    X, y = cancer()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    names = np.where(y > 0, "yes", "no")
    model = RGBMClassifier(max_iter=50, max_bins=6, random_state=0).fit(X, names, weight)
    kept = weight > 0
    cuts = Stumps(max_bins=6).prepare(X[kept], weight[kept])
    best = best_loss(explicit(cuts, kept.sum()), y[kept], model.loss_, weight[kept])
    truth = model.trace_.train_loss[-1] - best
    found = certificate(model, X, names, weight)
    assert truth - ROUNDING <= found.gap <= 3 * truth
    assert "at most" in str(found)
    Z, t = diabetes()
    Z = scipy.sparse.csr_array(np.where(Z > 0.02, Z, 0.0))
    regressor = RGBMRegressor(max_iter=300, max_bins=5, random_state=0).fit(Z, t)
    by_rows = certificate(regressor, Z, t)
    by_columns = certificate(regressor, Z.toarray(), t)
    assert by_rows.gap == pytest.approx(by_columns.gap, rel=1e-9)


@pytest.mark.parametrize("constraints", [None, {0: 1}], ids=["free", "constrained"])
def test_estimators_from_files(constraints, tmp_path):
    X, y = diabetes()
    settings = dict(max_iter=100, max_bins=8, random_state=0)
    model = RGBMRegressor(**settings, monotone_constraints=constraints).fit(X, y)
    model.save(tmp_path / "model")
    found, again = certificate(model, X, y), certificate(load(tmp_path / "model"), X, y)
    assert again.gap == pytest.approx(found.gap, rel=1e-9)
    truth = found.loss - optimal_loss(X, y, Squared(), Stumps(max_bins=8)).loss
    assert truth - ROUNDING <= found.gap <= 3 * truth


def test_other_rows_and_missing_things_are_refused():
    X, y = diabetes()
    boosted = run(X, y, Squared(), 20)
    with pytest.raises(ValueError, match="loss is missing"):
        certificate(SimpleBoosted(boosted), X, y)
    with pytest.raises(ValueError, match="at the end of training"):
        certificate(boosted, X, y + 1.0, loss=Squared())
    with pytest.raises(TypeError, match="StumpModel"):
        certificate(boosted.model, X, y)
    for name, value in [("radius", -1.0), ("tightness", 0.5), ("tolerance", -1.0)]:
        with pytest.raises(ValueError, match=name):
            certificate(boosted, X, y, loss=Squared(), **{name: value})
    with pytest.raises(ValueError, match="sample_weight"):
        certificate(boosted, X, y, -np.ones(len(y)), loss=Squared())


def SimpleBoosted(boosted):
    """The outcome of boost as it is without a ``loss``."""
    plain = type("Plain", (type(boosted),), {"__init__": lambda self: None})()
    for name in ("model", "trace", "prepared"):
        object.__setattr__(plain, name, getattr(boosted, name))
    object.__setattr__(plain, "loss", None)
    return plain


def test_weak_learners_that_can_do_nothing():
    X, y = np.zeros((6, 2)), np.arange(6.0)
    boosted = run(X, y, Squared(), 3)
    found = certificate(boosted, X, y, loss=Squared())
    assert found.gap == 0.0
    assert found.method == "nothing to add"


@pytest.mark.parametrize("exact", [True, False])
def test_the_same_bits_for_any_number_of_threads(exact):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 12))
    y = np.where(X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=9000) > 0, 1.0, -1.0)
    boosted = run(X, y, Logistic(), 30, Stumps(max_bins=20))
    one, two = (certificate(boosted, X, y, loss=Logistic(), exact=exact, n_jobs=n) for n in (1, 2))
    assert (one.gap, one.products, one.radius) == (two.gap, two.products, two.radius)


# ---- stopping ----------------------------------------------------------------------------------


def progress_of(boosted, y, loss, iteration, weight=None):
    """What boosting would tell a callback after some iterations."""
    trace = boosted.trace
    now = slice(0, iteration)
    path = trace.path().part(now.start, now.stop)
    snapshot = SimpleNamespace(
        prepared=boosted.prepared, path=path, start=boosted.model.intercept, loss=loss, y=y,
        weight=weight, offset=None,
    )  # fmt: skip
    return SimpleNamespace(
        iteration=iteration, n_iter=len(trace), train_loss=float(trace.train_loss[iteration]),
        validation_loss=None, seconds=0.0, snapshot=lambda: snapshot,
        keep_certificate=lambda iteration, found: None, settled=True,
    )  # fmt: skip


@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize(("case", "tol"), [("squared", 1e-3), ("logistic", 2e-2)])
def test_stop_at_a_certified_gap(case, tol, exact):
    data, loss = CASES[case]
    X, y = data()
    boosted = run(X, y, loss, 3000, selection=RandomGroups("sqrt"))
    stop = StopAtGap(tol, every=50, exact=exact, max_products=500)
    at = next((m for m in range(1, 3000, 7) if stop(progress_of(boosted, y, loss, m))), None)
    assert at is not None
    assert stop.stopped
    best = best_loss(explicit(boosted.prepared, len(y)), y, loss)
    assert boosted.trace.train_loss[at] - best <= tol
    assert np.diff(stop.iterations).min(initial=50) >= 50
    losses = [found.loss for found in stop.certificates]
    assert losses == pytest.approx(list(boosted.trace.train_loss[stop.iterations]))
    assert all(found.gap > tol for found in stop.certificates[:-1])
    again = run(X, y, loss, 40, learner=Stumps(max_bins=3))
    stop(progress_of(again, y, loss, 1))  # another run: nothing is carried over
    assert stop.iterations == [1]


def test_a_bound_for_all_stops_between_certificates():
    X, y = diabetes()
    boosted = run(X, y, Squared(), 2000)
    stop = StopAtGap(1e-3, every=10_000, n_jobs=1)
    assert not stop(progress_of(boosted, y, Squared(), 1))
    assert stop(progress_of(boosted, y, Squared(), 2000))
    assert stop.iterations == [1]
    relative = StopAtGap(0.01, relative=True, every=10)
    assert not relative(progress_of(boosted, y, Squared(), 1))


def test_stopping_checks_its_parameters():
    for name, value in [("tol_gap", 0.0), ("every", 0), ("radius", -1.0)]:
        with pytest.raises(ValueError, match=name):
            StopAtGap(**{"tol_gap": 1e-3, name: value})
