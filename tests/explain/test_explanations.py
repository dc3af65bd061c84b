"""Explanations are the model, not an approximation of it."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor

from ..data_strategies import problems

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)).round(2)
y = 2 * X[:, 0] + np.abs(X[:, 3]) + 0.1 * rng.normal(size=300)


@pytest.fixture(scope="module")
def model():
    frame = pd.DataFrame(X, columns=list("abcde"))
    return RGBMRegressor(max_iter=60, max_bins=64, random_state=0).fit(frame, y)


@given(problem=problems(binary=True), classify=st.booleans(), single=st.booleans())
def test_contributions_sum_to_the_raw_score_exactly(problem, classify, single):
    X, y, weight = problem
    X = X.astype(np.float32) if single else X
    if classify:
        model = RGBMClassifier(max_iter=30, random_state=0).fit(X, y, weight)
        score = model.decision_function(X)
    else:
        model = RGBMRegressor(max_iter=30, random_state=0).fit(X, y, weight)
        score = model.predict(X)
    local = model.explain_local(X)
    np.testing.assert_array_equal(local.score(), score)
    summed = local.intercept + local.contributions.sum(axis=1)
    np.testing.assert_allclose(summed, score, rtol=1e-12, atol=1e-12)
    sparse = model.explain_local(scipy.sparse.csr_array(X))
    np.testing.assert_array_equal(sparse.contributions, local.contributions)
    centered = local.centered()
    np.testing.assert_allclose(centered.score(), score, rtol=1e-10, atol=1e-10)
    assert centered.intercept == pytest.approx(np.average(score, weights=weight), abs=1e-10)
    np.testing.assert_allclose(
        np.average(centered.contributions, axis=0, weights=weight), 0, atol=1e-10
    )


@given(problem=problems(), engine=st.sampled_from(["direct", "quadratic"]), sparse=st.booleans())
def test_weights_are_those_of_the_rows(problem, engine, sparse):
    X, y, weight = problem
    data = scipy.sparse.csc_array(X) if sparse else X
    model = RGBMRegressor(max_iter=20, max_bins=5, engine=engine).fit(data, y, weight)
    explanation = model.explain_global()
    assert explanation.total_weight == pytest.approx(weight.sum())
    for shape in explanation:
        x = X[:, shape.feature]
        steps = pd.cut(x, shape.edges, labels=False)
        counted = np.bincount(steps, weight, len(shape.values))
        np.testing.assert_allclose(shape.weights, counted, atol=1e-12)
        cells = np.searchsorted(shape.density_edges, x)
        counted = np.bincount(cells, weight, len(shape.density))
        np.testing.assert_allclose(shape.density, counted, atol=1e-12)
        assert shape.mean == pytest.approx(np.average(shape.at(x), weights=weight), abs=1e-12)
        spread = np.sqrt(np.cov(shape.at(x), aweights=weight, ddof=0))
        assert shape.spread == pytest.approx(spread, abs=1e-12)


def test_density_of_many_values_is_on_even_cells():
    x = np.sort(rng.normal(size=250))
    model = RGBMRegressor(max_iter=5, max_bins=255).fit(x[:, None], x)
    shape = model.explain_global()[0]
    assert len(shape.density) == 32
    np.testing.assert_allclose(np.diff(shape.density_edges), np.diff(shape.density_edges)[0])
    counted = np.bincount(np.searchsorted(shape.density_edges, x), minlength=32)
    np.testing.assert_allclose(shape.density, counted, atol=2)  # one row at either edge
    assert shape.density.sum() == pytest.approx(250)


def test_importances(model):
    frame = pd.DataFrame(X, columns=list("abcde"))
    contributions = model.explain_local(frame)
    expected = np.zeros(5)
    expected[contributions.features] = contributions.contributions.std(axis=0)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-10)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert list(np.argsort(-model.feature_importances_)[:2]) == [0, 3]
    ordered = model.explain_global().by_importance()
    assert [shape.name for shape in ordered[:2]] == ["a", "d"]


def test_importances_without_and_with_extreme_functions():
    flat = RGBMRegressor(max_iter=3).fit(np.ones((9, 2)), np.arange(9.0))
    np.testing.assert_array_equal(flat.feature_importances_, [0, 0])
    for scale in (1e-100, 1e100):
        model = RGBMRegressor(max_iter=20, subset_size="all").fit(X, scale * y)
        reference = RGBMRegressor(max_iter=20, subset_size="all").fit(X, y)
        np.testing.assert_allclose(
            model.feature_importances_, reference.feature_importances_, rtol=1e-6
        )


def test_functions_by_name_and_index(model):
    explanation = model.explain_global()
    shape = explanation["d"]
    assert (shape.feature, shape.name) == (3, "d")
    assert explanation[3] is shape
    np.testing.assert_array_equal(shape.cuts, model.model_.table(3)[0])
    np.testing.assert_array_equal(shape.values, model.model_.table(3)[1])
    assert shape.edges[0] == -np.inf
    assert len(shape.edges) == len(shape.values) + 1 == len(shape.weights) + 1
    with pytest.raises(KeyError, match="no feature has the name 'z'; the first of them are 'a'"):
        explanation["z"]
    with pytest.raises(IndexError, match="feature 5 does not exist; use 0 to 4"):
        explanation[5]


def test_unused_features_have_the_function_zero():
    model = RGBMRegressor(max_iter=1, selection="all").fit(X, y)
    explanation = model.explain_global()
    assert len(explanation) == 1
    unused = explanation["x1"]
    np.testing.assert_array_equal(unused.values, [0])
    np.testing.assert_array_equal(unused.weights, [300])
    assert unused.spread == 0
    assert unused.plot_range[0] < unused.plot_range[1]


def test_dictionaries_and_unfitted_models():
    model = RGBMRegressor(learner=Dictionary.from_functions([lambda X: X]), max_iter=3).fit(X, y)
    with pytest.raises(TypeError, match="Only models of stumps have shape functions"):
        model.explain_global()
    for act in ("explain_global", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(RGBMRegressor(), act)()
    with pytest.raises(NotFittedError):
        RGBMRegressor().explain_local(X)


def test_rows_are_checked(model):
    with pytest.raises(ValueError, match="The feature names should match"):
        model.explain_local(pd.DataFrame(X, columns=list("edcba")))


@pytest.mark.filterwarnings("ignore")
def test_shap(model):
    shap = pytest.importorskip("shap")
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = model.explain_local(frame).to_shap()
    assert isinstance(found, shap.Explanation)
    np.testing.assert_allclose(found.base_values, model.predict(frame).mean(), rtol=1e-10)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(frame), rtol=1e-10)
    mine = RGBMRegressor(max_iter=200, max_bins=64, random_state=0).fit(X[:100], y[:100])
    exact = shap.explainers.Exact(mine.predict, X[:100])(X[:5])
    np.testing.assert_allclose(mine.explain_local(X[:5]).to_shap().values, exact.values, atol=1e-8)


def test_without_shap(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    local = model.explain_local(pd.DataFrame(X[:2], columns=list("abcde")))
    with pytest.raises(ImportError, match="pip install shap"):
        local.to_shap()


def mixed_rows(n=200):
    """Categories as strings and as numbers, and missing values."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"x": draw.normal(size=n).round(1)})
    frame["kind"] = np.array(["a", "b", "c", None], object)[draw.integers(0, 4, n)]
    frame["size"] = pd.Categorical(np.array([2.5, 7.0])[draw.integers(0, 2, n)])
    frame.loc[::6, "x"] = np.nan
    known = frame["kind"].map({"a": 1.0, "b": -1.0, "c": 2.0}).fillna(0.5)
    return frame, frame["x"].fillna(2.0) + known + frame["size"].astype(float)


