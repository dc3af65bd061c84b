"""Pictures for notebooks: well-formed, complete, and nothing in a name is markup."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.utils import estimator_html_repr

from rgboost import Dictionary, RGBMClassifier, RGBMRegressor, Trace
from rgboost._core.svg import Panel, range_of

HOSTILE = "</text><script>alert(1)</script>&\"'\x00"
rng = np.random.default_rng(0)
n = 300
frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", HOSTILE, "c"])
frame["kind"] = rng.choice([*"abcdefghij", HOSTILE, None], n)
frame.loc[::4, "a"] = np.nan
y = frame[HOSTILE] + frame["c"] + np.nan_to_num(frame["a"]) + 2.0 * (frame["kind"] == "b")


@pytest.fixture(scope="module")
def model():
    return RGBMRegressor(max_iter=100, early_stopping=True, random_state=0).fit(frame, y)


@pytest.fixture(scope="module")
def classifier():
    labels = np.array(["low", "high", HOSTILE.rstrip("\x00")])[np.digitize(y, [-0.5, 0.5])]
    return RGBMClassifier(max_iter=40, random_state=0).fit(frame, labels)


def parse(text):
    """The elements of a picture; a fault in its markup raises."""
    root = ET.fromstring(text)
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert tags <= {"div", "span", "svg", "text", "title", "rect", "line", "polyline", "circle"}
    assert "nan" not in text
    assert "inf" not in text
    return root


def count(root, tag):
    return sum(one.tag.endswith(tag) for one in root.iter())


def texts(root):
    return [one.text for one in root.iter() if one.text]


def test_explanations(model):
    whole = parse(model.explain_global()._repr_html_())
    assert count(whole, "svg") == len(model.explain_global()) == 4
    assert count(whole, "polyline") == 3  # a line for each numeric feature
    assert count(whole, "circle") == 1  # missing values of one
    assert count(parse(model.explain_global()["kind"]._repr_html_()), "rect") == 8
    assert any("</text><script>alert(1)</script>&\"'" in text for text in texts(whole))
    local = parse(model.explain_local(frame)._repr_html_())
    assert count(local, "svg") == 3
    assert any(text.startswith("The first 3 of 300 rows") for text in texts(local))
    score = model.explain_local(frame).centered().score()[0]
    assert texts(local)[0] == f"row 0: score {score:.4g}"


def test_a_function_says_what_it_adds_to():
    labels = np.where(y > 0, "yes", "no")
    model = RGBMClassifier(max_iter=10, random_state=0).fit(frame, labels)
    shown = parse(model.explain_global()["kind"]._repr_html_())
    assert "What it adds to the log-odds of class yes." in texts(shown)


def test_several_classes(classifier):
    whole = parse(classifier.explain_global()._repr_html_())
    assert count(whole, "polyline") == 3 * sum(
        shape.categories is None for shape in classifier.explain_global()
    )
    assert [s.text for s in whole.iter("span")][1:] == [str(c) for c in classifier.classes_]
    local = parse(classifier.explain_local(frame)._repr_html_())
    best = classifier.explain_local(frame).score()[0].argmax()
    assert str(classifier.classes_[best])[:8] in texts(local)[0]


def test_estimators_keep_what_scikit_learn_shows(model):
    own = model._repr_html_()
    plain = estimator_html_repr(model)
    assert len(own) > len(plain) > 1000
    start = own.index('<div style="display:inline-block')
    picture = parse(own[start:])
    assert "Parameters" in own[:start]
    assert count(picture, "svg") == len(model.explain_global()) + 1  # and the losses
    assert model._repr_mimebundle_()["text/html"].endswith(own[start:])
    assert "<svg" not in RGBMRegressor()._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_a_dictionary_has_its_losses():
    X = rng.normal(size=(50, 2))
    model = RGBMRegressor(learner=Dictionary.from_functions([abs]), max_iter=5).fit(X, X[:, 0])
    assert model._repr_html_().count("mean loss") == 1
    assert not hasattr(model, "feature_importances_")  # nor does `dir` raise


def test_a_model_of_nothing():
    model = RGBMRegressor(max_iter=5).fit(np.zeros((20, 2)), np.arange(20.0))
    parse(model.explain_global()._repr_html_())
    parse(model.explain_local(np.zeros((2, 2)))._repr_html_())
    parse(model.explain_global()[0]._repr_html_())


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_losses_of_any_size(scale):
    losses = scale * np.array([np.inf, 1.7, 0.5, np.nan, 0.1])
    trace = Trace(losses, -losses, np.zeros(5), None, None, None, "direct")
    root = parse(trace.picture())
    lines = [one.get("points") for one in root.iter() if one.tag.endswith("polyline")]
    assert len(lines) == 2
    assert len(lines[0].split()) == 3  # what is finite


def test_characters_that_no_document_may_hold():
    assert texts(parse(Panel("a\ud800b\x0bc\n<", (0, 1), (0, 1)).render())) == ["a b c <"]


def test_many_points_in_a_column_are_drawn_as_their_range():
    """And no spike gets lost."""
    y = np.zeros(100_000)
    y[50_123] = 1.0
    panel = Panel("", (0.0, 1e5), range_of(y))
    panel.line(np.arange(1e5), y)
    points = np.array([p.split(",") for p in panel.parts[-1].split('"')[1].split()], float)
    assert len(points) < 500
    assert points[:, 1].min() == panel.py(1.0)
    assert panel.x == (0.0, 1e5)
