"""Means of runs by rows: against honest fits, and against Newton boosting written down naively."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from rgboost import RGBMClassifier, RGBMRegressor, Stumps, boost
from rgboost.engines.curvature import LIGHTEST
from rgboost.engines.direct import runs as direct_runs
from rgboost.losses import Huber, Logistic, Poisson, Quantile, Squared
from rgboost.selection import RandomGroups, RandomLearners, RandomThresholds
from rgboost.steps import ConstantStep, LeafSearch, NewtonGain, NewtonStep
from rgboost.training import Validation
from tests.conftest import JIT
from tests.engines.checks import check_threads

K = 3
SETTINGS = dict(
    learner=Stumps(), step=NewtonGain(), learning_rate=0.3, start_score=None, groups=None,
    names=None, n_jobs=1, random_state=5, engine="direct",
)  # fmt: skip


def data(weighted=False, n=240):
    """Few values a feature, all of them in the training rows of every fold: honest fits to the
    rows of a fold have the bins of all rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(n, 5)).astype(float)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1] + rng.normal(size=n)
    fold = rng.integers(0, K, size=n)
    return X, y, fold, rng.random(n) + 0.1 if weighted else None


def part(weight, rows):
    return None if weight is None else weight[rows]


def check_honest_fits(X, y, fold, weight, settings, n_iter=60, offset=None):
    """The runs of a mean are fits to the rows outside a fold each, judged by those inside.

    With the squared loss, the splits that gain most are those with the largest <b, r>.
    """
    of_one = dict(settings)
    if isinstance(settings["step"], NewtonGain):
        assert isinstance(settings["loss"], Squared)
        of_one["step"] = NewtonStep()
    path = boost(X, y, fold=fold, n_iter=n_iter, weight=weight, offset=offset, **settings).trace
    held_loss, mass = np.zeros(n_iter + 1), 0.0
    for k in range(K):
        train, held = fold != k, fold == k
        one = boost(
            X[train], y[train], n_iter=n_iter, weight=part(weight, train),
            offset=part(offset, train),
            validation=Validation(X[held], y[held], part(weight, held), part(offset, held)),
            **{**of_one, "random_state": [5, k]},
        )  # fmt: skip
        np.testing.assert_array_equal(path.learner[k::K], one.trace.learner)
        np.testing.assert_allclose(K * path.left[k::K], one.trace.left, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(K * path.right[k::K], one.trace.right, rtol=1e-7, atol=1e-9)
        its_mass = held.sum() if weight is None else weight[held].sum()
        held_loss += one.trace.validation_loss * its_mass
        mass += its_mass
    np.testing.assert_allclose(path.validation_loss, held_loss / mass, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "step", "selection"),
    [
        (Squared(), NewtonStep(), RandomLearners(4)),
        (Squared(), NewtonGain(), RandomLearners(4)),
        (Squared(), ConstantStep(), RandomLearners(1)),
        (Squared(), NewtonStep(), RandomGroups(2)),
        (Huber(0.5), ConstantStep(), RandomGroups(2)),
        (Huber(0.5), ConstantStep(), RandomLearners(3)),
        (Quantile(0.3), LeafSearch(), RandomLearners(9)),
    ],
    ids=str,
)
def test_runs_are_those_of_honest_fits(loss, step, selection, weighted):
    X, y, fold, weight = data(weighted)
    settings = {**SETTINGS, "step": step, "selection": selection, "loss": loss}
    check_honest_fits(X, y, fold, weight, settings)


def naive_run(X, y, w, train, held, loss, selection, layout, rng, rate, start, n_iter):
    """Newton boosting on some rows: path, and the losses of the two kinds of rows."""
    values = [np.unique(column) for column in X.T]
    cut = np.concatenate([(v[1:] + v[:-1]) / 2 for v in values])
    feature = np.repeat(np.arange(X.shape[1]), [len(v) - 1 for v in values])
    f = np.full(len(y), start(train))
    null = np.maximum(
        loss.curvature(y, np.full(len(y), start(slice(None)))),
        np.abs(loss.residual(y, np.full(len(y), start(slice(None))))) / loss.newton_limit,
    )
    lightest = LIGHTEST * np.median(w * null)
    path, losses = [], []
    for draw in selection.draw(layout, rng, n_iter):
        losses.append([(w * loss.value(y, f))[rows].sum() for rows in (train, held)])
        r, h = loss.residual(y, f), loss.curvature(y, f)
        h = w * np.maximum(h, np.abs(r) / loss.newton_limit)
        r = w * r
        best = (-1.0, -1, 0.0, 0.0)
        for j in draw:
            left = X[:, feature[j]] < cut[j]
            sides = [train & left, train & ~left]
            S, H = ([values[side].sum() for side in sides] for values in (r, h))
            if min(H) < lightest:
                continue
            score = S[0] ** 2 / H[0] + S[1] ** 2 / H[1]
            if score > best[0] * (1 + 1e-9):
                best = (score, j, rate * S[0] / H[0], rate * S[1] / H[1])
        _, j, left_value, right_value = best
        path.append(best[1:])
        if j >= 0:
            f = f + np.where(X[:, feature[j]] < cut[j], left_value, right_value)
    losses.append([(w * loss.value(y, f))[rows].sum() for rows in (train, held)])
    return np.array(path), np.array(losses)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), Poisson()], ids=str)
