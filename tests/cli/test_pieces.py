"""rgboost fit of files that are larger than the memory that a fit may add."""

import json
import os
import pty
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rgboost as package
from rgboost.cli.files import training

FAST = ("--max-iter", "20", "--random-state", "0")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=3000), "b": rng.integers(0, 5, 3000)})
    rows["town"] = np.where(rows.b > 2, "here", "there")
    rows["w"] = np.tile([1.0, 2.0], 1500)
    return rows.assign(y=rows.a.round(2) + 2 * rows.b, kind=np.where(rows.a > 0, "up", "down"))


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(training, "memory_budget", lambda: 1000)


def write(frame, path):
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    return path


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_same_model(rgboost, frame, tmp_path, ending):
    train, out = write(frame, tmp_path / f"train{ending}"), tmp_path / "m.rgb"
    done = rgboost(
        "fit", train, "--target", "y", "--weight", "w", "--ignore", "kind", "--out", out, *FAST,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "it is read in pieces" in done.err
    assert "pass 1: sample, categories and labels" in done.err
    found = json.loads(done.out)
    assert (found["rows"], found["features"], found["task"]) == (3000, 3, "regression")
    assert "passes over the rows" in found["plan"]["events"][-1]
    chunks = package.Chunks(lambda: [(frame[["a", "b", "town"]], frame.y, frame.w)])
    model = package.RGBMRegressor(max_iter=20, random_state=0).fit(chunks)
    X = frame[["a", "b", "town"]]
    np.testing.assert_array_equal(package.load(out).predict(X), model.predict(X))


@pytest.mark.usefixtures("little_memory")
def test_classes_and_validation_rows(rgboost, frame, tmp_path):
    train = write(frame[:2000], tmp_path / "train.parquet")
    valid = write(frame[2000:], tmp_path / "valid.csv")
    out = tmp_path / "m.rgb"
    done = rgboost(
        "fit", train, "--target", "kind", "--valid", valid, "--out", out, "--verbose", "0",
        "--class-weight", '{"up": 2, "down": 1}', "--random-state", "0", "--ignore", "y",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "pieces" not in done.err
    model = package.load(out)
    assert model.plan_.judge == "validation rows"
    assert model.score(frame[["a", "b", "town", "w"]], frame.kind) > 0.95


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--target", "z"), "no target column 'z'"),
        (("--target", "y", "--weight", "z"), "no column 'z', which --weight names"),
        (("--target", "y", "--ignore", "y"), "which is the target"),
        (("--target", "y", "--engine", "direct"), "not for Chunks"),
        ((), "the target is missing"),
    ],
)
def test_faults(rgboost, frame, tmp_path, more, told):
    train = write(frame, tmp_path / "train.parquet")
    done = rgboost("fit", train, "--out", tmp_path / "m.rgb", *more)
    assert done.code in (2, 3)
    assert told in done.err


def test_what_fits_is_read_as_a_whole(rgboost, frame, tmp_path):
    train = write(frame, tmp_path / "train.parquet")
    done = rgboost("fit", train, "--target", "y", "--out", tmp_path / "m.rgb", *FAST)
    assert done.code == 0, done.err
    assert "pieces" not in done.err


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_how_much_memory_a_file_takes(frame, tmp_path, ending):
    path = tmp_path / f"train{ending}"
    frame.to_parquet(path) if ending == ".parquet" else frame.to_csv(path, index=False)
    found = training.bytes_in_memory(path, None)
    assert 0.3 * 8 * frame.size < found < 10 * 8 * frame.size


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_bars_on_a_terminal(frame, tmp_path):
    train = write(frame, tmp_path / "train.parquet")
    code = (
        "import sys; from rgboost.cli.files import training; training.memory_budget = lambda: 1;"
        "from rgboost.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "fit", str(train), "--target", "y", *FAST]
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    command += ["--out", str(tmp_path / "m.rgb")]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL, env=env) as program:
        os.close(theirs)
        told = read_all(ours)
    assert program.returncode == 0, told
    assert "pass" in told
    assert "GB" in told


def read_all(terminal):
    """What is written to a terminal until it is closed."""
    told = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # how Linux says so
            more = b""
        if not more:
            return told.decode(errors="replace")
        told += more
