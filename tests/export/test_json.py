"""JSON documents, and models from them."""

import copy
import json

import jsonschema
import numpy as np
import pytest

import rgboost
from rgboost import RGBMRegressor
from rgboost.export import ExportError, schema
from rgboost.losses import Squared

from .made import NAMES, made_models, rows_of


@pytest.mark.parametrize("name", NAMES)
def test_gives_the_model_back(name, tmp_path):
    made = made_models()[name]
    model, X = made.model, rows_of(made)
    text = model.to_json()
    jsonschema.Draft202012Validator(schema()).validate(json.loads(text))
    same = rgboost.from_json(text)
    assert type(same) is type(model)
    assert same.loss == model.loss_
    for method in ("predict", "predict_proba", "decision_function", "feature_importances_"):
        if hasattr(model, method):
            got, expected = getattr(same, method), getattr(model, method)
            got, expected = (f(X) if callable(f) else f for f in (got, expected))
            assert np.array_equal(got, expected), method
    got, expected = same.explain_local(X), model.explain_local(X)
    assert np.array_equal(got.contributions, expected.contributions)
    assert np.array_equal(got.means, expected.means)
    assert list(got.names) == list(expected.names)
    strip = {"written_by"}
    again = {k: v for k, v in json.loads(same.to_json()).items() if k not in strip}
    assert again == {k: v for k, v in json.loads(text).items() if k not in strip}
    same.save(tmp_path / "same.rgb")
    assert np.array_equal(rgboost.load(tmp_path / "same.rgb").predict(X), model.predict(X))


def test_bytes_are_read():
    model = made_models()["codes"].model
    assert rgboost.from_json(model.to_json().encode()).n_features_in_ == 3


class Own(Squared):
    pass


def test_a_loss_of_ones_own_is_refused():
    X = np.arange(20.0)[:, None]
    model = RGBMRegressor(loss=Own(), max_iter=2, interactions=0, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ExportError, match=r"loss of your own.*ONNX"):
        model.to_json()


def _changed(change):
    document = json.loads(made_models()["two classes"].model.to_json())
    change(document)
    return json.dumps(document)


def _set(*path, value):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = copy.deepcopy(value)

    return change


CHANGES = {
    "version": (_set("version", value=2), "install a newer one"),
    "format": (_set("format", value="else"), "no 'rgboost model'"),
    "estimator": (_set("estimator", value="Path"), "which is no estimator"),
    "loss": (_set("loss", value={"object": "Path", "arguments": {}}), "does not know"),
    "no loss": (_set("loss", value=None), "loss_"),
    "classes": (_set("classes", value=None), "classes_"),
    "three classes": (_set("classes", value=[0, 1, 2]), "classes_"),
    "intercept": (_set("intercept", value=[0.0, 1.0]), "reshape"),
    "feature": (_set("curves", 0, "feature", value=99), "feature 99 of a term"),
    "values": (_set("curves", 0, "values", value=[1.0]), "reshape"),
    "descending": (_set("curves", -1, "edges", value=[2.0, 1.0]), "reshape"),
    "weights": (_set("pairs", 0, "weights", value=[]), "reshape"),
    "kind": (_set("features", 0, "kind", value="text"), "bins of another kind"),
    "best": (_set("fit", "best_iteration", value=10**9), "lacks the best iteration"),
    "no pairs": (lambda document: document.pop("pairs"), "lacks 'pairs'"),
    "text": (_set("intercept", value=["a"]), "could not convert"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_documents_that_are_not_valid(name):
    change, message = CHANGES[name]
    with pytest.raises(ExportError, match=message):
        rgboost.from_json(_changed(change))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "NaN", "[" * 100_000, b"\xff", '"\\ud800"']
)
def test_texts_that_are_no_documents(text):
    with pytest.raises(ExportError, match="to_json"):
        rgboost.from_json(text)
