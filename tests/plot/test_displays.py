"""The displays draw what the model says."""

import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.plot import (
    ImportanceDisplay,
    LossCurveDisplay,
    ShapeFunctionDisplay,
    WaterfallDisplay,
)
from rgboost.training import Trace

matplotlib.use("Agg")
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(200, 12)), columns=[f"feature {g}" for g in range(12)])
X["feature 3"] = (X["feature 3"] > 0) * 1.0
y = 2 * X["feature 0"] + X["feature 3"] + 0.3 * X["feature 1"] ** 2


@pytest.fixture(scope="module")
def model():
    return RGBMRegressor(max_iter=200, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_shape_functions(model):
    display = ShapeFunctionDisplay.from_estimator(model)
    assert len(display.ax_) == len(display.lines_) == 9
    assert display.ax_[0].get_title() == "feature 0"
    assert len({axes.get_ylim() for axes in display.ax_}) == 1
    own = ShapeFunctionDisplay.from_estimator(model, ["feature 3", 0], share_y=False, color="k")
    assert [axes.get_title() for axes in own.ax_] == ["feature 3", "feature 0"]
    assert own.lines_[0].get_color() == "k"
    own.figure_.canvas.draw()
    shape = model.explain_global()["feature 3"]
    x, values = own.lines_[0].get_data()
    np.testing.assert_array_equal(x[1:3], shape.cuts.repeat(2))
    np.testing.assert_allclose(values, (shape.values - shape.mean).repeat(2))
    bars = own.ax_[0].child_axes[0].patches
    areas = [bar.get_width() * bar.get_height() for bar in bars]
    np.testing.assert_allclose(areas, shape.density)


def test_shape_functions_on_given_axes(model):
    figure, axes = plt.subplots(1, 2)
    display = ShapeFunctionDisplay.from_estimator(model, [0, 1], ax=axes)
    assert list(display.ax_) == list(axes)
    assert display.figure_ is figure
    one = plt.subplots()[1]
    assert ShapeFunctionDisplay.from_estimator(model, [0], ax=one).ax_[0] is one
    divided = ShapeFunctionDisplay.from_estimator(model, [0, 1, 2], ax=plt.subplots()[1])
    assert len(divided.ax_) == 3
    with pytest.raises(ValueError, match="ax has 2 axes for 3 functions"):
        ShapeFunctionDisplay.from_estimator(model, [0, 1, 2], ax=axes)


def test_importances(model):
    display = ImportanceDisplay.from_estimator(model, max_features=5)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, np.sort(model.feature_importances_)[::-1][:5])
    assert display.ax_.get_yticklabels()[0].get_text() == "feature 0"
    assert "7 more features" in display.ax_.get_xlabel()
    again = display.plot(plt.subplots()[1], max_features=50)
    assert again is display
    assert len(display.bars_) == 12
    display.figure_.canvas.draw()


def test_loss_curves(model):
    display = LossCurveDisplay.from_estimator(model)
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_ydata(), model.trace_.train_loss)
    fields = {**vars(model.trace_), "validation_loss": model.trace_.train_loss + 1}
    both = LossCurveDisplay(Trace(**fields)).plot(against="seconds")
    assert [line.get_label() for line in both.lines_] == ["training", "validation"]
    np.testing.assert_array_equal(both.lines_[1].get_xdata(), model.trace_.seconds)
    more = LossCurveDisplay(model.trace_, Trace(**fields)).plot()
    assert [line.get_label() for line in more.lines_[:1]] == ["training"]
    np.testing.assert_array_equal(
        more.lines_[2].get_xdata(), len(model.trace_) + model.trace_.iteration
    )
    with pytest.raises(ValueError, match="against='hours' is not known"):
        both.plot(against="hours")


@pytest.mark.parametrize("most", [4, 12])
def test_waterfall(model, most):
    display = WaterfallDisplay.from_estimator(model, X, row=7, max_features=most)
    assert len(display.bars_) == most
    assert display.score_ == model.predict(X.iloc[[7]])[0]
    first, last = display.bars_[0], display.bars_[-1]
    mean = model.explain_global().centered().intercept
    assert min(abs(end - mean) for end in (first.get_x(), first.get_x() + first.get_width())) < 1e-9
    ends = (last.get_x(), last.get_x() + last.get_width())
    assert min(abs(end - display.score_) for end in ends) < 1e-9
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[0].startswith("feature 0 = ")
    assert ("9 other features" in labels) == (most == 4)
    with pytest.raises(IndexError, match="row=200 does not exist; the explanation has 200 rows"):
        WaterfallDisplay.from_estimator(model, X, row=200)


