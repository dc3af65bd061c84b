"""Several classes on quadratic models: against numpy, against the direct engine, and as a fit."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import RGBMClassifier
from rgboost._core.team import Team
from rgboost.engines.quadratic import class_runs
from rgboost.learners import Stumps
from rgboost.learners.stumps.class_sums import projections
from rgboost.losses import Softmax
from rgboost.model import Path
from rgboost.selection import AllLearners, RandomLearners
from rgboost.statistics.class_rows import make_class_rows
from rgboost.statistics.classes import fill_curvature
from rgboost.steps import ConstantStep, NewtonStep
from rgboost.training import EarlyStopping, Validation, boost
from tests.engines.checks import check_held, check_threads
from tests.mixed_naive import numeric_sides

C = 4


def data(n=400, seed=0, n_classes=C):
    """(X, y, weight, offset): few values, so that weights do not move thresholds."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * np.clip(rng.normal(size=(n, 5)), -2, 2))
    score = np.column_stack([np.sin(c + X[:, c % 5]) + 0.3 * X[:, 0] * c for c in range(n_classes)])
    y = np.argmax(score + rng.gumbel(size=score.shape), axis=1).astype(float)
    return X, y, rng.integers(1, 5, n).astype(float), 0.5 * rng.normal(size=(n, n_classes))


def fit(X, y, n_classes=C, **settings):
    defaults = dict(
        loss=Softmax(n_classes), learner=Stumps(max_bins=16), selection=AllLearners(),
        step=NewtonStep(), learning_rate=0.3, start_score=None, random_state=0, tol=0.0,
        engine="quadratic",
    )  # fmt: skip
    return boost(X, y, **{**defaults, **settings})


