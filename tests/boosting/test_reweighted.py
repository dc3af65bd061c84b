"""Means of models of smooth losses, by rounds on their quadratic models."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit

from rgboost import RGBMClassifier, RGBMRegressor, Stumps
from rgboost._team import Team
from rgboost.boosting import EarlyStopping, reweighted
from rgboost.boosting.fold_mean import boost_mean
from rgboost.boosting.make_problem import make_problem
from rgboost.boosting.reweighted import Part, boost_reweighted, reweighted_obstacle
from rgboost.boosting.statistics import MemoryStatistics
from rgboost.callbacks import Checkpoint, TimeLimit
from rgboost.losses import Exponential, Huber, Logistic, Poisson, Softmax, Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep, LeafSearch, NewtonStep
from rgboost.theory import RecordCertificates, StopAtGap, certificate

K = 3
RULE = dict(n_iter_no_change=30, tol=1e-5)


def data(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = np.sin(2 * X[:, 0]) + X[:, 1] - 0.5
    y = np.where(rng.random(n) < expit(2 * score), 1.0, -1.0)
    return X, y, rng.integers(0, K, n)


SETTINGS = dict(
    learner=Stumps(max_bins=16), selection=RandomGroups(2), step=ConstantStep(), learning_rate=0.3,
    start_score=None, groups=None, names=None, weight=None, n_jobs=1, random_state=0,
)  # fmt: skip


@pytest.mark.parametrize("loss", [Logistic(), Logistic(0.1), Poisson(), Exponential()], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_quadratic_model_has_value_and_slope_of_the_loss(loss, weighted):
    X, y, _ = data()
    y = np.abs(np.round(3 * X[:, 2])) if isinstance(loss, Poisson) else y
    weight = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    settings = {**SETTINGS, "step": NewtonStep(), "weight": weight}
    problem = make_problem(X, y, loss=loss, n_iter=1, validation=None, callbacks=(), **settings)
    with Team(1) as team:
        exact = MemoryStatistics(problem.prepared.arrays, y, weight, loss, 0.0, team)
        part = Part(exact, 1.0)
        rng = np.random.default_rng(2)
        score = 2.0 * rng.normal(size=len(exact.offsets) - 1 + exact.offsets[-1])
        value = part.move(0.3, score)
        rows = part.quadratic()
        f = exact.rows.score
        w = np.ones(len(y)) if weight is None else weight
        assert rows.loss + 0.5 * np.sum(rows.weight * (rows.y - f) ** 2) == pytest.approx(
            value, rel=1e-12
        )
        np.testing.assert_allclose(
            rows.weight * (rows.y - f), w * loss.residual(y, f), rtol=1e-9, atol=1e-12
        )
        curvature, step = loss.curvature(y, f), np.abs(rows.y - f)
        short = step < loss.newton_limit * (1 - 1e-9)
        np.testing.assert_allclose(rows.weight[short], (w * curvature)[short], rtol=1e-9)
        assert step.max() <= loss.newton_limit * (1 + 1e-9)
        assert short.any() != isinstance(loss, Exponential)  # whose step is 1, as its limit
        assert (~short).any()


def test_a_round_is_the_mean_of_runs_on_labels_and_weights(monkeypatch):
    """The naive twin: the same labels and weights for the mean of a squared loss."""
    X, y, fold = data()
    X = np.round(2 * np.clip(X, -3, 3))  # few values: weights do not move thresholds
    monkeypatch.setattr(reweighted, "PILOT_ROUNDS", 1)
    monkeypatch.setattr(reweighted, "MOST_ROUNDS", 1)
    monkeypatch.setattr(reweighted, "PILOT_RATE", 1.0)
    given = []
    quadratic = Part.quadratic

    def keep(part):
        given.append(quadratic(part))
        return given[-1]

    monkeypatch.setattr(Part, "quadratic", keep)
    found = boost_reweighted(
        X, y, fold, loss=Logistic(), n_iter=400, rule=EarlyStopping(**RULE), **SETTINGS
    )
    labels, weights = np.empty(len(y)), np.empty(len(y))
    for k, rows in enumerate(given[K:]):
        labels[fold == k], weights[fold == k] = rows.y, rows.weight
    expected = boost_mean(
        X, labels, fold, loss=Squared(), n_iter=400, rule=EarlyStopping(10**9, 0.0),
        **{**SETTINGS, "weight": weights}, engine="gram",
    )  # fmt: skip
    n = len(found.trace)
    np.testing.assert_array_equal(found.trace.learner, expected.trace.learner[:n])
    np.testing.assert_allclose(found.trace.left, expected.trace.left[:n], rtol=1e-3, atol=1e-6)
    constant = sum(rows.loss for rows in given[K:])
    mass, heavy = len(y), weights.sum()
    np.testing.assert_allclose(
        found.trace.validation_loss * mass - constant,
        expected.trace.validation_loss[: n + 1] * heavy,
        rtol=1e-4,
    )


def test_rounds_end_and_never_get_worse(monkeypatch):
    X, y, fold = data(3000)
    seen = []
    a_round = reweighted.Rounds._round

    def keep(rounds, problem, parts):
        found = a_round(rounds, problem, parts)
        seen.append((sum(len(part.exact.rows.y) for part in parts), found))
        return found

    monkeypatch.setattr(reweighted.Rounds, "_round", keep)
    monkeypatch.setattr(reweighted, "PILOT_ROWS", 500)
    boosted = boost_reweighted(
        X, y, fold, loss=Logistic(), n_iter=2000, rule=EarlyStopping(**RULE),
        **{**SETTINGS, "start_score": 0.0},
    )  # fmt: skip
    rows = [n for n, _ in seen]
    pilot, full = rows.count(500), rows.count(3000)
    assert rows == [500] * pilot + [3000] * full
    assert 1 <= pilot <= reweighted.PILOT_ROUNDS
    assert 2 <= full <= reweighted.MOST_ROUNDS
    held = [found.held_loss for n, found in seen if n == 3000]
    kept = int(np.argmin(held))
    assert kept >= full - 2
    assert (np.diff(held[: kept + 1]) < 0).all()
    np.testing.assert_array_equal(
        boosted.trace.learner, seen[pilot + kept][1].recorder.learner[: len(boosted.trace)]
    )
    # The loss of rows that no run sees, at the models themselves, which all start from 0.
    trace, cuts, truth = boosted.trace, boosted.prepared.cuts, 0.0
    for k in range(K):
        its, here = slice(k, boosted.best_iteration, K), fold == k
        score = np.zeros(int(here.sum()))
        for step in zip(trace.learner[its], trace.left[its], trace.right[its], strict=True):
            g = int(np.searchsorted(cuts.offsets, step[0], side="right")) - 1
            score += K * np.where(X[here, g] <= cuts.thresholds[step[0]], step[1], step[2])
        truth += Logistic().value(y[here], score).sum()
    assert held[kept] == pytest.approx(truth / len(y), rel=1e-9)


def test_the_mean_predicts_better_than_one_run():
    X, y, _ = data(2000, seed=3)
    X_test, y_test, _ = data(20_000, seed=4)
    losses = {}
    for ensemble in (True, False):
        model = RGBMClassifier(random_state=0, ensemble=ensemble, max_iter="cv").fit(X, y)
        losses[ensemble] = Logistic(0.0).value(y_test, model.decision_function(X_test)).mean()
        assert ("quadratic model" in model.trace_.engine) == ensemble
    assert losses[True] < losses[False]


@pytest.mark.parametrize("kind", ["dense", "sparse", "indicators", "mixed"])
def test_threads_do_not_change_it(kind):
    X, y, _ = data(1500)
    categorical = None
    if kind == "indicators":
        X = (np.abs(X) > 1.8).astype(float)
        X[:, 1] = data(1500)[0][:, 1] > 1.3
    elif kind == "mixed":
        X[:, 0] = np.round(2 * X[:, 0]) % 7
        X[::7, 1] = np.nan
        categorical = [0]
    weight = np.random.default_rng(0).random(len(y))
    rows = scipy.sparse.csr_array(np.where(X > 0, X, 0.0)) if kind == "sparse" else X
    fits = [
        RGBMClassifier(
            random_state=0, n_jobs=n, categorical_features=categorical, max_bins=16
        ).fit(rows, y, weight)
        for n in (1, 3)
    ]  # fmt: skip
    assert "quadratic model" in fits[0].trace_.engine
    np.testing.assert_array_equal(fits[0].decision_function(rows), fits[1].decision_function(rows))
    score = fits[0].decision_function(rows)
    null = Logistic(0.0).best_constant(y, weight)
    losses = Logistic(0.0).value(y, score), Logistic(0.0).value(y, np.full(len(y), null))
    assert np.average(losses[0], weights=weight) < 0.97 * np.average(losses[1], weights=weight)


@pytest.mark.parametrize("unit", [1e-9, 1e12])
def test_the_unit_of_weights_does_not_matter(unit):
    X, y, _ = data()
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    model = RGBMClassifier(random_state=0).fit(X, y, weight)
    other = RGBMClassifier(random_state=0).fit(X, y, unit * weight)
    assert "quadratic model" in other.trace_.engine
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), rtol=1e-3, atol=1e-3
    )


def test_classes_that_can_be_told_apart_have_finite_scores():
    X = np.arange(200.0)[:, None]
    y = (X[:, 0] > 99).astype(int)
    model = RGBMClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.decision_function(X)).all()


def test_what_has_no_such_mean():
    step = ConstantStep()
    assert reweighted_obstacle(Logistic(), step, 0.2, "auto") is None
    for loss in (Huber(), Softmax(3), Squared(), Poisson()):
        assert type(loss).__name__ in reweighted_obstacle(loss, step, 0.2, "auto")
    assert "LeafSearch" in reweighted_obstacle(Logistic(), LeafSearch(), 0.2, "auto")
    assert "rho=0.1" in reweighted_obstacle(Logistic(), ConstantStep(0.1), 0.2, "auto")
    assert "learning_rate=2" in reweighted_obstacle(Logistic(), step, 2.0, "auto")
    assert "'direct'" in reweighted_obstacle(Logistic(), step, 0.2, "direct")
    X, y, _ = data(300)
    for more in (
        dict(engine="direct"), dict(step="leaf-search"), dict(gram_memory=100),
        dict(learning_rate=1.5), dict(loss="exponential"), dict(ensemble=False),
    ):  # fmt: skip
        model = RGBMClassifier(random_state=0, max_iter="cv", **more).fit(X, y)
        assert "quadratic" not in model.trace_.engine
    counts = np.abs(np.round(3 * X[:, 2]))
    assert "quadratic" not in RGBMRegressor(loss="poisson").fit(X, counts).trace_.engine


def test_a_row_that_outweighs_all_others():
    X, y, _ = data()
    weight = np.ones(len(y))
    weight[0] = 1e7
    model = RGBMClassifier(random_state=0).fit(X, y, weight)
    assert "quadratic model" in model.trace_.engine
    assert model.best_iteration_ > 0
    assert model.score(X, y) > np.mean(y < 0) + 0.05


def test_certificates_of_means():
    X, y, _ = data(400)
    for model, labels in (
        (RGBMClassifier(random_state=0), y),
        (RGBMRegressor(random_state=0), X[:, 0]),
    ):
        model.set_params(max_bins=8).fit(X, labels)
        assert "mean" in model.trace_.engine
        found = certificate(model, X, labels)
        score = model.decision_function(X) if labels is y else model.predict(X)
        assert found.loss == pytest.approx(model.loss_.value(labels, score).mean())
        assert 0 <= found.gap < found.loss


def test_callbacks_of_one_run_have_one_run(tmp_path):
    X, y, _ = data(400)
    for callback in (
        Checkpoint(tmp_path / "state", every=0.0), StopAtGap(0.1), RecordCertificates(at=[5]),
        EarlyStopping(5),
    ):  # fmt: skip
        model = RGBMClassifier(random_state=0, max_iter="cv", callbacks=[callback]).fit(X, y)
        assert "mean" not in model.trace_.engine
    assert (tmp_path / "state").exists()


def test_seconds_go_on_from_round_to_round():
    X, y, _ = data(1500)
    seen = []
    model = RGBMClassifier(random_state=0, callbacks=[lambda p: seen.append(p)]).fit(X, y)
    iterations = [progress.iteration for progress in seen]
    assert iterations.count(640) >= 2
    assert (np.diff([progress.seconds for progress in seen]) > 0).all()
    assert (np.diff(model.trace_.seconds) >= 0).all()


def test_ctrl_c_twice_leaves_the_round_that_was_finished(ctrl_c_interrupts):
    X, y, _ = data(1500)
    whole = RGBMClassifier(random_state=0).fit(X, y)
    seen = []

    def press(progress):
        seen.append(progress.iteration)
        if seen.count(640) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    model = RGBMClassifier(random_state=0, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert seen[-1] == 640
    assert model.n_iter_ > 640
    agreement = model.predict(X) == whole.predict(X)
    assert agreement.mean() > 0.95


def test_ctrl_c_leaves_the_mean_of_what_was_done(ctrl_c_interrupts):
    X, y, _ = data(1500)
    model = RGBMClassifier(random_state=0, max_bins=16, n_iter_no_change=10**6)

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[press]).fit(X, y)
    assert model.n_iter_ == 640
    assert model.score(X, y) > 0.7


def test_a_callback_ends_all_rounds():
    X, y, _ = data(1500)
    calls = []

    def stop(progress):
        calls.append(progress.iteration)
        return True

    model = RGBMClassifier(random_state=0, callbacks=[stop]).fit(X, y)
    assert calls == [640]
    assert model.n_iter_ == 640
    model.set_params(callbacks=[TimeLimit(0.001)]).fit(X, y)
    assert model.score(X, y) > 0.7
