"""What pairs cost: the screening of all of them, a round of their fit, and prediction.

    python -m benchmarks.bench_pairs
    python -m benchmarks.bench_pairs screening rounds       # some of it
    python -m benchmarks.bench_pairs screening --rows 50000

Screening looks at every pair once, two increments a row: residuals and weights in the cells of the
pair; beside it stands the time of as many increments of a plain histogram loop, from the seconds of
the processor that it takes on one thread. A round is that of one of the five runs of a fit, on one
thread; binning is in no clock. Times are the best of some; ! marks those during which other
processes were running, whose wall clock is too long where there is more than one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from rgboost import RGBMRegressor, boost
from rgboost._core.jit import kernel
from rgboost._core.team import Team
from rgboost.engines.leaves.rows import LeafRows
from rgboost.engines.problem import Validation
from rgboost.learners import Pairs
from rgboost.learners.pairs.choose import PairSearch, screen_pairs
from rgboost.learners.pairs.search import add_residuals
from rgboost.losses import Squared
from rgboost.selection import RandomGroups
from rgboost.steps import ConstantStep
from rgboost.training.plan.pair_rules import (
    BINS_OF_MANY,
    LEAST_SHARE,
    PAIR_STEPS,
    PAIRS_IN_J,
    SCREENING_BINS,
    SEARCH_CUTS,
    SEARCH_ROWS,
)

from . import data
from .measure import BUSY_CORES, OtherLoad
from .profile_target import timed

REPEATS = 3
PLAIN = 20
"""Passes of the plain loop in a run of it, so that it is no shorter than the ticks of the clock."""
ROWS, FEATURES = 370_972, 90
GOAL_SECONDS = 2.0
"""Aim for the screening of all 4,005 pairs of these rows on two threads."""
ROUNDS = ((16_000, 8), (36_000, 9))
FOLDS = 5
N_ITER = 200
MODEL_ROWS, MODEL_FEATURES, MODEL_PAIRS = 20_000, 15, 50
PREDICTED = 1_000_000
GOAL_TIMES = 5.0
"""Aim for the rows a second, over EBM's."""


class Clock(NamedTuple):
    """Seconds of the wall clock and of the processor, and whether others were running."""

    wall: float
    used: float
    disturbed: bool

    def __str__(self) -> str:
        return f"{self.wall:.2f}" + " !" * self.disturbed


def best_seconds(function: Callable[[], Any]) -> Clock:
    function()
    found = []
    for _ in range(REPEATS):
        load, wall, used = OtherLoad(), time.perf_counter(), time.process_time()
        function()
        wall, used = time.perf_counter() - wall, time.process_time() - used
        found.append(Clock(wall, used, (load.cores() or 0.0) > BUSY_CORES))
    return min(found)


def made(n: int, p: int) -> tuple[NDArray, NDArray]:
    """Made rows, whose neighbouring features act together, too."""
    X, y = data.dense(n, p)
    for g in range(p - 1):
        y += X[:, g] * X[:, g + 1] / np.sqrt(1.0 + g)
    return X, y


@kernel()
def plain_histograms(codes, residual, n_times, out):
    """Sums of residuals in the bins of every feature, again and again."""
    for _ in range(n_times):
        for g in range(codes.shape[0]):
            now, sums = codes[g], out[g]
            for i in range(residual.shape[0]):
                sums[now[i]] += residual[i]


@kernel()
def pair_histograms(arrays, columns, residual, memory):
    """What a search sums up before it looks at cuts."""
    for k in columns:
        memory[:] = 0.0
        g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
        add_residuals(arrays, g, h, residual, 0, residual.shape[0], memory)


def screening(n_rows: int, threads: int) -> Table:
    X, y = data.dense(n_rows, FEATURES)
    prepared = Pairs(max_bins=SCREENING_BINS).prepare(X, n_jobs=threads)
    residual = (y - y.mean()).reshape(1, -1)
    arrays = prepared.arrays
    with Team(threads) as team:

        def screen() -> None:
            arrays.known[:] = False  # weights of the cells are part of it
            screen_pairs(arrays, residual, team)

        found = best_seconds(screen)
    out = np.zeros((FEATURES, 256))
    plain = best_seconds(lambda: plain_histograms(arrays.codes, residual[0], PLAIN, out))
    increments = 2.0 * n_rows * len(arrays.pairs)
    speed = PLAIN * n_rows * FEATURES / plain.used
    title = f"{len(arrays.pairs):,} pairs of {n_rows:,} x {FEATURES}, {SCREENING_BINS} bins"
    table = _table(
        f"{title}, {threads} threads", "what", "s", "s of the processor",
        "G increments in one of these",
    )  # fmt: skip
    rate = increments / found.used / 1e9
    table.add_row("screening", str(found), f"{found.used:.2f}", f"{rate:.2f}")
    floor = increments / speed
    table.add_row(
        "floor: plain histograms", f"{floor / threads:.2f}", f"{floor:.2f}", f"{speed / 1e9:.2f}"
    )
    if n_rows == ROWS:
        table.add_row("aim", f"{GOAL_SECONDS:.2f}", "", "")
    return table


