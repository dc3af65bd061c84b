"""How long `rgboost.compare` takes: 50,000 rows of 30 numbers, a regression and two classes.

    python -m benchmarks.bench_compare
    python -m benchmarks.bench_compare --rows 20000 --peers lightgbm

The aim is a minute on two cores, without peers. The first comparison, of few rows, is in no clock:
it compiles. ! marks times during which other processes were running; seconds of the processor, on
all cores together, say then what it would take.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

import rgboost

from .measure import BUSY_CORES, OtherLoad

ROWS, FEATURES, FEW = 50_000, 30, 3_000


def some_rows(n_rows: int) -> tuple[NDArray, NDArray]:
    """Curves, two pairs that act together, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, FEATURES))
    y = X[:, 0] + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3] + np.abs(X[:, 4]) * (X[:, 5] > 0)
    return X, y + 0.5 * rng.normal(size=n_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--peers", nargs="*", default=[])
    options = parser.parse_args()
    X, y = some_rows(options.rows)
    for name, labels in {"regression": y, "two classes": y > 0}.items():
        rgboost.compare(X[:FEW], labels[:FEW], cv=2)
        load, began, before = OtherLoad(), time.perf_counter(), time.process_time()
        found = rgboost.compare(X, labels, peers=options.peers)
        seconds, spent = time.perf_counter() - began, time.process_time() - before
        mark = "!" if (load.cores() or 0.0) > BUSY_CORES else ""
        print(f"{name}: {seconds:.0f}{mark} s, {spent:.0f} s of the processor\n{found}\n")


if __name__ == "__main__":
    main()
