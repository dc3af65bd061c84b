"""The Python file and the JavaScript function, run and compared with `predict`."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from rgboost.export import ExportError, extract

from . import naive
from .made import NAMES, NUMBER, TEXT, made_models, python_rows, rows_of

CLOSE = dict(rtol=1e-12, atol=1e-15)


def check_answers(made, answers):
    """Predictions, scores, probabilities and contributions of every row."""
    model, X = made.model, rows_of(made)
    explained = model.explain_local(X)
    predicted = [answer["prediction"] for answer in answers]
    scores = np.array([answer["score"] for answer in answers])
    if hasattr(model, "classes_"):
        assert predicted == model.predict(X).tolist()
        assert np.array_equal(scores, model.decision_function(X))
        found = np.array([answer["probabilities"] for answer in answers])
        np.testing.assert_allclose(found, model.predict_proba(X), **CLOSE)
    else:
        np.testing.assert_allclose(predicted, model.predict(X), **CLOSE)
    added = np.array([[c["value"] for c in answer["contributions"]] for answer in answers])
    assert np.array_equal(added.reshape(explained.contributions.shape), explained.contributions)
    names = [[c["term"] for c in answer["contributions"]] for answer in answers]
    assert names == [list(explained.names)] * len(answers)


def python_answers(text, rows):
    file = {"__name__": "predict"}
    exec(compile(text, "predict.py", "exec"), file)
    for row in rows:
        yield {
            "prediction": file["predict"](row),
            "score": file["decision_function"](row),
            "probabilities": file["predict_proba"](row) if file["MODEL"]["classes"] else None,
            "contributions": [dict(term=n, value=v) for n, v in file["contributions"](row)],
        }


@pytest.mark.parametrize("name", NAMES)
def test_python_is_predict(name):
    made = made_models()[name]
    check_answers(made, list(python_answers(made.model.to_python(), python_rows(made.frame))))


def test_python_file_runs_alone(tmp_path):
    made = made_models()["two classes"]
    (tmp_path / "model.py").write_text(made.model.to_python(), encoding="utf-8")
    row = python_rows(made.frame)[3]
    code = f"import model; print(model.predict({row!r}))"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == made.model.predict(made.frame.iloc[[3]])[0]


RUN = """
const fs = require("fs"), { predict } = require("./model.js");
const rows = JSON.parse(fs.readFileSync(0, "utf-8"));
const tell = (row) => { try { return predict(row); } catch (e) { return e.message; } };
console.log(JSON.stringify(rows.map(tell)));
"""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def javascript_answers(text, rows, folder):
    (folder / "model.js").write_text(text, encoding="utf-8")
    (folder / "run.js").write_text(RUN)
    given = json.dumps(rows, allow_nan=False)
    ran = subprocess.run(
        ["node", "run.js"], cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


@needs_node
@pytest.mark.parametrize("name", NAMES)
def test_javascript_is_predict(name, tmp_path):
    made = made_models()[name]
    text = made.model.to_javascript()
    check_answers(made, javascript_answers(text, python_rows(made.frame), tmp_path))


FAULTS = [
    (lambda row: row.pop(TEXT), "no value for"),
    (lambda row: row.update({TEXT: 3}), "must be a string, not 3"),
    (lambda row: row.update({NUMBER: "3"}), "must be a number, not"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS)
def test_faulty_rows_in_python(change, message):
    made = made_models()["regression"]
    row = python_rows(made.frame)[0]
    change(row)
    with pytest.raises((KeyError, TypeError), match=message):
        list(python_answers(made.model.to_python(), [row]))


@needs_node
def test_faulty_rows_in_javascript(tmp_path):
    made = made_models()["regression"]
    rows = python_rows(made.frame)[: len(FAULTS)]
    for row, (change, _) in zip(rows, FAULTS, strict=True):
        change(row)
    told = javascript_answers(made.model.to_javascript(), rows, tmp_path)
    for text, (_, message) in zip(told, FAULTS, strict=True):
        assert message in text


def test_javascript_can_stand_in_a_page():
    """Hostile names and categories cannot end the script element."""
    text = made_models()["three classes"].model.to_javascript("what_if")
    assert "</script" not in text
    assert "const what_if = " in text


def test_names_of_functions():
    with pytest.raises(ExportError, match="no name of a function"):
        made_models()["codes"].model.to_javascript("a b")
    for word in ("class", "module", "Math"):
        with pytest.raises(ExportError, match="a word of JavaScript itself"):
            made_models()["codes"].model.to_javascript(word)


@needs_node
@pytest.mark.parametrize("word", ["model", "chosen", "row", "scores"])
def test_names_that_the_function_has_inside(word, tmp_path):
    made = made_models()["three classes"]
    text = made.model.to_javascript(word) + f"\nmodule.exports = {{ predict: {word} }};\n"
    check_answers(made, javascript_answers(text, python_rows(made.frame), tmp_path))


def test_placeholders_in_names_stay(tmp_path):
    """A category that looks like a place in the template is a category."""
    made = made_models()["codes"]
    terms = extract(made.model)
    named = [f.__class__("{{written_by}}", f.kind) for f in terms.features]
    from dataclasses import replace

    from rgboost.export.sources import write_python

    text = write_python(replace(terms, features=tuple(named)), "nobody")
    row = {"{{written_by}}": None}
    (answer,) = python_answers(text, [row])
    assert answer["score"] == naive.score(replace(terms, features=tuple(named)), row)[0]
