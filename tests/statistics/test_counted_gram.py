"""Gram rows of few rows are counts of the rows left of two splits."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost._core.team import Team
from rgboost.engines.gram.family import gram_family
from rgboost.learners import Stumps
from rgboost.losses import Squared
from rgboost.statistics import in_memory
from rgboost.statistics.counted_gram import count_gram, counts_pay
from rgboost.statistics.in_memory import InMemory, RowsOfFold
from tests.conftest import JIT
from tests.data_strategies import problems


def naive_gram(X, cuts):
    """Rows left of both splits, for all pairs of them."""
    feature = np.searchsorted(cuts.offsets, np.arange(cuts.offsets[-1]), side="right") - 1
    left = (X[:, feature] <= cuts.thresholds[None]).astype(np.int64)
    return left.T @ left


def counted(prepared, X, sets, features, columns, total_type=np.uint16, n_threads=1):
    """`count_gram` of some sets of rows, and their sum; -1 where nothing was written."""
    offsets = prepared.cuts.offsets
    n_rows = sum(int(offsets[g + 1] - offsets[g]) for g in features)
    nothing = np.iinfo(np.uint16).max
    outs = [np.full((n_rows, offsets[-1]), nothing, np.uint16) for _ in sets]
    total = np.full((n_rows, offsets[-1]), nothing, total_type)
    arrays = [prepared.arrays_for(X[rows]) for rows in sets]
    with Team(n_threads) as team:
        sizes = [len(rows) for rows in sets]
        count_gram(arrays, sizes, np.array(features), np.array(columns), outs, total, team)
    return [np.where(out == nothing, -1, out.astype(int)) for out in (*outs, total)]


def splits_of(offsets, features):
    return np.concatenate([np.arange(offsets[g], offsets[g + 1]) for g in features])


@pytest.mark.kernel
@given(problems(max_rows=20), st.integers(1, 3), st.booleans())
def test_counts_of_sets_and_their_sum(problem, n_sets, sparse):
    X = problem[0]
    data = scipy.sparse.csr_array(X) if sparse else X
    prepared = Stumps(max_bins=12).prepare(data, None)
    everything = range(X.shape[1])
    n_sets = min(n_sets, len(X))
    sets = [np.arange(s, len(X), n_sets) for s in range(n_sets)]
    *found, total = counted(prepared, data, sets, everything, everything)
    for rows, one in zip(sets, found, strict=True):
        np.testing.assert_array_equal(one, naive_gram(X[rows], prepared.cuts))
    np.testing.assert_array_equal(total, naive_gram(X, prepared.cuts))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_more_rows_in_a_bin_than_a_byte_counts(n_threads):
    """Bins of 0, 255, 256, 600 and many rows."""
    if n_threads > 1 and not JIT:
        pytest.skip("threads need compiled code")
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(6.0), [255, 256, 600, 511, 1, 700])
    X = np.column_stack([x, rng.integers(0, 30, len(x)), rng.permutation(x)])
    prepared = Stumps().prepare(X, None)
    sets = [np.flatnonzero(X[:, 2] != 1), np.flatnonzero(X[:, 2] == 1)]
    first, second, total = counted(prepared, X, sets, range(3), range(3), np.uint32, n_threads)
    np.testing.assert_array_equal(first, naive_gram(X[sets[0]], prepared.cuts))
    np.testing.assert_array_equal(second, naive_gram(X[sets[1]], prepared.cuts))
    np.testing.assert_array_equal(total, naive_gram(X, prepared.cuts))


def test_other_columns_are_left_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:, 3] = 0.0  # no splits
    prepared = Stumps(max_bins=20).prepare(X, None)
    offsets = prepared.cuts.offsets
    features, columns = [4, 1], [1, 3, 4, 5]
    found, total = counted(prepared, X, [np.arange(300)], features, columns)
    rows, known = splits_of(offsets, features), splits_of(offsets, columns)
    expected = np.full((len(rows), offsets[-1]), -1)
    expected[:, known] = naive_gram(X, prepared.cuts)[np.ix_(rows, known)]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(total, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_count_where_that_pays(weighted, monkeypatch):
    """Many bins, few rows: all folds in one call, but not with weights. The blocks are the same."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(500, 3)), rng.normal(size=500), np.ones(500)
    prepared = Stumps(max_bins=100).prepare(X, None)
    called = []
    monkeypatch.setattr(
        in_memory, "count_gram", lambda *args: (called.append(len(args[0])), count_gram(*args))
    )
    n_splits = int(prepared.cuts.offsets[-1])
    sets = [np.arange(s, 500, 5) for s in range(5)]
    with Team(1) as team:
        parts = [
            RowsOfFold(
                prepared.arrays_for(X[rows]), y[rows], weight[rows] if weighted else None, None
            )
            for rows in sets
        ]
        outs = [np.zeros((n_splits, n_splits), np.uint16) for _ in range(6)]
        family = gram_family(SimpleNamespace(prepared=prepared))
        InMemory(family, parts, Squared(), team).gram(range(3), range(3), None, outs)
    assert called == ([] if weighted else [5])
    for rows, out in zip([*sets, np.arange(500)], outs, strict=True):
        np.testing.assert_array_equal(out, naive_gram(X[rows], prepared.cuts))


def test_counts_pay_if_there_are_few_rows_for_the_bins():
    X = np.random.default_rng(0).normal(size=(400, 2))
    arrays = Stumps(max_bins=100).prepare(X, None).arrays
    assert counts_pay(arrays, 2000)
    assert not counts_pay(arrays, 3000)
    wide = Stumps(max_bins=400).prepare(np.tile(X, 90), None).arrays  # 65,536 cells are too few
    assert not counts_pay(wide, 100)
