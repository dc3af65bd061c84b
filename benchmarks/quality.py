"""How well everybody predicts at default settings: test loss, fit seconds and model size.

    python -m benchmarks.quality --data-dir DIR                    # all sets, everybody
    python -m benchmarks.quality --sets adult --only rgboost --set learning_rate=0.1
    python -m benchmarks.quality --sets adult --split 1000         # other rows to test on
    python -m benchmarks.quality --sets bike --only EBM --set smoothing_rounds=0

Everybody runs at the defaults of the library (EBM without interactions), and the tree libraries
once more with stumps, so that additive models are compared with additive models. Results of the
others are kept in ``out/quality`` and not measured again; ``--fresh`` forgets them.

The loss is the mean log-loss, or the mean squared error as a share of the variance of the test
labels (1 - R^2). Sets of fewer than 15,000 rows to test on are judged by five-fold cross-validation
of all their rows, because one split tells little; seconds are then those of the median fold. Losses
of the test rows are kept, so that the difference of two contestants has a standard error.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .measure import Skip
from .quality_data import SETS, QualitySet
from .quality_table import renew

clock = time.perf_counter
OUT = Path("out") / "quality"
FEW_ROWS = 15_000
FOLDS = 5
LONG_SECONDS, SHORT_SECONDS, REPEATS = 10.0, 1.0, 3
"""Fits that take less than the first are timed so many times, and as often as there is time for in
the second; the fastest counts. A machine that is slower for a moment would be slower for all of
three short fits."""
PATIENCE = 900.0
"""Seconds after which a contestant is given up."""
MOST_CATEGORIES = 255
"""Of a feature, for HistGradientBoosting."""


def parts_of(data: QualitySet) -> Iterator[QualitySet]:
    """The set itself, or its folds if it has few rows to test on."""
    if len(data.y_test) >= FEW_ROWS:
        yield data
        return
    X, y = all_rows(data)
    fold = np.random.default_rng(0).permutation(len(y)) % FOLDS
    if data.task != "squared":  # as many of each class in every fold
        fold = np.empty(len(y), dtype=np.int64)
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            fold[np.random.default_rng(0).permutation(rows)] = np.arange(len(rows)) % FOLDS
    for k in range(FOLDS):
        train, test = fold != k, fold == k
        yield QualitySet(
            data.name, data.task, X[train], y[train], X[test], y[test], data.categorical
        )


def all_rows(data: QualitySet) -> tuple[Any, NDArray]:
    """Those to train and those to test on."""
    stack = scipy.sparse.vstack if scipy.sparse.issparse(data.X) else np.concatenate
    X, y = stack([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    return (X.tocsr() if scipy.sparse.issparse(X) else X), y


def split_again(data: QualitySet, seed: int, n_rows: int | None = None) -> QualitySet:
    """As many rows to train and to test on, at random: to choose settings by other rows than those
    of the table. Of those to train on the first ``n_rows``."""
    X, y = all_rows(data)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: len(data.y)][:n_rows], order[len(data.y) :]
    return QualitySet(data.name, data.task, X[train], y[train], X[test], y[test], data.categorical)


def parts_to_judge(data: QualitySet, options: argparse.Namespace) -> Iterator[QualitySet]:
    """The parts of the table, or one split of its own."""
    if options.split is None:
        return parts_of(data)
    return iter([split_again(data, options.split, options.rows)])


def protocol_of(parts: list[QualitySet]) -> dict[str, Any]:
    """What a result belongs to: the rows and features of a part, and how many parts there are."""
    return {"shape": parts[0].shape, "parts": len(parts)}


def fit_rgboost(data: QualitySet, threads: int, **more: Any) -> tuple[Any, NDArray, float]:
    import rgboost

    kind = rgboost.RGBMRegressor if data.task == "squared" else rgboost.RGBMClassifier
    categories = list(data.categorical) or None
    model = kind(n_jobs=threads, random_state=0, categorical_features=categories, **more)
    start = clock()
    model.fit(data.X, data.y)
    seconds = clock() - start
    return model, scores_of(model, data), seconds


def scores_of(model: Any, data: QualitySet) -> NDArray:
    """Of the test rows: predictions, log-odds, or of several classes logarithms of their shares."""
    if data.task == "squared":
        return model.predict(data.X_test)
    if data.task == "logistic":
        return model.decision_function(data.X_test)
    return np.log(np.maximum(model.predict_proba(data.X_test), 1e-15))


def fit_ebm(data: QualitySet, threads: int, **more: Any) -> tuple[Any, NDArray, float]:
    from interpret import glassbox

    kind = "Regressor" if data.task == "squared" else "Classifier"
    types = ["nominal" if k in data.categorical else "continuous" for k in range(data.X.shape[1])]
    made = getattr(glassbox, f"ExplainableBoosting{kind}")
    model = made(interactions=0, n_jobs=threads, feature_types=types, **more)
    start = clock()
    model.fit(data.X, data.y)
    seconds = clock() - start
    return model, scores_of(model, data), seconds


def fit_lightgbm(data: QualitySet, threads: int, **more: Any) -> tuple[Any, NDArray, float]:
    import lightgbm

    kind = lightgbm.LGBMRegressor if data.task == "squared" else lightgbm.LGBMClassifier
    model = kind(n_jobs=threads, verbose=-1, random_state=0, **more)
    options = {"categorical_feature": list(data.categorical)} if data.categorical else {}
    start = clock()
    model.fit(data.X, data.y, **options)
    seconds = clock() - start
    if data.task == "classes":
        return model, scores_of(model, data), seconds
    return model, model.booster_.predict(data.X_test, raw_score=True), seconds


def few_categories(data: QualitySet) -> QualitySet:
    """The most frequent 254 categories of a feature and the rest as one, which is what
    HistGradientBoosting takes, and scikit-learn's OrdinalEncoder makes."""
    X, X_test = data.X, data.X_test
    for g in data.categorical:
        values, counts = np.unique(X[:, g], return_counts=True)
        if len(values) <= MOST_CATEGORIES:
            continue
        X, X_test = X.copy(), X_test.copy()
        kept = np.sort(values[np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1]])
        for matrix in (X, X_test):
            place = np.minimum(np.searchsorted(kept, matrix[:, g]), len(kept) - 1)
            matrix[:, g] = np.where(kept[place] == matrix[:, g], place, len(kept))
    return replace(data, X=X, X_test=X_test)