def test_categories_and_missing_values():
    frame, target = mixed_rows()
    weight = np.random.default_rng(2).integers(1, 4, len(frame)).astype(float)
    model = RGBMRegressor(max_iter=80, random_state=0).fit(frame, target, weight)
    explanation, local = model.explain_global(), model.explain_local(frame)
    np.testing.assert_array_equal(local.score(), model.predict(frame))
    assert [shape.name for shape in explanation] == ["kind", "size", "x"]
    kind = explanation["kind"]
    assert kind.categories.tolist() == ["a", "b", "c"]
    for label, value, rows in zip(kind.categories, kind.values, kind.weights, strict=True):
        mine = (frame["kind"] == label).to_numpy()
        np.testing.assert_array_equal(local.contributions[mine, 0], value)
        assert rows == weight[mine].sum()
    gone = frame["kind"].isna().to_numpy()
    np.testing.assert_array_equal(local.contributions[gone, 0], kind.missing)
    assert kind.missing_weight == weight[gone].sum()
    missing = frame["x"].isna().to_numpy()
    np.testing.assert_array_equal(local.contributions[missing, 2], explanation["x"].missing)
    assert explanation["x"].missing_weight == weight[missing].sum()
    assert explanation["size"].categories.tolist() == [2.5, 7.0]
    shown = local.shown_values()
    assert shown[gone, 0].tolist() == [None] * int(gone.sum())
    assert shown[~gone, 0].tolist() == frame["kind"][~gone].tolist()
    np.testing.assert_allclose(
        np.average(local.centered().contributions, axis=0, weights=weight), 0, atol=1e-12
    )
    spread = np.sqrt(np.average(local.centered().contributions ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(
        model.feature_importances_[local.features], spread / spread.sum(), rtol=1e-10
    )


@pytest.mark.filterwarnings("ignore")
def test_several_classes():
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [0.0, 2.0])]
    model = RGBMClassifier(max_iter=60, max_bins=64, random_state=0).fit(X, labels)
    explanation, local = model.explain_global(), model.explain_local(X)
    assert explanation.classes.tolist() == ["high", "low", "middle"]
    assert local.contributions.shape == (300, len(explanation), 3)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(local.score(), scores)
    for c, label in enumerate(["high", "low", "middle"]):
        own = local.of_class(label)
        np.testing.assert_array_equal(own.score(), scores[:, c])
        assert str(own.scale) == f"score of class {label}"
        whole = explanation.of_class(label)
        assert whole.intercept == explanation.intercept[c]
        assert len(whole) == len(explanation)
        for mine, all_classes in zip(whole, explanation, strict=True):
            np.testing.assert_array_equal(mine.values, all_classes.values[:, c])
    np.testing.assert_allclose(local.centered().intercept, scores.mean(axis=0), atol=1e-10)
    spread = np.sqrt((local.contributions.std(axis=0) ** 2).sum(axis=1))
    np.testing.assert_allclose(
        model.feature_importances_[local.features], spread / spread.sum(), rtol=1e-10
    )
    unused = [g for g in range(5) if g not in local.features]
    for g in unused:
        np.testing.assert_array_equal(explanation[g].at(X[:, g]), np.zeros((300, 3)))
    pytest.importorskip("shap")
    found = local.to_shap()
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, atol=1e-10)
    assert list(found.output_names) == ["high", "low", "middle"]
    for wrong in (1, "hihg"):  # a position, a typo
        for one in (local, explanation, explanation.functions[0]):
            with pytest.raises(
                ValueError, match=rf"{wrong}'? is none of the classes \['high', 'low', "
            ):
                one.of_class(wrong)
    with pytest.raises(ValueError, match="of one score, of class 'high' only; label='low'"):
        local.of_class("high").of_class("low")


