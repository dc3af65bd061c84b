"""The direct engine against LightGBM and XGBoost with stumps, as ratios within one run.

    make bench                                   # all but a9a
    RGBOOST_DATA=folder make bench               # with folder/a9a/a9a.xz (LIBSVM format)

Each time is the best of three. Binning is timed on its own and not part of iterations per second.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

import lightgbm
import numpy as np
import xgboost
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file

from rgboost import Stumps, boost
from rgboost.losses import Logistic, Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep

REPEATS = 3
console = Console()


def best_of(function, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(result if isinstance(result, float) else time.perf_counter() - start)
    return min(times)


def ours(X, y, loss, t, n_iter, n_jobs, max_bins):
    def run():
        boosted = boost(
            X, y, loss=loss, learner=Stumps(max_bins=max_bins), selection=RandomGroups(t),
            step=ConstantStep(), n_iter=n_iter, random_state=0, n_jobs=n_jobs,
        )  # fmt: skip
        return float(boosted.trace.seconds[-1])

    run()
    return n_iter / best_of(run)


def lightgbm_rate(X, y, objective, fraction, n_iter, n_jobs, max_bins):
    """Stumps as LightGBM's documentation has them: two leaves, no limits on leaves."""
    parameters = {
        "objective": objective, "num_leaves": 2, "max_bin": max_bins, "learning_rate": 1.0,
        "feature_fraction": fraction, "num_threads": n_jobs, "verbose": -1, "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0, "force_col_wise": True,
    }  # fmt: skip
    data = lightgbm.Dataset(X, y, params=parameters)
    data.construct()
    return n_iter / best_of(lambda: lightgbm.train(parameters, data, n_iter) and None)


def xgboost_rate(X, y, objective, fraction, n_iter, n_jobs, max_bins):
    parameters = {
        "objective": objective, "max_depth": 1, "tree_method": "hist", "max_bin": max_bins,
        "learning_rate": 1.0, "colsample_bytree": fraction, "nthread": n_jobs,
        "min_child_weight": 0.0, "reg_lambda": 0.0,
    }  # fmt: skip
    data = xgboost.QuantileDMatrix(X, y, max_bin=max_bins, nthread=n_jobs)
    return n_iter / best_of(lambda: xgboost.train(parameters, data, n_iter) and None)


def made_data(n=370_972, p=90):
    """The shape of YearPredictionMSD's training part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)).astype(np.float32)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=n)
    return X, y


def load_a9a():
    path = Path(os.environ.get("RGBOOST_DATA", "")) / "a9a" / "a9a.xz"
    if not path.is_file():
        return None
    return load_svmlight_file(BytesIO(lzma.decompress(path.read_bytes())), n_features=123)


def fresh_process(code, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


FIRST_FIT = """
import numpy as np, sklearn.base, numba, time
from rgboost import RGBMRegressor
X = np.random.default_rng(0).normal(size=(1000, 10))
start = time.perf_counter()
RGBMRegressor(n_jobs=2).fit(X, X[:, 0]).predict(X)
print(time.perf_counter() - start)
"""


def timed_output(code, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True
    )
    return float(out.stdout)


def start_up():
    """(import, first fit with the compile cache, first fit without it) in seconds."""
    with tempfile.TemporaryDirectory() as cache:
        cold = timed_output(FIRST_FIT, cache)
        warm = min(timed_output(FIRST_FIT, cache) for _ in range(REPEATS))
        baseline = "import sklearn.base, sklearn.utils.validation, numba"
        without = min(fresh_process(baseline, cache) for _ in range(REPEATS))
        with_us = min(fresh_process(baseline + ", rgboost", cache) for _ in range(REPEATS))
    return with_us - without, warm, cold


def main():
    rows = []
    X, y = made_data()
    for n_jobs in (1, 2):
        for t, n_iter in ((90, 60), (9, 400)):
            us = ours(X, y, Squared(), t, n_iter, n_jobs, 100)
            them = lightgbm_rate(X, y, "regression", t / 90, n_iter, n_jobs, 100)
            rows.append(("made 370,972 x 90, squared", t, n_jobs, us, {"LightGBM": them}))
    binning = best_of(lambda: Stumps(max_bins=100).prepare(X, n_jobs=2) and None)
    a9a = load_a9a()
    if a9a is not None:
        X, y = a9a
        for n_jobs in (1, 2):
            us = ours(X, y, Logistic(), 11, 3000, n_jobs, 100)
            labels = (y > 0).astype(float)
            args = (11 / 123, 500, n_jobs, 100)
            them = {
                "LightGBM": lightgbm_rate(X, labels, "binary", *args),
                "XGBoost": xgboost_rate(X, labels, "binary:logistic", *args),
            }
            rows.append(("a9a 32,561 x 123, logistic", 11, n_jobs, us, them))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(208, 60)), rng.normal(size=208)
    small = {t: 1000 / ours(X, y, Squared(), t, 1000, 1, 255) for t in ("sqrt", "all")}
    imported, warm, cold = start_up()

    table = Table(title="iterations per second, best of three")
    for name in ("data", "t", "threads", "rgboost", "LightGBM", "XGBoost", "ratio to the better"):
        table.add_column(name, justify="left" if name == "data" else "right")
    for data, t, n_jobs, us, them in rows:
        other = [f"{them[name]:,.0f}" if name in them else "" for name in ("LightGBM", "XGBoost")]
        ratio = us / max(them.values())
        table.add_row(data, str(t), str(n_jobs), f"{us:,.0f}", *other, f"{ratio:.2f}")
    console.print(table)
    console.print(f"binning 370,972 x 90 into 100 bins, 2 threads: {binning:.2f} s")
    for t, seconds in small.items():
        console.print(f"208 x 60, 1,000 stumps, t={t}, 1 thread: {1e3 * seconds:.1f} ms")
    console.print(f"import rgboost after scikit-learn and numba: {imported:.2f} s")
    console.print(f"first fit in a fresh process: {warm:.2f} s cached, {cold:.1f} s not cached")
    figures = [{"data": d, "t": t, "threads": n, "rgboost": u, **them} for d, t, n, u, them in rows]
    out = Path("out")
    out.mkdir(exist_ok=True)
    summary = {"rates": figures, "binning": binning, "import": imported, "first_fit_cached": warm}
    summary |= {"first_fit_uncached": cold, "small_seconds": small}
    (out / "bench_direct.json").write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
