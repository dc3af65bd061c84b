"""Every export against `predict`, in the engine that it is made for: bytes, latency, speed.

    RGBOOST_DATA=folder python -m benchmarks.bench_exports
    python -m benchmarks.bench_exports adult bike --data-dir folder --rows 5000

Models are fitted with the defaults to four fifths of adult, bike, sleep and California (categories
as strings, missing values as they are). Then every form predicts rows of all of the set: numbers
must agree to 1e-9 of the largest, labels exactly, or the exit code is 1. Latency is that of one
row, for SQL with the parsing of the query; speed that of all rows at once, for the Python file and
the JavaScript function one call a row. Seconds are those of the processor, on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import rgboost
from rgboost import RGBMClassifier, RGBMRegressor

CLOSE = 1e-9
ONCE = 50
"""Calls for a single row in a round, where they take less than the ticks of the clock."""

ADULT = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
]  # fmt: skip


def adult(folder: Path) -> tuple[pd.DataFrame, str, type]:
    path = folder / "adult" / "adult.data.xz"
    rows = pd.read_csv(path, names=ADULT, skipinitialspace=True, na_values=["?"])
    return rows, "income", RGBMClassifier


def bike(folder: Path) -> tuple[pd.DataFrame, str, type]:
    rows = pd.read_csv(folder / "bike_sharing" / "hour.csv.xz")
    rows = rows.drop(columns=["instant", "dteday", "casual", "registered"])
    seasons = {1: "winter", 2: "spring", 3: "summer", 4: "autumn"}
    return rows.assign(season=rows["season"].map(seasons)), "cnt", RGBMRegressor


def sleep(folder: Path) -> tuple[pd.DataFrame, str, type]:
    return pd.read_csv(folder / "sleep" / "sleep.tsv.gz", sep="\t"), "target", RGBMClassifier


def california(folder: Path) -> tuple[pd.DataFrame, str, type]:
    path = folder / "california_housing" / "cal_housing.csv.xz"
    return pd.read_csv(path), "medianHouseValue", RGBMRegressor


SETS: dict[str, Callable[[Path], tuple[pd.DataFrame, str, type]]] = {
    "adult": adult, "bike": bike, "sleep": sleep, "california": california,
}  # fmt: skip


@dataclass
class Measured:
    """Of a form: its size, seconds for one row and for all, predictions and probabilities."""

    bytes: int
    one: float
    all: float
    labels: Any
    numbers: Any
    """Predictions of a regression, probabilities of a classifier."""


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = function()
    return time.process_time() - begun, found


def median_of(function: Callable[[], Any], calls: int = ONCE) -> float:
    """Seconds of a call, the median of several rounds of them: ticks of the clock are long."""
    function()
    rounds = [timed(lambda: [function() for _ in range(calls)])[0] / calls for _ in range(3)]
    return float(np.median(rounds))


def by_estimator(model: Any, rows: pd.DataFrame, size: int) -> Measured:
    classifier = hasattr(model, "classes_")
    predict = model.predict_proba if classifier else model.predict
    one = median_of(lambda: predict(rows[:1]))
    seconds, numbers = timed(lambda: predict(rows))
    return Measured(size, one, seconds, model.predict(rows), numbers)


def stored(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    path = folder / "model.rgb"
    model.save(path)
    return by_estimator(rgboost.load(path), rows, path.stat().st_size)


def as_json(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    text = model.to_json()
    return by_estimator(rgboost.from_json(text), rows, len(text.encode()))


def onnx(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    import onnxruntime

    graph = model.to_onnx().SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    runner = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    texts = {value.name for value in runner.get_inputs() if value.type == "tensor(string)"}
    columns = {
        name: rows[name].fillna("").to_numpy(object) if name in texts
        else rows[name].to_numpy(np.float64)
        for name in rows
    }  # fmt: skip
    first = {name: column[:1] for name, column in columns.items()}
    names = ["prediction", "probabilities"] if hasattr(model, "classes_") else ["prediction"]
    one = median_of(lambda: runner.run(names, first))
    seconds, found = timed(lambda: runner.run(names, columns))
    return Measured(len(graph), one, seconds, found[0], found[-1])


def from_table(model: Any, found: pd.DataFrame) -> tuple[Any, Any]:
    """Labels and numbers of the result of a query."""
    found = found.sort_values("key")
    labels = found["prediction"].to_numpy()
    if not hasattr(model, "classes_"):
        return labels, labels
    return labels, found[[f"probability_{label}" for label in model.classes_]].to_numpy()


def in_duckdb(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    import duckdb

    keyed = rows.assign(key=np.arange(len(rows)))
    query = model.to_sql("all_rows", dialect="duckdb", columns=["key"])
    single = model.to_sql("one_row", dialect="duckdb", columns=["key"])
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for name, some in (("all_rows", keyed), ("one_row", keyed[:1])):
            connection.register("given", some)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        one = median_of(lambda: connection.execute(single).fetchall(), 1)
        seconds, found = timed(lambda: connection.execute(query).df())
    return Measured(len(query.encode()), one, seconds, *from_table(model, found))


def in_sqlite(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    keyed = rows.assign(key=np.arange(len(rows)))
    query = model.to_sql("all_rows", dialect="sqlite", columns=["key"])
    single = model.to_sql("one_row", dialect="sqlite", columns=["key"])
    connection = sqlite3.connect(":memory:")
    keyed.to_sql("all_rows", connection, index=False)
    keyed[:1].to_sql("one_row", connection, index=False)
    one = median_of(lambda: connection.execute(single).fetchall(), 1)
    seconds, found = timed(lambda: pd.read_sql(query, connection))
    connection.close()
    return Measured(len(query.encode()), one, seconds, *from_table(model, found))


def plain_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Dictionaries of plain values, None where one is missing."""
    found: list[dict[str, Any]] = json.loads(rows.to_json(orient="records", double_precision=15))
    for name in rows.select_dtypes("float"):  # to_json rounds
        for row, value in zip(found, rows[name].tolist(), strict=True):
            row[name] = None if value != value else value
    return found


