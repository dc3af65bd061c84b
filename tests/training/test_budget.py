"""Gram rows stay within a budget: what it leaves, and what is done where it is short."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from rgboost import Chunks, RGBMClassifier, RGBMRegressor
from rgboost._core.team import Team
from rgboost.engines.gram import gram_rows
from rgboost.engines.gram.family import gram_family
from rgboost.engines.quadratic.runs import _UNITS
from rgboost.learners import Stumps
from rgboost.losses import Squared
from rgboost.selection import AllLearners
from rgboost.statistics.base import Curvature
from rgboost.statistics.in_memory import InMemory, RowsOfFold
from rgboost.steps import ConstantStep
from rgboost.training import boost
from rgboost.training.plan import costs
from rgboost.training.plan.facts import facts_of

GIB = 1 << 30


def rows(n=12_000, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    f = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + (X[:, 2] > 0.3) + 0.3 * X[:, 3]
    return X, f + rng.standard_normal(n)


def gram_budget(X, memory, frugal=False):
    """Bytes for Gram rows of a fit to X that may add so much."""
    facts = facts_of(X, np.zeros(X.shape[0]), Squared())
    return costs.gram_budget(replace(facts, memory=memory), frugal=frugal)


class TestBudget:
    def test_rows_are_in_it(self):
        few, many = (gram_budget(np.zeros((n, 10), np.float32), GIB) for n in (1000, 100_000))
        assert GIB > few > many > 0.9 * GIB

    def test_it_is_never_negative(self):
        assert gram_budget(np.zeros((1000, 10)), 1000) == 0

    def test_a_fit_that_ends_by_itself_is_frugal(self):
        small, large = np.zeros((1000, 10)), np.zeros((100_000, 50), np.float32)
        plenty = 64 * GIB
        assert 190_000_000 < gram_budget(small, plenty, frugal=True) <= 200_000_000
        assert gram_budget(large, plenty, frugal=True) <= 10 * large.nbytes == 200_000_000
        larger = scipy.sparse.random_array((1000, 100_000), density=0.05, format="csr")
        size = larger.data.nbytes + larger.indices.nbytes + larger.indptr.nbytes
        assert 5 * size < gram_budget(larger, plenty, frugal=True) < 10 * size
        assert gram_budget(small, plenty) > GIB

    def test_the_budget_is_never_above_that_of_the_process(self):
        assert gram_budget(np.zeros((1000, 10)), 50_000_000, frugal=True) < 50_000_000


class TestFewUnits:
    """Curvature in integers of 16 bits."""

    @staticmethod
    def in_units(weight):
        """(unit, integers) of rows with this curvature."""
        X = np.arange(float(len(weight)))[:, None]
        prepared, y = Stumps(max_bins=8).prepare(X, None), np.ones(len(weight))
        family = gram_family(SimpleNamespace(prepared=prepared))
        rows = RowsOfFold(prepared.arrays, y, weight, None)
        with Team(1) as team:
            statistics = InMemory(family, [rows], Squared(), team)
            unit = weight.sum() / _UNITS[2]
            tables = np.zeros(family.n_tables)
            at = Curvature(0.0, tables, unit, 0.0, (0,), np.dtype(np.uint16))
            left, total = statistics.weights(at)
            out = np.zeros((7, 7), np.uint16)
            statistics.gram([0], [0], at, [out])
            np.testing.assert_array_equal(np.diag(out), left[0])
            return unit, statistics.weigh(at), total

    def test_rows_that_are_alike_weigh_the_same(self):
        _, found, total = self.in_units(np.full(7_000, 0.25))
        assert np.array_equal(found, np.full(7_000, 9))
        assert total == [63_000]

    @pytest.mark.parametrize("n", [100, 30_000, 200_000])
    def test_every_stretch_has_its_sum(self, n):
        rng = np.random.default_rng(1)
        curvature = rng.gamma(0.5, size=n)
        unit, found, total = self.in_units(curvature)
        assert found.min() >= 0
        assert 65_535 // 2 <= found.sum() == total[0] <= 65_535
        order = np.random.default_rng(n).permutation(n)
        error = np.cumsum(found[order]) * unit - np.cumsum(curvature[order])
        # Row by row where a row has many units: half of one each.
        most = 0.51 if n > 60_000 // 8 else 0.51 * n
        assert np.abs(error).max() <= most * unit


SETTINGS = dict(random_state=0, max_bins=64)


def r2(model, X, y):
    return 1.0 - np.mean((model.predict(X) - y) ** 2) / np.var(y)


def test_where_matrices_of_all_folds_do_not_fit_the_runs_share_one():
    X, y = rows()
    new = rows(seed=1)
    one_matrix = (6 * 63) ** 2
    scores = {}
    for times in (12, 4, 2):  # of all folds; one of four bytes; one of two
        memory = times * one_matrix + 1000
        model = RGBMRegressor(gram_memory=memory, **SETTINGS).fit(X, y)
        assert ("quadratic" in model.trace_.engine) == (times < 12)
        scores[times] = r2(model, *new)
    assert scores[12] > 0.4
    assert scores[4] == pytest.approx(scores[12], abs=0.002)
    # All rows weigh the same, and there are few: nothing is rounded but sums of floats.
    assert scores[2] == pytest.approx(scores[4], abs=1e-5)


@pytest.mark.parametrize("estimator", [RGBMRegressor, RGBMClassifier])
def test_where_one_matrix_does_not_fit_there_are_fewer_bins(estimator):
    X, y = rows()
    new, y_new = rows(seed=1)
    if estimator is RGBMClassifier:
        y, y_new = y > y.mean(), y_new > y.mean()
    usual = estimator(random_state=0).fit(X, y)
    few = estimator(random_state=0, gram_memory=2 * (6 * 40) ** 2).fit(X, y)
    assert usual.n_learners_ > 6 * 200
    assert 6 * 36 < few.n_learners_ <= 6 * 40
    assert "quadratic" in few.trace_.engine
    assert few.score(new, y_new) == pytest.approx(usual.score(new, y_new), abs=0.01)


def test_bins_that_are_asked_for_are_kept():
    X, y = rows()
    model = RGBMRegressor(gram_memory=2 * (6 * 40) ** 2, **SETTINGS).fit(X, y)
    assert model.n_learners_ == 6 * 63
    assert model.trace_.engine == "direct"


@pytest.mark.parametrize(
    ("estimator", "settings", "entry"),
    [
        (RGBMRegressor, {"max_iter": 60}, 2),
        (RGBMRegressor, {}, 4),  # a matrix of the rows that are held out, too
        (RGBMClassifier, {"max_iter": 60}, 2),
    ],
)
def test_rows_in_pieces_have_no_other_engine(estimator, settings, entry):
    """Fewer bins, then one run, of as few bins as fit."""
    X, y = rows()
    y = y > y.mean() if estimator is RGBMClassifier else y
    chunks = Chunks(lambda: [(X, y)])
    memory = entry * (6 * 12) ** 2
    model = estimator(random_state=0, gram_memory=memory, **settings).fit(chunks)
    assert 6 * 10 < model.n_learners_ <= 6 * 12
    assert model.plan_["n_runs"].value == 1
    assert model.plan_["max_bins"].why == "so few that Gram rows fit into their memory"
    assert model.score(chunks) > 0.3
    given = estimator(max_bins=64, gram_memory=memory, **settings)
    with pytest.raises(ValueError, match=r"Gram rows take .* fewer bins"):
        given.fit(chunks)


def run(X, y, engine, **settings):
    return boost(
        X, y, loss=Squared(), learner=Stumps(max_bins=32), selection=AllLearners(),
        step=ConstantStep(), n_iter=30, engine=engine, **settings,
    )  # fmt: skip


def refuse(*args):
    raise MemoryError


def test_memory_that_is_refused_for_gram_rows_is_not_needed():
    X, y = rows(500)
    direct = run(X, y, "direct")
    gram = run(X, y, "gram", gram_memory=10**18)  # of which the system gives what is needed
    assert gram.trace.engine == "gram"

    class Numpy:
        def __getattr__(self, name):
            return getattr(np, name)

        def empty(self, shape, dtype=float):
            if isinstance(shape, tuple) and shape[0] > 0:
                raise MemoryError
            return np.empty(shape, dtype)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gram_rows, "np", Numpy())
        refused = run(X, y, "gram")
    assert "direct from there" in refused.trace.engine
    assert np.array_equal(refused.trace.learner, direct.trace.learner)


def test_memory_that_is_refused_on_the_way(monkeypatch):
    X, y = rows(500)
    direct = run(X, y, "direct")
    monkeypatch.setattr("rgboost.statistics.in_memory.InMemory.gram", refuse)
    refused = run(X, y, "gram")
    assert "direct from there" in refused.trace.engine
    assert np.array_equal(refused.trace.learner, direct.trace.learner)


@pytest.mark.parametrize("estimator", [RGBMRegressor, RGBMClassifier])
def test_means_without_memory_go_by_rows(estimator, monkeypatch):
    X, y = rows()
    y = y if estimator is RGBMRegressor else y > y.mean()
    monkeypatch.setattr("rgboost.statistics.memory.MemoryStatistics.__init__", refuse)
    model = estimator(random_state=0).fit(X, y)
    assert model.trace_.engine == "direct: the mean of 5 runs"
    assert model.score(X, y) > 0.4


def test_a_plan_that_expected_fewer_splits(monkeypatch):
    """The mean of runs whose Gram rows turn out to be too large has one matrix for all runs."""
    X, y = rows(12_000)
    model = RGBMRegressor(random_state=0, gram_memory=8_000_000).fit(X, y)
    assert "quadratic" in model.trace_.engine
    fit = RGBMRegressor(random_state=0, gram_memory=8_000_000, interactions=0)
    real = costs.Work.gram_bytes
    monkeypatch.setattr(costs.Work, "gram_bytes", lambda *args: 0.1 * real(*args))
    fit.fit(X, y)
    assert fit.plan_["engine"].value == "gram"
    assert fit.plan_.events == ["Gram rows do not fit into gram_memory: quadratic in place of gram"]
    assert "quadratic" in fit.trace_.engine
