"""rgboost info."""

import json

import numpy


def test_text(rgboost):
    done = rgboost("info")
    assert done.code == 0
    assert f"numpy          {numpy.__version__}\n" in done.out


def test_json(rgboost):
    assert json.loads(rgboost("info", "--json").out)["numpy"] == numpy.__version__


def test_a_stored_model_tells_its_plan(rgboost, tmp_path):
    train, model = tmp_path / "train.csv", tmp_path / "model.rgb"
    rng = numpy.random.default_rng(0)
    rows = [f"{a},{a + 0.1 * e}\n" for a, e in rng.normal(size=(200, 2))]
    train.write_text("a,y\n" + "".join(rows))
    fitted = rgboost("fit", train, "--target", "y", "--out", model, "--random-state", "0")
    assert "  learning_rate 0.05 (the mean of several runs" in fitted.out
    done = rgboost("info", model)
    assert done.code == 0
    assert done.out.startswith("estimator       RGBMRegressor\n")
    assert "engines considered" in done.out
    found = json.loads(rgboost("info", model, "--json").out)
    names = [entry[0] for entry in found["plan"]["entries"]]
    assert "max_bins" in names
