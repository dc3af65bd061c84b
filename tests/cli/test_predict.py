"""rgboost predict."""

import bz2
import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

import rgboost as package
from rgboost.cli.commands import predict as predict_module


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=200), "b": rng.random(200)})
    labels = np.where(rows.a + rng.normal(size=200) > 0, "yes", "no")
    return rows.assign(key=[f"{i:05d}" for i in range(200)], label=labels)


@pytest.fixture(scope="module")
def models(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    X = frame[["a", "b"]]
    package.RGBMRegressor(max_iter=20, random_state=0).fit(X, X.a + X.b).save(folder / "reg")
    package.RGBMClassifier(max_iter=20, random_state=0).fit(X, frame.label).save(folder / "cls")
    return folder


@pytest.fixture
def data(frame, tmp_path):
    path = tmp_path / "new.csv"
    frame[["key", "b", "label", "a"]].to_csv(path, index=False)
    return path


def expected(frame, models, name):
    return package.load(models / name).predict(frame[["a", "b"]])


def read(text):
    """CSV as a frame of texts; numbers by Python, which takes the nearest double."""
    rows = pd.DataFrame([*csv.DictReader(io.StringIO(text))])
    numbers = [name for name in rows if name.startswith("prob")]
    return rows.assign(**{name: [*map(float, rows[name])] for name in numbers})


def numbers(text):
    return [float(value) for value in read(text).prediction]


def test_standard_output(rgboost, data, frame, models):
    done = rgboost("predict", models / "reg", data)
    assert done.code == 0, done.err
    assert done.out.startswith("prediction\n")
    np.testing.assert_array_equal(numbers(done.out), expected(frame, models, "reg"))
    assert done.err == ""


@pytest.mark.parametrize("batch_rows", [7, 1000])
@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.csv.bz2"])
def test_file_with_id_and_probabilities(
    rgboost, data, frame, models, tmp_path, monkeypatch, name, batch_rows
):
    monkeypatch.setattr(predict_module, "BATCH_ROWS", batch_rows)
    out = tmp_path / name
    done = rgboost("predict", models / "cls", data, "--out", out, "--id", "key", "--proba")
    assert done.code == 0, done.err
    assert "200 rows" in done.err
    if name == "p.parquet":
        found = pd.read_parquet(out)
    else:
        raw = out.read_bytes()
        found = read((bz2.decompress(raw) if name.endswith("bz2") else raw).decode())
    assert [*found] == ["key", "prediction", "probability_no", "probability_yes"]
    assert [*found.key] == [*frame.key]
    assert [*found.prediction] == [*expected(frame, models, "cls")]
    model = package.load(models / "cls")
    np.testing.assert_array_equal(
        found[["probability_no", "probability_yes"]], model.predict_proba(frame[["a", "b"]])
    )


def test_parquet_in(rgboost, frame, models, tmp_path):
    frame.to_parquet(tmp_path / "new.parquet")
    done = rgboost("predict", models / "reg", tmp_path / "new.parquet", "--id", "key")
    assert done.out.splitlines()[1].startswith("00000,")


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm_keeps_the_numbering_of_the_training_file(rgboost, tmp_path, zero_based):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    train, new, model = tmp_path / "t.svm", tmp_path / "n.svm", tmp_path / "m"
    dump_svmlight_file(X, X[:, 1], str(train), zero_based=zero_based)
    rgboost("fit", train, "--out", model, "--task", "regression", "--max-iter", "20")
    rows = X.copy()
    rows[:, 0] = 0  # the file has no index 0, whichever way it counts
    dump_svmlight_file(rows, X[:, 1], str(new), zero_based=zero_based)
    done = rgboost("predict", model, new)
    same = package.load(model).predict(csr_array(rows))
    np.testing.assert_allclose(numbers(done.out), same, rtol=1e-14)


def test_libsvm_features_that_the_model_does_not_know(rgboost, tmp_path, monkeypatch):
    train, new, model = tmp_path / "t.svm", tmp_path / "n.svm", tmp_path / "m"
    train.write_text("".join(f"{i} 1:{i} 3:1\n" for i in range(20)))
    rgboost("fit", train, "--out", model, "--max-iter", "20")
    new.write_text("0 1:5\n" * 5 + "0 1:5 4:1 900:2\n" * 5)
    monkeypatch.setattr(predict_module, "BATCH_ROWS", 3)
    done = rgboost("predict", model, new)
    assert done.code == 0
    assert len({*done.out.splitlines()[1:]}) == 1
    assert done.err == f"rgboost: {new}: features beyond the first 3 are left out\n"


def test_model_without_names(rgboost, frame, tmp_path):
    X = frame[["a", "b"]]
    model = package.RGBMRegressor(max_iter=20).fit(X.to_numpy(), X.a)
    model.save(tmp_path / "m")
    frame[["key", "a", "b"]].to_csv(tmp_path / "n.csv", index=False)
    done = rgboost("predict", tmp_path / "m", tmp_path / "n.csv", "--id", "key")
    np.testing.assert_array_equal(numbers(done.out), model.predict(X.to_numpy()))
    done = rgboost("predict", tmp_path / "m", tmp_path / "n.csv")
    assert done.code == 3
    assert "fitted to 2 features without names, this file has 3 columns" in done.err


def test_json(rgboost, data, models, tmp_path):
    done = rgboost("predict", models / "reg", data, "--out", tmp_path / "p.csv", "--json")
    assert json.loads(done.out)["rows"] == 200
    assert rgboost("predict", models / "reg", data, "--json").code == 2


def test_missing_ids_are_empty_cells(rgboost, models, tmp_path):
    (tmp_path / "n.csv").write_text('key,a,b\n,1,2\n"x,\ny",1,2\n')
    done = rgboost("predict", models / "reg", tmp_path / "n.csv", "--id", "key")
    assert [*read(done.out).key] == ["", "x,\ny"]


class TestFaults:
    def check(self, done, code, *parts):
        assert done.code == code
        assert len(done.err.splitlines()) == 1
        for part in parts:
            assert part in done.err

    def test_column_is_missing(self, rgboost, models, tmp_path):
        (tmp_path / "n.csv").write_text("a,bb\n1,2\n")
        done = rgboost("predict", models / "reg", tmp_path / "n.csv")
        self.check(done, 3, "n.csv: there is no column 'b', which the model needs", "'bb'")
        done = rgboost("predict", models / "reg", tmp_path / "n.csv", "--id", "key")
        self.check(done, 3, "there is no column 'key', which --id names")

    def test_text_in_a_column_of_numbers(self, rgboost, models, tmp_path, monkeypatch):
        monkeypatch.setattr(predict_module, "BATCH_ROWS", 2)
        path, out = tmp_path / "n.csv", tmp_path / "p.csv"
        path.write_text("a,b\n1,2\n3,4\n5,6\n7,eight\n")
        done = rgboost("predict", models / "reg", path, "--out", out)
        self.check(done, 3, f"{path}:5:3: 'eight' is not a number, which the model needs in")
        assert not out.exists()
        assert [*tmp_path.iterdir()] == [path]

    def test_model_file(self, rgboost, data, models, tmp_path):
        self.check(rgboost("predict", tmp_path / "no", data), 3, "no: cannot be read (No such")
        self.check(rgboost("predict", data, data), 3, "new.csv cannot be loaded")
        assert "Traceback" not in rgboost("predict", data, data).err

    def test_wrong_options(self, rgboost, data, models, tmp_path):
        reg = models / "reg"
        self.check(rgboost("predict", reg, data, "--proba"), 2, "is a model of regression")
        done = rgboost("predict", reg, data, "--out", tmp_path / "p.xlsx")
        self.check(done, 2, "must end in .csv")
        (tmp_path / "n.svm").write_text("1 1:1 2:1\n")
        self.check(rgboost("predict", reg, tmp_path / "n.svm"), 3, "columns with names")

    def test_full_disk(self, rgboost, data, models):
        done = rgboost("predict", models / "reg", data, "--out", "/dev/full")
        self.check(done, 4, "/dev/full: cannot be written (No space left on device)")


MEASURE = """
import sys, tracemalloc
from pathlib import Path
from rgboost.cli.commands import predict as module
module.BATCH_ROWS = 1000
model, small, large, out = map(Path, sys.argv[1:])
module.predict(model, small, out)
tracemalloc.start()
peaks = []
for data in (small, large):
    tracemalloc.reset_peak()
    module.predict(model, data, out)
    peaks.append(tracemalloc.get_traced_memory()[1])
print(*peaks)
"""


@pytest.mark.parametrize("ending", ["csv", "svm", "parquet"])
def test_memory_does_not_grow_with_the_file(rgboost, tmp_path, ending):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 5)).round(3)
    for name, rows in (("small", 20_000), ("large", 60_000)):  # both longer than any buffer
        path = tmp_path / f"{name}.{ending}"
        if ending == "svm":
            dump_svmlight_file(X[:rows], X[:rows, 0], str(path), zero_based=False)
        else:
            part = pd.DataFrame(X[:rows], columns=[*"abcde"])
            if ending == "csv":
                part.to_csv(path, index=False)
            else:  # a group of rows is read at once
                part.to_parquet(path, row_group_size=3000)
    start = X[:1000] if ending == "svm" else pd.DataFrame(X[:1000], columns=[*"abcde"])
    package.RGBMRegressor(max_iter=20).fit(start, X[:1000, 0]).save(tmp_path / "m")
    paths = [tmp_path / name for name in ("m", f"small.{ending}", f"large.{ending}", "p.csv")]
    run = [sys.executable, "-c", MEASURE, *map(str, paths)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert large < small + 250_000  # the large file has 1.6 MB more of numbers
