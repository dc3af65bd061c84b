"""a9a with the logistic loss, 80 % of its 32,561 rows for training."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rgboost.data.datasets import train_test_split_80_20

from .. import data
from ..ours import Rgboost, mean_log_loss
from ..peers import ALL, EBM, Peer, Spec
from .base import Bench, Case, Curve, Figure, first_at_most, thin

NAME = "a9a 26,048 x 123"
TARGET = 0.3215
"""Mean training log-loss, the ridge not counted."""
LEARNING_RATES = (1.0, 0.3, 0.1)
MOST = {"short": 1000, "full": 4000}
"""Stumps in which a peer has to reach the target."""
GRID = np.unique(np.geomspace(100, 20_000, 40).round(-1).astype(int))
"""Stumps that the quadratic engine is tried with."""
EBM_STUMPS, EBM_RATE = 20_000, 0.01
"""Fixed beforehand, by five-fold cross-validation on the training rows: what we fit to meet the
test loss of EBM."""


def rates(bench: Bench) -> None:
    """Direct engine at t=11, the square root of 123."""
    X, y = data.named("a9a", bench.data_dir)
    n_iter = 1000 if bench.is_full else 300
    everyone: list[Peer] = [Rgboost("direct"), ALL["LightGBM"], ALL["XGBoost"]]
    if bench.is_full:
        everyone.append(ALL["CatBoost"])
    bench.warm_up(everyone, X, y, _spec(bench, X, t=11))
    binned = {peer.name: peer.bin(X, y, _spec(bench, X)) for peer in everyone}
    for threads in sorted({1, bench.threads}):
        spec = _spec(bench, X, t=11, threads=threads)
        contestants = {
            peer.name: partial(peer.stump_seconds, binned[peer.name], spec, n_iter)
            for peer in everyone
        }
        timings = bench.race(contestants, f"{threads} threads")
        plural = "thread" if threads == 1 else "threads"
        bench.add(
            timings, 1, row=f"t=11, {threads}", data="a9a 32,561 x 123", threads=threads,
            what=f"direct engine, t=11, {threads} {plural}", unit="iterations/s", x=11,
        )  # fmt: skip


def to_target(bench: Bench) -> None:
    """Seconds to a training loss, binning included, the number of stumps known beforehand."""
    X, y = _split(bench)[::2]
    ours, peers = Rgboost("quadratic"), [ALL["LightGBM"], ALL["XGBoost"], ALL["CatBoost"]]
    bench.warm_up([ours, *peers], X, y, _spec(bench, X))
    spec = _spec(bench, X)
    n_ours = _our_stumps(bench, ours, X, y, spec)
    contestants = {} if n_ours is None else {"rgboost": partial(ours.fit, X, y, spec, n_ours)}
    notes = [f"rgboost {n_ours} stumps" if n_ours else "rgboost does not reach it"]
    found = {}
    for peer in peers:
        best = _best_rate(bench, peer, X, y)
        if best is None:
            notes.append(f"{peer.name} does not reach it in {MOST[bench.set]:,} stumps")
            continue
        rate, losses = found[peer.name] = best
        its = _spec(bench, X, learning_rate=rate)
        contestants[peer.name] = partial(peer.fit, X, y, its, len(losses))
        notes.append(f"{peer.name} {len(losses)} stumps at learning rate {rate:g}")
    timings = bench.race(contestants, "to the target")
    bench.add(
        timings, row="target", data=NAME, unit="s", note="; ".join(notes),
        what=f"seconds to a mean training log-loss of {TARGET}, best learning rate",
    )  # fmt: skip
    for name, (_, losses) in found.items():
        if timings[name].seconds is not None:  # binning is short here: even steps
            at = thin(losses)
            seconds = timings[name].seconds * (1 + at) / len(losses)
            bench.curves.append(
                Curve("logistic", NAME, name, seconds.tolist(), losses[at].tolist())
            )


def _our_stumps(bench: Bench, ours: Peer, X: Any, y: NDArray, spec: Spec) -> int | None:
    """The least of a grid of stumps that reaches the target; the tries make our curve."""
    curve = Curve("logistic", NAME, "rgboost", [], [])
    bench.curves.append(curve)
    found = None
    for n_iter in GRID.tolist():
        bench.say(f"rgboost, {n_iter} stumps")
        start = time.perf_counter()
        model = ours.fit(X, y, spec, n_iter)
        curve.seconds.append(time.perf_counter() - start)
        curve.loss.append(mean_log_loss(y, ours.score(model, X, spec)))
        if found is None and curve.loss[-1] <= TARGET:
            found = n_iter
        if found is not None and n_iter > 4 * found:
            break
    return found


def _best_rate(bench: Bench, peer: Peer, X: Any, y: NDArray) -> tuple[float, NDArray] | None:
    """The learning rate with the fewest stumps to the target, and the losses until there.

    A stump costs the same at every rate, so the next rate need not be tried for longer.
    """
    best: tuple[float, NDArray] | None = None
    for rate in LEARNING_RATES:
        bench.say(f"{peer.name}, learning rate {rate:g}")
        spec = _spec(bench, X, learning_rate=rate, threads=1)
        most = MOST[bench.set] if best is None else len(best[1])
        try:
            losses = peer.losses(peer.bin(X, y, spec), spec, most)
        except Exception as error:
            bench.say(f"{peer.name}: {error}")
            return None
        n_iter = first_at_most(losses, TARGET)
        if n_iter is not None:
            best = rate, losses[:n_iter]
    return best


def ebm(bench: Bench) -> None:
    """Test loss of an EBM with its default bags and no interactions."""
    X, X_test, y, y_test = _split(bench)
    spec = _spec(bench, X, learning_rate=EBM_RATE)
    ours, theirs = Rgboost("quadratic"), EBM()
    bench.warm_up([ours, theirs], X, y, spec)
    dense, dense_test = X.toarray(), X_test.toarray()
    kept: dict[str, Any] = {}

    def run_ebm() -> None:
        kept["EBM"] = theirs.fit(dense, y, spec, 0)

    def run_ours() -> None:
        kept["rgboost"] = ours.fit(X, y, spec, EBM_STUMPS)

    timings = bench.race({"rgboost": run_ours, "EBM": run_ebm}, "fit")
    what = (
        f"fit; EBM has 14 bags and no interactions, rgboost {EBM_STUMPS:,} stumps at {EBM_RATE:g}"
    )
    bench.add(timings, row="time", data=NAME, what=what, unit="s")
    for peer, rows in ((ours, X_test), (theirs, dense_test)):
        if peer.name in kept:
            loss = mean_log_loss(y_test, peer.score(kept[peer.name], rows, spec))
            bench.figures.append(
                Figure("loss", NAME, "test log-loss", peer.name, loss, "loss", threads=2)
            )


def _spec(bench: Bench, X: Any, **more: Any) -> Spec:
    return bench.spec(X, **{"task": "logistic", **more})


def _split(bench: Bench) -> tuple[Any, Any, NDArray, NDArray]:
    X, y = data.named("a9a", bench.data_dir)
    parts = train_test_split_80_20(X, y, 0)
    return parts.X_train, parts.X_test, parts.y_train, parts.y_test


CASES = (
    Case("a9a-rates", "a9a, iterations per second", rates),
    Case("a9a-target", "a9a, seconds to a training loss", to_target),
    Case("a9a-ebm", "a9a, test loss of an EBM", ebm),
)
