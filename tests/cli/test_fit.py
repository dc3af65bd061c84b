"""rgboost fit."""

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.datasets import dump_svmlight_file

import rgboost as package
from rgboost.explain import GlobalExplanation


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"id": np.arange(300), "a": rng.normal(size=300), "b": rng.random(300)})
    return rows.assign(y=(rows.a > 0) + 2 * rows.b)


@pytest.fixture
def train(tmp_path, frame):
    frame.to_csv(tmp_path / "train.csv", index=False)
    return tmp_path / "train.csv"


FAST = ("--max-iter", "20", "--random-state", "0")


def test_model_is_that_of_the_estimator(rgboost, train, frame, tmp_path):
    done = rgboost(
        "fit", train, "--target", "y", "--ignore", "id", "--out", tmp_path / "m.rgb",
        *FAST, "--learning-rate", "0.5", "--max-bins", "none", "--groups", '[["a"], ["b"]]',
    )  # fmt: skip
    assert done.code == 0, done.err
    loaded = package.load(tmp_path / "m.rgb")
    X = frame[["a", "b"]]
    parameters = dict(max_iter=20, random_state=0, learning_rate=0.5, max_bins=None)
    model = package.RGBMRegressor(**parameters, groups=[["a"], ["b"]]).fit(X, frame.y)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.verbose == 0
    assert loaded.callbacks is None


@pytest.mark.parametrize("labels", [(0, 1), (-1.0, 2.0), ("1", "yes")])
def test_classes_are_named_by_their_labels(rgboost, frame, tmp_path, labels):
    """Numbers, too, though the keys of JSON are texts."""
    rows = frame[["a", "b"]].assign(kind=np.where(frame.y > 1, labels[1], labels[0]))
    rows.to_csv(tmp_path / "train.csv", index=False)
    weights = {str(labels[0]): 3, str(labels[1]): 1}
    command = ("fit", tmp_path / "train.csv", "--target", "kind", "--task", "classification", *FAST)
    out = tmp_path / "m.rgb"
    done = rgboost(*command, "--out", out, "--class-weight", json.dumps(weights))
    assert done.code == 0, done.err
    loaded = package.load(out)
    model = package.RGBMClassifier(
        max_iter=20, random_state=0, class_weight={labels[0]: 3, labels[1]: 1}
    ).fit(rows[["a", "b"]], rows["kind"].to_numpy())
    X = rows[["a", "b"]]
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    done = rgboost(*command, "--out", out, "--class-weight", '{"often": 2}')
    assert f"the classes are {model.classes_.tolist()}" in done.err


def test_summary(rgboost, train, tmp_path):
    done = rgboost("fit", train, "--target", "y", "--out", tmp_path / "m.rgb", *FAST)
    for line in (
        "task            regression (the target has 300 values)",
        "rows            300",
        "features        3",
        "best iteration  20 of 20",
        "most important",
    ):
        assert line in done.out.splitlines()
    lines = done.out.splitlines()
    assert "  n_runs        1 (means of several runs come with cross-validation)" in lines
    important = lines[lines.index("most important") + 1 :]
    names = [line.split()[0] for line in important if line.startswith("  ")]
    model = package.load(tmp_path / "m.rgb")
    used = model.feature_names_in_[model.feature_importances_ > 0]
    assert sorted(names) == sorted(used) != []
    assert done.err.splitlines()[-1].startswith("iteration 20 of 20  train 0.")
    assert "valid" not in done.err


def test_settings_without_effect_are_told(rgboost, train, tmp_path):
    asked = ("fit", train, "--target", "y", "--out", tmp_path / "m.rgb", "--verbose", "0")
    asked = (*asked, "--random-state", "0", "--interactions", "0")
    more = ("--step", "newton", "--validation-fraction", "0.2")
    done = rgboost(*asked, *more)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    told = [line.removeprefix("  no effect     ") for line in lines if "no effect" in line]
    assert told == [
        "--step newton: steps are those of the quadratic model of the loss",
        "--validation-fraction 0.2: no rows are held out",
    ]
    assert json.loads(rgboost(*asked, *more, "--json").out)["no_effect"] == told
    engine = next(line for line in lines if line.startswith("engine "))
    assert engine == "engine          direct: the mean of 5 runs"
    assert "no effect" not in rgboost(*asked).out


