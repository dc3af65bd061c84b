"""Certificates of chosen iterations in the trace, for every engine."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from rgboost import RGBMRegressor, Stumps, boost
from rgboost.losses import Huber, Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.theory import RecordCertificates, StopAtGap, certificate, optimal_loss

LEARNER = Stumps(max_bins=6)


def rows():
    X, y = load_diabetes(return_X_y=True)
    return X[:, :5], (y - y.mean()) / y.std()


def run(callbacks, engine="direct", n_iter=300, loss=None):
    X, y = rows()
    return boost(
        X, y, loss=loss or Squared(), learner=LEARNER, selection=RandomGroups("sqrt"),
        step=ConstantStep(), n_iter=n_iter, random_state=0, engine=engine, callbacks=callbacks,
        tol=0.0,
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["direct", "gram", "quadratic"])
def test_exactly_the_chosen_iterations(engine):
    loss = Huber(0.5) if engine == "quadratic" else Squared()
    X, y = rows()
    boosted = run([RecordCertificates(at=[300, 0, 7, 123])], engine, loss=loss)
    assert [m for m, _ in boosted.trace.certificates] == [0, 7, 123, 300]
    best = optimal_loss(X, y, loss, LEARNER).loss
    for m, found in boosted.trace.certificates:
        model = boosted.prepared.model(_first(boosted.trace, m), boosted.model.intercept)
        mean = loss.value(y, model.score(X)).mean()
        assert found.loss == pytest.approx(mean, rel=1e-12)
        assert mean - best - 1e-12 <= found.gap <= 3.5 * (mean - best) + 1e-8
    alone = certificate(boosted, X, y, loss=loss)
    assert boosted.trace.certificates[-1][1].gap == pytest.approx(alone.gap, rel=1e-9)


def _first(trace, m):
    return trace.path(m)


def test_at_a_distance_and_in_the_next_run():
    record = RecordCertificates(every=100)
    first, second = run([record]), run([record], n_iter=250)
    assert [m for m, _ in first.trace.certificates] == [100, 200, 300]
    assert [m for m, _ in second.trace.certificates] == [100, 200]
    gaps = [found.gap for _, found in first.trace.certificates]
    assert gaps == sorted(gaps, reverse=True)
    np.testing.assert_allclose(gaps[:2], [f.gap for _, f in second.trace.certificates], rtol=1e-9)


def test_another_run_owes_nothing_to_the_one_before():
    """The lower bound of other rows, far above the loss of these, must not stop them."""
    X, y = rows()
    stop = StopAtGap(1e-3, every=1)
    record = RecordCertificates(at=[1])
    settings = dict(
        loss=Squared(), learner=LEARNER, selection=RandomGroups("sqrt"), step=ConstantStep(),
        random_state=0, engine="direct", callbacks=[stop, record],
    )  # fmt: skip
    boost(X, 100.0 * y, n_iter=1, **settings)
    assert stop.lower_bound > 1.0
    boosted = boost(X, y, n_iter=40, **settings)
    assert stop.lower_bound < 0.5
    best = optimal_loss(X, y, Squared(), LEARNER).loss
    assert not stop.stopped or boosted.trace.train_loss[-1] - best <= 1e-3
    assert len(boosted.trace) > 5
    assert boosted.trace.certificates[0][0] == 1


def test_used_callbacks_can_be_copied_and_stored():
    """As `sklearn.base.clone` and pickle do with an estimator's parameters."""
    stop, record = StopAtGap(1e-9, every=50), RecordCertificates(at=[2])
    run([stop, record], n_iter=100)
    for callbacks in (copy.deepcopy([stop, record]), pickle.loads(pickle.dumps([stop, record]))):
        assert callbacks[0].iterations == stop.iterations
        assert callbacks[1].certifier._known is None
        again = run(callbacks, n_iter=10)
        assert 2 in dict(again.trace.certificates)


def test_stopping_leaves_its_certificates_in_the_trace():
    stop = StopAtGap(1e-2, every=30)
    boosted = run([stop, RecordCertificates(at=[5])], n_iter=100_000)
    kept = dict(boosted.trace.certificates)
    assert set(kept) == {5, *stop.iterations}
    assert [kept[m] for m in stop.iterations] == stop.certificates
    assert run([]).trace.certificates == ()


def test_what_to_record_is_said_once():
    for arguments in ({}, {"at": [1], "every": 2}):
        with pytest.raises(ValueError, match="give the iterations"):
            RecordCertificates(**arguments)
    with pytest.raises(ValueError, match="at=-1"):
        RecordCertificates(at=[-1])
    with pytest.raises(ValueError, match="every"):
        RecordCertificates(every=0)
    with pytest.raises(ValueError, match="radius"):
        RecordCertificates(at=[1], radius=-2.0)


@pytest.mark.parametrize("settings", [{}, {"ensemble": False}])
def test_the_certificate_of_a_fit_with_offsets_is_refused(settings):
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(200, 2)), rng.normal(size=200)
    y = X[:, 0] + offset + 0.1 * rng.normal(size=200)
    model = RGBMRegressor(random_state=0, **settings).fit(X, y, offset=offset)
    with pytest.raises(ValueError, match=r"offset.*RecordCertificates"):
        certificate(model, X, y)
