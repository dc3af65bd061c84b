"""Gram matrices row by row, where rows are short."""

import numpy as np
import pytest
import scipy.sparse

from rgboost import Stumps, boost
from rgboost._core.team import Team
from rgboost.engines.gram.family import gram_family
from rgboost.learners.stumps.dense_stumps import DenseStumps
from rgboost.learners.stumps.sparse_stumps import SparseStumps
from rgboost.learners.stumps.stump_statistics import stored_entries
from rgboost.losses import Squared
from rgboost.selection import RandomGroups
from rgboost.statistics.memory import MemoryStatistics, SparseStatistics, as_stored, pays_by_rows
from rgboost.steps import ConstantStep
from rgboost.training import Validation

N = 500


def rare(n_features=12, share=0.1, seed=0):
    """Columns with one frequent value, which is not always the smallest: indicators, counts, and
    a constant."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, n_features)) < share, 1.0, 0.0)
    X[:, 1] = 1.0 - X[:, 1]
    X[:, 2] *= rng.integers(1, 6, N)
    X[:, 3] = np.where(X[:, 3] > 0, rng.integers(-3, 3, N), 1)
    X[:, 4] = 7.0
    y = X[:, 0] + np.sin(X[:, 2]) - 0.5 * X[:, 3] + 0.3 * rng.normal(size=N)
    return X, y, rng.random(N) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_sums_and_gram_rows_are_those_of_columns(weighted, n_threads, sparse):
    X, y, weight = rare()
    prepared = Stumps().prepare(scipy.sparse.csr_array(X) if sparse else X)
    arrays, dense = prepared.arrays, Stumps().prepare(X).arrays
    stored = as_stored(arrays, N)
    assert isinstance(stored, SparseStumps)
    given = weight if weighted else None
    with Team(n_threads) as team:
        rows = SparseStatistics(stored, y, given, Squared(), 0.2, team)
        columns = MemoryStatistics(dense, y, given, Squared(), 0.2, team)
        tables = np.random.default_rng(1).normal(size=len(arrays.splits.gain) + X.shape[1])
        np.testing.assert_allclose(rows.score(tables), columns.score(tables), rtol=1e-12)
        for one, other in zip(rows.gradient(tables), columns.gradient(tables), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(rows.bin_weights()[0], columns.bin_weights()[0], rtol=1e-12)
        n = len(arrays.splits.gain)
        kind = np.float64 if weighted else np.uint32
        found, expected = np.zeros((n, n), kind), np.zeros((n, n), kind)
        everything = range(X.shape[1])
        rows.gram_rows(everything, everything, found)
        columns.gram_rows(everything, everything, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        some = [3, 0, 2]
        part = np.zeros((sum(np.diff(rows.slots.start)[some]), n), kind)
        rows.gram_rows(some, everything, part)
        offsets = rows.slots.start
        wanted = [found[offsets[g] : offsets[g + 1]] for g in some]
        np.testing.assert_array_equal(part, np.concatenate(wanted))


def test_only_where_little_has_to_be_stored():
    X, _, _ = rare(share=0.1)
    arrays = Stumps().prepare(X).arrays
    share = np.mean([np.mean(x != np.bincount(x.astype(int) + 3).argmax() - 3) for x in X.T])
    assert stored_entries(arrays, N) == pytest.approx(share * X.size)
    assert pays_by_rows(arrays, N)
    dense, _, _ = rare(share=0.5)
    arrays = Stumps().prepare(dense).arrays
    assert not pays_by_rows(arrays, N)
    assert as_stored(arrays, N) is arrays
    assert isinstance(arrays, DenseStumps)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gram_engine_has_the_iterates_of_the_direct_one(weighted, monkeypatch):
    X, y, weight = rare()
    made = []
    whole = SparseStatistics._make_whole
    monkeypatch.setattr(
        SparseStatistics, "_make_whole", lambda *args: made.append(1) or whole(*args)
    )
    settings = dict(
        loss=Squared(), learner=Stumps(), selection=RandomGroups(4), step=ConstantStep(),
        n_iter=300, random_state=0, validation=Validation(X[:90], y[:90]),
        weight=weight if weighted else None,
    )  # fmt: skip
    direct, gram = (boost(X, y, engine=engine, **settings) for engine in ("direct", "gram"))
    assert len(made) == 2  # of the training rows, and of the others
    np.testing.assert_array_equal(direct.trace.learner, gram.trace.learner)
    np.testing.assert_allclose(direct.trace.train_loss, gram.trace.train_loss, rtol=1e-9)
    np.testing.assert_allclose(direct.trace.validation_loss, gram.trace.validation_loss, rtol=1e-9)


def test_the_family_takes_it_by_itself():
    X, y, _ = rare()

    class Problem:
        prepared = Stumps().prepare(X)

    family = gram_family(Problem)
    with Team(1) as team:
        arrays = family.stored(Problem.prepared.arrays, N)
        rows = family.statistics(arrays, y, None, Squared(), 0.0, team)
    assert isinstance(rows, SparseStatistics)
