"""rgboost explain."""

import json

import pytest
from sklearn.datasets import load_diabetes

import rgboost as package


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    path = tmp_path_factory.mktemp("models") / "diabetes.rgb"
    package.RGBMRegressor(max_iter=30, random_state=0).fit(X, y).save(path)
    return path


def test_page(rgboost, model, tmp_path):
    out = tmp_path / "page.html"
    done = rgboost("explain", model, "--out", out)
    assert (done.code, done.out) == (0, f"{out}\n")
    page = out.read_text()
    assert "diabetes.rgb" in page
    assert "bmi" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_json(rgboost, model, tmp_path):
    found = json.loads(rgboost("explain", model, "--out", tmp_path / "p.html", "--json").out)
    loaded = package.load(model)
    used = {
        name: value
        for name, value in zip(loaded.feature_names_in_, loaded.feature_importances_, strict=True)
        if value > 0
    }
    assert found["importances"] == pytest.approx(used)


def test_faults(rgboost, model, tmp_path):
    assert rgboost("explain", tmp_path / "no.rgb").code == 3
    done = rgboost("explain", model, "--out", "/dev/full")
    assert done.code == 4
    assert "/dev/full: cannot be written (No space left on device)" in done.err
