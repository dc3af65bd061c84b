"""Memory that fits add, each in a fresh process.

python -m benchmarks.memory              a table of fits with the defaults
python -m benchmarks.memory NAME ...     some of them, "NAME, additive": with interactions=0
python -m benchmarks.memory '{"peer": "LightGBM", "data": {"kind": "dense", ...}, ...}'
                                         one fit: seconds, resident memory before and at its peak
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from . import data
from .measure import PeakMemory
from .ours import Rgboost
from .peers import ALL, Spec

MOST_TIMES, MOST_BYTES = 10, 200e6
"""The aim: a fit adds at most so many times its input, or so many bytes if that is more."""


def measure(job: dict[str, Any]) -> dict[str, Any]:
    X, y = data.make(**job["data"])
    spec = Spec(n_features=X.shape[1], **job["spec"])
    is_ours = job["peer"] == "rgboost"
    peer = Rgboost(**job.get("options", {})) if is_ours else ALL[job["peer"]]
    few = slice(0, 200)
    columns = slice(0, min(X.shape[1], 200))
    some = Spec(**{**job["spec"], "n_features": columns.stop, "t": None})
    peer.fit(X[few, columns], y[few], some, 3)  # libraries and compiled code are no part of it
    with PeakMemory() as memory:
        start = time.perf_counter()
        model = peer.fit(X, y, spec, job["n_iter"])
        seconds = time.perf_counter() - start
    engine = getattr(getattr(model, "trace_", None), "engine", "")
    return {
        "seconds": seconds,
        "before": memory.before,
        "peak": memory.peak,
        "input": data.input_bytes(X),
        "engine": engine,
    }


def _dense(n: int, p: int, n_classes: int = 0) -> tuple[Any, np.ndarray]:
    X, y = data.dense(n, p)
    edges = np.quantile(y, np.arange(1, n_classes) / max(1, n_classes))
    return X, np.searchsorted(edges, y).astype(float) if n_classes else y


def _with_categories(n: int, p: int) -> tuple[Any, np.ndarray]:
    """A frame whose other columns are categories, with some values missing."""
    import pandas

    X, y = data.dense(n, p)
    X[np.random.default_rng(1).random(X.shape) < 0.02] = np.nan
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(p)])
    for k in range(1, p, 2):
        frame[f"x{k}"] = pandas.cut(frame[f"x{k}"], 30).cat.codes.astype(str).astype("category")
    return frame, y


def _text(of_class: bool) -> tuple[Any, np.ndarray]:
    X, y = data.text()
    return X, y if of_class else y + np.random.default_rng(1).standard_normal(len(y))


def _empty_columns(of_class: bool) -> tuple[Any, np.ndarray]:
    """Of ten million columns a thousand are not empty."""
    rng = np.random.default_rng(0)
    n, used = 1000, 1000
    columns = np.sort(rng.choice(10_000_000, used, replace=False))
    few = scipy.sparse.random_array((n, used), density=0.02, format="csr", rng=rng)
    X = scipy.sparse.csr_array((few.data, columns[few.indices], few.indptr), shape=(n, 10_000_000))
    y = np.asarray(few.sum(axis=1)).ravel() + 0.1 * rng.standard_normal(n)
    return X, (y > np.median(y)).astype(float) if of_class else y


DEFAULTS: dict[str, tuple[str, Callable[[], tuple[Any, np.ndarray]]]] = {
    "regression": ("RGBMRegressor", lambda: _dense(200_000, 50)),
    "regression-small": ("RGBMRegressor", lambda: _dense(30_000, 20)),
    "classification": ("RGBMClassifier", lambda: _dense(200_000, 50, 2)),
    "classification-small": ("RGBMClassifier", lambda: _dense(30_000, 20, 2)),
    "classes": ("RGBMClassifier", lambda: _dense(30_000, 20, 3)),
    "categories": ("RGBMRegressor", lambda: _with_categories(200_000, 20)),
    "sparse": ("RGBMRegressor", lambda: _text(False)),
    "sparse-classification": ("RGBMClassifier", lambda: _text(True)),
    "empty-columns": ("RGBMRegressor", lambda: _empty_columns(False)),
    "empty-columns-classification": ("RGBMClassifier", lambda: _empty_columns(True)),
}


ADDITIVE = ", additive"
"""After the name of a fit: without pairs."""
NAMES = [*DEFAULTS, *(name + ADDITIVE for name in ("regression-small", "classes", "categories"))]


def measure_default(name: str) -> dict[str, Any]:
    """A fit with the defaults, after one that compiled everything."""
    import rgboost

    kind, make = DEFAULTS[name.removesuffix(ADDITIVE)]
    settings = {"interactions": 0} if name.endswith(ADDITIVE) else {}
    X, y = make()
    estimator = getattr(rgboost, kind)(random_state=0, **settings)
    estimator.fit(X, y)
    for fitted in [key for key in vars(estimator) if key.endswith("_") or key.startswith("_")]:
        delattr(estimator, fitted)
    with PeakMemory() as memory:
        start = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - start
    size = int(X.memory_usage(index=False, deep=True).sum()) if hasattr(X, "iloc") else None
    return {
        "shape": f"{X.shape[0]:,} x {X.shape[1]:,}",
        "input": data.input_bytes(X) if size is None else size,
        "added": memory.peak - memory.before,
        "seconds": seconds,
        "engine": estimator.trace_.engine,
    }


def print_table(names: list[str]) -> None:
    """One fresh process after the other."""
    from rich.console import Console
    from rich.table import Table

    columns = ["fit with defaults", "rows x columns", "input MB", "added MB", "x input", "aim", "s"]
    table = Table(*columns, "engine")
    for name in names:
        command = [sys.executable, "-m", "benchmarks.memory", json.dumps({"default": name})]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout)
        aim = max(MOST_BYTES, MOST_TIMES * found["input"])
        table.add_row(
            name,
            found["shape"],
            f"{found['input'] / 1e6:.1f}",
            f"{found['added'] / 1e6:.0f}",
            f"{found['added'] / found['input']:.1f}",
            "met" if found["added"] <= aim else f"missed: {aim / 1e6:.0f} MB",
            f"{found['seconds']:.2f}",
            found["engine"],
        )
    Console(width=160).print(table)


def main() -> None:
    if not sys.argv[1:] or sys.argv[1].removesuffix(ADDITIVE) in DEFAULTS:
        print_table(sys.argv[1:] or NAMES)
        return
    answer = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    job = json.loads(sys.argv[1])
    result = measure_default(job["default"]) if "default" in job else measure(job)
    os.write(answer, (json.dumps(result) + "\n").encode())


if __name__ == "__main__":
    main()
