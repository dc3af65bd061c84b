"""What a user waits for before anything is fitted: import, and what first fits compile."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from ..measure import REPEATS
from .base import Bench, Case, Figure

FIRST_FIT = """
import sys, time, numba, sklearn.base
from rgboost.warming import PATHS, _fit, _numbers
start, used = time.perf_counter(), time.process_time()
eval(sys.argv[1])
print(time.perf_counter() - start, time.process_time() - used)
"""
"""Numbers are printed: seconds, and seconds of the processor."""

AT_DEFAULTS = (
    "regression",
    "regression, 30,000 rows",
    "two classes",
    "regression, categories",
    "several classes",
    "several classes, 20,000 rows",
    "trees, regression",
    "trees, two classes",
    "trees, several classes",
)
"""Of `rgboost.warming.PATHS`: fits at the defaults, and of trees, that take kernels of their own,
those of pairs among them."""

FIRST_FITS = {
    **{path: f"PATHS[{path!r}]()" for path in AT_DEFAULTS},
    "regression, additive": "_fit(0, _numbers(500), interactions=0)",
    "regression, 30,000 rows, additive": "_fit(0, _numbers(30_000), interactions=0)",
    "two classes, additive": "_fit(2, _numbers(2_000), interactions=0)",
}
"""What is called, by the name of the row."""

BASE = "import sklearn.base, sklearn.utils.validation, numba"


def cold_starts(bench: Bench) -> None:
    """The first fit on a machine, and the first of a process there, for each kind of fit."""
    for path, call in FIRST_FITS.items():
        with tempfile.TemporaryDirectory() as cache:
            for row, what in (("cold", "first fit on a machine, which compiles"),
                              ("warm", "first fit of a process, compiled before")):  # fmt: skip
                bench.say(f"{path}: {what}")
                seconds, used = _printed(FIRST_FIT, call, cache)
                note = f"{used:.1f} s of the processor"
                bench.figures.append(
                    Figure(f"{row}, {path}", path, what, "rgboost", seconds, "s", note=note)
                )


def start_up(bench: Bench) -> None:
    with tempfile.TemporaryDirectory() as cache:
        bench.say("import")
        without = min(_wall(BASE, cache) for _ in range(REPEATS))
        imported = min(_wall(BASE + ", rgboost.estimators", cache) for _ in range(REPEATS))
    what = "import after scikit-learn and numba"
    bench.figures.append(
        Figure("import", "nothing", what, "rgboost", imported - without, "s", REPEATS)
    )


def _environment(cache: str) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": cache, "TMPDIR": cache}


def _printed(code: str, argument: str, cache: str) -> list[float]:
    command = [sys.executable, "-c", code, argument]
    environment = _environment(cache)
    out = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return [float(number) for number in out.stdout.split()]


def _wall(code: str, cache: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment(cache))
    return time.perf_counter() - start


CASES = (
    Case("cold", "The first fit on a machine, and of a process", cold_starts),
    Case("startup", "Import", start_up, ("full",)),
)
