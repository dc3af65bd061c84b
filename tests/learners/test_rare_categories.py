"""Rare categories share one; a column of noise does no harm."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.data.cuts import make_plan
from rgboost.data.mixed_bins import OTHERS, CategoryPlan, cut_mixed, find_categories
from rgboost.learners import Stumps

pandas = pytest.importorskip("pandas")


def categories_of(x, weight=None, sparse=False, **rare):
    X = np.asarray(x, float)[:, None]
    X = scipy.sparse.csc_array(X) if sparse else X
    one = np.ones(1, dtype=bool)
    cuts = cut_mixed(X, one, one, make_plan(255, "quantile"), weight, 1, CategoryPlan(**rare))
    return cuts.edges_of(0).tolist()


@pytest.mark.parametrize("sparse", [False, True])
def test_rare_ones_share_a_category(sparse):
    x = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, np.nan, np.nan]
    assert categories_of(x, sparse=sparse) == [0, 1, 2, 3, 4]
    assert categories_of(x, sparse=sparse, least=2.0) == [0, 1, 2, OTHERS]
    assert categories_of(x, sparse=sparse, least=2.5) == [0, 1, OTHERS]
    assert categories_of(x, sparse=sparse, most=3) == [0, 1, OTHERS]
    assert categories_of(x, sparse=sparse, most=5) == [0, 1, 2, 3, 4]
    assert categories_of(x, sparse=sparse, least=100.0) == [OTHERS]
    weight = np.array([1.0] * 9 + [5.0, 1.0, 1.0, 1.0])
    assert categories_of(x, weight, sparse=sparse, least=4.0) == [0, 3, OTHERS]


def test_one_rare_category_stays_what_it_is():
    assert categories_of([0, 0, 0, 1, 1, 1, 2], least=2.0) == [0, 1, 2]


def test_what_is_not_listed_is_one_of_the_others():
    x = np.array([0.0, 1.0, 7.0, np.nan])
    assert find_categories(x, np.array([0.0, 1.0])).tolist() == [0, 1, 2, 2]
    assert find_categories(x, np.array([0.0, OTHERS])).tolist() == [0, 1, 1, 2]


def test_bad_settings():
    with pytest.raises(ValueError, match="min_frequency"):
        Stumps(min_frequency=0)
    with pytest.raises(ValueError, match="max_categories"):
        Stumps(max_categories=1)
    with pytest.raises(ValueError, match="smooth"):
        Stumps(smooth="yes")


def rows_with_id(n, kind, seed=0):
    """A frame with five numbers and an id or levels that say nothing; y depends on the numbers."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    signal = 2 * frame["a"] + np.sin(2 * frame["b"]) + (frame["c"] > 0)
    y = signal + rng.normal(scale=0.3, size=n)
    if kind == "id":
        frame["id"] = [f"row {i}" for i in rng.permutation(n)]
    elif kind == "time":
        frame["id"] = [f"2024-01-{1 + i % 28:02d} {i:06d}" for i in range(n)]
    else:
        frame["id"] = rng.integers(kind, size=n).astype(str)
    return frame, y.to_numpy()


@pytest.mark.parametrize("kind", ["id", "time", 60, 300])
@pytest.mark.parametrize("n", [500, 3000])
def test_a_column_of_noise_does_not_harm_a_regression(kind, n):
    X, y = rows_with_id(n + 1000, kind)
    train, test = X[:n], X[n:]
    without = RGBMRegressor(random_state=0).fit(train.drop(columns="id"), y[:n])
    model = RGBMRegressor(random_state=0).fit(train, y[:n])
    error = 1 - model.score(test, y[n:])
    plain = 1 - without.score(test.drop(columns="id"), y[n:])
    assert plain < 0.06
    assert error < 1.1 * plain


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["id", 300])
def test_a_column_of_noise_does_not_harm_a_classification(n_classes, kind):
    X, y = rows_with_id(3000, kind)
    label = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = RGBMClassifier(random_state=0).fit(X[:1500], label[:1500])
    without = X.drop(columns="id")
    plain = RGBMClassifier(random_state=0).fit(without[:1500], label[:1500])
    found = model.score(X[1500:], label[1500:])
    assert found > plain.score(without[1500:], label[1500:]) - 0.02


@pytest.mark.parametrize("loss", ["huber", "absolute"])
def test_a_column_of_noise_does_not_harm_a_single_run(loss):
    X, y = rows_with_id(4000, 1000)
    model = RGBMRegressor(loss=loss, ensemble=False, random_state=0).fit(X[:3000], y[:3000])
    assert model.score(X[3000:], y[3000:]) > 0.9


def test_diabetes_with_an_id():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    plain = cross_val_score(RGBMRegressor(random_state=0), X, y).mean()
    for levels in (len(y), 60):
        noise = np.random.default_rng(0).permutation(len(y)) % levels
        found = cross_val_score(RGBMRegressor(random_state=0), X.assign(id=noise.astype(str)), y)
        assert found.mean() > plain - 0.015


def test_levels_that_matter_are_learnt_however_many_there_are():
    rng = np.random.default_rng(0)
    level = rng.integers(200, size=6000)
    effect = rng.normal(size=200)
    X = pandas.DataFrame({"level": level.astype(str), "x": rng.normal(size=6000)})
    y = effect[level] + rng.normal(scale=0.5, size=6000)
    model = RGBMRegressor(random_state=0).fit(X[:4000], y[:4000])
    best = 1 - 0.25 / (effect[level[4000:]].var() + 0.25)
    assert model.score(X[4000:], y[4000:]) > best - 0.03


def test_an_unknown_label_is_one_of_the_others():
    rng = np.random.default_rng(0)
    label = np.array(["a", "b", *[f"rare {i}" for i in range(300)]])[
        np.concatenate([rng.integers(2, size=700), np.arange(2, 302)])
    ]
    y = np.where(label == "a", 1.0, np.where(label == "b", -1.0, 5.0)) + rng.normal(size=1000) / 10
    X = pandas.DataFrame({"level": label, "x": rng.normal(size=1000)})
    model = RGBMRegressor(random_state=0).fit(X, y)
    shape = model.explain_global()["level"]
    assert shape.categories.tolist() == ["a", "b", "(other)"]
    new = pandas.DataFrame({"level": ["never seen", "rare 7", "a"], "x": 0.0})
    found = model.predict(new)
    assert found[0] == found[1]
    np.testing.assert_allclose(found, [5, 5, 1], atol=0.3)
    local = model.explain_local(new)
    at = local.names.index("level")
    assert local.shown_values()[:, at].tolist() == ["(other)", "(other)", "a"]


def test_shared_categories_are_stored(tmp_path):
    X, y = rows_with_id(600, 40)
    X.loc[X.index[:40], "id"] = [f"rare {i}" for i in range(40)]
    y = y + 2.0 * (X["id"].str.len() % 2)
    model = RGBMRegressor(random_state=0).fit(X, y)
    assert model.explain_global()["id"].categories[-1] == "(other)"
    model.save(tmp_path / "model.rgb")
    from rgboost import load

    np.testing.assert_array_equal(load(tmp_path / "model.rgb").predict(X), model.predict(X))
