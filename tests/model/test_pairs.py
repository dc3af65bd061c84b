"""Models with pairs against the tables that they were made of."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.data.mixed_bins import OTHERS
from rgboost.model import Coverage, PairTables, RawPair, with_pairs
from rgboost.model.with_pairs import _without_idle_thresholds

from ..pairs import cuts_and_codes, random_pair, raw_pair

PAIRS = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
"""Numbers with missing values (0), numbers (1, 4), categories (2, 3)."""


def some_rows(rng, n=400):
    X = rng.normal(size=(n, 5)).round(1)
    X[rng.random(n) < 0.2, 0] = np.nan
    X[:, 2] = rng.integers(0, 4, n)
    X[:, 3] = np.minimum(rng.geometric(0.3, n), 12)
    X[rng.random(n) < 0.1, 3] = np.nan
    return X


def naive_scores(model, cuts, raws, X):
    """Scores of the curves, and for each pair its cell, by the bins of all features."""
    score = model.score(X)
    for g, h, table, _ in raws:
        bins = []
        for f in (g, h):
            edges = cuts.edges_of(f)
            found = []
            for x in X[:, f]:
                if np.isnan(x):
                    found.append(cuts.n_values[f])
                elif cuts.categorical[f]:
                    known = np.flatnonzero(edges == x)
                    others = len(edges) - (1 if edges[-1] == OTHERS else 0)
                    found.append(known[0] if len(known) else others)
                else:
                    found.append(np.sum(edges < x))
            bins.append(np.array(found))
        score = score + table[bins[0], bins[1]]
    return score


def fitted(X, rng, n_classes):
    """Curves; feature 3 has none: the fit would not put rare categories together."""
    X = X.copy()
    X[:, 3] = 1.0
    y = np.nan_to_num(X[:, 0]) + X[:, 2]
    settings = {"max_iter": 30, "max_bins": 12, "selection": "all", "categorical_features": [2, 3]}
    if n_classes is None:
        return RGBMRegressor(**settings).fit(X, y).model_
    return RGBMClassifier(**settings).fit(X, rng.integers(0, n_classes, len(X))).model_


@pytest.fixture(scope="module", params=[None, 3], ids=["one score", "three classes"])
def case(request):
    rng = np.random.default_rng(0)
    X = some_rows(rng)
    model = fitted(X, rng, request.param)
    cuts, codes = cuts_and_codes(X, (2, 3), rare=8.0)
    assert cuts.edges_of(3)[-1] == OTHERS
    raws = [random_pair(cuts, codes, g, h, rng, request.param) for g, h in PAIRS]
    return model, cuts, raws, X, with_pairs(model, cuts, raws)


def test_scores(case):
    model, cuts, raws, X, found = case
    expected = naive_scores(model, cuts, raws, X)
    close = {"rtol": 0, "atol": 1e-12 * np.abs(expected).max()}
    np.testing.assert_allclose(found.score(X), expected, **close)
    np.testing.assert_allclose(found.score(scipy.sparse.csr_array(X)), expected, **close)
    np.testing.assert_allclose(found.score(scipy.sparse.csc_array(X)), expected, **close)
    np.testing.assert_array_equal(found.score(X, n_jobs=3), found.score(X))
    np.testing.assert_array_equal(found.score(np.asfortranarray(X)), found.score(X))


def test_contributions_add_up_to_the_same_bits(case):
    _, _, _, X, found = case
    pairs = found.wide.pairs
    score = found.score(X)
    parts = pairs.contributions(X)
    np.testing.assert_array_equal(parts, pairs.contributions(scipy.sparse.csr_array(X)))
    total = without_pairs(found).score(X)
    for j in range(len(pairs)):
        total += parts[:, j]
    np.testing.assert_array_equal(total, score)
    for rows in (X, X.astype(np.float32)):  # thresholds are compared as they are
        out = np.zeros_like(score)
        pairs.add_scores(rows, out)
        expected = np.zeros_like(score)
        for j in range(len(pairs)):
            expected += pairs.contributions(rows)[:, j]
        np.testing.assert_array_equal(out, expected)


def without_pairs(model):
    wide = replace(model.wide, pairs=None)
    return wide if model.wide is model else replace(model, wide=wide)


def test_pairs_are_pure_and_the_strongest_comes_first(case):
    _, cuts, _, X, found = case
    pairs = found.wide.pairs
    assert sorted(map(tuple, pairs.features.tolist())) == PAIRS
    assert (np.diff(pairs.strengths) <= 0).all()
    for j, (g, h) in enumerate(pairs.features):
        weights, table = pairs.weights_of(j), pairs.table(j)
        assert table.shape[:2] == weights.shape == pairs.shape(j)
        assert weights.sum() == len(X)
        for axis, f in enumerate((g, h)):
            bins = pairs.bins(j, axis, X[:, f])
            own = weights.sum(axis=1 - axis)
            np.testing.assert_array_equal(np.bincount(bins, minlength=len(own)), own)
            assert np.isin(pairs.edges_of(j, axis), cuts.edges_of(f)).all()
        strength = np.sqrt(np.sum(weights * (table**2).reshape(*weights.shape, -1).sum(axis=2)))
        np.testing.assert_allclose(pairs.strengths[j], strength / np.sqrt(len(X)))


def test_coverage_and_mean(case):
    _, cuts, _, X, found = case
    coverage = Coverage.of_mixed(found.wide, cuts)
    for term in coverage.terms(found):
        assert term.weights.sum() + term.missing_weight == len(X)
    means = [np.average(np.concatenate([term.values, [term.missing]]), axis=0,
                        weights=np.append(term.weights, term.missing_weight))
             for term in coverage.terms(found)]  # fmt: skip
    np.testing.assert_allclose(found.intercept + sum(means), found.score(X).mean(axis=0))


def test_no_stages(case):
    found, X = case[4], case[3]
    for model in (found, found.without_path()):
        with pytest.raises(AttributeError, match="a model with pairs of features has no stages"):
            next(model.staged_score(X))


def test_pickles_do_not_hold_what_can_be_made(case):
    found, X = case[4], case[3]
    before = pickle.dumps(with_pairs(*case[:3]))
    found.score(X)
    assert len(pickle.dumps(found)) == len(before)
    np.testing.assert_array_equal(pickle.loads(before).score(X), found.score(X))


def test_some_of_the_pairs_and_other_columns(case):
    found, X = case[4], case[3]
    pairs = found.wide.pairs
    parts = pairs.contributions(X)
    order = np.array([3, 0])
    np.testing.assert_array_equal(pairs.take(order).contributions(X), parts[:, order])
    assert len(pairs.take(np.empty(0, np.int64))) == 0
    columns = np.array([1, 2, 5, 6, 9])
    wide = np.zeros((len(X), 10))
    wide[:, columns] = X
    np.testing.assert_array_equal(pairs.among(columns).contributions(wide), parts)


def test_classes():
    rng = np.random.default_rng(1)
    X = some_rows(rng)
    model = fitted(X, rng, 3)
    cuts, codes = cuts_and_codes(X, (2, 3))
    found = with_pairs(model, cuts, [random_pair(cuts, codes, 0, 4, rng, 3)])
    for c in range(3):
        np.testing.assert_array_equal(found.of_class(c).score(X), found.score(X)[:, c])


def test_thresholds_without_a_step_and_bins_without_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    cuts, codes = cuts_and_codes(X)
    model = RGBMRegressor(max_iter=1).fit(X, X[:, 0]).model_
    raw = raw_pair(cuts, codes, 0, 1, lambda i, j: (i > 3) * (j > 5))
    found = with_pairs(model, cuts, [raw])
    np.testing.assert_array_equal(found.pairs.edges_of(0, 0), cuts.edges_of(0)[[3]])
    np.testing.assert_array_equal(found.pairs.edges_of(0, 1), cuts.edges_of(1)[[5]])
    assert found.pairs.shape(0) == (3, 3)
    # Without rows in the bins 2 to 4 of the first feature, the step is where the next rows are.
    raw.weights[[2, 3, 4]] = 0
    merged, edges = _without_idle_thresholds(raw, cuts.edges_of(0), 0)
    np.testing.assert_array_equal(edges, cuts.edges_of(0)[[4]])
    assert merged.weights.sum() == raw.weights.sum()
    raw.weights[:4] = 0
    edges = _without_idle_thresholds(raw, cuts.edges_of(0), 0)[1]
    assert len(edges) == 0


def test_missing_values_that_never_were_get_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    cuts, codes = cuts_and_codes(X)
    model = RGBMRegressor(max_iter=5, max_bins=12).fit(X[:, :2], X[:, 0]).model_
    model = replace(model, n_features=3)
    raw = raw_pair(cuts, codes, 0, 2, lambda i, j: np.sin(i) * j + 5 * i)
    found = with_pairs(model, cuts, [raw])
    X[:, 2] = np.nan
    curves = with_pairs(model, cuts, [raw._replace(table=raw.table * 0)])
    mean = np.average(raw.table[:-1], axis=1, weights=raw.weights[:-1])  # of each bin of feature 0
    pure_curve = found.score(X) - curves.score(X)
    assert np.corrcoef(pure_curve, mean[codes[0]])[0, 1] > 0.99


def test_additive_tables_leave_no_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    cuts, codes = cuts_and_codes(X)
    model = RGBMRegressor(max_iter=5, max_bins=12).fit(X, X[:, 0]).model_
    raw = raw_pair(cuts, codes, 0, 1, lambda i, j: np.sin(i) + 0.1 * j)
    found = with_pairs(model, cuts, [raw])
    assert found.pairs is None
    np.testing.assert_allclose(found.score(X), naive_scores(model, cuts, [raw], X), atol=1e-12)
    swapped = RawPair(1, 0, raw.table.T, raw.weights.T)
    np.testing.assert_array_equal(with_pairs(model, cuts, [swapped]).score(X), found.score(X))
    assert with_pairs(model, cuts, []).pairs is None


@pytest.mark.kernel
@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 2]), st.integers(1, 70))
def test_the_kernel(seed, n_classes, n_edges):
    """Any tables, with categories that some pairs know and others do not."""
    rng = np.random.default_rng(seed)
    features = np.array([[0, 1], [0, 2], [1, 2]])
    categorical = np.array([False, False, True])[features]
    edges = []
    for by_set in categorical.ravel():
        if by_set:
            found = np.sort(rng.choice(6, rng.integers(1, 5), replace=False)).astype(float)
            edges.append(np.append(found, OTHERS) if rng.random() < 0.5 else found)
        else:
            edges.append(np.sort(rng.normal(size=rng.integers(0, n_edges))))
    sizes = np.array([len(e) for e in edges])
    bins = sizes + np.where(categorical.ravel(), 1, 2)
    n_cells = int(np.sum(bins[::2] * bins[1::2]))
    pairs = PairTables(
        features, categorical, np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(edges),
        rng.normal(size=(n_cells, *([n_classes] if n_classes else []))), np.ones(n_cells),
    )  # fmt: skip
    X = np.column_stack([rng.normal(size=(30, 2)), rng.integers(-1, 8, 30)])
    X[rng.random(X.shape) < 0.2] = np.nan
    X[::7, 2] = np.inf
    out = np.zeros((30, *([n_classes] if n_classes else [])))
    pairs.add_scores(X, out)
    expected = np.zeros_like(out)
    for j in range(3):
        expected += pairs.contributions(X)[:, j]
    np.testing.assert_array_equal(out, expected)


def test_a_model_among_other_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    cuts, codes = cuts_and_codes(X)
    model = RGBMRegressor(max_iter=5, max_bins=12).fit(X, X[:, 0]).model_
    found = with_pairs(model, cuts, [random_pair(cuts, codes, 0, 2, rng)])
    columns = np.array([1, 4, 6])
    wide = np.zeros((300, 8))
    wide[:, columns] = X
    np.testing.assert_array_equal(found.among(columns, 8).score(wide), found.score(X))


@pytest.mark.parametrize("seed", range(5))
def test_beside_bins_without_rows_the_order_is_kept(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    X[:, 2] = np.round(X[:, 2] + 2 * X[:, 0])  # goes with the first
    cuts, codes = cuts_and_codes(X)
    model = replace(RGBMRegressor(max_iter=1).fit(X[:, :2], X[:, 0]).model_, n_features=3)

    def rises(i, j):
        steps = rng.exponential(size=i.shape) * (rng.random(i.shape) < 0.2)
        return np.cumsum(steps, axis=0) + rng.normal(size=i.shape[1])

    raw = raw_pair(cuts, codes, 0, 2, rises)
    free, found = (with_pairs(model, cuts, [raw], ordered) for ordered in ((), (0,)))
    np.testing.assert_array_equal(free.score(X), found.score(X))
    close = {"rtol": 0, "atol": 1e-12 * np.abs(raw.table).max()}
    np.testing.assert_allclose(found.score(X), naive_scores(model, cuts, [raw], X), **close)
    probe = np.full((200, 3), np.nan)
    probe[:, 0] = np.sort(rng.normal(size=200))
    assert np.diff(free.score(probe)).min() < -0.01
    assert np.diff(found.score(probe)).min() > -1e-12
    swapped = with_pairs(model, cuts, [RawPair(2, 0, raw.table.T, raw.weights.T)], (0,))
    np.testing.assert_array_equal(found.score(probe), swapped.score(probe))
    for axis in (0, 1):
        means = (found.pairs.table(0) * found.pairs.weights_of(0)).sum(axis=axis)
        assert np.abs(means).max() < 1e-9
