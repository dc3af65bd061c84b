"""Fits on a card beside fits on the processors of the same machine, and how far kernels are from
what the card can do.

python -m benchmarks.bench_gpu                       all parts, 10,000,000 rows of 100 numbers
python -m benchmarks.bench_gpu --part kernels fits   some of them
python -m benchmarks.bench_gpu --rows 1000000 --no-cpu

Rows are float32 in the memory of the host. A fit is from there to the fitted model; everything was
compiled before by the same fit on few rows. The limit of a kernel is its bytes (each input read
once, each output written once) at the speed of a copy on the card.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

PARTS = ("kernels", "fits", "direct", "screening", "small", "huge")
console = Console(width=120)


def signal(X: np.ndarray) -> np.ndarray:
    """Curves of ten features, and two pairs."""
    found = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + np.abs(X[:, 2]) + X[:, 3] * X[:, 4]
    found += 0.5 * (X[:, 5] > 0) * X[:, 6]
    for k in range(7, 10):
        found += 0.3 * X[:, k]
    return found


def make_rows(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, numbers as labels, and two classes."""
    X = np.empty((n_rows, n_features), np.float32)
    y = np.empty(n_rows)

    def fill(k: int) -> None:
        rng, now = np.random.default_rng(k), slice(k << 20, min((k + 1) << 20, n_rows))
        rng.standard_normal(out=X[now], dtype=np.float32)
        y[now] = signal(X[now]) + rng.standard_normal(len(y[now]))

    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, range(-(-n_rows // (1 << 20)))))
    return X, y, (y > 1.0).astype(np.int64)


def timed(call: Callable[[], Any], repeat: int = 3) -> float:
    """The best of some."""
    from numba import cuda

    found = []
    for _ in range(repeat):
        cuda.synchronize()
        begin = time.perf_counter()
        call()
        cuda.synchronize()
        found.append(time.perf_counter() - begin)
    return min(found)


def table(title: str, *columns: str) -> Table:
    found = Table(title=title, title_justify="left")
    for name in columns:
        found.add_column(name, justify="left" if name == columns[0] else "right")
    return found


def copy_speed() -> float:
    """Bytes a second that a copy on the card reads and writes."""
    from numba import cuda

    some = cuda.device_array(1 << 28, np.float64)
    other = cuda.device_array_like(some)
    return 2.0 * some.nbytes / timed(lambda: other.copy_to_device(some))


def kernels(X: np.ndarray, y: np.ndarray, c: np.ndarray, options: Any) -> None:
    """Every kernel by itself: seconds, and the share of what bytes alone would take."""
    from numba import cuda

    from rgboost.cuda import gram_kernels as gram
    from rgboost.cuda import kernels as k
    from rgboost.cuda.rows import evaluate_kernel
    from rgboost.losses import Logistic

    n, p = X.shape
    copy = copy_speed()
    rng = np.random.default_rng(0)
    codes = cuda.to_device(rng.integers(0, options.bins, (p, n), dtype=np.uint8))
    residual = cuda.to_device(rng.standard_normal(n))
    nothing = cuda.device_array(0, np.float64)
    first = cuda.to_device(np.arange(p + 1) * options.bins)
    sums = cuda.to_device(np.zeros(p * options.bins, np.int64))
    blocks, length = k.stretches(n, p)
    found = table(
        f"kernels, {n:,} x {p}, {options.bins} bins; a copy moves {copy / 1e12:.2f} TB/s",
        "kernel", "seconds", "G increments/s", "limit by bytes", "times the limit",
    )  # fmt: skip

    def row(name: str, call: Callable[[], Any], n_bytes: float, increments: float = 0.0) -> None:
        call()
        seconds = timed(call)
        limit = n_bytes / copy
        speed = f"{increments / seconds / 1e9:,.0f}" if increments else ""
        found.add_row(name, f"{seconds:.2e}", speed, f"{limit:.2e}", f"{seconds / limit:,.1f}")

    row("sums of residuals, all features", lambda: k.add_to_bins[(blocks, p), k.THREADS](
        codes, first, residual, 1e9, 0, n, length, sums), n * (p + 8.0), n * p)  # fmt: skip
    used = cuda.to_device(np.arange(p))
    by_rows = cuda.device_array((n, p), np.uint8)
    row("bins by rows", lambda: gram.lay_rows[k.grid(n)](codes, by_rows), 2.0 * n * p)
    order = cuda.device_array(n, np.int32)
    start = np.append(0, np.cumsum(np.bincount(codes[0].copy_to_host(), minlength=options.bins)))
    free, start = cuda.to_device(start[:-1].astype(np.int32)), start.astype(np.int32)
    again, start = cuda.to_device(free), cuda.to_device(start)

    def place() -> None:
        again.copy_to_device(free)
        gram.place_rows[-(-n // gram.PLACED), k.THREADS](codes, 0, 0, n, again, order)

    row("rows in the order of a feature's bins", place, n * 5.0, n)
    counts = cuda.to_device(np.zeros((p, options.bins**2), np.int64))
    together = min(gram.LANES, k.WORDS // options.bins)
    groups = -(-p // together)
    pieces = max(1, gram.BLOCKS // groups)
    nothing_weighs = cuda.device_array(0, np.int32)
    row("counts of a feature against all", lambda: gram.count_pairs[(pieces, groups), k.THREADS](
        by_rows, order, start, used, first, options.bins, together, nothing_weighs, -(-n // pieces),
        counts), n * (p + 4.0), n * p)  # fmt: skip
    score, label = cuda.to_device(np.zeros(n)), cuda.to_device(np.where(c > 0, 1.0, -1.0))
    loss = Logistic(ridge=0.0)
    look, blocks3 = evaluate_kernel(loss.terms), k.stretches(n)
    partial = cuda.device_array((7, blocks3[0]), np.float64)
    row("residuals and losses, logistic", lambda: look[blocks3[0], k.THREADS](
        loss.terms, 0.25, 0.0, label, nothing, score, 0, n, blocks3[1], residual, nothing, nothing,
        partial), n * 24.0)  # fmt: skip
    values = cuda.to_device(rng.standard_normal(p * options.bins))
    row("scores at a model, all features", lambda: k.fill_scores[k.grid(n)](
        codes, first, used, values, 0.0, nothing, 0, n, score), n * (p + 8.0))  # fmt: skip
    part = cuda.to_device(X[: (1 << 28) // (4 * p)])
    edges = cuda.to_device(np.tile(np.linspace(-3, 3, options.bins - 1), p))
    starts = cuda.to_device(np.arange(p + 1) * (options.bins - 1))
    plain = cuda.to_device(np.zeros(p, bool))
    row(f"bins of {part.shape[0]:,} rows", lambda: k.bin_rows[k.grid(part.size)](
        part, plain, starts, edges, used, 0, codes), part.size * 5.0)  # fmt: skip
    console.print(found)


def beside(name: str, fit: Callable[[str, bool], Any], found: Table, options: Any) -> None:
    """A row: a fit on the card and on the processors. ``fit(device, small)`` is told to take few
    rows for what is compiled."""
    seconds = {}
    for device in ("cuda", "cpu") if options.cpu else ("cuda",):
        fit(device, True)
        each = []
        for _ in range(options.repeat if device == "cuda" else 1):
            begin = time.perf_counter()
            model = fit(device, False)
            each.append(time.perf_counter() - begin)
        seconds[device] = min(each)
        if options.profile and device == "cuda":
            profile(lambda: fit("cuda", False))
    ours, theirs = seconds["cuda"], seconds.get("cpu")
    beside_it = (f"{theirs:.2f}", f"{theirs / ours:.1f} x") if theirs else ("", "")
    found.add_row(name, f"{ours:.2f}", *beside_it, f"{model.n_iter_:,}")


def profile(call: Callable[[], Any]) -> None:
    import cProfile
    import pstats

    one = cProfile.Profile()
    one.runcall(call)
    pstats.Stats(one).sort_stats("tottime").print_stats(18)
    pstats.Stats(one).sort_stats("cumtime").print_stats("rgboost", 30)


def fits(X: np.ndarray, y: np.ndarray, c: np.ndarray, options: Any) -> None:
    from rgboost import RGBMClassifier, RGBMRegressor

    found = table(
        f"fits, {X.shape[0]:,} x {X.shape[1]}", "fit", "card", "processors", "ratio", "iterations"
    )

    def fit(kind: Any, labels: np.ndarray, **settings: Any) -> Callable[[str, bool], Any]:
        def run(device: str, small: bool) -> Any:
            n = 60_000 if small else len(labels)
            model = kind(interactions=0, random_state=0, device=device, **settings)
            return model.fit(X[:n], labels[:n])

        return run

    every = dict(
        max_iter=10_000, selection="all", engine="gram", max_bins=255, gram_memory=24 << 30
    )
    beside(
        "squared, 10,000 iterations, all features", fit(RGBMRegressor, y, **every), found, options
    )
    beside("squared, defaults", fit(RGBMRegressor, y), found, options)
    beside("logistic, defaults", fit(RGBMClassifier, c), found, options)
    console.print(found)


def direct(X: np.ndarray, y: np.ndarray, c: np.ndarray, options: Any) -> None:
    """Iterations of the direct engine a second: the difference of two fits."""
    from rgboost import RGBMClassifier

    found = table(
        f"the direct engine, logistic, t = 10, {X.shape[0]:,} x {X.shape[1]}",
        "device", "seconds an iteration", "iterations a second",
    )  # fmt: skip
    settings = dict(engine="direct", selection="groups", subset_size=10, interactions=0)
    for device, more in [("cuda", 1000)] + ([("cpu", 40)] if options.cpu else []):
        seconds = []
        for n_iter in (10, 10, 10 + more):
            model = RGBMClassifier(max_iter=n_iter, device=device, random_state=0, **settings)
            begin = time.perf_counter()
            model.fit(X, c)
            seconds.append(time.perf_counter() - begin)
        one = (seconds[2] - seconds[1]) / more
        found.add_row(device, f"{one:.2e}", f"{1.0 / one:,.0f}")
    console.print(found)


def screening(X: np.ndarray, y: np.ndarray, c: np.ndarray, options: Any) -> None:
    """Sums of residuals and weights in the cells of all pairs."""
    from rgboost.cuda.card import Card
    from rgboost.cuda.rows import CardRows, Rows
    from rgboost.losses import Squared
    from rgboost.statistics.base import Models
    from rgboost.statistics.cells import Cells

    n, p = X.shape
    bins, card = 32, Card("cuda")
    g, h = np.triu_indices(p, 1)
    cells = Cells.make(
        np.column_stack([g, h]), np.arange(p) * bins, np.tile(np.arange(bins, dtype=np.uint8), p),
        np.full(p, bins),
    )  # fmt: skip
    rng = np.random.default_rng(0)

    class Family:
        first_cell = np.arange(p + 1) * bins
        offsets = first_cell

    with card.at_work():
        codes = card.send(rng.integers(0, bins, (p, n), dtype=np.uint8))
        nothing = card.empty(0, np.float64)
        rows = Rows(np.array([0, n]), codes, card.send(y), nothing, nothing)
        made = CardRows(card, rows, Family, Squared(), 1)
        models = Models(np.zeros(1), np.zeros((1, p * bins)))
        first = np.zeros((1, 1), np.int64)
        weigh = lambda: made.cell_weights(cells)  # noqa: E731
        look = lambda: made.tables(cells, models, first)  # noqa: E731
        weigh()
        seconds = timed(weigh), timed(look)
    found = table(
        f"screening of {len(g):,} pairs, {n:,} rows, {bins} bins",
        "sums",
        "seconds",
        "G increments/s",
    )
    for name, one in zip(("weights", "residuals"), seconds, strict=True):
        found.add_row(name, f"{one:.2f}", f"{n * len(g) / one / 1e9:,.0f}")
    console.print(found)


def small(X: np.ndarray, y: np.ndarray, c: np.ndarray, options: Any) -> None:
    from rgboost import RGBMClassifier, RGBMRegressor

    X, y, c = np.ascontiguousarray(X[:10_000, :20]), y[:10_000], c[:10_000]
    found = table("fits, 10,000 x 20", "fit", "card", "processors", "ratio", "iterations")
    for name, kind, labels in (("squared", RGBMRegressor, y), ("logistic", RGBMClassifier, c)):
        beside(
            f"{name}, defaults, curves",
            lambda device, small, kind=kind, labels=labels: kind(
                interactions=0, random_state=0, device=device
            ).fit(X, labels),
            found, options,
        )  # fmt: skip
    console.print(found)


def huge(options: Any) -> None:
    """A fit of 100,000,000 rows on the card alone."""
    from rgboost import RGBMRegressor

    n, p = options.huge_rows, 50
    X, y, _ = make_rows(n, p)
    found = table(f"fits, {n:,} x {p}", "fit", "card", "iterations")
    one_run = dict(max_iter=10_000, max_bins=255)
    for name, settings in (("one run of 10,000", one_run), ("defaults, curves", {})):
        model = RGBMRegressor(interactions=0, random_state=0, device="cuda", **settings)
        model.fit(X[:100_000], y[:100_000])
        seconds = timed(lambda model=model: model.fit(X, y), min(2, options.repeat))
        found.add_row(f"squared, {name}", f"{seconds:.2f}", f"{model.n_iter_:,}")
    console.print(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--huge-rows", type=int, default=100_000_000)
    parser.add_argument("--bins", type=int, default=255)
    parser.add_argument("--no-cpu", dest="cpu", action="store_false")
    parser.add_argument("--repeat", type=int, default=3, help="fits on the card; the best counts")
    parser.add_argument("--profile", action="store_true", help="where the seconds of a fit go")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    of_rows = [part for part in options.part if part != "huge"]
    rows = make_rows(options.rows, options.features) if of_rows else None
    for part in of_rows:
        globals()[part](*rows, options)
    del rows
    if "huge" in options.part:
        huge(options)


if __name__ == "__main__":
    main()
