"""What a user waits for before anything is fitted: import, and the first fit of a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from ..measure import REPEATS
from .base import Bench, Case, Figure

FIRST_FIT = """
import numpy as np, sklearn.base, numba, time
from rgboost import RGBMRegressor
X = np.random.default_rng(0).normal(size=(1000, 10))
start = time.perf_counter()
RGBMRegressor(max_iter=500, n_jobs=2).fit(X, X[:, 0]).predict(X)
print(time.perf_counter() - start)
"""
BASE = "import sklearn.base, sklearn.utils.validation, numba"


def start_up(bench: Bench) -> None:
    with tempfile.TemporaryDirectory() as cache:
        bench.say("first fit, nothing compiled yet")
        cold = _printed(FIRST_FIT, cache)
        bench.say("first fit, compiled before")
        warm = min(_printed(FIRST_FIT, cache) for _ in range(REPEATS))
        bench.say("import")
        without = min(_wall(BASE, cache) for _ in range(REPEATS))
        imported = min(_wall(BASE + ", rgboost", cache) for _ in range(REPEATS)) - without
    for row, what, seconds, runs in (
        ("import", "import after scikit-learn and numba", imported, REPEATS),
        ("cached", "first fit of a process, compiled code in the cache", warm, REPEATS),
        ("uncached", "first fit on a machine, which compiles", cold, 1),
    ):
        bench.figures.append(Figure(row, "1,000 x 10", what, "rgboost", seconds, "s", runs))


def _environment(cache: str) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": cache}


def _printed(code: str, cache: str) -> float:
    command = [sys.executable, "-c", code]
    environment = _environment(cache)
    out = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return float(out.stdout)


def _wall(code: str, cache: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment(cache))
    return time.perf_counter() - start


CASES = (Case("startup", "Import and first fit", start_up, ("full",)),)
