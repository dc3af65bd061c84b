"""What a column of many categories that say nothing costs: test losses with and without it.

    python -m benchmarks.rare_categories --data-dir DIR [--sets diabetes adult] [--draws 10]

A unique id, 60 and 1,000 random categories are added to data sets, and ``tailnum`` to the flights.
Every draw has its own split into rows to train and to test on, and its own column. The table has
the mean test loss without the column, and by how many per cent each column makes it larger, with
the standard error of the mean of the draws. Splits are other ones than those of the quality table.
Models are additive, because the rules for rare categories are those of curves; with
``--interactions auto`` pairs enter as by default.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .quality.contestants import fit_rgboost
from .quality.data import SETS, QualitySet, flights_with
from .quality.run import split_again, test_losses

NOISE = ("id", "60 levels", "1,000 levels")
WHERE = ("diabetes", "california", "adult", "bank", "bike", "flights")
FIRST_SEED = 7000
"""Of the splits; settings were chosen by others (2000 to 3003)."""
MOST_ROWS = 100_000
"""Of the flights, so that ten draws take minutes."""


def noise_column(kind: str, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "id":
        return rng.permutation(n_rows).astype(np.float64)
    return rng.integers(60 if kind == "60 levels" else 1000, size=n_rows).astype(np.float64)


def with_column(data: QualitySet, column: np.ndarray) -> QualitySet:
    """The same with a column of categories more, given for training rows and then test rows."""
    n = len(data.y)
    return replace(
        data,
        X=np.column_stack([data.X, column[:n]]),
        X_test=np.column_stack([data.X_test, column[n:]]),
        categorical=(*data.categorical, data.X.shape[1]),
    )


def contestants(which: str, data: QualitySet, seed: int) -> Iterator[tuple[str, QualitySet]]:
    """The split without a column more, and with each of them."""
    n_rows = min(MOST_ROWS, round(0.8 * (len(data.y) + len(data.y_test))))
    split = split_again(data, seed, n_rows)
    if which == "flights":  # tailnum is the last column
        plain = replace(
            split,
            X=split.X[:, :-1],
            X_test=split.X_test[:, :-1],
            categorical=tuple(g for g in split.categorical if g < split.X.shape[1] - 1),
        )
        yield "without", plain
        yield "tailnum", split
        split = plain
    else:
        yield "without", split
    rng = np.random.default_rng([seed, 1])
    for kind in NOISE:
        yield kind, with_column(split, noise_column(kind, len(split.y) + len(split.y_test), rng))


def loss_of(data: QualitySet, threads: int, interactions: Any) -> tuple[float, float]:
    """The test loss, as in the quality table, and the seconds of the fit."""
    begun = time.perf_counter()
    _, score, _ = fit_rgboost(data, threads, interactions=interactions)
    return float(np.mean(test_losses(data, score))), time.perf_counter() - begun


def measure(which: str, folder: Path, draws: int, threads: int, interactions: Any) -> str:
    data = flights_with(folder, ("tailnum",)) if which == "flights" else SETS[which](folder)
    found: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for draw in range(draws):
        for kind, one in contestants(which, data, FIRST_SEED + draw):
            loss, spent = loss_of(one, threads, interactions)
            found.setdefault(kind, []).append(loss)
            seconds.setdefault(kind, []).append(spent)
    plain = np.array(found.pop("without"))
    cells = [which, f"{plain.mean():.4f}"]
    for kind in (*NOISE, "tailnum"):
        if kind not in found:
            cells.append("")
            continue
        more = 100 * (np.array(found[kind]) / plain - 1)
        error = more.std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan
        ratio = np.min(seconds[kind]) / np.min(seconds["without"])
        cells.append(f"{more.mean():+.2f} ± {error:.2f} % ({ratio:.1f} x)")
    return "| " + " | ".join(cells) + " |"


def _interactions(text: str) -> Any:
    return int(text) if text.isdigit() else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=WHERE, choices=WHERE)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--interactions", default=0, choices=[0, "auto"], type=_interactions)
    options = parser.parse_args()
    print("| set | without | id | 60 levels | 1,000 levels | tailnum |")
    print("| --- | --- | --- | --- | --- | --- |")
    for which in options.sets:
        found = measure(
            which, options.data_dir, options.draws, options.threads, options.interactions
        )
        print(found, flush=True)


if __name__ == "__main__":
    main()
