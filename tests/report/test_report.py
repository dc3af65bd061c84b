"""The report as a file: what is in it, what is not, and what is refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.editing import checksum
from rgboost.report import write_report
from rgboost.report.page import plan_data, report_data
from rgboost.theory import RecordCertificates

from ..explain.test_page import embedded

HOSTILE = "</script><img src=x onerror=alert(1)>"
rng = np.random.default_rng(0)
N = 200
X = pd.DataFrame({"size": rng.normal(size=N).round(6), HOSTILE: rng.normal(size=N)})
X["kind"] = rng.choice(["x", "y", HOSTILE, None], N)
Y = X["size"] + X[HOSTILE] + (X["kind"] == "x") + 0.1 * rng.normal(size=N)
FEW = dict(max_iter=20, interactions=0, random_state=0)


@pytest.fixture(scope="module")
def model():
    return RGBMRegressor(**FEW).fit(X, Y)


def written(model, folder, X=X, y=Y, **options):
    write_report(model, X, y, folder / "report.html", **options)
    return (folder / "report.html").read_text(encoding="utf-8")


def test_report(model, tmp_path):
    text = written(model, tmp_path, by="kind", title="Prices <1> & 2")
    assert "<title>Prices &lt;1&gt; &amp; 2</title>" in text
    assert not re.search(r"{{\w+}}", text)
    data = embedded(text)
    assert data["performance"]["rows"] == N
    assert data["levels"]["levels"][0]["level"] == HOSTILE
    assert data["edits"]["model"] == checksum(model)
    assert {entry[0] for entry in data["plan"]["entries"]} >= {"max_iter", "learning_rate"}
    assert data["rows"] == []


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    model = RGBMRegressor(**FEW).fit(X[["size"]], Y)
    text = written(model, tmp_path, X[["size"]])
    assert "default-src 'none'" in text
    elsewhere = set(re.findall(r"https?://[^\"' ]+", text)) - {"http://www.w3.org/2000/svg"}
    assert not elsewhere
    assert not re.findall(r"<(link|img|iframe)|\bsrc=|@import|url\(", text)


def test_names_are_text(model, tmp_path):
    text = written(model, tmp_path, by="kind", rows=20)
    assert HOSTILE in [field["name"] for field in embedded(text)["inputs"]]
    assert HOSTILE not in text


def test_rows_are_in_the_file_only_if_asked_for(model, tmp_path):
    rows = X.assign(size=X["size"] + 1e-7)  # numbers that nothing but these rows has
    known = [repr(value) for value in rows["size"]]
    text = written(model, tmp_path, rows)
    assert not any(value in text for value in known)
    data = embedded(written(model, tmp_path, rows, rows=3))
    place = [field["name"] for field in data["inputs"]].index("size")
    assert [repr(row["values"][place]) for row in data["rows"]] == known[:3]
    kind = [field["name"] for field in data["inputs"]].index("kind")
    labels = data["inputs"][kind]["labels"]
    shown = [
        None if row["values"][kind] is None else labels[int(row["values"][kind])]
        for row in data["rows"]
    ]
    assert shown == X["kind"].astype(object).where(X["kind"].notna(), None).iloc[:3].tolist()


@pytest.mark.parametrize("rows", [201, -1])
def test_no_more_than_200_rows(model, tmp_path, rows):
    with pytest.raises(ValueError, match=f"rows={rows}"):
        written(model, tmp_path, rows=rows)
    assert not list(tmp_path.iterdir())


def test_values_given_beside(model):
    group = pd.Series(np.arange(N) % 2, name="half")
    found = report_data(model, X, Y, group, 0, None, None)["levels"]
    assert found["name"] == "half"
    assert [level["rows"] for level in found["levels"]] == [100, 100]
    found = report_data(model, X, Y, np.arange(N) % 2, 0, None, None)["levels"]
    assert found["name"] == "the given column"


def test_numbers_of_classes_and_of_offsets():
    offset = np.zeros(N)
    model = RGBMClassifier(**FEW).fit(X, Y > 0, offset=offset)
    data = report_data(model, X, Y > 0, None, 1, None, offset)
    assert data["has_offset"]
    assert data["class_names"] == ["False", "True"]
    assert data["rows"][0]["label"] == str(Y[0] > 0)
    assert data["levels"] is None


def test_json_has_no_other_numbers(model, tmp_path):
    """A single row, one group, nothing to tell apart."""
    data = embedded(written(model, tmp_path, X[:1], Y[:1], by=[0]))
    assert data["performance"]["measures"][0]["name"] == "root of the mean squared error"
    assert json.dumps(data, allow_nan=False)


def test_faults(model, tmp_path):
    with pytest.raises(NotFittedError):
        written(RGBMRegressor(), tmp_path)
    with pytest.raises(ValueError, match="by='age' is no column of X, whose columns are 'size'"):
        written(model, tmp_path, by="age")
    plain = RGBMRegressor(**FEW).fit(X[["size"]].to_numpy(), Y)
    with pytest.raises(ValueError, match="X has no names"):
        written(plain, tmp_path, X[["size"]].to_numpy(), by="size")
    with pytest.raises(ValueError, match="X has 200 rows and y 3 labels"):
        written(model, tmp_path, y=Y[:3])
    classes = RGBMClassifier(**FEW).fit(X, np.where(Y > 0, "a", "b"))
    with pytest.raises(ValueError, match=r"y has the class .*'c'"):
        written(classes, tmp_path, y=np.full(N, "c"))
    trees = RGBMRegressor(learner="trees", max_iter=2, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="Only models of stumps have shape functions"):
        written(trees, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_edits_cost_on_the_given_rows(model):
    edited = model.edit().flatten("size", reason="a test").model
    assert report_data(model, X, Y, None, 0, None, None)["edit_cost"] is None
    name, before, after = report_data(edited, X, Y, None, 0, None, None)["edit_cost"]
    roots = [np.sqrt(np.mean((Y - one.predict(X)) ** 2)) for one in (model, edited)]
    assert name == "root of the mean squared error"
    assert [before, after] == pytest.approx(roots, rel=1e-5)


def test_the_last_certificate_is_told():
    record = RecordCertificates(at=[5, 20])
    model = RGBMRegressor(**FEW, callbacks=[record]).fit(X[["size", HOSTILE]], Y)
    _, last = model.trace_.certificates[-1]
    found = plan_data(model)["certificate"]
    assert found["iteration"] == 20
    assert found["gap"] == pytest.approx(last.gap, rel=1e-5)
    assert found["relative"] == pytest.approx(last.gap / last.loss, rel=1e-5)
