"""What the Minimal Cosine Angle of all stumps of a data set costs, and how wide its interval is.

    python -m benchmarks.bench_stump_angle
    python -m benchmarks.bench_stump_angle --rows 100000 --features 202 --bins 100   # K = 19,998

Memory is that of one K x K matrix: 8 K^2 bytes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from rgboost import Stumps
from rgboost.selection import AllLearners, RandomGroup, RandomGroups, RandomLearners
from rgboost.theory import minimal_cosine_angle


def correlated(n: int, p: int) -> np.ndarray:
    """Normal features, neighbours of which are correlated by one half."""
    noise = np.random.default_rng(0).normal(size=(n, p + 1))
    return (noise[:, 1:] + noise[:, :-1]).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--bins", type=int, default=100)
    parser.add_argument("--types", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--leaves", nargs="+", default=["free", "signed"])
    options = parser.parse_args()
    X = correlated(options.rows, options.features)
    table = Table(title=f"{options.rows:,} rows, {options.features} features")
    for column in ("leaves", "K", "rule", "lower", "upper", "seconds", "how"):
        table.add_column(column)
    t = max(1, round(options.features**0.5))
    rules = [AllLearners(), RandomLearners("sqrt"), RandomGroup(), RandomGroups(t)]
    for leaves in options.leaves:
        prepared = Stumps(leaves, max_bins=options.bins).prepare(X, n_jobs=2)
        for rule in (rules[number] for number in options.types):
            begun = time.perf_counter()
            found = minimal_cosine_angle(prepared, rule, random_state=0)
            seconds = time.perf_counter() - begun
            K = prepared.layout.n_learners
            table.add_row(
                leaves, f"{K:,}", str(rule), f"{found.lower:.3e}", f"{found.upper:.3e}",
                f"{seconds:.1f}", found.lower_method,
            )  # fmt: skip
    Console(width=130).print(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    Console().print(f"peak memory {peak:.1f} GiB")


if __name__ == "__main__":
    main()