@pytest.mark.parametrize("selection", [RandomThresholds(3), RandomThresholds(12)], ids=str)
def test_newton_runs_are_those_of_the_formula(loss, selection, weighted):
    X, y, fold, weight = data(weighted)
    y = np.where(y > 0.5, 1.0, -1.0) if isinstance(loss, Logistic) else np.exp(y).round()
    n_iter, rate = 80, 0.3
    found = boost(
        X, y, fold=fold, n_iter=n_iter, weight=weight, loss=loss,
        **{**SETTINGS, "selection": selection, "learning_rate": rate},
    ).trace  # fmt: skip
    w = np.ones(len(y)) if weight is None else weight / weight.max()
    null = loss.best_constant(y, w)

    def start(rows):
        """A Newton step from the best constant of all rows."""
        if isinstance(rows, slice):
            return null
        score = np.full(len(y), null)
        r, h = loss.residual(y, score), loss.curvature(y, score)
        h = np.maximum(h, np.abs(r) / loss.newton_limit)
        return null + (w * r)[rows].sum() / (w * h)[rows].sum()

    layout, sums, masses = Stumps().prepare(X, w).layout, np.zeros((n_iter + 1, 2)), np.zeros(2)
    for k in range(K):
        path, losses = naive_run(
            X, y, w, fold != k, fold == k, loss, selection, layout,
            np.random.default_rng([5, k]), rate, start, n_iter,
        )  # fmt: skip
        np.testing.assert_array_equal(found.learner[k::K], path[:, 0])
        np.testing.assert_allclose(K * found.left[k::K], path[:, 1], rtol=1e-6, atol=2e-7)
        np.testing.assert_allclose(K * found.right[k::K], path[:, 2], rtol=1e-6, atol=2e-7)
        sums += losses / [w[fold != k].sum() * K, 1.0]
        masses[1] += w[fold == k].sum()
    np.testing.assert_allclose(found.validation_loss, sums[:, 1] / masses[1], rtol=1e-7)
    np.testing.assert_allclose(found.train_loss[[0, -1]], sums[[0, -1], 0], rtol=1e-7)
    told = np.abs(found.train_loss - sums[:, 0]).max()
    assert told < 0.05 * (sums[0, 0] - sums[-1, 0])


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=str)
def test_more_rows_than_a_chunk(loss):
    """Losses of many rows are sums of those of chunks, whoever makes them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(19_000, 2)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 1.5, 1.0, -1.0)
    fold = rng.integers(0, 2, len(X))
    found = boost(
        X, y, fold=fold, n_iter=140, loss=loss, **{**SETTINGS, "selection": RandomThresholds(2)}
    )
    score = found.model.score(X)
    value = loss.value(y, score).mean()
    assert abs(found.trace.validation_loss[-1] - value) < 0.004
    assert abs(found.trace.train_loss[-1] - value) < 0.004
    assert (np.diff(found.trace.train_loss[::2]) < 1e-12).all()


def test_units_of_weights_do_not_matter():
    X, y, fold, weight = data(weighted=True)
    settings = {**SETTINGS, "selection": RandomThresholds(3), "loss": Logistic()}
    signs = np.where(y > 0.5, 1.0, -1.0)
    one, other = (
        boost(X, signs, fold=fold, n_iter=30, weight=unit * weight, **settings).trace
        for unit in (1.0, 2.0**-400)
    )
    np.testing.assert_array_equal(one.learner, other.learner)
    np.testing.assert_allclose(one.left, other.left, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
@pytest.mark.parametrize(
    ("loss", "step"),
    [(Squared(), NewtonGain()), (Logistic(), NewtonGain()), (Quantile(0.3), LeafSearch())],
    ids=str,
)
def test_threads_change_nothing(loss, step, n_jobs, monkeypatch):
    if not JIT:
        pytest.skip("threads need compiled code")
    monkeypatch.setattr(direct_runs, "_SCORES_FOR_THREADS", 0)
    X, y, fold, _ = data()
    y = np.where(y > 0.5, 1.0, -1.0) if isinstance(loss, Logistic) else y
    settings = {**SETTINGS, "selection": RandomThresholds(3), "loss": loss, "step": step}
    check_threads(X, y, threads=(1, n_jobs), fold=fold, **{**settings, "n_iter": 700})


@pytest.mark.parametrize("unit", [1e-50, 1e45])
def test_units_of_labels_do_not_matter(unit):
    X, y, fold, _ = data()
    settings = {**SETTINGS, "selection": RandomThresholds(3), "loss": Poisson(), "n_iter": 60}
    one = boost(X, np.exp(y), fold=fold, **settings).trace
    other = boost(X, unit * np.exp(y), fold=fold, **settings).trace
    np.testing.assert_array_equal(one.learner, other.learner)
    np.testing.assert_allclose(one.left, other.left, rtol=1e-6, atol=1e-12)


def test_most_weights_vanish_beside_the_largest():
    X, y, fold, _ = data()
    weight = np.where(np.arange(len(y)) % 3 == 0, 1e150, 1e-200)
    found = boost(
        X, np.where(y > 0.5, 1.0, -1.0), fold=fold, n_iter=20, weight=weight, loss=Logistic(),
        **{**SETTINGS, "selection": RandomThresholds(3)},
    )  # fmt: skip
    assert (found.trace.learner >= 0).any()
    assert np.isfinite(found.model.score(X)).all()


def test_weights_that_vanish_beside_the_largest():
    X, y, fold, _ = data()
    weight = np.where(np.arange(len(y)) % 3 == 0, 1e-200, 1e150)
    for loss, step in ((Squared(), NewtonGain()), (Squared(), ConstantStep()),
                       (Huber(0.5), ConstantStep())):  # fmt: skip
        found = boost(
            X, y, fold=fold, n_iter=20, weight=weight, loss=loss,
            **{**SETTINGS, "selection": RandomThresholds(3), "step": step},
        )  # fmt: skip
        assert np.isfinite(found.model.score(X)).all()


@pytest.mark.parametrize(
    ("loss", "step", "selection"),
    [
        (Squared(), NewtonGain(), RandomThresholds(1)),
        (Squared(), ConstantStep(), RandomThresholds(1)),
        (Squared(), ConstantStep(), RandomGroups(1)),
        (Huber(0.5), ConstantStep(), RandomThresholds(1)),
        (Huber(0.5), ConstantStep(), RandomGroups(1)),
    ],
    ids=str,
)
def test_a_value_that_only_one_fold_has_is_not_chosen_without_it(loss, step, selection):
    X, y, fold, _ = data()
    X = np.column_stack([X[:, 0], (fold == 0) & (X[:, 0] > 9)]).astype(float)
    settings = {**SETTINGS, "selection": selection, "loss": loss, "step": step}
    found = boost(X, y, fold=fold, n_iter=60, **settings).trace
    moved = (found.feature == 1) & ((found.left != 0) | (found.right != 0))
    assert not moved[::K].any()
    assert moved[1::K].any()
    assert np.isfinite(found.validation_loss).all()


def test_small_sparse_rows_are_made_dense():
    X, y, _, _ = data()
    model = RGBMRegressor(random_state=0, n_jobs=1, n_iter_no_change=30)
    one, other = (clone(model).fit(rows, y) for rows in (X, csr_array(X)))
    assert other.trace_.engine == "direct: the mean of 5 runs"
    np.testing.assert_array_equal(one.trace_.learner, other.trace_.learner)
    np.testing.assert_allclose(one.predict(X), other.predict(csr_array(X)), rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (RGBMRegressor(), {}),
        (RGBMClassifier(), {}),
        (RGBMRegressor(loss="huber"), {"selection": "groups"}),
        (RGBMRegressor(loss="absolute"), {}),
        (RGBMRegressor(loss="log-cosh"), {}),
    ],
    ids=str,
)
def test_few_rows_have_means_whatever_the_loss(model, more):
    X, y, _, _ = data()
    y = np.where(y > 0.5, "yes", "no") if isinstance(model, RGBMClassifier) else y
    model = model.set_params(random_state=0, n_jobs=1, n_iter_no_change=30, **more).fit(X, y)
    assert model.trace_.engine == "direct: the mean of 5 runs"
    assert len(model.model_.feature) == 5 * model.best_iteration_
    assert model.score(X, y) > 0.2
