"""What a certificate costs, in iterations of the direct engine over all features.

    python -m benchmarks.bench_certificate
    python -m benchmarks.bench_certificate --data-dir folder    # with a9a (see rgboost.data)
    python -m benchmarks.bench_certificate --optimum            # and the optimum itself

Models after 10 to 5,000 iterations of the data set's usual loss. A certificate starts from the
outcome of `boost`, whose bins it uses; times are the best of three.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from rgboost import Stumps, boost
from rgboost.losses import Logistic, Loss, Squared
from rgboost.selection import AllLearners
from rgboost.steps import ConstantStep
from rgboost.theory.certificates.certificate import Certificate, certificate
from rgboost.theory.certificates.optimal import optimal_loss
from rgboost.training import Boosted

from .data import named
from .measure import Skip

REPEATS = 3
LEARNER = Stumps(max_bins=100)
GOAL = 50
"""Iterations that a certificate should cost at most."""


def best_of(function: Callable[[], Any]) -> tuple[float, Any]:
    results = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        result = function()
        results.append((time.perf_counter() - begun, result))
    return min(results, key=lambda pair: pair[0])


def made(n: int = 370_972, p: int = 90) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)).astype(np.float32)
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=n)


def fit(X: Any, y: NDArray, loss: Loss, n_iter: int, n_jobs: int) -> Boosted:
    return boost(
        X, y, loss=loss, learner=LEARNER, selection=AllLearners(), step=ConstantStep(),
        n_iter=n_iter, n_jobs=n_jobs, engine="direct",
    )  # fmt: skip


def iteration_seconds(X: Any, y: NDArray, loss: Loss, n_jobs: int, n_iter: int) -> float:
    fit(X, y, loss, 2, n_jobs)
    return min(float(fit(X, y, loss, n_iter, n_jobs).trace.seconds[-1]) for _ in range(3)) / n_iter


def row(table: Table, name: str, n_iter: int, seconds: float, cost: float, c: Certificate) -> None:
    radius = "all" if math.isinf(c.radius) else f"{c.radius:,.0f}"
    spent = f"{1e3 * cost:,.1f} ms", f"{cost / seconds:.0f}", f"{c.products:g}"
    cells = *spent, f"{c.loss:.5f}", f"{c.gap:.2e}"
    table.add_row(name, f"{n_iter:,}", *cells, f"{c.gap / max(c.decrease, 1e-300):.2f}", radius)


def measure(
    table: Table, name: str, X: Any, y: NDArray, loss: Loss, n_jobs: int, many: list[int]
) -> float:
    """Add a line a model; the most iterations that a certificate cost."""
    seconds = iteration_seconds(X, y, loss, n_jobs, 100 if X.shape[0] > 100_000 else 1000)
    most = 0.0
    for n_iter in many:
        boosted = fit(X, y, loss, n_iter, n_jobs)
        cost, found = best_of(
            lambda boosted=boosted: certificate(boosted, X, y, loss=loss, n_jobs=n_jobs)
        )
        row(table, name, n_iter, seconds, cost, found)
        most = max(most, cost / seconds)
    if loss == Squared():  # the same against all combinations, by more products
        cost, found = best_of(
            lambda: certificate(boosted, X, y, loss=loss, n_jobs=n_jobs, radius=math.inf)
        )
        row(table, name, many[-1], seconds, cost, found)
    table.add_section()
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--optimum", action="store_true", help="time optimal_loss, too")
    options = parser.parse_args()
    console = Console(width=120)
    table = Table(title="certificates; time in iterations of the direct engine over all features")
    columns = (
        "data",
        "model",
        "time",
        "iterations",
        "products",
        "loss",
        "gap <=",
        "tightness",
        "radius",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "data" else "right")
    X, y = made()
    noise = np.random.default_rng(1).normal(size=len(y))
    signs = np.where(y + 0.5 * noise > 0, 1.0, -1.0)
    cases: list[tuple[str, Any, NDArray, Loss, int, list[int]]] = [
        ("made 370,972 x 90, squared", X, y, Squared(), options.threads, [10, 100, 500]),
        ("made 370,972 x 90, logistic", X, signs, Logistic(), options.threads, [10, 100, 500]),
    ]
    try:
        A, labels = named("a9a", options.data_dir)
        labels = np.asarray(labels, np.float64)
        for ridge in (1e-4, 0.0):
            name = f"a9a 32,561 x 123, logistic, ridge {ridge:g}"
            cases.append((name, A, labels, Logistic(ridge), 1, [10, 100, 1000, 5000]))
    except Skip as reason:
        console.print(f"without a9a: {reason}")
    costs = {case[0]: measure(table, *case) for case in cases}
    console.print(table)
    for name, cost in costs.items():
        verdict = "as wanted" if cost < GOAL else f"more than {GOAL}"
        console.print(f"{name}: at most {cost:.0f} iterations, {verdict}")
    if options.optimum:
        for name, X, y, loss, n_jobs, _ in cases:
            seconds, found = best_of(
                lambda X=X, y=y, loss=loss, n_jobs=n_jobs: optimal_loss(
                    X, y, loss, LEARNER, n_jobs=n_jobs
                )
            )
            console.print(f"optimum of {name}: {found.loss:.10f} in {seconds:.2f} s with binning")


if __name__ == "__main__":
    main()
