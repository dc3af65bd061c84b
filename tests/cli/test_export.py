"""rgboost export."""

import json

import duckdb
import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_diabetes

import rgboost as package
from rgboost.export.sql.words import DIALECTS


@pytest.fixture(scope="module")
def data():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "diabetes.rgb"
    package.RGBMRegressor(max_iter=20, interactions=0, random_state=0).fit(*data).save(path)
    return path


@pytest.fixture
def export(rgboost, model, tmp_path):
    def run(to, *arguments):
        out = tmp_path / f"model.{to}"
        done = rgboost("export", model, "--to", to, "--out", out, *arguments)
        assert (done.code, done.out) == (0, f"{out}\n")
        return out

    return run


def test_json(export, model, data):
    same = package.from_json(export("json").read_text())
    assert np.array_equal(same.predict(data[0]), package.load(model).predict(data[0]))


def test_onnx(export, model, data):
    runner = onnxruntime.InferenceSession(export("onnx", "--contributions").read_bytes())
    columns = {name: data[0][name].to_numpy() for name in data[0]}
    predicted, _ = runner.run(["prediction", "contributions"], columns)
    np.testing.assert_allclose(predicted, package.load(model).predict(data[0]), rtol=1e-12)


def test_sql(export, model, data):
    options = ["--table", "rows", "--dialect", "duckdb", "--column", "key", "--contributions"]
    query = export("sql", *options).read_text()
    with duckdb.connect() as connection:
        connection.register("rows", data[0].assign(key=range(len(data[0]))))
        found = connection.execute(query).df().sort_values("key")
    assert list(found.columns[[0, -1]]) == ["key", "prediction"]
    assert "contribution_bmi" in found
    np.testing.assert_allclose(found["prediction"], package.load(model).predict(data[0]))


def test_sources(export, model, data):
    file = {}
    exec(export("python").read_text(), file)
    row = data[0].iloc[0].to_dict()
    assert file["predict"](row) == pytest.approx(package.load(model).predict(data[0][:1])[0])
    assert "const predict = " in export("javascript").read_text()


def test_told_as_json(rgboost, model, tmp_path):
    out = tmp_path / "m.py"
    done = rgboost("export", model, "--to", "python", "--out", out, "--json")
    assert json.loads(done.out) == {"out": str(out), "to": "python", "bytes": out.stat().st_size}


def test_help_names_the_dialects(rgboost):
    told = rgboost("export", "--help").out
    assert all(name in told for name in DIALECTS)


FAULTS = [
    (["--to", "sql", "--dialect", "duckdb"], 2, "--to sql needs --table"),
    (["--to", "sql", "--table", "t"], 2, "--to sql needs --dialect"),
    (["--to", "sql", "--table", "t", "--dialect", "x"], 2, "use 'duckdb', 'sqlite'"),
    (["--to", "json", "--table", "t"], 2, "--table is for --to sql"),
    (["--to", "json", "--contributions"], 2, "--contributions is for onnx and sql"),
    (["--to", "cobol"], 2, "onnx"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), FAULTS)
def test_faults(rgboost, model, tmp_path, arguments, code, message):
    done = rgboost("export", model, *arguments, "--out", tmp_path / "out")
    assert done.code == code
    assert message in done.err
    assert not (tmp_path / "out").exists()


def test_trees(rgboost, data, tmp_path):
    trees = package.RGBMRegressor(learner="trees", max_iter=3, random_state=0).fit(*data)
    trees.save(tmp_path / "trees.rgb")
    done = rgboost("export", tmp_path / "trees.rgb", "--to", "json", "--out", tmp_path / "out")
    assert done.code == 2
    assert "--learner stumps" in done.err
