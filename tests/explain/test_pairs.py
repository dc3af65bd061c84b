"""Models with pairs are explained by what they are."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.explain import PairFunction
from rgboost.explain.pair_axis import told_apart

from ..pairs import add_pairs

HOSTILE = "</text><script>alert(1)</script>&\"'"
rng = np.random.default_rng(0)
n = 300
frame = pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=["a", "b", "c", HOSTILE])
frame["kind"] = rng.choice(["x", "y", HOSTILE, None], n)
frame.loc[::5, "a"] = np.nan
y = frame["b"] + 2.0 * (frame["kind"] == "x")
PAIRS = {(0, 1): "random", (1, 4): "random", (2, 3): lambda u, v: 3.0 * (u > 0.5) * (v > 0.3)}


@pytest.fixture(scope="module", params=["one score", "two classes", "three classes"])
def model(request):
    settings = {"max_iter": 40, "max_bins": 12, "random_state": 0}
    if request.param == "one score":
        return add_pairs(RGBMRegressor(**settings).fit(frame, y), frame, PAIRS)
    pairs = dict.fromkeys(PAIRS, "random")
    if request.param == "two classes":
        labels = np.where(y > 0, "yes", "no")
    else:
        labels = np.array(["low", "high", HOSTILE])[np.digitize(y, [-0.5, 0.5])]
    return add_pairs(RGBMClassifier(**settings).fit(frame, labels), frame, pairs)


def raw_scores(model, rows):
    return model.model_.score(model._check_rows(rows))


def test_contributions_add_up_to_the_raw_score(model):
    local = model.explain_local(frame)
    np.testing.assert_array_equal(local.score(), raw_scores(model, frame))
    assert local.contributions.shape[1] == len(local.names) == len(model.term_names_)
    assert list(local.names) == model.term_names_
    assert local.names[-1] == " x ".join(frame.columns[list(model.term_features_[-1])])
    names = local.features[np.concatenate([list(places) for places in local.terms])]
    np.testing.assert_array_equal(names, np.concatenate([list(f) for f in model.term_features_]))
    centered = local.centered()
    np.testing.assert_allclose(centered.score(), local.score(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(centered.contributions.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(centered.intercept, local.score().mean(axis=0), atol=1e-10)
    other = frame.copy()  # unknown categories, missing values where there were none
    other["kind"], other["c"] = "unknown", np.nan
    np.testing.assert_array_equal(model.explain_local(other).score(), raw_scores(model, other))


def test_the_explanation_is_the_model(model):
    explanation, rows = model.explain_global(), model._check_rows(frame)
    score = explanation.intercept + np.zeros((n, *np.shape(explanation.intercept)))
    for shape in explanation:
        score = score + shape.at(rows[:, shape.feature])
    for pair in explanation.pairs:
        g, h = pair.features
        score = score + pair.at(rows[:, g], rows[:, h])
    np.testing.assert_allclose(score, raw_scores(model, frame), atol=1e-10)
    centered = explanation.centered()
    assert centered.pairs[0].mean == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(centered.intercept, score.mean(axis=0), atol=1e-10)
    labels = [None] if explanation.scale.other is None else ["yes", "no"]
    labels = labels if explanation.classes is None else explanation.classes.tolist()
    for c, label in enumerate(labels):
        if label is not None:
            own = explanation.of_class(label)
            local = model.explain_local(frame).of_class(label).score()
            wanted = score[:, c] if score.ndim == 2 else score * (1 if label == "yes" else -1)
            np.testing.assert_allclose(local, wanted, atol=1e-10)
            wanted = explanation.pairs[0].of_class(label).values
            np.testing.assert_array_equal(own.pairs[0].values, wanted)


def test_pairs_by_name(model):
    explanation = model.explain_global()
    pair = explanation["b", "a"]
    assert isinstance(pair, PairFunction)
    assert (pair.features, pair.names, pair.name) == ((0, 1), ("a", "b"), "a x b")
    assert explanation[0, "b"] is explanation[1, 0] is explanation["a", "b"]
    with pytest.raises(KeyError, match=r"the model has no pair a x c; its pairs are . x "):
        explanation["a", "c"]
    with pytest.raises(KeyError, match="no feature has the name"):
        explanation["a", "z"]
    with pytest.raises(KeyError, match="has no pair a x b x c"):
        explanation["a", "b", "c"]
    assert "pairs" in repr(explanation)
    assert "3 pairs" in repr(model.explain_local(frame))
    assert repr(pair).startswith("PairFunction('a x b', ")
    plain = RGBMRegressor(max_iter=3).fit(frame[["b", "c"]], y).explain_global()
    assert plain.pairs == ()
    with pytest.raises(KeyError, match="its pairs are none"):
        plain["b", "c"]


def test_axes(model):
    pair = model.explain_global()["kind", "b"]
    numbers, kinds = pair.axes
    assert kinds.categories.tolist() == sorted([HOSTILE, "x", "y"])
    assert kinds.texts() == [*sorted([HOSTILE, "x", "y"]), "missing"]
    assert kinds.has_missing
    assert not numbers.has_missing
    assert len(numbers.texts()) == len(numbers.cuts) + 2 == pair.weights.shape[0]
    np.testing.assert_array_equal(numbers.weights, pair.weights.sum(axis=1))
    assert pair.weights.sum() == n
    np.testing.assert_array_equal(
        kinds.weights[:-1], [(frame["kind"] == label).sum() for label in kinds.categories]
    )
    low, high = numbers.plot_range
    assert low < numbers.cuts[0] < numbers.cuts[-1] < high


def test_slices(model):
    pair = model.explain_global()["kind", "b"]
    for along, bins in ((0, range(4)), ("b", range(4))):
        found = pair.slices(along)
        assert [one.label for one in found] == pair.axes[1].texts()
        for b, one in zip(bins, found, strict=True):
            np.testing.assert_array_equal(one.function.values, pair.values[:-1, b])
            np.testing.assert_array_equal(one.function.weights, pair.weights[:-1, b])
            assert one.function.name == f"b where kind is {one.label}"
            assert np.abs(one.function.mean).max() < 1e-10  # pure
    for one in pair.slices("kind", most=3):
        assert one.function.categories is not None
        assert one.function.missing_weight >= 0
    assert len(pair.slices("kind", most=3)) <= 3
    with pytest.raises(ValueError, match="along='z' is none of the features"):
        pair.slices("z")


def test_importances(model):
    local = model.explain_local(frame)
    spread = np.sqrt((local.contributions.std(axis=0).reshape(len(local.names), -1) ** 2).sum(1))
    np.testing.assert_allclose(model.term_importances_, spread / spread.sum(), rtol=1e-10)
    by_feature = np.zeros(5)
    for features, share in zip(model.term_features_, model.term_importances_, strict=True):
        by_feature[list(features)] += share / len(features)
    np.testing.assert_allclose(model.feature_importances_, by_feature)
    assert model.feature_importances_.sum() == pytest.approx(1)
    ordered = model.explain_global().terms_by_importance()
    assert len(ordered) == len(model.term_names_)
    assert all(a.spread >= b.spread for a, b in pairwise(ordered))
    assert ordered[0].name == model.term_names_[int(np.argmax(model.term_importances_))]


def test_shown_values(model):
    local = model.explain_local(frame)
    shown = local.shown_values()
    k = local.names.index("b x kind")
    assert shown[0, k] == (frame["b"][0], frame["kind"][0])
    gone = int(np.flatnonzero(frame["kind"].isna())[0])
    assert shown[gone, k] == (frame["b"][gone], None)
    k = local.names.index("b")
    np.testing.assert_array_equal(shown[:, k].astype(float), frame["b"])


def test_sparse_rows():
    X = rng.normal(size=(200, 3)) * (rng.random((200, 3)) < 0.5)
    model = RGBMRegressor(max_iter=20, max_bins=12).fit(X, X[:, 0])
    add_pairs(model, X, {(0, 1): "random", (1, 2): "random"})
    dense, sparse = model.explain_local(X), model.explain_local(scipy.sparse.csr_array(X))
    np.testing.assert_array_equal(sparse.contributions, dense.contributions)
    np.testing.assert_array_equal(dense.score(), model.predict(X))
    np.testing.assert_allclose(model.predict(scipy.sparse.csr_array(X)), model.predict(X))


def test_a_pair_of_features_without_curves():
    """What either does is zero exactly: no curve, but values are shown and rows are weighed."""
    X = np.array([[0.0, 0, 7], [0, 1, 7], [1, 0, 7], [1, 1, 7]] * 5)
    model = RGBMRegressor(max_iter=2).fit(X[:, [2, 2, 2]], np.arange(20.0))
    add_pairs(model, X, {(0, 1): lambda u, v: np.where((u < 0.4) == (v < 0.4), 1.0, -1.0)})
    assert model.term_names_ == ["x0 x x1"]
    local = model.explain_local(X)
    np.testing.assert_array_equal(local.features, [0, 1])
    np.testing.assert_array_equal(local.score(), model.predict(X))
    np.testing.assert_allclose(model.feature_importances_, [0.5, 0.5, 0])
    (pair,) = model.explain_global().pairs
    assert pair.axes[0].plot_range[0] < 0.5 < pair.axes[0].plot_range[1]
    np.testing.assert_array_equal(pair.axes[0].density, [10, 10])


@pytest.mark.filterwarnings("ignore")
def test_shap(model):
    pytest.importorskip("shap")
    found = model.explain_local(frame).to_shap()
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, raw_scores(model, frame), atol=1e-10)
    assert list(found.feature_names) == model.term_names_
    k = model.term_names_.index("b x kind")
    assert found.display_data[0, k] == f"{frame['b'][0]:.4g}, {frame['kind'][0]}"
    assert np.isnan(found.data[:, k]).all()


def parse(text):
    root = ET.fromstring(text)
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert tags <= {"div", "span", "svg", "text", "title", "rect", "line", "polyline", "circle"}
    assert "nan" not in text
    return root


def test_pictures(model):
    explanation = model.explain_global()
    several = 1 if explanation.classes is None else 3
    for pair in explanation.pairs:
        root = parse(pair._repr_html_())
        assert sum(one.tag.endswith("svg") for one in root.iter()) == several
        assert sum(one.tag.endswith("rect") for one in root.iter()) <= 1700 * several
    shown = "".join(parse(explanation["b", "kind"]._repr_html_()).itertext())
    assert "missing" in shown
    assert "</text>" in shown
    whole = "".join(parse(explanation._repr_html_()).itertext())
    assert "in 3 pairs too" in whole
    assert " x " in whole
    rows = "".join(parse(model.explain_local(frame)._repr_html_()).itertext())
    assert " x " in rows


def test_pictures_of_strange_values():
    X = 1.7e308 * np.linspace(-1, 1, 100)[:, None] * [1.0, 0.3]
    with np.errstate(over="ignore", invalid="ignore"):
        model = RGBMRegressor(max_iter=5, max_bins=12).fit(X, np.arange(100.0))
        add_pairs(model, X, {(0, 1): "random"})
        pair = model.explain_global().pairs[0]
        pair.values[0, 0] = np.nan
        parse(pair._repr_html_())


def test_cuts_are_told_apart():
    assert told_apart(np.array([34.001, 34.002])) == ["34.001", "34.002"]
    assert told_apart(np.array([0.5, 1500.0])) == ["0.5", "1,500"]
    assert told_apart(np.empty(0)) == []