def fit_hist(data: QualitySet, threads: int, **more: Any) -> tuple[Any, NDArray, float]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    from .peers import openmp_threads

    data = few_categories(data.dense())
    squared = data.task == "squared"
    kind = HistGradientBoostingRegressor if squared else HistGradientBoostingClassifier
    model = kind(categorical_features=list(data.categorical) or None, random_state=0, **more)
    with openmp_threads(threads):
        start = clock()
        model.fit(data.X, data.y)
        seconds = clock() - start
        return model, scores_of(model, data), seconds


CONTESTANTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "rgboost": (fit_rgboost, {}),
    "EBM": (fit_ebm, {}),
    "LightGBM stumps": (fit_lightgbm, {"num_leaves": 2}),
    "LightGBM": (fit_lightgbm, {}),
    "HistGB stumps": (fit_hist, {"max_leaf_nodes": 2}),
    "HistGB": (fit_hist, {}),
}


def test_losses(data: QualitySet, score: NDArray) -> NDArray:
    """Of every test row."""
    if data.task == "logistic":
        return np.logaddexp(0.0, np.where(data.y_test > 0, -score, score))
    if data.task == "classes":
        return -score[np.arange(len(score)), data.y_test.astype(np.int64)]
    return (data.y_test - score) ** 2 / np.var(data.y_test)


def judge(
    name: str, parts: list[QualitySet], threads: int, **more: Any
) -> tuple[dict[str, Any], NDArray]:
    """Mean test loss, seconds of a fit and bytes of the stored model; and all test losses."""
    fit, settings = CONTESTANTS[name]
    losses, seconds, sizes, iterations = [], [], [], []
    for part in parts:
        print(json.dumps({"begun": time.time()}), flush=True)  # for `given_up`
        model, score, spent = fit(part, threads, **settings, **more)
        times = [spent]
        while spent < LONG_SECONDS and (len(times) < REPEATS or sum(times) < SHORT_SECONDS):
            times.append(fit(part, threads, **settings, **more)[2])
        losses.append(test_losses(part, score))
        seconds.append(min(times))
        sizes.append(len(pickle.dumps(model)))
        iterations.append(getattr(model, "best_iteration_", 0) if name == "rgboost" else 0)
    every = np.concatenate(losses)
    found = {
        "loss": float(every.mean()),
        "seconds": float(np.median(seconds)),
        "bytes": float(np.mean(sizes)),
        "iterations": float(np.mean(iterations)),
    }
    return found, every


def difference(which: str, name: str = "EBM") -> tuple[float, float] | None:
    """How much larger our test loss is than another's, and the standard error of that."""
    ours, theirs = (kept_losses(which, one) for one in ("rgboost", name))
    if not (ours.exists() and theirs.exists()):
        return None
    one, other = np.load(ours), np.load(theirs)
    if len(one) != len(other):  # of another split
        return None
    more = one - other
    return float(more.mean()), float(more.std(ddof=1) / np.sqrt(len(more)))


