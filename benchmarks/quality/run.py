"""How well everybody predicts at default settings: test loss, fit seconds and model size.

    python -m benchmarks.quality --data-dir DIR                    # all sets, everybody
    python -m benchmarks.quality --sets adult --only rgboost --set learning_rate=0.1
    python -m benchmarks.quality --sets adult --split 1000         # other rows to test on
    python -m benchmarks.quality --only "rgboost trees" LightGBM CatBoost ChimeraBoost
    python -m benchmarks.quality --sets bike --only "EBM, additive" --set smoothing_rounds=0

Everybody runs at the defaults of the library, and rgboost, EBM and two tree libraries once more
without interactions (stumps), so that additive models are compared with additive models. Results of
the others are kept in ``out/quality`` and beside the table, and not measured again; ``--fresh``
forgets them.

The loss is the mean log-loss, or the mean squared error as a share of the variance of the test
labels (1 - R^2). Sets of fewer than 15,000 rows to test on are judged by five-fold cross-validation
of all their rows, because one split tells little; seconds are then those of the median fold. Losses
of the test rows are kept, so that the difference of two contestants has a standard error. EBM with
its pairs takes minutes to hours: it is judged on one split, the set's own, and so are we beside it.
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
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..measure import Skip
from .contestants import CONTESTANTS, RIVALS, count_pairs, is_ours, same_as, takes_part
from .data import SETS, QualitySet
from .table import figures_beside, renew
from .verdicts import named

OUT = Path("out") / "quality"
FEW_ROWS = 15_000
FOLDS = 5
LONG_SECONDS, SHORT_SECONDS, REPEATS = 10.0, 1.0, 3
"""Fits that take less than the first are timed so many times, and as often as there is time for in
the second; the fastest counts. A machine that is slower for a moment would be slower for all of
three short fits."""
PATIENCE = 900.0
"""Seconds after which a contestant is given up."""


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


def parts_to_judge(
    data: QualitySet, options: argparse.Namespace, name: str = "rgboost"
) -> Iterator[QualitySet]:
    """The parts of the table for a contestant, or one split of its own."""
    if options.split is not None:
        return iter([split_again(data, options.split, options.rows)])
    return iter([data]) if CONTESTANTS[name].one_split else parts_of(data)


def protocol_of(parts: list[QualitySet], name: str = "rgboost") -> dict[str, Any]:
    """What a result belongs to: the rows and features of a part, how many parts there are, and
    the settings that are not defaults."""
    one = CONTESTANTS[name]
    found = {"shape": parts[0].shape, "parts": len(parts), "settings": one.settings}
    return found | ({"one_split": True} if one.one_split else {})


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
    one = CONTESTANTS[name]
    settings = {**one.settings, **more}
    losses, seconds, sizes, iterations, pairs = [], [], [], [], []
    for part in parts:
        print(json.dumps({"begun": time.time()}), flush=True)  # for `given_up`
        model, score, spent = one.fit(part, threads, **settings)
        times = [spent]
        while spent < LONG_SECONDS and (len(times) < REPEATS or sum(times) < SHORT_SECONDS):
            times.append(one.fit(part, threads, **settings)[2])
        losses.append(test_losses(part, score))
        seconds.append(min(times))
        sizes.append(len(pickle.dumps(model)))
        iterations.append(getattr(model, "best_iteration_", 0) if is_ours(name) else 0)
        pairs.append(count_pairs(model))
    every = np.concatenate(losses)
    found = {
        "loss": float(every.mean()),
        "seconds": float(np.median(seconds)),
        "bytes": float(np.mean(sizes)),
        "iterations": float(np.mean(iterations)),
    }
    counted = [count for count in pairs if count is not None]
    return found | ({"pairs": float(np.mean(counted))} if counted else {}), every


def difference(which: str, name: str, other: str) -> tuple[float, float] | None:
    """How much larger a test loss is than another's, and the standard error of that."""
    ours, theirs = (kept_losses(which, one) for one in (name, other))
    if not (ours.exists() and theirs.exists()):
        return None
    first, second = np.load(ours), np.load(theirs)
    if len(first) != len(second):  # of another split
        return None
    more = first - second
    return float(more.mean()), float(more.std(ddof=1) / np.sqrt(len(more)))


def kept_losses(which: str, name: str) -> Path:
    return OUT / f"{which}, {name}.npy"


