"""Pictures of pairs show what the model says."""

from dataclasses import replace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.explain.pair_function import near_rows
from rgboost.plot import ImportanceDisplay, InteractionDisplay, WaterfallDisplay
from rgboost.plot.interactions import blocks_of

from ..pairs import add_pairs

matplotlib.use("Agg")
rng = np.random.default_rng(0)
n = 300
X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
X["kind"] = rng.choice(["x", "y", "z", None], n)
X.loc[::5, "a"] = np.nan
y = X["b"] + 1.0 * (X["kind"] == "x")
PAIRS = dict.fromkeys([(0, 1), (1, 2)], "random")


@pytest.fixture(scope="module")
def model():
    fitted = RGBMRegressor(max_iter=30, max_bins=12, random_state=0).fit(X, y)
    return add_pairs(fitted, X, PAIRS)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_heat_map(model):
    display = InteractionDisplay.from_estimator(model, ("b", "a"))
    pair = model.explain_global()["a", "b"]
    assert display.lines_ is None
    values, missing = display.mesh_  # the second feature never was missing
    np.testing.assert_array_equal(values.get_array(), pair.values[:-1, :-1].T)
    np.testing.assert_array_equal(missing.get_array(), pair.values[-1:, :-1].T)
    corners = values.get_coordinates()
    np.testing.assert_array_equal(corners[0, 1:-1, 0], pair.axes[0].cuts)
    np.testing.assert_array_equal(corners[1:-1, 0, 1], pair.axes[1].cuts)
    assert values.norm.vmin == -values.norm.vmax == -pair.most
    beyond = pair.weights[np.abs(pair.values) > pair.most].sum()
    assert 0 <= beyond <= 0.01 * pair.weights.sum()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "b")
    assert [t.get_text() for t in display.ax_.get_xticklabels(minor=True)] == ["missing"]
    labels = [axes.get_ylabel() for axes in display.figure_.axes]
    assert "adds to the score" in labels
    above, beside = display.ax_.child_axes
    assert len(above.patches) == len(pair.axes[0].density)
    assert max(bar.get_width() for bar in beside.patches) == 1.0
    display.figure_.canvas.draw()


def test_turned_and_on_given_axes(model):
    figure, ax = plt.subplots()
    display = InteractionDisplay.from_estimator(model, (1, 2), along="kind", ax=ax, cmap="RdBu")
    assert (display.ax_, display.figure_) == (ax, figure)
    pair = model.explain_global()["b", "kind"]
    np.testing.assert_array_equal(display.mesh_[0].get_array(), pair.values[:-1, :-1])
    assert display.mesh_[0].get_cmap().name == "RdBu"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y", "z", "missing"]
    assert display.plot(kind="slices").mesh_ is None
    figure.canvas.draw()


def test_slices(model):
    pair = model.explain_global()["b", "kind"]
    curves = InteractionDisplay(pair).plot(kind="slices")
    assert [line.get_label() for line in curves.lines_] == ["x", "y", "z", "missing"]
    for k, line in enumerate(curves.lines_):
        np.testing.assert_array_equal(line.get_ydata()[::2], pair.values[:-1, k])
    assert curves.ax_.get_xlabel() == "b"
    bars = InteractionDisplay(pair).plot(kind="slices", along="kind")
    found = [one.function for one in pair.slices("kind")]
    heights = [[bar.get_height() for bar in bars_] for bars_ in bars.lines_]
    np.testing.assert_array_equal(heights, [[*shape.values, shape.missing] for shape in found])
    missing = InteractionDisplay.from_estimator(model, ("a", "b"), kind="slices", along="b")
    assert missing.lines_[-1].get_label() == "missing"
    for display in (curves, bars, missing):
        display.figure_.canvas.draw()


def test_slices_are_faint_where_no_row_is_near(model):
    pair = model.explain_global()["b", "kind"]
    weights = pair.weights.copy()
    weights[4:8, 0] = 0.0
    curves = InteractionDisplay(replace(pair, weights=weights)).plot(kind="slices")
    drawn = curves.lines_[0].get_ydata()[::2]
    np.testing.assert_array_equal(np.isnan(drawn), np.isin(np.arange(len(drawn)), [5, 6]))
    faint = [line for line in curves.ax_.get_lines() if line.get_alpha() is not None]
    np.testing.assert_array_equal(faint[0].get_ydata()[::2], pair.values[:-1, 0])


