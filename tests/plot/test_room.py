"""What is written in a picture has room: texts and densities are measured as they are drawn."""

from itertools import combinations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.plot import ShapeFunctionDisplay

matplotlib.use("Agg")
rng = np.random.default_rng(0)
COUNTRIES = np.array([f"the country of {'abcdefghij'[k % 10] * 3} {k}" for k in range(42)])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frame():
    """Categories as in adult: few and many, with long names; numbers, also missing ones."""
    n = 600
    return pd.DataFrame(
        {
            "country": pd.Categorical(COUNTRIES[np.minimum(rng.geometric(0.06, n) - 1, 41)]),
            "education": pd.Categorical([f"{k}th grade" for k in rng.integers(0, 16, n)]),
            "sex": pd.Categorical(rng.choice(["Male", "Female"], n)),
            "gain": rng.integers(0, 100_000, n) * 1.0,
            "hours": np.where(rng.random(n) < 0.2, np.nan, rng.normal(40, 10, n)),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    codes = frame["country"].cat.codes + frame["education"].cat.codes + (frame["sex"] == "Male")
    y = codes * 0.2 + frame["gain"] / 5e4 + frame["hours"].fillna(70) / 30
    return RGBMRegressor(max_iter=300, max_bins=64, min_weight_fraction_leaf=0.0).fit(frame, y)


@pytest.fixture(scope="module")
def sleepers():
    """Five classes whose curves cross, as those of sleep."""
    X = pd.DataFrame(rng.integers(0, 11, (900, 4)) * 1.0, columns=list("abcd"))
    stages = np.array(["other", "stage 1", "stage 2", "stage 3", "wake"])
    place = np.clip((X["a"] + X["b"] - X["c"] + rng.normal(0, 3, 900)) // 4 + 1, 0, 4).astype(int)
    return RGBMClassifier(max_iter=100, random_state=0).fit(X, stages[place])


def boxes(texts):
    return [t.get_window_extent() for t in texts if t.get_text() and t.get_visible()]


def overlapping(found):
    """Pairs of boxes that share more than a sliver of half a pixel."""
    return [
        (a, b)
        for a, b in combinations(found, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def tick_labels(axes):
    return [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]


def wide(columns, inches):
    """Axes of a figure that leaves them little room."""
    return plt.subplots(1, columns, figsize=(inches, 2.5), layout="constrained")[1]


@pytest.mark.parametrize(
    "ax", [lambda: None, lambda: wide(5, 17), lambda: wide(5, 8)], ids=["own", "wide", "narrow"]
)
def test_labels_and_densities_do_not_overlap(model, ax):
    features = ["country", "education", "sex", "gain", "hours"]
    display = ShapeFunctionDisplay.from_estimator(model, features, ax=ax())
    display.figure_.canvas.draw()
    for axes in display.ax_:
        labels = boxes(tick_labels(axes))
        assert len(labels) >= 2
        assert not overlapping(labels)
        (strip,) = axes.child_axes
        density = strip.get_window_extent()
        assert density.height > 5
        assert not overlapping([axes.get_window_extent(), density, axes.title.get_window_extent()])
        assert not overlapping([density, axes.xaxis.get_tightbbox()])
    everything = [axes.get_tightbbox() for axes in display.ax_]
    assert not overlapping(everything)


def test_axes_without_a_layout_keep_their_title_in_the_picture(model):
    figure, axes = plt.subplots(2, 2, figsize=(7, 5))
    place = axes[0, 0].get_position()
    display = ShapeFunctionDisplay.from_estimator(
        model, ["gain", "hours", "sex", "education"], ax=axes
    )
    figure.canvas.draw()
    for one in display.ax_:
        title = one.title.get_window_extent()
        assert title.y1 <= figure.bbox.height
        assert not overlapping(
            [one.child_axes[0].get_window_extent(), one.get_window_extent(), title]
        )
        assert one.get_in_layout()
    top = display.ax_[0].child_axes[0].get_window_extent().y1
    assert top == pytest.approx(place.y1 * figure.bbox.height)


def test_parts_of_figures(model):
    part = plt.figure(figsize=(7, 3), layout="constrained").subfigures(1, 2)[0]
    display = ShapeFunctionDisplay.from_estimator(model, "country", ax=part.subplots())
    part.canvas.draw()
    assert display.figure_ is part
    assert not overlapping(boxes(tick_labels(display.ax_[0])))


def test_long_labels_are_told_apart(model):
    display = ShapeFunctionDisplay.from_estimator(model, "country")
    labels = [t.get_text() for t in display.ax_[0].get_xticklabels()]
    assert len(set(labels)) == 20
    assert max(map(len, labels)) == 12
    assert labels[0].startswith("the c…")


def test_few_short_labels_stand_upright_and_many_turn(model):
    display = ShapeFunctionDisplay.from_estimator(model, ["country", "sex"])
    turned, upright = ([t.get_rotation() for t in a.get_xticklabels()] for a in display.ax_)
    assert set(turned) == {90.0}
    assert set(upright) == {0.0}


@pytest.mark.parametrize("inches", [3.4, 1.4])
def test_categories_that_are_dropped_are_counted(model, inches):
    axes = plt.subplots(figsize=(inches, 2.5), layout="constrained")[1]
    display = ShapeFunctionDisplay.from_estimator(model, "country", ax=axes)
    shape = model.explain_global()["country"]
    drawn = len(display.lines_[0])
    assert drawn <= 20
    assert (drawn == 20) == (inches > 3)
    assert axes.get_xlabel() == f"{len(shape.values) - drawn} lighter ones\nare not drawn"
    kept = np.sort(np.argsort(-shape.weights, kind="stable")[:drawn])
    heights = [bar.get_height() for bar in display.lines_[0]]
    np.testing.assert_allclose(heights, (shape.values - shape.mean)[kept])
    axes.figure.canvas.draw()
    assert min(t.get_size() for t in axes.get_xticklabels()) >= 5
    assert not overlapping(boxes([*tick_labels(axes), axes.xaxis.label]))
    whole = ShapeFunctionDisplay.from_estimator(model, "education")
    assert whole.ax_[0].get_xlabel() == ""


def test_missing_values_have_a_label_of_their_own(model):
    display = ShapeFunctionDisplay.from_estimator(model, ["hours"])
    (axes,) = display.ax_
    assert [t.get_text() for t in axes.get_xticklabels(minor=True)] == ["missing"]
    shape = model.explain_global()["hours"]
    assert max(axes.get_xticks()) <= shape.plot_range[1]  # beyond are missing values


def curve_points(axes):
    """Corners of the drawn steps, in pixels."""
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    return np.concatenate([axes.transData.transform(line.get_xydata()) for line in lines])


def test_the_legend_of_classes_covers_no_curve(sleepers):
    display = ShapeFunctionDisplay.from_estimator(sleepers)
    display.figure_.canvas.draw()
    (legend,) = display.figure_.legends
    names = [t.get_text() for t in legend.get_texts()]
    assert names == ["other", "stage 1", "stage 2", "stage 3", "wake"]
    box = legend.get_window_extent()
    assert not any(overlapping([box, axes.get_tightbbox()]) for axes in display.ax_)


@pytest.mark.parametrize("share_y", [True, False])
def test_the_legend_in_given_axes_covers_no_curve(sleepers, share_y):
    axes = plt.subplots(1, 2, figsize=(7, 2.5))[1]
    display = ShapeFunctionDisplay.from_estimator(sleepers, ["a", "b"], ax=axes, share_y=share_y)
    display.figure_.canvas.draw()
    box = axes[0].get_legend().get_window_extent()
    assert box.y0 >= curve_points(axes[0])[:, 1].max()
    assert axes[0].get_window_extent().y1 >= box.y1
    assert (axes[0].get_ylim() == axes[1].get_ylim()) == share_y