def kept_losses(which: str, name: str) -> Path:
    return OUT / f"{which}, {name}.npy"


def warm_up(name: str, data: QualitySet, threads: int) -> None:
    """Load libraries and compiled code by a fit: of a few rows, and for rgboost of all, because
    the code that it needs depends on their number."""
    fit, settings = CONTESTANTS[name]
    if name == "rgboost":
        fit(next(parts_of(data)), threads)
        return
    few = np.linspace(0, len(data.y) - 1, min(300, len(data.y))).astype(int)
    if data.task != "squared":  # two rows of every class, at least
        firsts = [np.flatnonzero(data.y == label)[:2] for label in np.unique(data.y)]
        few = np.union1d(few, np.concatenate(firsts))
    columns = slice(0, 20 if not data.categorical else None)
    small = QualitySet(
        data.name, data.task, data.X[few, columns], data.y[few], data.X[:5, columns],
        data.y[:5], data.categorical,
    )  # fmt: skip
    fit(small, threads, **settings, **({"outer_bags": 1} if name == "EBM" else {}))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("RGBOOST_DATA", "."))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--split", type=int, help="the seed of a split of its own")
    parser.add_argument("--rows", type=int, help="so many rows to train on, with --split")
    parser.add_argument("--patience", type=float, default=PATIENCE)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", dest="more")
    parser.add_argument(
        "--table",
        type=Path,
        default=OUT / "table.md",
        help="a Markdown file whose table is renewed",
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def measure(
    name: str, which: str, protocol: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any]:
    """A result from the cache, if it was measured in the same way, or from a process of its own."""
    kept = OUT / f"{which}, {name}.json"
    if options.split is not None:
        rows = "" if options.rows is None else f", {options.rows} rows"
        kept = OUT / f"split {options.split}{rows}" / kept.name
    tuned = name != "rgboost" and bool(options.more)  # not what is kept
    if name != "rgboost" and kept.exists() and not (options.fresh or tuned):
        found = json.loads(kept.read_text())
        if "error" in found or protocol.items() <= found.items():
            return found
    command = [
        sys.executable, "-m", "benchmarks.quality", "--one", "--only", name, "--sets", which,
        "--data-dir", str(options.data_dir), "--threads", str(options.threads),
    ]  # fmt: skip
    if options.split is not None:
        command += ["--split", str(options.split)]
        command += [] if options.rows is None else ["--rows", str(options.rows)]
    if options.more:
        command += ["--set", *options.more]
    # A group of its own, so that its workers end with it.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, errors = process.communicate(timeout=options.patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        found = given_up(process.communicate()[0])
    except BaseException:  # Ctrl-C
        os.killpg(process.pid, signal.SIGKILL)
        raise
    else:
        lines = (errors if process.returncode else out).strip().splitlines()
        found = {"error": lines[-1][:200]} if process.returncode else json.loads(lines[-1])
    if not tuned:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return found


def given_up(output: str) -> dict[str, Any]:
    """The result of a contestant that took too long: what the fit under way took until then."""
    lines = output.strip().splitlines()
    if not lines:
        return {"error": "no fit begun in time"}
    seconds = time.time() - json.loads(lines[-1])["begun"]
    return {"error": f"longer than {seconds:.0f} s", "longer_than": seconds}


def main() -> None:
    options = arguments()
    if options.one:
        (name,), (which,) = options.only, options.sets
        data = SETS[which](Path(options.data_dir))
        warm_up(name, data, options.threads)
        more = {key: _value(value) for key, value in (pair.split("=") for pair in options.more)}
        parts = list(parts_to_judge(data, options))
        found, losses = judge(name, parts, options.threads, **more)
        if options.split is None and not (more and name != "rgboost"):
            OUT.mkdir(parents=True, exist_ok=True)
            np.save(kept_losses(which, name), losses)
        print(json.dumps({**protocol_of(parts), **found}))
        return
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for which in options.sets:
        try:
            data = SETS[which](Path(options.data_dir))
        except Skip as reason:
            print(which, reason, flush=True)
            continue
        protocol = protocol_of(list(parts_to_judge(data, options)))
        for name in options.only:
            found = measure(name, which, protocol, options)
            results.setdefault(which, {})[name] = found
            print(which, name, json.dumps(found), flush=True)
        if "loss" in results[which].get("rgboost", {}) and options.split is None:
            results[which]["rgboost"]["behind"] = difference(which)
    if options.split is None and not options.more:
        renew(options.table, results, SETS)


if __name__ == "__main__":
    main()