def python_file(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    text, file, given = model.to_python(), {}, plain_rows(rows)
    exec(compile(text, "model.py", "exec"), file)
    predict: Any = file["predict_proba" if hasattr(model, "classes_") else "predict"]
    one = median_of(lambda: predict(given[0]))
    seconds, numbers = timed(lambda: [predict(row) for row in given])
    labels = [file["predict"](row) for row in given]  # type: ignore[operator]
    return Measured(len(text.encode()), one, seconds, np.array(labels), np.array(numbers))


RUN = """
const fs = require("fs"), { predict } = require("./model.js");
const rows = JSON.parse(fs.readFileSync(0, "utf-8"));
const seconds = (f) => {
  const begun = process.cpuUsage(); f(); const used = process.cpuUsage(begun);
  return (used.user + used.system) / 1e6;
};
let found;
for (let k = 0; k < 2000; k++) predict(rows[k % rows.length]);
const one = seconds(() => { for (let k = 0; k < 2000; k++) predict(rows[0]); }) / 2000;
const all = seconds(() => { found = rows.map((row) => predict(row)); });
console.log(JSON.stringify({
  one, all,
  labels: found.map((a) => a.prediction),
  numbers: found.map((a) => a.probabilities || a.prediction),
}));
"""


def javascript(model: Any, rows: pd.DataFrame, folder: Path) -> Measured:
    text = model.to_javascript()
    (folder / "model.js").write_text(text, encoding="utf-8")
    (folder / "run.js").write_text(RUN)
    given = json.dumps(plain_rows(rows), allow_nan=False)
    command = ["node", "--max-old-space-size=4096", "run.js"]
    ran = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    labels, numbers = np.array(found["labels"]), np.array(found["numbers"])
    return Measured(len(text.encode()), found["one"], found["all"], labels, numbers)


FORMS: dict[str, Callable[[Any, pd.DataFrame, Path], Measured]] = {
    "the model itself": stored,
    "JSON, read again": as_json,
    "ONNX, onnxruntime": onnx,
    "SQL, DuckDB": in_duckdb,
    "SQL, SQLite": in_sqlite,
    "Python file": python_file,
    "JavaScript, Node": javascript,
}


def difference(model: Any, rows: pd.DataFrame, found: Measured) -> float:
    """The largest difference from the model, as a share of the largest number; infinite where a
    label differs."""
    if hasattr(model, "classes_"):
        expected = model.predict_proba(rows)
        if not np.array_equal(found.labels.astype(model.classes_.dtype), model.predict(rows)):
            return np.inf
    else:
        expected = model.predict(rows)
    return float(np.abs(found.numbers - expected).max() / np.abs(expected).max())


def measure(name: str, options: argparse.Namespace, console: Console) -> bool:
    """Print a table of the forms of a set; whether all of them agree with the model."""
    rows, target, kind = SETS[name](options.data_dir)
    order = np.random.default_rng(0).permutation(len(rows))
    train = rows.iloc[order[: 4 * len(rows) // 5]]
    model = kind(random_state=0, n_jobs=1)
    model.fit(train.drop(columns=target), train[target])
    asked = rows.iloc[order[::-1][: options.rows]].drop(columns=target).reset_index(drop=True)
    sizes = [len(term) for term in model.term_features_]
    title = f"{name}: {sizes.count(1)} curves, {sizes.count(2)} pairs, {len(asked):,} rows"
    table = Table("form", "bytes", "one row, µs", "rows a second", "difference", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    good = True
    for form, run in FORMS.items():
        if run is javascript and shutil.which("node") is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = run(model, asked, Path(folder))
        off = difference(model, asked, found)
        good &= off <= CLOSE
        latency, speed = 1e6 * found.one, len(asked) / found.all
        table.add_row(form, f"{found.bytes:,}", f"{latency:,.0f}", f"{speed:,.0f}", f"{off:.0e}")
    console.print(table)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], help="by default all")
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("RGBOOST_DATA"))
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many of a set")
    options = parser.parse_args()
    if options.data_dir is None:
        parser.error("name the folder of the data sets in RGBOOST_DATA or --data-dir")
    options.data_dir = Path(options.data_dir)
    console = Console(width=80)
    agreed = [measure(name, options, console) for name in options.sets or SETS]
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    raise SystemExit(main())
