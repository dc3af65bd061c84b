"""The Gram engine gives the iterates of the direct engine."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from rgboost import RGBMRegressor
from rgboost._core.team import Team
from rgboost.engines.gram import runs as gram_runs
from rgboost.learners import Dictionary, Stumps
from rgboost.losses import Huber, Logistic, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.statistics.memory import MemoryStatistics
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import Validation, boost
from tests.conftest import JIT
from tests.data_strategies import problems
from tests.engines.checks import check_threads

RULES = [AllLearners(), RandomLearners(40), RandomGroup(), RandomGroups(3)]


def both(X, y, **kwargs):
    settings = dict(
        loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(), n_iter=500,
        random_state=0,
    )  # fmt: skip
    settings |= kwargs
    return [boost(X, y, engine=engine, **settings) for engine in ("direct", "gram")]


def assert_same(direct, gram):
    np.testing.assert_array_equal(direct.trace.learner, gram.trace.learner)
    scale = np.abs(direct.trace.left).max()
    for name in ("left", "right"):
        a, b = getattr(direct.trace, name), getattr(gram.trace, name)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(direct.trace.train_loss, gram.trace.train_loss, rtol=1e-9)
    if direct.trace.validation_loss is not None:
        a, b = direct.trace.validation_loss, gram.trace.validation_loss
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert (direct.trace.engine, gram.trace.engine) == ("direct", "gram")


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize("step", [ConstantStep(), LineSearch()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_real_data(rule, leaves, step, weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y)) if weighted else None
    held = Validation(X[300:], y[300:], None if weight is None else weight[300:])
    runs = both(
        X[:300], y[:300], learner=Stumps(leaves=leaves, max_bins=32), selection=rule, step=step,
        weight=None if weight is None else weight[:300], validation=held, learning_rate=0.5,
        start_score=None,
    )  # fmt: skip
    assert_same(*runs)


@pytest.mark.parametrize("leaves", ["free", "signed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse(leaves, weighted):
    X, _ = load_breast_cancer(return_X_y=True)
    y = X[:, 0]
    data = scipy.sparse.csr_array(np.where(X[:, 1:] > np.median(X[:, 1:], axis=0), X[:, 1:], 0))
    weight = np.random.default_rng(0).uniform(0.5, 2, size=len(y)) if weighted else None
    runs = both(
        data, y, learner=Stumps(leaves=leaves, max_bins=20), selection=RandomGroups(5),
        weight=weight, validation=Validation(data[:100], y[:100]),
    )  # fmt: skip
    assert_same(*runs)


@pytest.mark.kernel
@given(problems(max_rows=16, max_features=3), st.booleans(), st.booleans(), st.booleans())
def test_small_problems(problem, signed, weighted, sparse):
    X, y, weight = problem
    direct, gram = both(
        scipy.sparse.csc_array(X) if sparse else X,
        y,
        learner=Stumps(leaves="signed" if signed else "free"),
        selection=RandomGroups(0.5),
        weight=weight if weighted else None,
        n_iter=6,
    )
    scale = direct.trace.train_loss[0]
    np.testing.assert_allclose(
        direct.trace.train_loss, gram.trace.train_loss, rtol=1e-9, atol=1e-12 * scale
    )


@pytest.mark.kernel
@given(problems(max_rows=20), st.booleans(), st.booleans())
def test_gram_rows_are_counts_of_rows(problem, weighted, sparse):
    X, y, weight = problem
    w = weight if weighted else None
    data = scipy.sparse.csc_array(X) if sparse else X
    prepared = Stumps(max_bins=4).prepare(data, w)
    cuts = prepared.cuts
    n_splits = int(cuts.offsets[-1])
    with Team(1) as team:
        rows = MemoryStatistics(prepared.arrays, y, w, Squared(), 0.0, team)
        out = np.zeros((n_splits, n_splits), np.float64 if weighted else np.uint32)
        everything = range(X.shape[1])
        rows.gram_rows(everything, everything, out)
        left_weight, total = rows.bin_weights()
    feature = np.searchsorted(cuts.offsets, np.arange(n_splits), side="right") - 1
    left = X[:, feature] <= cuts.thresholds[None]
    ones = np.ones(len(y)) if w is None else w
    np.testing.assert_allclose(out, left.T @ (left * ones[:, None]), rtol=1e-12)
    np.testing.assert_allclose(left_weight, ones @ left, rtol=1e-12)
    assert total == pytest.approx(ones.sum())


@pytest.mark.parametrize("sparse", [False, True])
def test_gradient_and_loss_at_a_model(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4)) * (rng.random((9000, 4)) < 0.7)
    y = np.sign(rng.normal(size=9000))
    loss = Logistic()
    prepared = Stumps(max_bins=9).prepare(scipy.sparse.csc_array(X) if sparse else X)
    cuts = prepared.cuts
    tables = rng.normal(size=cuts.offsets[-1] + 4)
    tables[cuts.offsets[2] + 2 : cuts.offsets[3] + 3] = 0.0
    f = np.full(9000, 0.5)
    for g in range(4):
        mine = cuts.thresholds[cuts.offsets[g] : cuts.offsets[g + 1]]
        bins = (X[:, [g]] > mine[None]).sum(axis=1)
        f += tables[cuts.offsets[g] + g + bins]
    for size in (1, 3):
        with Team(size) as team:
            rows = MemoryStatistics(prepared.arrays, y, None, loss, 0.5, team)
            np.testing.assert_allclose(rows.score(tables), f, rtol=1e-12)
            gradient = rows.gradient(tables)
        assert gradient.loss == pytest.approx(loss.value(y, f).sum(), rel=1e-12)
        r = loss.residual(y, f)
        assert gradient.total == pytest.approx(r.sum(), rel=1e-10)
        feature = np.searchsorted(cuts.offsets, np.arange(cuts.offsets[-1]), side="right") - 1
        expected = r @ (X[:, feature] <= cuts.thresholds[None])
        np.testing.assert_allclose(gradient.left_sums, expected, atol=1e-9)


@pytest.mark.skipif(not JIT, reason="threads need compiled code")
def test_threads_that_make_gram_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=2000)
    check_threads(
        X, y, threads=(1, 2, 3), loss=Squared(), learner=Stumps(max_bins=200), engine="gram",
        selection=RandomGroups(20), n_iter=300, validation=Validation(X[:500], y[:500]),
    )  # fmt: skip


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("memory", [0, 200_000, 400_000])
def test_when_memory_is_used_up_the_direct_engine_goes_on(memory, n_jobs):
    X, y = load_diabetes(return_X_y=True)
    settings = dict(selection=RandomGroups(4), validation=Validation(X[:50], y[:50]), n_iter=200)
    direct, gram = both(X, y, gram_memory=memory, n_jobs=n_jobs, **settings)
    np.testing.assert_array_equal(direct.trace.learner, gram.trace.learner)
    np.testing.assert_allclose(direct.trace.train_loss, gram.trace.train_loss, rtol=1e-9)
    np.testing.assert_allclose(direct.trace.validation_loss, gram.trace.validation_loss, rtol=1e-9)
    assert gram.trace.engine.startswith("gram until iteration ")
    assert "gram_memory was used up; direct from there" in gram.trace.engine
    assert (np.diff(gram.trace.seconds) >= 0).all()


def test_gram_rows_are_freed_when_the_run_ends(monkeypatch):
    """At once, not when the garbage collector comes by: they may be a quarter of the memory."""
    made = []

    class Watched(gram_runs.GramRows):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(weakref.ref(self))

    monkeypatch.setattr(gram_runs, "GramRows", Watched)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    gc.collect()
    gc.disable()
    try:
        boosted = boost(
            X, y, loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(),
            n_iter=5, engine="gram", validation=Validation(X[:9], y[:9]), keep_state=True,
        )  # fmt: skip
        assert len(boosted.trace) == 5
        assert [ref() for ref in made] == [None]
    finally:
        gc.enable()


def test_callbacks_can_stop_it():
    X, y = load_diabetes(return_X_y=True)
    boosted = boost(
        X, y, loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(),
        n_iter=10**6, engine="gram", callbacks=[lambda progress: progress.iteration > 10],
    )  # fmt: skip
    assert 10 < len(boosted.trace) < 10**6
    expected = Squared().value(y, boosted.model.score(X)).mean()
    assert boosted.trace.train_loss[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_hundreds_of_bins(sparse):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(1500, 3)), 3) * (rng.random((1500, 3)) < 0.9)
    y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(size=1500)
    runs = [
        boost(
            scipy.sparse.csr_array(X) if sparse else X, y, loss=Squared(),
            learner=Stumps(max_bins=700), selection=RandomLearners(50), step=ConstantStep(),
            n_iter=300, random_state=0, engine=engine,
        )
        for engine in ("direct", "gram")
    ]  # fmt: skip
    assert runs[0].prepared.layout.n_learners > 3 * 256
    np.testing.assert_array_equal(runs[0].trace.learner, runs[1].trace.learner)
    np.testing.assert_allclose(runs[0].trace.train_loss, runs[1].trace.train_loss, rtol=1e-9)


def test_what_it_cannot_do():
    X, y = load_diabetes(return_X_y=True)
    for kwargs, message in [
        (dict(loss=Huber(1.0)), r"needs the squared loss, not Huber\(delta=1\)"),
        (dict(learner=Dictionary(X)), "needs stumps"),
        (dict(learner=Stumps(max_bins=None)), "needs at most 2048 bins"),
    ]:
        settings = dict(
            loss=Squared(), learner=Stumps(), selection=AllLearners(), step=ConstantStep(), n_iter=3
        )
        if "max_bins" in str(kwargs):
            X, y = np.random.default_rng(0).normal(size=(2, 2100, 2))
            y = y[:, 0]
        with pytest.raises(ValueError, match=message):
            boost(X, y, engine="gram", **(settings | kwargs))


def test_estimator():
    X, y = load_diabetes(return_X_y=True)
    a, b = (
        RGBMRegressor(engine=engine, random_state=0, max_iter=300).fit(X, y)
        for engine in ("direct", "gram")
    )
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-9)
    assert b.trace_.engine == "gram"
