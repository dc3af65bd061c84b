"""Made data of the shape of YearPredictionMSD: whole fits, and iterations per second against t."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from .. import data
from ..measure import Timing
from ..ours import Rgboost, mean_half_square
from ..peers import ALL, EBM, HistGradientBoosting, LightGBM, Peer
from .base import Bench, Case, Curve, Figure, binned_and_scaled, first_at_most, thin

N, P = 370_972, 90
NAME = f"made {N:,} x {P}"
STUMPS = 10_000
TIMED = {"short": 60, "full": 500}
"""Stumps of a peer that are timed."""
RATES = {1: 800, 3: 600, 9: 400, 30: 150, 90: 60}
"""Iterations that are timed at each t."""


def total(bench: Bench) -> None:
    """Binning and 10,000 stumps."""
    X, y = data.dense(N, P)
    spec = bench.spec(X)
    ours = Rgboost()
    peers: list[Peer] = [ALL["LightGBM"], ALL["XGBoost"], ALL["CatBoost"]]
    if bench.is_full:
        peers.append(HistGradientBoosting())
    bench.warm_up([ours, Rgboost("gram"), *peers], X, y, spec)
    contestants = {"rgboost": lambda: {"engine": ours.fit(X, y, spec, STUMPS).trace_.engine}}
    for peer in peers:
        timed = TIMED[bench.set]
        contestants[peer.name] = partial(binned_and_scaled, peer, X, y, spec, timed, STUMPS)
    timings = bench.race(contestants, "10,000 stumps")
    note = f"engine {timings['rgboost'].parts.get('engine')}"
    what = f"fit {STUMPS:,} stumps, all features, binning included"
    bench.add(timings, row="total", data=NAME, what=what, unit="s", note=note)
    binning = bench.race({"rgboost": partial(ours.bin, X, y, spec)}, "binning")
    for peer in peers:
        if peer.bins_apart:
            timing = timings[peer.name]
            binning[peer.name] = Timing(timing.parts.get("binning"), runs=timing.runs)
    bench.add(binning, row="binning", data=NAME, what="binning into 100 bins alone", unit="s")


def rates(bench: Bench) -> None:
    """The direct engine, the paper's cost model, against histogram boosting."""
    X, y = data.dense(N, P)
    everyone: list[Peer] = [Rgboost("direct"), ALL["LightGBM"]]
    if bench.is_full:
        everyone.append(ALL["XGBoost"])
    bench.warm_up(everyone, X, y, bench.spec(X, t=9))
    binned = {peer.name: peer.bin(X, y, bench.spec(X)) for peer in everyone}
    grid = list(RATES) if bench.is_full else [9, 90]
    runs = [(t, bench.threads) for t in grid]
    if bench.is_full and bench.threads > 1:
        runs += [(t, 1) for t in (9, 90)]
    for t, threads in runs:
        spec = bench.spec(X, t=t, threads=threads)
        contestants = {
            peer.name: partial(peer.stump_seconds, binned[peer.name], spec, RATES[t])
            for peer in everyone
            if threads == bench.threads or peer.name != "XGBoost"
        }
        timings = bench.race(contestants, f"t={t}, {threads} threads")
        plural = "thread" if threads == 1 else "threads"
        what = f"direct engine, t={t}, {threads} {plural}"
        row = f"t={t}, {threads}"
        bench.add(
            timings, 1, row=row, data=NAME, what=what, unit="iterations/s", x=t,
            threads=threads,
        )  # fmt: skip


def ebm(bench: Bench) -> None:
    """The training loss that an EBM with one bag reaches, and when we are there."""
    n, p = (N, P) if bench.is_full else (20_000, 20)
    name = f"made {n:,} x {p}"
    X, y = data.dense(n, p)
    spec = bench.spec(X, max_bins=255)
    ours, theirs, third = Rgboost(binning="hybrid"), EBM(outer_bags=1), LightGBM()
    bench.warm_up([ours, Rgboost("gram"), theirs, third], X, y, spec)
    kept = {}

    def run_ebm() -> None:
        kept["model"] = theirs.fit(X, y, spec, 0)

    timings = bench.race({"EBM": run_ebm}, "EBM")
    if timings["EBM"].error:
        bench.add(timings, row="time", data=name, what="fit", unit="s")
        return
    target = mean_half_square(y, theirs.score(kept["model"], X, spec))
    bench.say("how many stumps reach that loss")
    n_ours, _ = _stumps_needed(ours, X, y, spec, target, 200_000)
    n_third, losses = _stumps_needed(third, X, y, spec, target, 2000 if bench.is_full else 500)
    contestants = {}
    if n_ours is not None:
        contestants["rgboost"] = partial(ours.fit, X, y, spec, n_ours)
    if n_third is not None:
        contestants["LightGBM"] = partial(third.fit, X, y, spec, n_third)
    timings |= bench.race(contestants, "to the loss of EBM")
    what = f"seconds to the training loss of EBM (one bag), {target:.4f}"
    note = f"stumps: rgboost {n_ours}, LightGBM {n_third or 'not in ' + str(len(losses))}"
    bench.add(timings, row="time", data=name, what=what, unit="s", note=note)
    bench.figures.append(
        Figure("loss", name, "training loss, half the mean square", "EBM", target, "loss")
    )
    if n_ours is None:
        return
    model = ours.fit(X, y, spec, n_ours)
    loss = mean_half_square(y, ours.score(model, X, spec))
    bench.figures.append(
        Figure("loss", name, "training loss, half the mean square", "rgboost", loss, "loss")
    )
    _curves(bench, name, X, y, spec, ours, model, timings, target, losses)


def _stumps_needed(peer, X, y, spec, target, most):
    """Stumps to the target, and the losses on the way there."""
    alone = replace(spec, threads=1)  # not timed, and not slowed down by other processes
    losses = peer.losses(peer.bin(X, y, alone), alone, most)
    return first_at_most(losses, target), losses


def _curves(bench, name, X, y, spec, ours, model, timings, target, losses) -> None:
    """Loss against seconds: ours from the trace, LightGBM's evenly over its time."""
    third = LightGBM()
    bench.say("curves")
    trace = model.trace_
    seconds = timings["rgboost"].seconds - trace.seconds[-1] + trace.seconds
    at = thin(trace.train_loss)
    plot = "squared"
    bench.curves.append(
        Curve(plot, name, "rgboost", seconds[at].tolist(), trace.train_loss[at].tolist())
    )
    bench.curves.append(Curve(plot, name, "EBM", [timings["EBM"].seconds], [target]))
    timing = bench.race(
        {"LightGBM": partial(binned_and_scaled, third, X, y, spec, 200, 200)}, "curve"
    )["LightGBM"]
    if timing.seconds is None:
        return
    binning = timing.parts["binning"]
    seconds = binning + (timing.seconds - binning) / 200 * (1 + thin(losses))
    bench.curves.append(
        Curve(plot, name, "LightGBM", seconds.tolist(), losses[thin(losses)].tolist())
    )


CASES = (
    Case("total", "10,000 stumps, all features, binning included", total),
    Case("rates", "Iterations per second against t", rates),
    Case("ebm", "Training loss of an EBM with one bag", ebm),
)
