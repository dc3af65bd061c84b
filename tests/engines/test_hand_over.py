"""Where statistics no longer fit, the direct engine goes on from the models of the runs."""

from types import SimpleNamespace

import numpy as np
import pytest

from rgboost import Stumps, boost
from rgboost.engines.gram import runs as gram_runs
from rgboost.engines.gram.family import gram_family
from rgboost.losses import Huber, Logistic, Squared
from rgboost.model import Path
from rgboost.selection import AllLearners, RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training import Validation

K, N_ITER = 3, 120
WAYS = [("gram", Squared()), ("quadratic", Logistic()), ("quadratic", Huber(0.5))]


def data(mixed=False, weighted=False):
    """Few values a feature, all of them in the training rows of every fold."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(600, 5)).astype(float)
    y = np.where(np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(size=600) > 1.2, 1.0, -1.0)
    if mixed:
        X[rng.random(600) < 0.2, 0] = np.nan
    weight = rng.random(600) + 0.5 if weighted else None
    return X, y, rng.integers(0, K, 600), weight


def settings_of(loss, engine, mixed, **more):
    return dict(
        loss=loss, engine=engine, learner=Stumps(categorical=(1,) if mixed else ()),
        selection=AllLearners(), step=ConstantStep(), learning_rate=0.3, n_iter=N_ITER,
        random_state=5, tol=0.0, **more,
    )  # fmt: skip


def too_little(X, engine, settings, weighted, n_sets):
    """Bytes for Gram rows of some of the features; of the quadratic engine, in short integers."""
    prepared = settings["learner"].prepare(X, None)
    family = gram_family(SimpleNamespace(prepared=prepared, held=None, held_arrays=prepared.arrays))
    of_a_number = 2 if engine == "quadratic" else n_sets * (8 if weighted else 2)
    return int(0.7 * family.offsets[-1] ** 2) * of_a_number


def part(values, rows):
    return None if values is None else values[rows]


def path_of(trace, k, n):
    """The first n choices of one of the runs, as those of its own model."""
    choices = trace.choices[k : trace.n_runs * n : trace.n_runs].copy()
    for field in ("left", "right"):
        choices[field] *= trace.n_runs
    return Path(choices)


def check_goes_on(found, k, X, y, weight, train, held, **settings):
    """From the iteration where statistics were used up, a run is the direct engine's that has the
    model of that iteration as offset; returns that iteration."""
    trace = found.trace
    at = int(trace.engine.split("until iteration ")[1].split(",")[0])
    score = found.prepared.model(path_of(trace, k, at), 0.0).score(X)
    honest = boost(
        X[train], y[train], weight=part(weight, train), offset=score[train],
        validation=Validation(X[held], y[held], part(weight, held), score[held]),
        **{**settings, "engine": "direct", "n_iter": N_ITER - at},
    ).trace  # fmt: skip
    now = slice(at * trace.n_runs + k, None, trace.n_runs)
    np.testing.assert_array_equal(trace.learner[now], honest.learner)
    np.testing.assert_allclose(trace.n_runs * trace.left[now], honest.left, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(trace.n_runs * trace.right[now], honest.right, rtol=1e-6, atol=1e-9)
    return at, honest.validation_loss


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(("engine", "loss"), WAYS, ids=str)
@pytest.mark.parametrize("midway", [False, True])
def test_runs_of_folds(engine, loss, mixed, weighted, midway, monkeypatch):
    X, y, fold, weight = data(mixed, weighted)
    monkeypatch.setattr(gram_runs, "ALL_AT_ONCE", 0)  # features as they come
    settings = settings_of(loss, engine, mixed)
    memory = too_little(X, engine, settings, weighted, K + 1) if midway else 100
    found = boost(X, y, fold=fold, weight=weight, gram_memory=memory, **settings)
    assert found.events == (found.trace.engine,)
    assert found.trace.engine.endswith("where gram_memory was used up; direct from there")
    losses, mass = 0.0, 0.0
    for k in range(K):
        rows = fold != k, fold == k
        at, held_loss = check_goes_on(found, k, X, y, weight, *rows, **settings)
        its_mass = rows[1].sum() if weight is None else weight[rows[1]].sum()
        losses, mass = losses + its_mass * held_loss, mass + its_mass
    np.testing.assert_allclose(found.trace.validation_loss[at:], losses / mass, rtol=1e-7)
    assert (1 < at < N_ITER) if midway else at == 1  # which needs no Gram rows
    assert (np.diff(found.trace.train_loss) < 1e-12).all()
    assert len(found.trace.train_loss) == N_ITER + 1


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(("engine", "loss"), WAYS, ids=str)
def test_one_run(engine, loss, mixed, monkeypatch):
    X, y, fold, weight = data(mixed, weighted=True)
    monkeypatch.setattr(gram_runs, "ALL_AT_ONCE", 0)
    train, held = fold > 0, fold == 0
    settings = settings_of(loss, engine, mixed)
    found = boost(
        X[train], y[train], weight=weight[train],
        validation=Validation(X[held], y[held], weight[held]),
        gram_memory=too_little(X, engine, settings, True, 2), **settings,
    )  # fmt: skip
    at, losses = check_goes_on(found, 0, X, y, weight, train, held, **settings)
    assert 1 < at < N_ITER
    np.testing.assert_allclose(found.trace.validation_loss[at:], losses, rtol=1e-7)


@pytest.mark.parametrize(("engine", "loss"), WAYS, ids=str)
def test_subsets_are_those_of_runs_by_rows(engine, loss):
    """No subset is lost or drawn twice where the engine changes."""
    X, y, fold, _ = data()
    settings = {**settings_of(loss, engine, False), "selection": RandomGroups(2)}
    found = boost(X, y, fold=fold, gram_memory=100, **settings)
    by_rows = boost(X, y, fold=fold, **{**settings, "engine": "direct"})
    np.testing.assert_array_equal(found.trace.learner, by_rows.trace.learner)
    np.testing.assert_allclose(found.trace.train_loss, by_rows.trace.train_loss, rtol=1e-9)
