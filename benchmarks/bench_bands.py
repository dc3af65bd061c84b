"""How often bands hold the truth: nominal against actual coverage, on made data with known curves.

    python -m benchmarks.bench_bands
    python -m benchmarks.bench_bands --rows 500 --sets 20 --bags 40

Each set has a smooth curve, a kink, a jump, a line, and two features that do nothing; noise is as
large as the signal (squared loss), or labels are drawn (logistic). A curve is looked at less its
mean over the training rows, as bands are: coverage is the share of training rows at which the
interval holds the true curve, over all features and sets. "runs" takes the standard deviation over
the five runs of the mean for that of a normal interval, which it is not. "score" is the coverage of
the whole sum by bags.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import ndtri, stdtrit

from rgboost import RGBMClassifier, RGBMRegressor

Vector = NDArray[np.float64]

LEVELS = (0.5, 0.8, 0.9, 0.95)
CURVES: dict[str, Callable[[Vector], Vector]] = {
    "smooth": lambda x: np.sin(2.0 * math.pi * x),
    "kink": lambda x: 2.0 * np.abs(x - 0.5),
    "jump": lambda x: 1.0 * (x > 0.6),
    "line": lambda x: 1.5 * x,
    "nothing": lambda x: 0.0 * x,
    "nothing, too": lambda x: 0.0 * x,
}


class Made(NamedTuple):
    """Rows, labels, and the true curves at the rows."""

    X: Vector
    y: NDArray[Any]
    curves: Vector


def make(n_rows: int, seed: int, classes: bool) -> Made:
    """Features have a correlation of about a third: they share a part."""
    rng = np.random.default_rng(seed)
    own, shared = rng.normal(size=(n_rows, len(CURVES))), rng.normal(size=(n_rows, 1))
    mixed = (own + 0.7 * shared) / math.sqrt(1.49)
    X = np.argsort(np.argsort(mixed, axis=0), axis=0) / (n_rows - 1.0)
    curves = np.column_stack([f(X[:, g]) for g, f in enumerate(CURVES.values())])
    curves -= curves.mean(axis=0)
    score = curves.sum(axis=1)
    if classes:
        score *= 1.5
        return Made(X, rng.random(n_rows) < 1.0 / (1.0 + np.exp(-score)), 1.5 * curves)
    return Made(X, score + score.std() * rng.normal(size=n_rows), curves)


def held(centre: Vector, deviation: Vector, truth: Vector, times: float) -> float:
    """The share of rows whose interval holds the truth."""
    return float((np.abs(centre - truth) <= times * deviation).mean())


def one_set(n_rows: int, bags: int, seed: int, classes: bool, into: dict) -> None:
    """Add the coverage of a fit, curve by curve, to ``into[what, level]``."""
    made = make(n_rows, seed, classes)
    kind = RGBMClassifier if classes else RGBMRegressor
    model = kind(interactions=0, random_state=seed)
    for what in ("runs", "bags"):
        model.set_params(bags=bags if what == "bags" else 0).fit(made.X, made.y)
        explanation = model.explain_global().centered()
        for g, name in enumerate(CURVES):
            shape, truth = explanation[g], made.curves[:, g]
            deviation = shape.deviation
            spread = np.zeros(n_rows)  # a feature without a curve: the runs agree on nothing
            if deviation is not None:
                spread = deviation.values[np.searchsorted(shape.cuts, made.X[:, g])]
            elif len(shape.cuts):  # there was one run
                continue
            for level in LEVELS:
                times = _times(what, level, bags)
                share = held(shape.at(made.X[:, g]), spread, truth, times)
                into[what, level].append(share)
                into[f"{what}: {name}", level].append(share)
    rows = model._check_rows(made.X)
    score = model.model_.score(rows)
    spread = np.std([bag.score(rows) for bag in model.bags_], axis=0, ddof=1)
    centre = score.mean()
    for level in LEVELS:
        share = held(score - centre, spread, made.curves.sum(axis=1), _times("bags", level, bags))
        into["score", level].append(share)


def _times(what: str, level: float, bags: int) -> float:
    at = 0.5 + level / 2.0
    return float(stdtrit(bags - 1, at) if what == "bags" else ndtri(at))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[500, 2000, 8000])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--bags", type=int, default=20)
    given = parser.parse_args()
    console = Console()
    for classes in (False, True):
        for n_rows in given.rows:
            found: dict[tuple[str, float], list[float]] = defaultdict(list)
            for seed in range(given.sets):
                one_set(n_rows, given.bags, seed, classes, found)
            loss = "logistic" if classes else "squared"
            title = f"{loss} loss, {n_rows:,} rows, {given.bags} bags, {given.sets} sets"
            table = Table(title=title, title_justify="left")
            table.add_column("nominal coverage")
            for level in LEVELS:
                table.add_column(f"{level:.0%}", justify="right")
            for what in dict.fromkeys(name for name, _ in found):
                shares = [f"{np.mean(found[what, level]):.0%}" for level in LEVELS]
                table.add_row(what, *shares)
            console.print(table)


if __name__ == "__main__":
    main()