def test_only_used_features_are_looked_at(rgboost, train, tmp_path, monkeypatch):
    """There may be two thousand million of them."""

    def all_of_them(self):
        raise MemoryError

    monkeypatch.setattr(GlobalExplanation, "importances", property(all_of_them))
    model = tmp_path / "m.rgb"
    done = rgboost("fit", train, "--target", "y", "--out", model, *FAST, "--json")
    assert done.code == 0, done.err
    drawn = rgboost("explain", model, "--out", tmp_path / "m.html", "--json")
    assert drawn.code == 0, drawn.err
    assert json.loads(drawn.out)["importances"] == json.loads(done.out)["importances"]


def test_json(rgboost, train, tmp_path):
    out = tmp_path / "m.rgb"
    done = rgboost("fit", train, "--target", -1, "--out", out, *FAST, "--json", "--verbose", "0")
    found = json.loads(done.out)
    assert done.err == ""
    model = package.load(out)
    assert found["train_loss"] == model.trace_.train_loss[-1]
    assert found["best_iteration"] == found["iterations"] == 20
    assert found["validation_loss"] is None
    assert found["bytes"] == out.stat().st_size
    shares = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    importances = {name: share for name, share in shares.items() if share > 0}
    assert found["importances"] == pytest.approx(importances)
    assert [*found["importances"].values()] == sorted(importances.values(), reverse=True)


