"""Runs of folds on statistics, against honest fits: the losses of the rows that they hold out."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps, boost
from rgboost.engines.gram import runs as gram_runs
from rgboost.learners.stumps.family import PreparedStumps
from rgboost.losses import Logistic, Squared
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.statistics.memory import MemoryStatistics
from rgboost.steps import ConstantStep, LineSearch
from rgboost.training import EarlyStopping, Validation
from tests.conftest import JIT

K = 4
NEVER = EarlyStopping(10**9, 0.0)


def data(weighted=False, sparse=False):
    """Few values a feature, all of them in the training rows of every fold: honest fits to the
    rows of a fold have the bins of all rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(600, 7)).astype(float)
    X[rng.random(X.shape) < 0.4] = 0.0
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1] + rng.normal(size=len(X))
    fold = rng.integers(0, K, size=len(X))
    weight = rng.random(len(X)) + 0.1 if weighted else None
    return scipy.sparse.csr_array(X) if sparse else X, y, fold, weight


SETTINGS = dict(
    loss=Squared(), learner=Stumps(), selection=RandomGroups(3), step=ConstantStep(),
    learning_rate=0.5, start_score=None, groups=None, names=None, n_jobs=1, engine="gram",
)  # fmt: skip


def losses_of_folds(X, y, fold, **settings):
    """Mean losses of held-out rows, from the runs without each of the folds."""
    found = boost(X, y, fold=fold, **{**SETTINGS, "early_stopping": NEVER, **settings})
    return found.trace.validation_loss


def honest_losses(X, y, fold, weight, n_iter, **settings):
    """Mean losses of held-out rows, from a fit for each fold."""
    total, losses = 0.0, np.zeros(n_iter + 1)
    for k in range(K):
        train, held = fold != k, fold == k
        parts = [None if weight is None else weight[rows] for rows in (train, held)]
        boosted = boost(
            X[train], y[train], n_iter=n_iter, weight=parts[0], random_state=[5, k],
            validation=Validation(X[held], y[held], parts[1]), **{**settings, "engine": "direct"},
        )  # fmt: skip
        its_weight = held.sum() if weight is None else parts[1].sum()
        losses += boosted.trace.validation_loss * its_weight
        total += its_weight
    return losses / total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "more",
    [dict(), dict(selection=AllLearners(), step=LineSearch()), dict(start_score=0.3),
     dict(learner=Stumps(leaves="signed")), dict(n_jobs=2)],
    ids=["best start", "all, line search", "given start", "signed", "threads"],
)  # fmt: skip
def test_statistics_give_the_curve_of_honest_fits(weighted, sparse, more):
    X, y, fold, weight = data(weighted, sparse)
    settings = {**SETTINGS, **more}
    found = losses_of_folds(X, y, fold, n_iter=300, weight=weight, random_state=5, **settings)
    expected = honest_losses(X, y, fold, weight, 300, **settings)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert np.argmin(found) == np.argmin(expected)


@pytest.mark.parametrize("all_at_once", [0, 1 << 25])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_runs_share_threads_and_wait_for_gram_rows(n_jobs, all_at_once, monkeypatch):
    """Whether features come one after the other or all at once, on threads that do not divide the
    runs: the iterations are the same."""
    if n_jobs > 1 and not JIT:
        pytest.skip("threads need compiled code")
    X, y, fold, _ = data()
    monkeypatch.setattr(gram_runs, "ALL_AT_ONCE", all_at_once)
    found = losses_of_folds(X, y, fold, n_iter=400, random_state=5, n_jobs=n_jobs)
    expected = honest_losses(X, y, fold, None, 400, **SETTINGS)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("in_a_fold", [0, 66_000])
def test_more_rows_than_16_bits_count(in_a_fold):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(70_000, 3)).astype(float)
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=len(X))
    fold = rng.integers(0, K, len(X))
    fold[:in_a_fold] = 0
    found = losses_of_folds(X, y, fold, n_iter=20, random_state=5)
    expected = honest_losses(X, y, fold, None, 20, **SETTINGS)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_folds_cost_one_pass(monkeypatch):
    """Rows are binned once, and read once for each feature."""
    X, y, fold, _ = data()
    encoded, counted = [], []
    arrays_for, gram_rows = PreparedStumps.arrays_for, MemoryStatistics.gram_rows

    def encode(self, rows, n_jobs=1):
        encoded.append(len(rows))
        return arrays_for(self, rows, n_jobs)

    def count(self, features, columns, out):
        counted.append(len(features) * len(self.rows.y))
        gram_rows(self, features, columns, out)

    monkeypatch.setattr(PreparedStumps, "arrays_for", encode)
    monkeypatch.setattr(MemoryStatistics, "gram_rows", count)
    losses_of_folds(X, y, fold, n_iter=300, random_state=5)
    assert encoded == []
    assert sum(counted) == X.shape[1] * len(y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("selection", [RandomGroup(), RandomLearners(1)], ids=str)
def test_a_value_that_only_one_fold_has_is_not_chosen_without_it(weighted, selection):
    """The other splits of J may be none: then the iteration has nothing to choose from."""
    X, y, fold, weight = data(weighted)
    rare = (fold == 0) & (X[:, 0] > 15)
    X = np.column_stack([X[:, 0], rare]).astype(float)
    settings = {**SETTINGS, "selection": selection, "start_score": 0.0}
    boosted = boost(X, y, fold=fold, n_iter=100, weight=weight, random_state=5, **settings)
    of_rare = boosted.trace.feature == 1
    run = np.arange(len(of_rare)) % K
    assert not of_rare[run == 0].any()
    assert of_rare[run == 1].any()
    assert (boosted.trace.learner[run == 0] == -1).any()


def test_other_losses_by_rows():
    X, y, fold, weight = data(weighted=True)
    settings = {**SETTINGS, "loss": Logistic(), "engine": "direct"}
    signs = np.where(y > 1, 1.0, -1.0)
    found = losses_of_folds(X, signs, fold, n_iter=700, weight=weight, random_state=5, **settings)
    expected = honest_losses(X, signs, fold, weight, 700, **settings)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=str)
def test_the_rule_ends_the_runs(loss):
    X, y, fold, _ = data()
    y = y if isinstance(loss, Squared) else np.where(y > 1, 1.0, -1.0)
    engine = "gram" if isinstance(loss, Squared) else "direct"
    settings = {"loss": loss, "random_state": 5, "engine": engine, "n_iter": 1500}
    whole = losses_of_folds(X, y, fold, **settings)
    rule = EarlyStopping(20, 1e-4)
    short = losses_of_folds(X, y, fold, early_stopping=rule, **settings)
    assert len(whole) == 1501
    assert len(short) < 1501
    np.testing.assert_array_equal(short, whole[: len(short)])


def test_the_faster_way_is_taken():
    """Statistics where there are many rows, rows where there are few of them and many splits."""
    rng = np.random.default_rng(0)
    settings = {**SETTINGS, "engine": "auto", "random_state": 5, "n_iter": 20}
    for shape, engine in (((20_000, 3), "gram"), ((200, 40), "direct")):
        X = rng.normal(size=shape)
        found = boost(X, X[:, 0], fold=np.arange(len(X)) % K, **settings)
        assert found.trace.engine == f"{engine}: the mean of {K} runs"
