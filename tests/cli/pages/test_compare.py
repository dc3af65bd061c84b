"""rgboost compare."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

import rgboost as package


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"id": np.arange(120), "a": rng.normal(size=120), "b": rng.random(120)})
    rows = rows.assign(kind=rng.choice(["new", "old"], 120), w=rng.uniform(0.5, 2.0, 120))
    rows["patient"] = np.arange(120) // 2
    return rows.assign(y=rows.a + 2 * (rows.kind == "new"))


@pytest.fixture
def data(tmp_path, frame):
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


FAST = ("--target", "y", "--max-iter", "5", "--cv", "2")


def table_of(lines):
    """The models with what was found of them, but for the seconds, which differ every time."""
    (head,) = (line for line in lines if line.split()[:1] == ["model"])
    rows = [line for line in lines if line.startswith(("constant", "curves", "trees"))]
    assert len(rows) == 3
    return [line[: head.index("seconds")].split() for line in rows]


def test_table_is_that_of_the_function(rgboost, data, frame, tmp_path):
    page = tmp_path / "page.html"
    done = rgboost(
        "compare", data, *FAST, "--ignore", "id", "--weight", "w", "--row-groups", "patient",
        "--loss", "huber", "--out", page, "--random-state", "3",
    )  # fmt: skip
    assert done.code == 0, done.err
    expected = package.compare(
        frame[["a", "b", "kind"]], frame.y, frame.w, groups=frame.patient, cv=2, loss="huber",
        estimator=package.RGBMRegressor(max_iter=5, random_state=3), random_state=3,
    )  # fmt: skip
    lines = done.out.splitlines()
    assert lines[0] == "regression (the target has 120 values)"
    assert table_of(lines) == table_of(str(expected).splitlines())
    assert lines[-1] == f"page: {page}"
    assert expected.sentence.split(":")[0] in done.out
    assert "What a readable model costs to predict y" in page.read_text("utf-8")
    assert "fit 1 of 6: constant, fold 1 of 2  (" in done.err


def test_json(rgboost, data):
    done = rgboost("compare", data, *FAST, "--json", "--verbose", "0")
    assert done.err == ""
    found = json.loads(done.out)
    assert [one["model"] for one in found["models"]] == ["constant", "curves", "trees"]
    assert found["measure"] == "1 - R²"
    assert found["smallest"] in found["sentence"]
    assert set(found["left_out"]) == {"5 pairs", "10 pairs", "all pairs"}
    assert (found["rows"], found["held_out"], found["fits"], found["out"]) == (120, 120, 2, None)


def test_classes_and_pairs(rgboost, frame, tmp_path):
    frame[["a", "b", "kind"]].to_csv(tmp_path / "c.csv", index=False)
    weights = json.dumps({"new": 2.0, "old": 1.0})
    done = rgboost(
        "compare", tmp_path / "c.csv", "--target", "kind", "--pairs", "1", "--cv", "2",
        "--class-weight", weights, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["task"] == "classification"
    names = [one["model"] for one in found["models"]]
    assert sorted(names) == ["all pairs", "constant", "curves", "trees"]


def test_libsvm(rgboost, frame, tmp_path):
    dump_svmlight_file(frame[["a", "b"]].to_numpy(), frame.y, str(tmp_path / "d.svm"))
    done = rgboost("compare", tmp_path / "d.svm", "--max-iter", "5", "--format", "libsvm")
    assert done.code == 0, done.err
    done = rgboost("compare", tmp_path / "d.svm", "--row-groups", "a", "--format", "libsvm")
    assert (done.code, "LIBSVM files have none, leave it out" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "the target is missing, name it by --target"),
        (("--target", "z"), 3, "there is no target column 'z'"),
        (("--target", "y", "--peers", "catboost"), 2, "peers has 'catboost', which is not known"),
        (("--target", "y", "--peers", "ebm"), 5, "not installed: pip install interpret"),
        (("--target", "y", "--row-groups", "clinic"), 3, "'clinic', which --row-groups names"),
        (("--target", "y", "--pairs", "none"), 2, "pairs must be an integer"),
        (("--target", "y", "--cv", "500"), 2, "--cv 500 is impossible: there are only 120 rows"),
        (("--target", "y", "--learner", "trees"), 2, "No such option"),
        (("--target", "y", "--out", "/nowhere/page.html"), 4, "make the folder first"),
        (("--target", "y", "--out", "/dev/full", *FAST[2:]), 4, "No space left on device"),
    ],
)  # fmt: skip
def test_faults(rgboost, data, monkeypatch, arguments, code, message):
    monkeypatch.setitem(__import__("sys").modules, "interpret", None)
    done = rgboost("compare", data, *arguments)
    assert (done.code, message in done.err) == (code, True), done.err


def test_few_rows_and_no_file(rgboost, frame, tmp_path):
    frame[:12].to_csv(tmp_path / "few.csv", index=False)
    done = rgboost("compare", tmp_path / "few.csv", "--target", "y")
    assert (done.code, "X has 12 rows, too few to hold some out" in done.err) == (2, True)
    assert rgboost("compare", tmp_path / "no.csv", "--target", "y").code == 3


def test_files_larger_than_memory(rgboost, data, monkeypatch):
    from rgboost.cli.commands import compare

    monkeypatch.setattr(compare, "memory_budget", lambda: 1000)
    done = rgboost("compare", data, "--target", "y")
    assert (done.code, "give a file with a sample of the rows" in done.err) == (6, True)