def warm_up(name: str, data: QualitySet, threads: int) -> None:
    """Load libraries and compiled code by a fit: of a few rows, and for rgboost of all, because
    the code that it needs depends on their number."""
    one = CONTESTANTS[name]
    if one.warm_rows is None:
        one.fit(next(parts_of(data)), threads, **one.settings)
        return
    few = np.linspace(0, len(data.y) - 1, min(one.warm_rows, len(data.y))).astype(int)
    if data.task != "squared":  # two rows of every class, at least
        firsts = [np.flatnonzero(data.y == label)[:2] for label in np.unique(data.y)]
        few = np.union1d(few, np.concatenate(firsts))
    columns = slice(0, 20 if not data.categorical else None)
    small = QualitySet(
        data.name, data.task, data.X[few, columns], data.y[few], data.X[:5, columns],
        data.y[:5], data.categorical,
    )  # fmt: skip
    one.fit(small, threads, **one.settings, **one.warm_settings)


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
    """A result that is known, if it was measured in the same way, or from a process of its own."""
    kept = OUT / f"{which}, {name}.json"
    if options.split is not None:
        rows = "" if options.rows is None else f", {options.rows} rows"
        kept = OUT / f"split {options.split}{rows}" / kept.name
    tuned = not is_ours(name) and bool(options.more)  # not what is kept
    if not (is_ours(name) or options.fresh or tuned):
        found = known(name, which, kept, protocol, options)
        if found is not None:
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
    if "error" in found:
        found |= {"settings": protocol["settings"]}
    if not tuned:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
    return found


def known(
    name: str, which: str, kept: Path, protocol: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any] | None:
    """What the cache has, or else the figures beside the table, of which old ones do not say
    all."""
    if kept.exists():
        found = json.loads(kept.read_text())
        asked = {"settings": protocol["settings"]} if "error" in found else protocol
        if all(found.get(key) == value for key, value in asked.items()):
            return found
    found = None if options.split is not None else figures_beside(options.table).get(which, {})
    found = found.get(name) if found else None
    if found and all(found.get(key, value) == value for key, value in protocol.items()):
        return found
    return None


def given_up(output: str) -> dict[str, Any]:
    """The result of a contestant that took too long: what the fit under way took until then."""
    lines = output.strip().splitlines()
    if not lines:
        return {"error": "no fit begun in time"}
    seconds = time.time() - json.loads(lines[-1])["begun"]
    return {"error": f"longer than {seconds:.0f} s", "longer_than": seconds}


def one_result(options: argparse.Namespace) -> None:
    """In a process of its own: the result of a contestant on a set, as the last line."""
    (name,), (which,) = options.only, options.sets
    data = SETS[which](Path(options.data_dir))
    warm_up(name, data, options.threads)
    more = {key: _value(value) for key, value in (pair.split("=") for pair in options.more)}
    parts = list(parts_to_judge(data, options, name))
    found, losses = judge(name, parts, options.threads, **more)
    if options.split is None and not (more and not is_ours(name)):
        OUT.mkdir(parents=True, exist_ok=True)
        np.save(kept_losses(which, name), losses)
    print(json.dumps({**protocol_of(parts, name), **found}))


def results_of(
    which: str, data: QualitySet, names: list[str], options: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The contestants that take part, one after the other. Who fits the same as another one is
    not measured twice, unless settings are tried."""
    n_features = data.X.shape[1]
    trying = options.split is not None or bool(options.more)
    n_parts = len(list(parts_to_judge(data, options)))
    for name in names:
        if not takes_part(name, n_features):
            continue
        other = None if trying else same_as(name, n_features, n_parts)
        if other is not None:
            yield name, {"same_as": other}
            continue
        protocol = protocol_of(list(parts_to_judge(data, options, name)), name)
        yield name, measure(name, which, protocol, options)


def main() -> None:
    options = arguments()
    if options.one:
        one_result(options)
        return
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for which in options.sets:
        try:
            data = SETS[which](Path(options.data_dir))
        except Skip as reason:
            print(which, reason, flush=True)
            continue
        mine = results.setdefault(which, {})
        for name, found in results_of(which, data, options.only, options):
            mine[name] = found
            print(which, name, json.dumps(found), flush=True)
        for name, other in RIVALS.items():
            mean = named(mine, name)
            if name in mine and "error" not in mine[name] and mean != other:
                mine[name]["behind"] = difference(which, mean, other)
    if options.split is None and not options.more:
        renew(options.table, results, SETS)