def rounds() -> Table:
    table = _table(
        f"A round of pairs, {BINS_OF_MANY} bins, {SEARCH_CUTS} cuts, J of {PAIRS_IN_J}; ms",
        "rows x features", "histograms", "search of cuts", "update", "rest", "one run, 1 thread",
        f"{FOLDS} runs, 2 threads",
    )  # fmt: skip
    for n, p in ROUNDS:
        parts = round_of_one_run(n, p)
        cells = [f"{1e3 * part:.2f}" for part in (*parts, sum(parts))]
        table.add_row(f"{n:,} x {p}", *cells, round_of_all(n, p))
    return table


def fit_pairs(X: Any, y: NDArray, n_iter: int, n_jobs: int, **more: Any) -> Any:
    family = Pairs(
        stumps=True, max_bins=BINS_OF_MANY, min_weight_fraction_leaf=LEAST_SHARE, smooth=True,
        search_rows=SEARCH_ROWS, search_cuts=SEARCH_CUTS,
    )  # fmt: skip
    return boost(
        X, y, loss=Squared(), learner=family, selection=RandomGroups(PAIRS_IN_J),
        step=ConstantStep(), n_iter=n_iter, learning_rate=PAIR_STEPS, random_state=0,
        n_jobs=n_jobs, engine="direct", **more,
    )  # fmt: skip


def round_of_one_run(n: int, p: int) -> tuple[float, float, float, float]:
    """Seconds of the histograms, of the search, of the update of scores, and of the rest: of a run
    that is fitted to four fifths of the rows, and the others are held out."""
    X, y = made(n, p)
    n_train = n - n // FOLDS
    held = Validation(X[n_train:], y[n_train:])
    X, y = X[:n_train], y[:n_train]
    fit_pairs(X, y, 3, 1, validation=held)
    spent: list[list[float]] = [[], [], []]
    calls = ((PairSearch, "__call__"), (PairSearch, "_choice"), (LeafRows, "add"))
    with ExitStack() as stack:
        for (owner, name), seconds in zip(calls, spent, strict=True):
            stack.enter_context(timed(owner, name, seconds))
        boosted = fit_pairs(X, y, N_ITER, 1, validation=held)
    whole = float(boosted.trace.seconds[-1]) / N_ITER
    search, choice, add = (sum(seconds) / N_ITER for seconds in spent)
    histograms = histogram_seconds(boosted.prepared.arrays, y)
    update = choice + add
    return histograms, search - choice - histograms, update, whole - search - add


def histogram_seconds(arrays: Any, y: NDArray) -> float:
    """Of the columns of J, many of them drawn."""
    rng, n = np.random.default_rng(0), 20
    size = min(PAIRS_IN_J, len(arrays.pairs))
    most = int(arrays.n_values.max()) + 1
    memory = np.empty((most, most))
    drawn = [np.sort(rng.choice(len(arrays.pairs), size, replace=False)) for _ in range(n)]

    def run() -> None:
        for columns in drawn:
            pair_histograms(arrays, columns, y, memory)

    return best_seconds(run).used / n


def round_of_all(n: int, p: int) -> str:
    """Milliseconds of a round of all runs of a mean, on two threads."""
    X, y = made(n, p)
    fold = np.arange(n) % FOLDS
    fit_pairs(X, y, 3, 2, fold=fold)
    load = OtherLoad()
    seconds = float(fit_pairs(X, y, N_ITER, 2, fold=fold).trace.seconds[-1]) / N_ITER
    return f"{1e3 * seconds:.2f}" + " !" * ((load.cores() or 0.0) > BUSY_CORES)


def prediction() -> Table:
    from interpret.glassbox import ExplainableBoostingRegressor

    X, y = made(MODEL_ROWS, MODEL_FEATURES)
    rows = np.tile(X, (-(-PREDICTED // len(X)), 1))[:PREDICTED]
    ours = RGBMRegressor(interactions=MODEL_PAIRS, random_state=0, n_jobs=2).fit(X, y)
    theirs = ExplainableBoostingRegressor(
        interactions=MODEL_PAIRS, outer_bags=1, max_rounds=50, n_jobs=2
    ).fit(X, y)
    kept = [sum(len(one) == 2 for one in model.term_features_) for model in (ours, theirs)]
    table = _table(
        f"Prediction of {PREDICTED:,} x {MODEL_FEATURES}, pairs: {kept[0]} of ours, {kept[1]} of "
        f"EBM; M rows/s (aim: {GOAL_TIMES:g} x)",
        "threads", "rgboost", "EBM", "ratio",
    )  # fmt: skip
    for threads in (1, 2):
        clocks = []
        for model in (ours, theirs):
            model.n_jobs = threads
            clocks.append(best_seconds(lambda model=model: model.predict(rows)))
        speeds = [f"{PREDICTED / c.wall / 1e6:.2f}" + " !" * c.disturbed for c in clocks]
        table.add_row(str(threads), *speeds, f"{clocks[1].wall / clocks[0].wall:.1f} x")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    return table


def main() -> None:
    parts = ("screening", "rounds", "prediction")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(parts)}")
    parser.add_argument("--rows", type=int, default=ROWS, help="of the screening")
    parser.add_argument("--threads", type=int, default=2, help="of the screening")
    options = parser.parse_args()
    unknown = set(options.parts) - set(parts)
    if unknown:
        parser.error(f"{', '.join(unknown)} is none of {', '.join(parts)}")
    console = Console(width=120)
    for part in options.parts or parts:
        if part == "screening":
            console.print(screening(options.rows, options.threads))
        else:
            console.print(rounds() if part == "rounds" else prediction())


if __name__ == "__main__":
    main()