def test_categories_missing_values_and_classes():
    rows = X[["feature 0"]].copy()
    rows.loc[::5, "feature 0"] = np.nan
    rows["kind"] = np.array(["a", "b", "c", None], object)[np.arange(200) % 4]
    effect = rows["feature 0"].fillna(2) + np.arange(200) % 4
    model = RGBMRegressor(max_iter=40, random_state=0).fit(rows, effect)
    shapes = model.explain_global().centered()
    display = ShapeFunctionDisplay.from_estimator(model, ["kind", "feature 0"])
    heights = [bar.get_height() for bar in display.lines_[0]]
    np.testing.assert_allclose(heights, [*shapes["kind"].values, shapes["kind"].missing])
    ticks = [text.get_text() for text in display.ax_[0].get_xticklabels()]
    assert ticks == ["a", "b", "c", "missing"]
    point = display.ax_[1].lines[1].get_ydata()
    np.testing.assert_allclose(point, [shapes["feature 0"].missing])
    fall = WaterfallDisplay.from_estimator(model, rows, row=3)
    labels = [text.get_text() for text in fall.ax_.get_yticklabels()]
    assert "kind = missing" in labels
    assert fall.score_ == model.predict(rows.iloc[[3]])[0]
    display.figure_.canvas.draw()


def test_several_classes():
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    model = RGBMClassifier(max_iter=40, random_state=0).fit(X, labels)
    display = ShapeFunctionDisplay.from_estimator(model, [0, 3])
    assert display.lines_.shape == (2, 3)
    shape = model.explain_global().centered()[0]
    for c in range(3):
        np.testing.assert_allclose(display.lines_[0, c].get_ydata()[::2], shape.values[:, c])
    display.figure_.canvas.draw()
    ImportanceDisplay.from_estimator(model)
    best = WaterfallDisplay.from_estimator(model, X, row=2)
    scores = model.decision_function(X)[2]
    assert best.score_ == scores.max()
    other = WaterfallDisplay.from_estimator(model, X, row=2, label="middle")
    assert other.score_ == scores[2]
    assert "score of class middle" in other.ax_.get_xlabel()
    assert display.ax_[0].get_ylabel() == "adds to the score\nof each class"
    with pytest.raises(ValueError, match=r"label='top' is none of the classes \['high', 'low', "):
        WaterfallDisplay.from_estimator(model, X, row=2, label="top")


def test_two_classes_are_named():
    labels = np.where(y > 0, "yes", "no")
    model = RGBMClassifier(max_iter=40, random_state=0).fit(X, labels)
    shapes = ShapeFunctionDisplay.from_estimator(model, [0, 3, 1, 2])
    words = "adds to the log-odds\nof class yes"
    assert [axes.get_ylabel() for axes in shapes.ax_] == [words, "", "", words]
    own = plt.subplots()[1]
    ShapeFunctionDisplay.from_estimator(model, [0], ax=own)
    assert own.get_ylabel() == words
    fall = WaterfallDisplay.from_estimator(model, X, row=2)
    score = model.decision_function(X)[2]
    assert fall.score_ == score
    assert fall.ax_.get_xlabel().startswith("log-odds of class yes\nfrom the mean ")
    other = WaterfallDisplay.from_estimator(model, X, row=2, label="no")
    assert other.score_ == -score
    assert other.ax_.get_xlabel().startswith("log-odds of class no\nfrom the mean ")
    with pytest.raises(ValueError, match=r"label=1 is none of the classes \['no', 'yes'\]"):
        WaterfallDisplay.from_estimator(model, X, row=2, label=1)
    importances = ImportanceDisplay.from_estimator(model)
    assert "features add to the log-odds of class yes" in importances.ax_.get_xlabel()


def test_a_single_name_is_one_feature(model):
    for feature in ("feature 3", 3, np.int64(3)):
        display = ShapeFunctionDisplay.from_estimator(model, feature)
        assert [axes.get_title() for axes in display.ax_] == ["feature 3"]


def test_flat_models_have_pictures():
    flat = RGBMRegressor(max_iter=2).fit(np.ones((9, 2)), np.arange(9.0))
    ShapeFunctionDisplay.from_estimator(flat, [0]).figure_.canvas.draw()
    ShapeFunctionDisplay.from_estimator(flat)
    ImportanceDisplay.from_estimator(flat).figure_.canvas.draw()
    WaterfallDisplay.from_estimator(flat, np.ones((1, 2))).figure_.canvas.draw()


def test_unfitted():
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(RGBMRegressor())


def test_without_matplotlib(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'rgboost\[plot\]'"):
        ImportanceDisplay.from_estimator(model)
