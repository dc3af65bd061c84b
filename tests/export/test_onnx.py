"""ONNX graphs, run by onnxruntime and compared with `predict`."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.export import ExportError

from .made import NAMES, made_models, rows_of

CLOSE = dict(rtol=1e-12, atol=1e-14)


def session(graph):
    onnx.checker.check_model(graph, full_check=True)
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def feed(frame, runner):
    """Columns as the inputs want them: strings, '' if missing, or doubles."""
    found = {}
    for value in runner.get_inputs():
        column = frame[value.name]
        if value.type == "tensor(string)":
            found[value.name] = column.fillna("").to_numpy(object)
        else:
            found[value.name] = column.astype(float).to_numpy(np.float64)
    return found


def run(graph, frame):
    runner = session(graph)
    names = [value.name for value in runner.get_outputs()]
    return dict(zip(names, runner.run(None, feed(frame, runner)), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_is_predict(name):
    made = made_models()[name]
    model, X = made.model, rows_of(made)
    with_terms = bool(model.term_names_)
    found = run(model.to_onnx(contributions=with_terms), made.frame)
    if with_terms:
        explained = model.explain_local(X)
        assert np.array_equal(found["contributions"], explained.contributions)
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(found["prediction"], model.predict(X), **CLOSE)
        return
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), **CLOSE)
    np.testing.assert_allclose(found["score"], model.decision_function(X), **CLOSE)


def test_all_features_are_inputs_and_terms_are_named():
    made = made_models()["three classes"]
    graph = made.model.to_onnx(contributions=True)
    assert [value.name for value in graph.graph.input] == list(made.frame.columns)
    told = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    assert told["term_names"] == made.model.term_names_
    assert told["classes"] == made.model.classes_.tolist()


def test_operators_are_plain():
    domains = set()
    for made in made_models().values():
        domains |= {(n.domain, n.op_type) for n in made.model.to_onnx().graph.node}
    assert {name for domain, name in domains if domain} == {"LabelEncoder"}


def test_names_of_outputs_that_features_have():
    X = pd.DataFrame({"prediction": np.arange(20.0), "score": 1.0, "constant_0": 0.0})
    model = RGBMRegressor(max_iter=3, interactions=0, random_state=0).fit(X, X["prediction"])
    found = run(model.to_onnx(), X)
    assert list(found) == ["prediction_", "score_"]
    np.testing.assert_allclose(found["prediction_"], model.predict(X), **CLOSE)


@pytest.mark.parametrize("labels", [[False, True], [1.0, 2.0], [3, 4]], ids=str)
def test_labels_keep_their_type(labels):
    X = pd.DataFrame({"a": np.arange(20.0)})
    y = np.array(labels)[(X["a"] > 9).to_numpy(int)]
    model = RGBMClassifier(max_iter=3, interactions=0, random_state=0).fit(X, y)
    found = run(model.to_onnx(), X)["prediction"]
    assert found.dtype == y.dtype
    assert np.array_equal(found, model.predict(X))


def test_an_empty_string_can_be_a_category():
    X = pd.DataFrame({"a": np.array(["", "b"], object)[np.arange(40) % 2]})
    model = RGBMRegressor(max_iter=3, interactions=0, random_state=0).fit(X, np.arange(40) % 2)
    found = run(model.to_onnx(), X)["prediction"]
    np.testing.assert_allclose(found, model.predict(X), **CLOSE)
    assert len(np.unique(found)) == 2


def test_what_a_graph_cannot_have():
    with pytest.raises(ExportError, match="no terms"):
        made_models()["constant"].model.to_onnx(contributions=True)
    X = pd.DataFrame({"": np.arange(20.0)})
    model = RGBMRegressor(max_iter=3, interactions=0, random_state=0).fit(X, X[""])
    with pytest.raises(ExportError, match="empty name"):
        model.to_onnx()
