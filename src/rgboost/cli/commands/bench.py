"""``rgboost bench``."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..errors import CommandError, ExitCode
from ..show.output import AsJson, columns, print_json, print_lines

REPEATS = 3
SIZE = (200_000, 20, 200)
"""Rows, features and stumps of the short comparison."""


def bench(
    full: Annotated[bool, typer.Option("--full", help="The long set of the suite.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the suite's results.")] = Path("out/bench"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The short comparison, also where the suite is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the speed on this machine.

    In a checkout of the sources this runs the whole suite of benchmarks against the other
    libraries that are installed (make bench installs them first). Elsewhere it compares with
    scikit-learn's HistGradientBoostingRegressor: the same made data, bins and number of stumps.
    """
    root = _suite_root()
    if root is None or quick:
        if full:
            raise CommandError(
                "--full needs the suite, which is in the sources and not in the package; run it "
                "in a checkout, without --quick",
                ExitCode.USAGE,
            )
        found = compare(*SIZE)
        if as_json:
            print_json(found)
        else:
            print_lines(_lines(found))
        return
    command = [sys.executable, "-m", "benchmarks.run", "--set", "full" if full else "short"]
    done = subprocess.run(
        [*command, "--out", str(out.absolute())], cwd=root, stdout=sys.stderr if as_json else None
    )
    if done.returncode:
        raise CommandError(
            f"the suite ended with exit code {done.returncode}, see above", ExitCode.FAULT
        )
    if as_json:
        print_json({"results": str(out / ("full" if full else "short") / "results.json")})


def _suite_root() -> Path | None:
    """The checkout of the sources that this package is in, if it is in one."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "benchmarks" / "run.py").is_file() else None


def compare(n_rows: int, n_features: int, n_iter: int) -> dict[str, Any]:
    """Seconds and training losses for one additive problem, best of three fits each."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    from ...estimators import RGBMRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = (
        np.sin(2 * X[:, 0])
        + np.abs(X[:, 1])
        + X[:, 2:].mean(axis=1)
        + 0.1 * rng.normal(size=n_rows)
    )
    ours: dict[str, Any] = {
        "learning_rate": 0.3,
        "max_iter": n_iter,
        "max_bins": 255,
        "random_state": 0,
    }
    theirs = {**ours, "max_leaf_nodes": 2, "early_stopping": False, "min_samples_leaf": 1}
    every = {**ours, "selection": "all", "early_stopping": False}
    makers: dict[str, Callable[[], Any]] = {
        "rgboost, all features": lambda: RGBMRegressor(**every),
        "rgboost, t = sqrt(p)": lambda: RGBMRegressor(**{**every, "selection": "groups"}),
        "scikit-learn, stumps": lambda: HistGradientBoostingRegressor(**theirs),
    }
    fits = {name: _fit(make, X, y) for name, make in makers.items()}
    return {"rows": n_rows, "features": n_features, "stumps": n_iter, "fits": fits}


def _fit(make: Callable[[], Any], X: Any, y: Any) -> dict[str, float]:
    make().fit(X[:500], y[:500]).predict(X[:5])  # compiling is not what is measured
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        model = make().fit(X, y)
        seconds.append(time.perf_counter() - began)
    return {"seconds": min(seconds), "loss": float(np.mean((y - model.predict(X)) ** 2) / 2)}


def _lines(found: dict[str, Any]) -> list[str]:
    head = f"{found['rows']:,} x {found['features']}, {found['stumps']} stumps, best of {REPEATS}"
    rows = [("", "seconds", "training loss")]
    rows += [
        (name, f"{one['seconds']:.3f}", f"{one['loss']:.5f}") for name, one in found["fits"].items()
    ]
    return [head, *columns(rows)]
