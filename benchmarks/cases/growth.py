"""How the time of a fit grows with the number of rows and with the number of features."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .. import data
from ..ours import Rgboost
from ..peers import LightGBM
from .base import Bench, Case, Figure, binned_and_scaled

ROWS = {"short": (100_000, 300_000, 1_000_000), "full": (100_000, 1_000_000, 10_000_000)}
ROWS_P, ROWS_STUMPS, ROWS_TIMED = 20, 1000, 50
FEATURES = {"short": (10, 100, 1000), "full": (10, 100, 1000, 10_000, 100_000)}
FEATURES_N, FEATURES_STUMPS = 1000, 200


def with_rows(bench: Bench) -> None:
    """1,000 stumps, all features; LightGBM's time is scaled from 50 stumps."""
    ours, theirs = Rgboost(), LightGBM()
    X, y = data.dense(2000, ROWS_P)
    bench.warm_up([ours, Rgboost("gram"), theirs], X, y, bench.spec(X))
    for n in ROWS[bench.set]:
        X, y = data.dense(n, ROWS_P)
        spec = bench.spec(X)
        contestants = {
            "rgboost": partial(ours.fit, X, y, spec, ROWS_STUMPS),
            "LightGBM": partial(binned_and_scaled, theirs, X, y, spec, ROWS_TIMED, ROWS_STUMPS),
        }
        timings = bench.race(contestants, f"{n:,} rows")
        what = f"fit {ROWS_STUMPS:,} stumps, all features, binning included"
        bench.add(timings, row=f"n={n}", data=f"made {n:,} x {ROWS_P}", what=what, unit="s", x=n)
    _slopes(bench, "n", f"made, {ROWS_P} features", ["rgboost", "LightGBM"])


def with_features(bench: Bench) -> None:
    """200 stumps on 1,000 rows, of all features and of their square root."""
    ours, theirs = Rgboost(), LightGBM()
    X, y = data.dense(FEATURES_N, 10)
    bench.warm_up([ours, Rgboost("direct"), Rgboost("gram"), theirs], X, y, bench.spec(X))
    for p in FEATURES[bench.set]:
        X, y = data.dense(FEATURES_N, p)
        for t in (None, math.isqrt(p)):
            spec = bench.spec(X, t=t)
            contestants = {
                peer.name: partial(peer.fit, X, y, spec, FEATURES_STUMPS) for peer in (ours, theirs)
            }
            label = "all features" if t is None else "t=sqrt"
            timings = bench.race(contestants, f"{p:,} features, {label}")
            what = f"fit {FEATURES_STUMPS} stumps, {label}, binning included"
            row = f"p={p}" if t is None else f"p={p}, sqrt"
            name = f"made {FEATURES_N:,} x {p:,}"
            bench.add(timings, row=row, data=name, what=what, unit="s", x=p)
    _slopes(bench, "p", f"made, {FEATURES_N:,} rows", ["rgboost", "LightGBM"])


def _slopes(bench: Bench, axis: str, name: str, contestants: list[str]) -> None:
    """Log-log slopes by least squares over all points."""
    for label, sqrt in (("all features", False), ("t=sqrt", True)):
        for contestant in contestants:
            points = [
                (figure.x, figure.value)
                for figure in bench.figures
                if figure.contestant == contestant
                and figure.unit == "s"
                and figure.value
                and figure.row.endswith("sqrt") == sqrt
            ]
            if len(points) < 2:
                continue
            x, seconds = np.log(np.array(points, dtype=float)).T
            slope = float(np.polyfit(x, seconds, 1)[0])
            what = f"log-log slope of fit time with {axis}, {label}"
            bench.figures.append(
                Figure(f"slope {label}", name, what, contestant, slope, "slope", len(points))
            )


CASES = (
    Case("rows", "Fit time against n", with_rows),
    Case("features", "Fit time against p", with_features),
)