def test_validation_file_in_another_format_and_order(rgboost, train, frame, tmp_path):
    valid = tmp_path / "valid.parquet"
    frame.sample(frac=0.3, random_state=1)[["y", "b", "a"]].to_parquet(valid)
    done = rgboost(
        "fit", train, "--target", "y", "--ignore", "id", "--valid", valid,
        "--out", tmp_path / "m.rgb", "--max-iter", "50", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    held = package.load(tmp_path / "m.rgb").trace_.validation_loss
    assert found["validation_loss"] == held.min()
    assert found["best_iteration"] == held.argmin()
    assert "  valid 0." in done.err


@pytest.mark.parametrize("zero_based", [True, False])
def test_features_of_libsvm_files_have_one_numbering(rgboost, tmp_path, zero_based):
    """The file's own: in the summary, in explanations and on the page."""
    rng = np.random.default_rng(0)
    X = random_array((200, 40), density=0.5, rng=rng)
    y = X.toarray()[:, 38] + 0.01 * rng.random(200)
    dump_svmlight_file(X.tocsr(), y, str(tmp_path / "t.svm"), zero_based=zero_based)
    options = ("--read", f"zero_based={str(zero_based).lower()}", *FAST, "--task", "regression")
    done = rgboost("fit", tmp_path / "t.svm", "--out", tmp_path / "m.rgb", "--json", *options)
    name = "feature 38" if zero_based else "feature 39"
    assert next(iter(json.loads(done.out)["importances"])) == name
    model = package.load(tmp_path / "m.rgb")
    assert model.explain_global().by_importance()[0].name == name
    rgboost("explain", tmp_path / "m.rgb", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f'"{name}"' in page
    assert '"x38"' not in page


class TestTask:
    @pytest.mark.parametrize(
        ("values", "task"),
        [
            (["no", "yes"], "classification"),
            ([0, 1], "classification"),
            ([0.5, 1.5], "regression"),
            ([-1.0, 1.0], "classification"),
            ([True, False], "classification"),
            (range(11), "regression"),
            (np.linspace(0, 1, 7), "regression"),
        ],
    )
    def test_found_out(self, rgboost, frame, values, task, tmp_path):
        frame.assign(y=np.resize(values, len(frame))).to_csv(tmp_path / "t.csv", index=False)
        done = rgboost(
            "fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", *FAST, "--json"
        )
        assert done.code == 0, done.err
        assert json.loads(done.out)["task"] == task

    def test_as_asked(self, rgboost, frame, tmp_path):
        frame.assign(y=np.resize([0, 1], len(frame))).to_csv(tmp_path / "t.csv", index=False)
        done = rgboost(
            "fit", tmp_path / "t.csv", "--target", "y", "--task", "regression",
            "--out", tmp_path / "m", *FAST,
        )  # fmt: skip
        assert "task            regression (as asked)" in done.out
        assert isinstance(package.load(tmp_path / "m"), package.RGBMRegressor)


class TestLibsvm:
    @pytest.fixture
    def files(self, tmp_path):
        """The training file has features 0 to 9 or 1 to 10; the other one only some of them."""

        def write(zero_based):
            rng = np.random.default_rng(1)
            values = random_array((200, 10), density=0.4, rng=rng).toarray()
            y = np.sign(values[:, 0] - 0.2)
            values[0, [0, 9]] = 0.5
            X = csr_array(values)
            for name, rows in (("train", slice(0, 150)), ("valid", slice(150, 200))):
                part = X[rows].tolil()
                if name == "valid":
                    part[:, [0, 9]] = 0
                path = str(tmp_path / f"{name}.svm")
                dump_svmlight_file(part.tocsr(), y[rows], path, zero_based=zero_based)
            return X, y

        return write

    @pytest.mark.parametrize("zero_based", [True, False])
    def test_validation_rows_have_the_training_columns(self, rgboost, files, tmp_path, zero_based):
        X, y = files(zero_based)
        done = rgboost(
            "fit", tmp_path / "train.svm", "--valid", tmp_path / "valid.svm",
            "--out", tmp_path / "m", *FAST, "--json", "--selection", "all",
            "--learning-rate", "0.1",
        )  # fmt: skip
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert (found["rows"], found["features"]) == (150, 10)
        held = X[150:].tolil()
        held[:, [0, 9]] = 0
        model = package.RGBMClassifier(
            max_iter=20, random_state=0, selection="all", learning_rate=0.1
        )
        model.fit(X[:150], y[:150], X_val=held.tocsr(), y_val=y[150:])
        np.testing.assert_allclose(
            package.load(tmp_path / "m").trace_.validation_loss, model.trace_.validation_loss
        )
        number = model.feature_importances_.argmax() + (0 if zero_based else 1)  # the file's own
        assert next(iter(found["importances"])) == f"feature {number}"

    def test_compressed(self, rgboost, files, tmp_path):
        files(True)
        packed = tmp_path / "train.svm.gz"
        packed.write_bytes(gzip.compress((tmp_path / "train.svm").read_bytes()))
        assert rgboost("fit", packed, "--out", tmp_path / "m", *FAST).code == 0

    def test_validation_rows_of_another_kind(self, rgboost, files, tmp_path):
        files(True)
        (tmp_path / "v.csv").write_text("a,y\n1,2\n")
        done = rgboost(
            "fit", tmp_path / "train.svm", "--valid", tmp_path / "v.csv", "--out", tmp_path / "m"
        )
        assert done.code == 3
        assert "give a file of the kind of" in done.err

    def test_columns_make_no_sense(self, rgboost, files, tmp_path):
        files(True)
        train, out = tmp_path / "train.svm", ("--out", tmp_path / "m")
        done = rgboost("fit", train, *out, "--target", "y")
        assert done.code == 3
        assert "leave the target out" in done.err
        assert rgboost("fit", train, *out, "--ignore", "y").code == 2


class TestFaults:
    def fit(self, rgboost, path, *more):
        return rgboost("fit", path, "--target", "y", "--out", path.parent / "m.rgb", *FAST, *more)

    def check(self, done, code, *parts):
        assert done.code == code
        assert done.out == ""
        assert len(done.err.splitlines()) == 1
        assert done.err.startswith("rgboost: ")
        for part in parts:
            assert part in done.err

    def test_no_such_file(self, rgboost, tmp_path):
        self.check(self.fit(rgboost, tmp_path / "no.csv"), 3, "no.csv: cannot be read (No such")

    def test_text_among_numbers(self, rgboost, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,b,y\n1,2,3\n" + '4,"5",6\n' * 5 + "7,oops,9\n")
        done = self.fit(rgboost, path)
        self.check(done, 3, f"{path}:8:3: 'oops' is not a number, but 6 other values", "'b'")
        assert "--read 'missing_values=[\"oops\"]'" in done.err
        assert '--read \'dtypes={"b": "str"}\'' in done.err

    def test_text_among_numbers_of_the_target(self, rgboost, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n1,2\n2,3\n4,?\n")
        self.check(self.fit(rgboost, path), 3, f"{path}:4:3: '?' is not a number")

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_texts_as_labels_of_a_regression(self, rgboost, train, frame, tmp_path, ending):
        path = tmp_path / f"t.{ending}"
        texts = frame.assign(y=np.where(frame.a > 0, "yes", "no"))
        texts.to_csv(path, index=False) if ending == "csv" else texts.to_parquet(path)
        first = texts.y[0]
        place = f"{path}: row 1:" if ending == "parquet" else f"{path}:2:"
        what = f"'{first}' is not a number, which a regression needs in the target 'y'"
        done = self.fit(rgboost, path, "--task", "regression")
        self.check(done, 3, place, what, "--task classification")
        self.check(self.fit(rgboost, train, "--valid", path), 3, place, what)

    def test_decimal_commas(self, rgboost, train, frame, tmp_path):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False, sep=";", decimal=",")
        for data in (train, path):
            out = ("--out", tmp_path / f"{data.stem}.rgb", "--verbose", "0")
            done = rgboost("fit", data, "--target", "y", *out, *FAST)
            assert done.code == 0, done.err
        models = [package.load(tmp_path / f"{name}.rgb") for name in ("train", "t")]
        X = frame[["id", "a", "b"]]
        np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
        frame.round(3).assign(a="1,250").to_csv(path, index=False, sep=";")
        done = self.fit(rgboost, path)
        self.check(
            done, 3, f"{path}:2:3: '1,250' in the column 'a' looks like a number", "decimal="
        )

    def test_encoding(self, rgboost, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes("city,y\nUlm,1\nKöln,2\n".encode("cp1252"))
        self.check(self.fit(rgboost, path), 3, f"{path}:3:2: the text is not utf-8", "encoding=")
        for name in ("klingon", "undefined", "hex"):
            done = self.fit(rgboost, path, "--read", f"encoding={name}")
            self.check(done, 3, f"{path}:1: --read encoding={name} is not known")
        for name in ("utf-16", "utf-32"):
            done = self.fit(rgboost, path, "--read", f"encoding={name}")
            self.check(done, 3, f"{path}:", f"the text is not {name}")
            assert done.err.removeprefix(f"rgboost: {path}:")[0].isdigit()
        names, data = tmp_path / "names.txt", tmp_path / "t.svm"
        names.write_bytes("age\nhöhe\n".encode("cp1252"))
        data.write_text("1 1:1 2:1\n2 1:2\n")
        done = rgboost("fit", data, "--out", tmp_path / "m", "--feature-names", names)
        self.check(done, 3, f"{names}:2: the text is not utf-8")

    def test_index_far_beyond_the_others(self, rgboost, tmp_path):
        path = tmp_path / "t.svm"
        path.write_text("1 1:2\n2 2000000000:1\n" * 20)
        done = rgboost("fit", path, "--out", tmp_path / "m")
        self.check(done, 3, f"{path}:2:3: the largest feature index is 2,000,000,000", "n_features")

    def test_wrong_number_of_cells(self, rgboost, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n1,2\n1,2,3\n")
        self.check(self.fit(rgboost, path), 3, f"{path}:3:")

    def test_fault_as_json(self, rgboost, tmp_path):
        path = tmp_path / "t.svm"
        path.write_text("1 1:2\n2 1:x\n")
        done = rgboost("fit", path, "--out", tmp_path / "m", "--json")
        error = json.loads(done.out)["error"]
        assert done.code == error["exit_code"] == 3
        assert (error["path"], error["line"], error["column"]) == (str(path), 2, 5)
        assert error["kind"] == "data"

    def test_target_is_missing(self, rgboost, train, tmp_path):
        done = rgboost("fit", train, "--out", tmp_path / "m")
        self.check(done, 2, "name it by --target; the columns are 'id', 'a', 'b', 'y'")
        self.check(self.fit(rgboost, train, "--target", "yy"), 3, "no target column 'yy'", "'y'")

    def test_column_to_ignore_is_missing(self, rgboost, train):
        self.check(
            self.fit(rgboost, train, "--ignore", "idd"), 3,
            "no column 'idd', which --ignore names; the nearest names are 'id'",
        )  # fmt: skip
        self.check(
            self.fit(rgboost, train, "--ignore", "xqw"), 3, "the columns are 'id', 'a', 'b', 'y'"
        )
        self.check(self.fit(rgboost, train, "--ignore", "y"), 2, "'y', which is the target")

    def test_wrong_value(self, rgboost, train):
        self.check(
            self.fit(rgboost, train, "--learning-rate", "-1"), 2, "--learning-rate -1 must be"
        )
        self.check(self.fit(rgboost, train, "--engine", "steam"), 2, "--engine steam is not known")

    def test_wrong_reader_option(self, rgboost, train):
        self.check(self.fit(rgboost, train, "--read", "header"), 2, "write NAME=VALUE")
        self.check(self.fit(rgboost, train, "--read", "n_features=3"), 2, "one of libsvm files")

    def test_memory(self, rgboost, train, monkeypatch):
        def much(*_):
            raise MemoryError("Unable to allocate 15 GiB")

        monkeypatch.setattr("rgboost.cli.commands.fit.choose_task", much)
        told = "the memory is not enough for this (Unable to allocate 15 GiB), take fewer rows"
        self.check(self.fit(rgboost, train), 6, told)

    def test_valid_without_a_column(self, rgboost, train, frame, tmp_path):
        frame.drop(columns="a").to_csv(tmp_path / "v.csv", index=False)
        done = self.fit(rgboost, train, "--valid", tmp_path / "v.csv")
        self.check(done, 3, f"v.csv: there is no column 'a', which {train} has")

    def test_output_that_cannot_be_written(self, rgboost, train, tmp_path):
        common = ("fit", train, "--target", "y", "--out")
        self.check(rgboost(*common, tmp_path), 4, "Is a directory")
        self.check(rgboost(*common, tmp_path / "no/m.rgb"), 4, "make the folder first")

    def test_full_disk(self, rgboost, train, tmp_path, monkeypatch):
        (tmp_path / "m.rgb").write_text("an earlier model")

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        done = self.fit(rgboost, train, "--verbose", "0")
        self.check(done, 4, "m.rgb: cannot be written (No space left on device), free some space")
        assert (tmp_path / "m.rgb").read_text() == "an earlier model"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["m.rgb", "train.csv"]

    def test_debug_shows_the_traceback(self, rgboost, tmp_path):
        done = self.fit(rgboost, tmp_path / "no.csv", "--debug")
        assert "Traceback" in done.err
        assert done.err.splitlines()[-1].startswith("rgboost: ")

    def test_fault_of_the_program(self, rgboost, train, monkeypatch):
        def broken(*_):
            raise RuntimeError("oh")

        monkeypatch.setattr("rgboost.cli.commands.fit.choose_task", broken)
        self.check(self.fit(rgboost, train), 1, "RuntimeError: oh. This is a fault of the program")


@pytest.mark.skipif(os.name == "nt", reason="needs signals of Unix")
def test_interrupt_keeps_what_was_done(train, tmp_path):
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    run = "from rgboost.cli import main; main()"  # jobs in the background do not listen
    command = [sys.executable, "-c", listen + run, "fit", train, "--target", "y", "--max-iter"]
    command += ["5000000", "--selection", "all", "--engine", "direct", "--early-stopping"]
    command += ["false", "--out", tmp_path / "m.rgb"]
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stderr.readline()
    if line.startswith("compiling "):  # on a machine that has not fitted before
        line = process.stderr.readline()
    assert line.startswith("iteration ")  # the loop runs
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "m.rgb has the iterations that were done" in err.splitlines()[-1]
    n_iter = package.load(tmp_path / "m.rgb").n_iter_
    assert 0 < n_iter < 5_000_000
    assert f"{n_iter:,} of {n_iter:,}" in out


def test_pairs_are_named(rgboost, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    rows.assign(y=rows.a * rows.b + rows.c).to_csv(tmp_path / "t.csv", index=False)
    asked = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m.rgb")
    text = rgboost(*asked, "--interactions", "1", "--random-state", "0").out
    assert "\npairs           1: a x b\n" in text
    assert "(of the curves; for pairs see below)" in text
    found = json.loads(rgboost(*asked, "--interactions", '[["a", "b"]]', "--json").out)
    assert found["pairs"] == ["a x b"]
    assert set(found["terms"]) <= {"a", "b", "c", "a x b"}
    assert "pairs" not in json.loads(rgboost(*asked, "--interactions", "0", "--json").out)
