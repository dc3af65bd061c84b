"""Where the time goes on the way to a training loss of 0.3215 on a9a (case ``a9a-target``).

    python -m benchmarks.profile_target --data-dir folder

The best of many fits with the quadratic engine, and what its parts took. Parts are timed from the
outside, so what is inside of another part is told with an indent.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from rgboost import RGBMClassifier, Stumps
from rgboost.data.datasets import train_test_split_80_20
from rgboost.engines.gram.runs import StatisticsRuns
from rgboost.engines.quadratic.runs import QuadraticRuns
from rgboost.estimators import carry_out
from rgboost.model import StumpModel

from .data import named

STUMPS, FITS = 1010, 30
PARTS: list[tuple[str, Any, str]] = [
    ("boosting, with bins and model", carry_out, "boost"),
    ("  bins: columns of the sparse rows, thresholds, codes", Stumps, "prepare"),
    ("  the run", sys.modules["rgboost.training.boost"], "_run"),
    ("    iterations on the quadratic models", QuadraticRuns, "go_on"),
    ("      of which the Gram matrices", StatisticsRuns, "make_gram"),
    ("    residuals and left sums at the new scores", QuadraticRuns, "_make_model"),
    ("  tables of the model", StumpModel, "collapse"),
]


@contextmanager
def timed(owner: Any, name: str, spent: list[float]) -> Iterator[None]:
    """Add up the seconds of the calls of a function meanwhile."""
    stored = vars(owner)[name]
    inner = getattr(owner, name) if isinstance(stored, classmethod) else stored

    def call(*args: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        try:
            return inner(*args, **options)
        finally:
            spent.append(time.perf_counter() - begun)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, stored)


def profile(fit: Callable[[], Any]) -> tuple[float, list[list[float]]]:
    """Seconds of a fit, and of the calls of each part."""
    spent: list[list[float]] = [[] for _ in PARTS]
    with ExitStack() as stack:
        for (_, owner, name), seconds in zip(PARTS, spent, strict=True):
            stack.enter_context(timed(owner, name, seconds))
        begun = time.perf_counter()
        fit()
        return time.perf_counter() - begun, spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    X, y = named("a9a", options.data_dir)
    train = train_test_split_80_20(X, y, 0)
    model = RGBMClassifier(
        engine="quadratic", selection="all", max_bins=100, max_iter=STUMPS, learning_rate=1.0,
        interactions=0, n_jobs=options.threads, random_state=0,
    )  # fmt: skip
    model.fit(train.X_train, train.y_train)
    runs = [profile(lambda: model.fit(train.X_train, train.y_train)) for _ in range(FITS)]
    seconds, spent = min(runs, key=lambda run: run[0])
    table = Table(title=f"{STUMPS:,} stumps, training loss {model.trace_.train_loss[-1]:.5f}")
    for column in ("part", "calls", "ms"):
        table.add_column(column, justify="left" if column == "part" else "right")
    table.add_row("fit", "1", f"{1e3 * seconds:.1f}")
    for (label, _, _), calls in zip(PARTS, spent, strict=True):
        table.add_row(label, str(len(calls)), f"{1e3 * sum(calls):.1f}")
    Console(width=90).print(table)


if __name__ == "__main__":
    main()
