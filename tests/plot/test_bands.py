"""Bands in pictures: drawn where there are any, and named."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection

from rgboost import RGBMRegressor
from rgboost.plot import InteractionDisplay, ShapeFunctionDisplay

from ..editing.models import frame


@pytest.fixture(scope="module")
def model():
    X, y = frame()
    settings = dict(max_bins=8, random_state=0, n_iter_no_change=20, interactions=[("a", "b")])
    return RGBMRegressor(**settings).fit(X, y)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def filled(ax):
    return [one for one in ax.collections if isinstance(one, PolyCollection)]


def test_the_band_is_around_the_curve(model):
    display = ShapeFunctionDisplay.from_estimator(model, "a")
    (band,) = filled(display.ax_[0])
    shape = model.explain_global().centered()["a"]
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.min() == pytest.approx(shape.band.low[:-1].min())
    assert ends.max() == pytest.approx(shape.band.high[:-1].max())
    assert display.figure_.get_supxlabel() == f"band: {shape.band.text}"


def test_it_can_be_left_out(model):
    display = ShapeFunctionDisplay.from_estimator(model, "a", band=False)
    assert not filled(display.ax_[0])
    assert display.figure_.get_supxlabel() == ""


def test_own_axes_say_what_it_is_below(model):
    _, ax = plt.subplots(layout="constrained")
    ShapeFunctionDisplay.from_estimator(model, ["c"], ax=[ax])
    assert "one standard deviation over 5 runs" in ax.get_xlabel()


def test_one_run_has_none():
    X, y = frame(100)
    single = RGBMRegressor(max_iter=5, interactions=0, random_state=0).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(single, "a")
    assert not filled(display.ax_[0])
    assert display.figure_.get_supxlabel() == ""


def test_the_band_of_a_pair_is_a_heat_map(model):
    display = InteractionDisplay.from_estimator(model, ("a", "b"), kind="band")
    drawn = np.concatenate([mesh.get_array().ravel() for mesh in display.mesh_])
    pair = model.explain_global()["a", "b"]
    shown = pair.deviation.values if pair.axes[1].has_missing else pair.deviation.values[:, :-1]
    np.testing.assert_allclose(np.sort(drawn), np.sort(shown.ravel()), rtol=0, atol=1e-12)
    assert drawn.min() >= 0
    labels = [ax.get_ylabel() for ax in display.figure_.axes]
    assert any("one standard deviation over 5 runs" in label for label in labels)
    with pytest.raises(ValueError, match="has no band"):
        InteractionDisplay.from_estimator(model, ("a", "b"), kind="band", with_curves=True)