def test_with_the_curves_of_both_features(model):
    explanation = model.explain_global()
    whole = InteractionDisplay.from_estimator(model, ("kind", "b"), with_curves=True).pair
    pair = explanation["b", "kind"]
    own, other = (explanation[name].centered() for name in ("b", "kind"))
    found = whole.values - pair.values
    bins, curve = pair.axes[0].bins(X["b"]), own.at(X["b"])
    means = np.array([curve[bins == k].mean() for k in range(found.shape[0] - 1)])
    kinds = np.append(other.at(pair.axes[1].codes), other.missing)
    np.testing.assert_allclose(found[:-1], means[:, None] + kinds, atol=1e-12)
    np.testing.assert_allclose(found[-1], own.missing + kinds)
    assert (whole.whole, pair.whole) == (True, False)


def test_the_strongest_pair_is_drawn_if_none_is_named(model):
    strongest = model.explain_global().pairs[0]
    assert InteractionDisplay.from_estimator(model).pair.features == strongest.features
    plain = RGBMRegressor(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match=r"has no pairs .* fit it with interactions=10"):
        InteractionDisplay.from_estimator(plain)
    with pytest.raises(KeyError, match="the model has no pair a x kind"):
        InteractionDisplay.from_estimator(model, ("a", "kind"))
    with pytest.raises(ValueError, match="pair='a' is not two features"):
        InteractionDisplay.from_estimator(model, "a")
    with pytest.raises(ValueError, match="kind='bars' is not known"):
        InteractionDisplay.from_estimator(model, kind="bars")
    with pytest.raises(ValueError, match="along='z' is none of the features"):
        InteractionDisplay.from_estimator(model, along="z")


def test_classes():
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    model = RGBMClassifier(max_iter=20, max_bins=12, random_state=0).fit(X, labels)
    add_pairs(model, X, PAIRS)
    explanation = model.explain_global()
    display = InteractionDisplay.from_explanation(explanation, ("a", "b"), label="low")
    np.testing.assert_array_equal(
        display.mesh_[0].get_array(), explanation["a", "b"].values[:-1, :-1, 1].T
    )
    first = InteractionDisplay.from_estimator(model, ("a", "b"))
    assert str(first.pair.scale) == "score of class high"
    with pytest.raises(ValueError, match=r"draw pair.of_class\(label\), one of \['high', 'low'"):
        InteractionDisplay(explanation["a", "b"])
    WaterfallDisplay.from_estimator(model, X, row=1).figure_.canvas.draw()


def test_many_categories():
    rows = pd.DataFrame({"many": np.arange(2000) % 40 + 0.5, "b": rng.normal(size=2000)})
    rows["many"] = rows["many"].astype("category")
    model = RGBMRegressor(max_iter=20, max_bins=12, random_state=0).fit(rows, rows["b"])
    add_pairs(model, rows, {(0, 1): "random"})
    pair = model.explain_global().pairs[0]
    (kept,) = blocks_of(pair.axes[0])
    assert len(kept.bins) == 20
    lightest = pair.axes[0].weights[kept.bins].min()
    assert (np.delete(pair.axes[0].weights, kept.bins) <= lightest).all()
    for kind in ("heat map", "slices"):
        display = InteractionDisplay(pair).plot(kind=kind)
        display.figure_.canvas.draw()
        assert display.ax_.get_xlabel() == "many (the 20 heaviest of 40)"


def test_cells_near_rows():
    weights = np.zeros((5, 4))
    weights[1, 2] = 1.0
    near = near_rows(weights, True, False)
    np.testing.assert_array_equal(np.argwhere(near), [[0, 2], [1, 2], [2, 2]])
    assert near_rows(weights, True, True).sum() == 6  # missing values have no neighbours


def test_other_displays(model):
    terms = ImportanceDisplay.from_estimator(model, of="terms")
    found = [bar.get_width() for bar in terms.bars_]
    np.testing.assert_allclose(found, np.sort(model.term_importances_)[::-1])
    assert "b x kind" in [text.get_text() for text in terms.ax_.get_yticklabels()]
    features = ImportanceDisplay.from_estimator(model)
    assert len(features.bars_) == 3
    with pytest.raises(ValueError, match="of='pairs' is not known"):
        ImportanceDisplay.from_estimator(model, of="pairs")
    fall = WaterfallDisplay.from_estimator(model, X, row=3, max_features=3)
    assert fall.score_ == model.predict(X.iloc[[3]])[0]
    labels = [text.get_text() for text in fall.ax_.get_yticklabels()]
    assert labels[-1] == "3 other terms"
    whole = WaterfallDisplay.from_estimator(model, X, row=0)
    labels = [text.get_text() for text in whole.ax_.get_yticklabels()]
    assert f"a x b = missing, {X['b'][0]:.4g}" in labels
