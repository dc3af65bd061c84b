"""Wide, sparse, tiny and large: where other additive models give up."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from .. import data
from ..ours import Rgboost
from ..peers import ALL, EBM, LightGBM, Peer
from .base import Bench, Case, Figure

MEBI = 2**20


def small(bench: Bench) -> None:
    """208 x 60 (sonar's shape): 1,000 stumps."""
    X, y = data.dense(208, 60)
    X = X.astype(np.float64)
    for t in (None, math.isqrt(60)):
        spec = bench.spec(X, t=t, max_bins=255)
        _whole_fits(bench, [Rgboost(), ALL["LightGBM"], ALL["XGBoost"]], X, y, spec, 1000)


def wide(bench: Bench) -> None:
    """300 x 2,325 dense: an EBM user's shape."""
    X, y = data.dense(300, 2325)
    spec = bench.spec(X, t=math.isqrt(2325), max_bins=255)
    peers: list[Peer] = [Rgboost(), ALL["LightGBM"], ALL["XGBoost"]]
    _whole_fits(bench, [*peers, EBM()] if bench.is_full else peers, X, y, spec, 1000)


def colon(bench: Bench) -> None:
    """colon-cancer at the paper's grid: five values of t from 1 to p, evenly on a log scale."""
    X, y = data.named("colon-cancer", bench.data_dir)
    for t in sorted({round(t) for t in np.geomspace(1, X.shape[1], 5)}):
        spec = bench.spec(X, task="logistic", t=t, max_bins=255)
        _whole_fits(bench, [Rgboost(), LightGBM()], X, y, spec, 500, "colon-cancer")


def _whole_fits(
    bench: Bench, peers: list[Peer], X: Any, y: Any, spec: Any, n_iter: int, name: str = "made"
) -> None:
    bench.warm_up(peers, X, y, spec)
    contestants = {peer.name: partial(peer.fit, X, y, spec, n_iter) for peer in peers}
    t = spec.n_features if spec.t is None else spec.t
    timings = bench.race(contestants, f"t={t}")
    threads = "1 thread" if spec.threads == 1 else f"{spec.threads} threads"
    what = f"fit {n_iter:,} stumps, t={t}, binning included, {threads}"
    shape = f"{name} {X.shape[0]:,} x {X.shape[1]:,}"
    bench.add(timings, row=f"t={t}", data=shape, what=what, unit="s", x=t, threads=spec.threads)


def text(bench: Bench) -> None:
    """20,242 x 47,236 with 0.16 % stored entries: iterations per second of the direct engine."""
    X, y = data.text()
    everyone = [Rgboost("direct"), ALL["LightGBM"]]
    everyone += [ALL["XGBoost"]] if bench.is_full else []
    few = X[:500, :500]
    bench.warm_up(everyone, few, y[:500], bench.spec(few, task="logistic"))
    t = math.isqrt(X.shape[1])
    repeats = 3 if bench.is_full else 1
    for label, size, n_iter in (("all", None, 50), ("sqrt", t, 200)):
        spec = bench.spec(X, task="logistic", t=size)
        contestants = {
            peer.name: partial(_fit_and_rate, peer, X, y, spec, n_iter) for peer in everyone
        }
        timings = bench.race(contestants, f"t={label}", repeats)
        shape = f"text-like {X.shape[0]:,} x {X.shape[1]:,}"
        what = f"fit {n_iter} stumps, t={label}, binning included"
        bench.add(timings, row=f"fit {label}", data=shape, what=what, unit="s")
        for timing in timings.values():
            timing.seconds = timing.parts.get("stump")
        what = f"direct engine, t={label}"
        bench.add(timings, 1, row=label, data=shape, what=what, unit="iterations/s")


def _fit_and_rate(peer: Peer, X: Any, y: Any, spec: Any, n_iter: int) -> dict[str, Any]:
    start = time.perf_counter()
    stump = peer.stump_seconds(peer.bin(X, y, spec), spec, n_iter)["seconds"]
    return {"seconds": time.perf_counter() - start, "stump": stump}


def memory(bench: Bench) -> None:
    """Peak memory of a fit, each in a process of its own."""
    small, stumps = {"n": 370_972, "p": 90}, 20
    sparse = bench.spec(np.empty((1, 47_236)), task="logistic")
    dense = bench.spec(np.empty((1, 90)))
    names = ["rgboost", "LightGBM"] + ["XGBoost"] * bench.is_full
    jobs = [
        (
            "dense",
            "made 370,972 x 90",
            {"kind": "dense", **small},
            dense,
            [*names, "CatBoost", "HistGradientBoosting"] if bench.is_full else names,
        ),
        ("text", "text-like 20,242 x 47,236", {"kind": "text"}, sparse, names),
    ]
    for row, name, made, spec, peers in jobs:
        for peer in peers:
            job = {"peer": peer, "data": made, "spec": _plain(spec), "n_iter": stumps}
            _add_memory(bench, bench.fresh(f"memory, {name}", job), row, name, peer)


def _plain(spec: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(spec).items() if key != "n_features"}


def _add_memory(bench: Bench, found: dict[str, Any], row: str, name: str, peer: str) -> None:
    note = found.get("error", "")
    whole = extra = None
    if not note:
        whole = found["peak"] / MEBI
        extra = (found["peak"] - found["before"] + found["input"]) / found["input"]
        note = f"input {found['input'] / MEBI:.0f} MiB"
        note += f", before the fit {found['before'] / MEBI:.0f} MiB"
    what = "peak memory of the process"
    bench.figures.append(Figure(row, name, what, peer, whole, "MiB", note=note))
    what = "input and what the fit adds to it, over the input"
    bench.figures.append(Figure(f"{row}, ratio", name, what, peer, extra, "x input", note=note))


def very_wide(bench: Bench) -> None:
    """900 x 860,000 float32, 1,000 stumps at t=sqrt."""
    spec = bench.spec(np.empty((1, 860_000)), t=math.isqrt(860_000))
    made = {"kind": "dense", "n": 900, "p": 860_000}
    _large(bench, "very-wide", "made 900 x 860,000", made, spec, 1000, ["rgboost"], {})


def very_long(bench: Bench) -> None:
    """10,000,000 x 50 float32, 255 hybrid bins, 5,000 stumps."""
    spec = bench.spec(np.empty((1, 50)), max_bins=255)
    made = {"kind": "dense", "n": 10_000_000, "p": 50}
    options = {"binning": "hybrid"}
    _large(bench, "very-long", "made 10,000,000 x 50", made, spec, 5000, ["rgboost"], options)


def _large(
    bench: Bench,
    row: str,
    name: str,
    made: dict[str, Any],
    spec: Any,
    n_iter: int,
    peers: list[str],
    options: dict[str, Any],
) -> None:
    bench.note_settings(Rgboost(**options), spec)
    for peer in peers:
        job = {"peer": peer, "data": made, "spec": _plain(spec), "n_iter": n_iter}
        found = bench.fresh(name, job | ({"options": options} if peer == "rgboost" else {}))
        t = "all" if spec.t is None else spec.t
        what = f"fit {n_iter:,} stumps, t={t}, binning included"
        note = found.get("error") or f"engine {found['engine']}"
        figure = Figure(row, name, what, peer, found.get("seconds"), "s", note=note)
        bench.figures.append(figure)
        _add_memory(bench, found, f"{row}, memory", name, peer)


CASES = (
    Case("small", "208 x 60", small),
    Case("wide", "300 x 2,325", wide),
    Case("colon", "colon-cancer", colon, ("full",)),
    Case("text", "Sparse 20,242 x 47,236", text),
    Case("memory", "Peak memory", memory),
    Case("very-wide", "900 x 860,000", very_wide, ("full",), 11.0),
    Case("very-long", "10,000,000 x 50", very_long, ("full",), 13.0),
)