def mixed(n=300, seed=0, n_classes=3):
    """(X, y, weight): a number with missing values, one without, categories with missing values."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n).round(1), rng.normal(size=n).round(1),
                         rng.integers(0, 7, n)]).astype(float)  # fmt: skip
    level = rng.normal(size=(9, n_classes))[np.nan_to_num(X[:, 2], nan=7).astype(int)]
    score = level + np.sin(X[:, [0]] + np.arange(n_classes)) + np.outer(X[:, 1] > 0.3, [2, 0, 1])
    X[rng.random(n) < 0.2, 0] = np.nan
    X[rng.random(n) < 0.1, 2] = np.nan
    y = np.argmax(score + rng.gumbel(size=score.shape), axis=1).astype(float)
    return X, y, rng.integers(1, 4, n).astype(float)


MIXED = dict(n_classes=3, learner=Stumps(max_bins=None, categorical=(2,)))


def category_sides(x, R, h):
    """The left rows of the prefixes of the categories along the first principal direction."""
    keys = np.where(np.isnan(x), 99, x)
    names = np.unique(keys)
    bins = np.array([R[keys == one].sum(axis=0) for one in names])
    weights = np.array([h[keys == one].sum() for one in names])
    order = np.argsort(projections(bins, weights, R.sum(axis=0), h.sum()), kind="stable")
    return [np.isin(keys, names[order[: k + 1]]) for k in range(len(names) - 1)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selection", [AllLearners(), RandomLearners(1.0)], ids=repr)
def test_categories_and_missing_values(selection, weighted, steady):
    """Every iteration takes the best of all splits on the quadratic model, with its leaves."""
    X, y, weight = mixed()
    w = weight / weight.max() if weighted else np.ones(len(y))
    found = fit(X, y, selection=selection, n_iter=20, weight=w if weighted else None, **MIXED)
    loss, trace = Softmax(3), found.trace
    assert {0, 1, 2} == set(trace.feature)
    start = loss.best_constant(y, w)
    before = np.tile(start, (len(y), 1))
    R, h = w[:, None] * loss.residual(y, before), w * loss.model_curvature(y, before)
    for m, after in enumerate(found.model.staged_score(X)):
        numbers = [side for g in (0, 1) for side in numeric_sides(X[:, g], None, w)]
        sides = [*numbers, *category_sides(X[:, 2], R, h)]
        best = max(
            sum((R[s].sum(axis=0) ** 2).sum() / h[s].sum() for s in (left, ~left)) for left in sides
        )
        left = np.isclose(after - before, trace.left[m], rtol=1e-9).all(axis=1)
        assert 0 < left.sum() < len(y)
        assert trace.gradient_norm[m] == pytest.approx(np.sqrt(best), rel=1e-5)
        values = 0.3 * R[left].sum(axis=0) / h[left].sum()
        np.testing.assert_allclose(trace.left[m], values, rtol=1e-4, atol=1e-7)
        R, before = R - h[:, None] * (after - before), after
    exact = np.average(loss.value(y, before), weights=w)
    assert trace.train_loss[-1] == pytest.approx(exact, rel=1e-12)


def test_held_rows_that_lack_values():
    """They are those where training rows have all values."""
    X, y, weight = mixed(600)
    known = ~np.isnan(X).any(axis=1)
    held = Validation(X[~known], y[~known], weight[~known])
    check_held(
        X[known], y[known], held, weight=weight[known], loss=Softmax(3), engine="quadratic",
        step=NewtonStep(), selection=AllLearners(), learner=MIXED["learner"], learning_rate=0.3,
        n_iter=200,
    )  # fmt: skip


def test_the_first_iteration_is_the_constant_step():
    """Where the curvature is sigma everywhere: two classes with equal probabilities."""
    X, y, _, _ = data(n_classes=2)
    settings = dict(n_classes=2, start_score=0.0, n_iter=1, step=ConstantStep())
    quadratic, direct = (fit(X, y, engine=name, **settings) for name in ("quadratic", "direct"))
    np.testing.assert_array_equal(quadratic.trace.learner, direct.trace.learner)
    np.testing.assert_allclose(quadratic.trace.left, direct.trace.left, rtol=1e-6)
    np.testing.assert_allclose(quadratic.trace.train_loss, direct.trace.train_loss, rtol=1e-7)


def test_the_optimum_is_that_of_the_direct_engine():
    X, y, weight, _ = data(300)
    settings = dict(loss=Softmax(C, ridge=0.1), n_iter=6000, learning_rate=1.0, weight=weight)
    settings["learner"] = Stumps(max_bins=4)
    direct = fit(X, y, engine="direct", **settings).trace.train_loss[-1]
    assert fit(X, y, **settings).trace.train_loss[-1] == pytest.approx(direct, rel=1e-6)


@pytest.mark.parametrize("fold", [False, True])
def test_threads(fold):
    X, y, weight = mixed(3000)
    more = dict(fold=np.arange(3000) % 4) if fold else {}
    check_threads(
        X, y, threads=(1, 2), loss=Softmax(3), engine="quadratic", step=NewtonStep(),
        selection=AllLearners(), learner=MIXED["learner"], learning_rate=0.3, n_iter=300,
        weight=weight, **more,
    )  # fmt: skip


def test_a_run_goes_on_from_its_state():
    """With Gram rows of a curvature that is not that of the moment."""
    X, y, weight, _ = data()
    whole = fit(X, y, n_iter=900, weight=weight)
    half = fit(X, y, n_iter=500, weight=weight, keep_state=True)
    assert 0 < half.state.done <= 500
    both = fit(X, y, n_iter=900, weight=weight, resume=half.state)
    np.testing.assert_array_equal(both.trace.learner, whole.trace.learner)
    np.testing.assert_array_equal(both.trace.left, whole.trace.left)
    np.testing.assert_array_equal(both.trace.train_loss, whole.trace.train_loss)


def test_gram_rows_are_kept_while_the_curvature_is_much_the_same(monkeypatch):
    made = []
    weigh = class_runs.ClassQuadraticRuns._weigh
    monkeypatch.setattr(
        class_runs.ClassQuadraticRuns, "_weigh", lambda *args: (made.append(1), weigh(*args))
    )
    X, y, _, _ = data()
    looks = []
    make = class_runs.ClassQuadraticRuns._make_model
    monkeypatch.setattr(
        class_runs.ClassQuadraticRuns, "_make_model",
        lambda *args, **more: (looks.append(1), make(*args, **more)),
    )  # fmt: skip
    fit(X, y, n_iter=1000)
    assert len(made) < len(looks) / 2


@pytest.mark.parametrize("kind", ["single", "equal rows", "offset", "folds"])
def test_the_direct_engine_goes_on_where_memory_is_used_up(kind):
    X, y, weight, offset = data(1200)
    more = {"fold": np.arange(1200) % 3} if kind == "folds" else {}
    if kind == "offset":
        more["offset"] = offset
    if kind == "equal rows":
        X = np.sign(X)[:, :2]
    settings = dict(n_iter=40, weight=weight, step=ConstantStep(), **more)
    n_splits = fit(X, y, **settings).prepared.layout.n_learners
    found = fit(X, y, gram_memory=2 * n_splits * (n_splits // 2), keep_state=True, **settings)
    assert "direct from there" in found.trace.engine
    assert (np.diff(found.trace.train_loss) < 0).all()
    if kind == "folds":
        return
    score = found.model.score(X) + (offset if kind == "offset" else 0.0)
    exact = np.average(Softmax(C).value(y, score), weights=weight)
    assert found.trace.train_loss[-1] == pytest.approx(exact, rel=1e-10)
    longer = fit(X, y, engine="auto", resume=found.state, **{**settings, "n_iter": 60})
    assert longer.trace.train_loss[-1] < found.trace.train_loss[-1]


def test_sparse_rows_are_the_same():
    X, y, weight, _ = data()
    X = np.where(np.abs(X) < 2, 0.0, X)
    dense, sparse = (fit(Z, y, n_iter=200, weight=weight) for Z in (X, scipy.sparse.csc_array(X)))
    np.testing.assert_array_equal(dense.trace.learner, sparse.trace.learner)
    np.testing.assert_allclose(dense.trace.train_loss, sparse.trace.train_loss, rtol=1e-10)


def test_more_classes_than_lanes():
    X, y, weight, _ = data(n_classes=11)
    found = fit(X, y, n_classes=11, n_iter=300, weight=weight)
    exact = np.average(Softmax(11).value(y, found.model.score(X)), weights=weight)
    assert found.trace.train_loss[-1] == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(found.trace.left.sum(axis=1), 0.0, atol=1e-12)


def test_a_mean_of_runs_stops_by_itself_and_predicts_better_than_its_start():
    X, y, _, _ = data(1000)
    rule = EarlyStopping(30, 1e-5)
    found = fit(
        X, y, n_iter=20_000, fold=np.arange(1000) % 5, early_stopping=rule, learning_rate=0.1
    )
    losses = found.trace.validation_loss
    assert len(found.trace) < 20_000
    assert losses.min() < 0.9 * losses[0]
    assert found.trace.engine == "quadratic: the mean of 5 runs on quadratic models"


def test_the_mean_of_runs_with_categories():
    """Losses of held-out rows are those of a run that never saw them, fitted by itself."""
    X, y, weight = mixed(600)
    fold = np.arange(600) % 3
    found = fit(X, y, n_iter=150, weight=weight, fold=fold, **MIXED)
    score = [np.zeros((600, 3)) for _ in range(3)]
    for k in range(3):
        choices = found.trace.choices[k::3].copy()
        for side in ("left", "right"):
            choices[side] *= 3
        score[k] = found.prepared.model(Path(choices), np.zeros(3)).score(X)
    loss, total = Softmax(3), 0.0
    start = loss.best_constant(y, weight)
    r = weight[:, None] * loss.residual(y, np.tile(start, (600, 1)))
    h = weight * loss.model_curvature(y, np.tile(start, (600, 1)))
    for k, rows in enumerate(fold != k for k in range(3)):
        own = start + r[rows].sum(axis=0) / h[rows].sum() + score[k][~rows]
        total += weight[~rows] @ loss.value(y[~rows], own)
    assert found.trace.validation_loss[-1] == pytest.approx(total / weight.sum(), rel=1e-9)
    assert found.trace.validation_loss[-1] < 0.9 * found.trace.validation_loss[0]


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_curvature_is_between_the_eigenvalues(ridge):
    loss = Softmax(C, ridge)
    rng = np.random.default_rng(0)
    f, y = 3.0 * rng.normal(size=(200, C)), rng.integers(0, C, 200).astype(float)
    p, h = loss.inverse_link(f), loss.model_curvature(y, f)
    off = np.abs(np.eye(C)[y.astype(int)] - p).max(axis=1)
    assert (h >= off / loss.model_limit - 1e-12).all()
    assert (h <= loss.smoothness + 1e-12).all()
    for one, found, far in zip(p, h, off / loss.model_limit, strict=True):
        largest = np.linalg.eigvalsh(np.diag(one) - np.outer(one, one))[-1]
        assert 2.0 * (found - ridge) > largest
        assert found <= max(far, 0.5 * (2 * largest + largest) + ridge)
    equal = loss.model_curvature(np.zeros(1), np.zeros((1, C)))
    np.testing.assert_allclose(equal, 1 / C + ridge)
    two = Softmax(2, ridge).model_curvature(np.zeros(1), np.array([[1.0, -1.0]]))
    q = 1 / (1 + np.exp(-2.0))
    np.testing.assert_allclose(two, 2 * q * (1 - q) + ridge)


def test_as_an_estimator():
    X, y, weight = mixed(500)
    names = np.array(["a", "b", "c"])[y.astype(int)]
    model = RGBMClassifier(engine="quadratic", max_iter=150, categorical_features=[2])
    model.fit(X, names, sample_weight=weight)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    own = probability[np.arange(len(y)), y.astype(int)]
    assert -np.average(np.log(own), weights=weight) < 0.9 * -np.log(1 / 3)
    assert model.score(X, names) > 0.6
    assert "quadratic" in model.trace_.engine
    assert (model.feature_importances_ > 0).all()
    np.testing.assert_allclose(model.explain_local(X[:9]).score(), model.decision_function(X[:9]))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_curvature_is_that_of_the_loss(weighted):
    rng = np.random.default_rng(0)
    f, y = 4.0 * rng.normal(size=(1000, C)), rng.integers(0, C, 1000).astype(float)
    f[:50], f[50:90] = 800.0 * f[:50], 0.0
    weight = rng.random(1000) if weighted else None
    rows, found = make_class_rows(y, weight, f), np.empty(1000)
    loss = Softmax(C, 0.01)
    Team(1).run(fill_curvature, loss.terms, rows, found)
    expected = loss.model_curvature(y, f) * (weight if weighted else 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
