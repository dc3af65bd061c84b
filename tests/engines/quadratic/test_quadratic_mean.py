"""Means of models of smooth losses, from statistics of quadratic models."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from rgboost import RGBMClassifier, RGBMRegressor, Stumps, boost
from rgboost.engines.gram import runs as gram_runs
from rgboost.engines.quadratic import runs as quadratic_runs
from rgboost.engines.quadratic.runs import QuadraticRuns, loss_obstacle
from rgboost.losses import Exponential, Huber, Logistic, Loss, Poisson, Quantile, Softmax
from rgboost.selection import RandomGroups
from rgboost.statistics import in_memory
from rgboost.steps import ConstantStep, LeafSearch, LineSearch
from rgboost.theory import certificate
from rgboost.training import EarlyStopping

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
    start_score=None, n_jobs=1, random_state=0, engine="quadratic",
)  # fmt: skip


@pytest.mark.parametrize("loss", [Logistic(), Logistic(0.1), Poisson(), Exponential()], ids=str)
def test_curvature_keeps_steps_short(loss):
    rng = np.random.default_rng(0)
    score = 3.0 * rng.normal(size=500)
    y = (
        rng.poisson(2.0, 500).astype(float)
        if isinstance(loss, Poisson)
        else rng.choice([-1, 1], 500)
    )
    found, exact = loss.model_curvature(y, score), loss.curvature(y, score)
    step = np.abs(loss.residual(y, score) / exact)
    short = step < loss.newton_limit * (1 - 1e-9)
    np.testing.assert_array_equal(found[short], exact[short])
    assert (np.abs(loss.residual(y, score)) / found).max() <= loss.newton_limit * (1 + 1e-9)
    assert short.any() != isinstance(loss, Exponential)  # whose step is 1, as its limit
    assert (~short).any()


def run_until_it_stops(X, y, fold, **more):
    settings = {**SETTINGS, "loss": Logistic(), "n_iter": 2000, **more}
    return boost(X, y, fold=fold, early_stopping=EarlyStopping(**RULE), **settings)


def test_stretches_get_longer_while_the_model_is_good(monkeypatch):
    X, y, fold = data(3000)
    lengths = lengths_of_stretches(monkeypatch)
    run_until_it_stops(X, y, fold)
    assert lengths[0] == quadratic_runs.FIRST_STRETCH
    assert lengths[-1] > 2 * lengths[0]


def lengths_of_stretches(monkeypatch):
    """Filled with the length of every stretch that is begun."""
    lengths, go_on = [], QuadraticRuns.go_on

    def keep(self, n):
        if not self._stretch:
            lengths.append(self.length)
        return go_on(self, n)

    monkeypatch.setattr(QuadraticRuns, "go_on", keep)
    return lengths


class TooFlat(Logistic):
    """The logistic loss, with quadratic models whose steps are too long by a factor."""

    factor = 1.0

    def model_curvature(self, y, f):
        return super().model_curvature(y, f) / self.factor


def flatten(monkeypatch, factor):
    """Curvature that is too small by a factor, wherever quadratic models get it from."""
    monkeypatch.setattr(TooFlat, "factor", factor)
    monkeypatch.setattr(in_memory, "can_stand_side_by_side", lambda *given: False)


def test_a_stretch_that_raises_the_loss_is_dropped(monkeypatch):
    """Steps that are far too long at first."""
    X, y, fold = data(1500)
    flatten(monkeypatch, 50.0)
    lengths, kept, settle = lengths_of_stretches(monkeypatch), [], QuadraticRuns.settle

    def keep(self, ending):
        if self._n_done() >= self.length or ending:
            TooFlat.factor = 1.0
        settled = settle(self, ending)
        if settled is not None:
            kept.append(settled.kept)
        return settled

    monkeypatch.setattr(QuadraticRuns, "settle", keep)
    found = run_until_it_stops(X, y, fold, loss=TooFlat())
    assert kept[:2] == [False, True]
    assert lengths[1] == quadratic_runs.FIRST_STRETCH // 4
    assert found.best_iteration > 100
    assert found.trace.train_loss[-1] < 0.8 * found.trace.train_loss[0]
    assert (np.diff(found.trace.train_loss) < 0).all()
    assert (np.abs(found.model.score(X)) < 20).all()


def test_where_no_stretch_helps_runs_go_by_rows(monkeypatch):
    X, y, fold = data(600)
    flatten(monkeypatch, 1e9)
    found = run_until_it_stops(X, y, fold, loss=TooFlat(), start_score=0.0)
    assert found.events == (
        "quadratic: the mean of 3 runs on quadratic models until iteration 0, where no quadratic "
        "model lowered the loss; direct from there",
    )
    by_rows = run_until_it_stops(X, y, fold, engine="direct", start_score=0.0)
    assert found.best_iteration > 10
    assert found.trace.validation_loss.min() < 1.001 * by_rows.trace.validation_loss.min()


def test_the_mean_predicts_better_than_one_run():
    X, y, _ = data(2000, seed=3)
    X_test, y_test, _ = data(20_000, seed=4)
    losses = {}
    for ensemble in (True, False):
        model = RGBMClassifier(
            selection="learners", random_state=0, ensemble=ensemble, max_iter="cv"
        ).fit(X, y)
        losses[ensemble] = Logistic(0.0).value(y_test, model.decision_function(X_test)).mean()
        assert ("quadratic models" in model.trace_.engine) == ensemble
    assert losses[True] < losses[False]


@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie"])
def test_losses_of_positive_means(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    mean = 100 * np.exp(1.5 * np.sin(2 * X[:, 0]) + X[:, 1] - 3)
    y = rng.gamma(2.0, mean / 2) if name == "gamma" else rng.poisson(mean).astype(float)
    y = np.maximum(y, 1e-3) if name == "gamma" else y
    losses = {}
    for ensemble in (True, False):
        model = RGBMRegressor(
            loss=name, selection="learners", random_state=0, ensemble=ensemble
        ).fit(X[:2000], y[:2000])
        assert ("quadratic models" in model.trace_.engine) == ensemble
        losses[ensemble] = model.loss_.value(y[2000:], np.log(model.predict(X[2000:]))).mean()
    assert losses[True] < losses[False]


@pytest.mark.parametrize("kind", ["dense", "sparse", "indicators", "mixed"])
def test_threads_do_not_change_it(kind, monkeypatch):
    monkeypatch.setattr(gram_runs, "_WORK_FOR_THREADS", 0)
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
            random_state=0, n_jobs=n, categorical_features=categorical, max_bins=16,
            selection="learners",
        ).fit(rows, y, weight)
        for n in (1, 3)
    ]  # fmt: skip
    assert "quadratic models" in fits[0].trace_.engine
    np.testing.assert_array_equal(fits[0].decision_function(rows), fits[1].decision_function(rows))
    score = fits[0].decision_function(rows)
    null = Logistic(0.0).best_constant(y, weight)
    losses = Logistic(0.0).value(y, score), Logistic(0.0).value(y, np.full(len(y), null))
    assert np.average(losses[0], weights=weight) < 0.97 * np.average(losses[1], weights=weight)


def test_gram_rows_come_one_after_the_other(monkeypatch):
    X, y, fold = data(1500)

    def run():
        return run_until_it_stops(X, y, fold, n_iter=500)

    expected = run()
    monkeypatch.setattr(gram_runs, "ALL_AT_ONCE", 0)
    monkeypatch.setattr(gram_runs, "EXPANDED_BINS", 3000)  # two features at a time
    found = run()
    np.testing.assert_array_equal(found.trace.learner, expected.trace.learner)
    np.testing.assert_array_equal(found.trace.left, expected.trace.left)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie"])
def test_the_unit_of_labels_does_not_matter(name, unit, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = rng.gamma(2.0, np.exp(np.sin(2 * X[:, 0]) + X[:, 1]))
    weight = rng.random(800) + 0.1 if weighted else None
    settings = dict(loss=name, selection="learners", random_state=0, max_bins=16)
    expected = RGBMRegressor(**settings).fit(X, y, weight)
    found = RGBMRegressor(**settings).fit(X, unit * y, weight)
    assert "quadratic models" in expected.trace_.engine
    assert "quadratic models" in found.trace_.engine
    np.testing.assert_allclose(found.predict(X) / unit, expected.predict(X), rtol=0.02)
    assert expected.predict(X).std() > 1.0


def test_folds_by_a_feature():
    """Curvature of bins that a run has all rows of, and few of all rows."""
    X, y, _ = data(1500)
    X = np.column_stack([X, np.arange(1500) < 300]).astype(float)
    few, many = np.arange(300), np.arange(300, 1500)
    for rate in (0.2, 0.5):
        model = RGBMClassifier(
            random_state=0,
            max_iter="cv",
            cv=[(few, many), (many, few)],
            learning_rate=rate,
            selection="learners",
        ).fit(X, y)
        assert ("quadratic models" in model.trace_.engine) == (rate == 0.2)
        assert model.score(X, y) > 0.75


class Cosh(Loss):
    """cosh(y - f) - 1, written in Python; with a curvature and without."""

    newton_limit = 1.0

    def value(self, y, f):
        return np.cosh(y - f) - 1.0

    def residual(self, y, f):
        return np.sinh(y - f)


class CurvedCosh(Cosh):
    def curvature(self, y, f):
        return np.cosh(y - f)


def test_losses_written_in_python_and_with_a_ridge():
    X, _, _ = data(600)
    y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=600)
    model = RGBMRegressor(loss=CurvedCosh(), step="newton", random_state=0).fit(X, y)
    assert "quadratic models" in model.trace_.engine
    assert np.mean((model.predict(X) - y) ** 2) < 0.1 * y.var()
    model = RGBMRegressor(loss=Cosh(), step="line-search", random_state=0, max_iter=50).fit(X, y)
    assert "quadratic" not in model.trace_.engine
    assert "has no quadratic model" in loss_obstacle(Cosh(), LineSearch(), 0.2)
    ridged = RGBMRegressor(ridge=1.0, selection="learners", random_state=0).fit(X, y)
    assert "quadratic models" in ridged.trace_.engine
    plain = RGBMRegressor(selection="learners", random_state=0).fit(X, y)
    np.testing.assert_allclose(ridged.predict(X), plain.predict(X) / 2, atol=0.1)


@pytest.mark.parametrize("unit", [1e-9, 1e12])
def test_the_unit_of_weights_does_not_matter(unit):
    X, y, _ = data()
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    model = RGBMClassifier(selection="learners", random_state=0).fit(X, y, weight)
    other = RGBMClassifier(selection="learners", random_state=0).fit(X, y, unit * weight)
    assert "quadratic models" in other.trace_.engine
    np.testing.assert_allclose(
        model.decision_function(X), other.decision_function(X), rtol=1e-3, atol=1e-3
    )


def test_classes_that_can_be_told_apart_have_finite_scores():
    X = np.arange(200.0)[:, None]
    y = (X[:, 0] > 99).astype(int)
    model = RGBMClassifier(selection="learners", random_state=0).fit(X, y)
    assert "quadratic models" in model.trace_.engine
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.decision_function(X)).all()


def test_what_has_no_such_mean():
    step = ConstantStep()
    for loss in (Logistic(), Poisson(), Exponential(), Huber(), Softmax(3)):
        assert loss_obstacle(loss, step, 0.2) is None
    assert "Quantile" in loss_obstacle(Quantile(0.3), step, 0.2)
    assert "LeafSearch" in loss_obstacle(Logistic(), LeafSearch(), 0.2)
    assert "rho=0.1" in loss_obstacle(Logistic(), ConstantStep(0.1), 0.2)
    assert "learning_rate=2" in loss_obstacle(Logistic(), step, 2.0)
    X, y, _ = data(300)
    for more in (
        dict(engine="direct"), dict(step="leaf-search"), dict(learning_rate=1.5),
        dict(ensemble=False),
    ):  # fmt: skip
        model = RGBMClassifier(selection="learners", random_state=0, max_iter="cv", **more).fit(
            X, y
        )
        assert "quadratic" not in model.trace_.engine
    model = RGBMClassifier(selection="learners", random_state=0, max_iter="cv", gram_memory=100)
    assert "direct" in model.fit(X, y).trace_.engine


def test_a_row_that_outweighs_others():
    X, y, _ = data()
    weight = np.ones(len(y))
    weight[0] = 50.0
    model = RGBMClassifier(selection="learners", random_state=0).fit(X, y, weight)
    assert "quadratic models" in model.trace_.engine
    assert model.score(X, y) > np.mean(y < 0) + 0.1
    weight[0] = 1e7  # the run without it has next to nothing
    with pytest.warns(ConvergenceWarning, match="No iteration lowered the loss"):
        model.fit(X, y, weight)
    assert "quadratic" not in model.trace_.engine
    assert model.score(X, y, weight) > 0.999


def test_certificates_of_means():
    X, y, _ = data(400)
    for model, labels in (
        (RGBMClassifier(selection="learners", random_state=0), y),
        (RGBMRegressor(selection="learners", random_state=0), X[:, 0]),
    ):
        model.set_params(max_bins=8).fit(X, labels)
        assert "mean" in model.trace_.engine
        found = certificate(model, X, labels)
        score = model.decision_function(X) if labels is y else model.predict(X)
        assert found.loss == pytest.approx(model.loss_.value(labels, score).mean())
        assert 0 <= found.gap < found.loss