def test_two_classes_by_label():
    """The score speaks for the second class; that of the first has the other sign."""
    labels = np.where(y > 0, "b", "a")
    model = RGBMClassifier(max_iter=60, random_state=0).fit(X, labels)
    explanation, local = model.explain_global(), model.explain_local(X)
    assert str(explanation.scale) == str(local.scale) == "log-odds of class b"
    assert str(explanation["x0"].scale) == "log-odds of class b"
    scores = model.decision_function(X)
    np.testing.assert_array_equal(local.of_class("b").score(), scores)
    np.testing.assert_array_equal(local.of_class("a").score(), -scores)
    assert str(local.of_class("a").scale) == "log-odds of class a"
    assert str(local.of_class("a").of_class("b").scale) == "log-odds of class b"
    turned = explanation.of_class("a")
    np.testing.assert_array_equal(turned["x0"].values, -explanation["x0"].values)
    assert turned.intercept == -explanation.intercept
    with pytest.raises(ValueError, match=r"label=1 is none of the classes \['a', 'b'\]"):
        explanation.of_class(1)
    other = RGBMRegressor(max_iter=3).fit(X, y).explain_global()
    with pytest.raises(ValueError, match="of one score, of no class"):
        other.of_class("b")
    pytest.importorskip("shap")
    assert local.to_shap().output_names == "log-odds of class b"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RGBMClassifier(loss="exponential"), "half the log-odds of class 1"),
        (RGBMRegressor(loss="poisson"), "log of the mean"),
        (RGBMRegressor(), "score"),
    ],
)
def test_what_the_score_is(model, name):
    counts = (y > 0).astype(int)
    assert str(model.set_params(max_iter=3).fit(X, counts).explain_global().scale) == name
