"""Fits on a Dask cluster of 1, 2, 4 and 8 workers of one thread: seconds and efficiency.

python -m benchmarks.bench_dask                                   2,000,000 rows of 50 numbers
python -m benchmarks.bench_dask --rows 20000000 --workers 1 2 4 8 --peers

Rows are made by the workers and stay there. A pass is what is asked of all rows in bins at once:
its seconds are those that the client waits, merges and transfers included. Efficiency is that of
the passes: the seconds with the fewest workers, times their number, over the same of more. The
signal is that of `benchmarks.bench_chunks`; curves are fitted, without pairs. Peers have 500 stumps
of at most 255 bins.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.bench_chunks import FEATURES, signal

CALLS = ("bins", "weights", "sums", "gram")
HEAD = (
    "workers", "fit", "rows and bins", "weights", "sums", "Gram rows", "efficiency",
    "CPU of the client", "of the workers", "R²",
)  # fmt: skip


def make_part(k: int, n: int) -> np.ndarray:
    """Rows of a partition, the label last."""
    rng = np.random.default_rng(k)
    X = rng.standard_normal((n, FEATURES), dtype=np.float32)
    y = signal(X) + rng.standard_normal(n)
    return np.column_stack([X, y.astype(np.float32)])


def make_rows(client: Any, n_rows: int, of_partition: int) -> tuple[Any, Any]:
    """X and y, on the workers."""
    import dask.array as da
    from dask import delayed
    from dask.distributed import wait

    sizes = [min(of_partition, n_rows - first) for first in range(0, n_rows, of_partition)]
    parts = [
        da.from_delayed(delayed(make_part)(k, n), (n, FEATURES + 1), np.float32)
        for k, n in enumerate(sizes)
    ]
    rows = client.persist(da.concatenate(parts))
    wait(rows)
    X, y = client.persist([rows[:, :FEATURES], rows[:, FEATURES]])
    wait([X, y])
    return X, y


@contextmanager
def watched() -> Iterator[tuple[Counter[str], Counter[str]]]:
    """(seconds, number) of each kind of call for statistics."""
    from rgboost.dask.statistics import ClusterRows, ClusterStatistics

    seconds: Counter[str] = Counter()
    times: Counter[str] = Counter()
    before = {}

    def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **given: Any) -> Any:
            begin = time.perf_counter()
            try:
                return call(*args, **given)
            finally:
                seconds[name] += time.perf_counter() - begin
                times[name] += 1

        return wrapped

    for kind, method, name in [(ClusterRows, "binned", "bins")] + [
        (ClusterStatistics, name, name) for name in CALLS[1:]
    ]:
        before[kind, method] = getattr(kind, method)
        setattr(kind, method, timed(name, before[kind, method]))
    try:
        yield seconds, times
    finally:
        for (kind, method), call in before.items():
            setattr(kind, method, call)


def fit(client: Any, X: Any, y: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """A fit, and what it took."""
    from rgboost.dask import DaskRGBMRegressor

    model = DaskRGBMRegressor(random_state=0, client=client, **settings)
    of_workers = -sum(client.run(time.process_time).values())
    with watched() as (seconds, times):
        begin, of_client = time.perf_counter(), -time.process_time()
        model.fit(X, y)
        whole = time.perf_counter() - begin
        of_client += time.process_time()
    return {
        "fit": whole,
        "client": of_client,
        "workers": of_workers + sum(client.run(time.process_time).values()),
        **{name: seconds[name] / max(1, times[name]) for name in CALLS},
        "passes": sum(seconds[name] for name in CALLS),
        "score": model.score(X, y),
        "events": model.plan_.events[-1],
    }


def fit_peers(client: Any, X: Any, y: Any) -> Iterator[tuple[str, float]]:
    """(name, seconds) of the peers that are here."""
    stumps = {"n_estimators": 500, "learning_rate": 0.1}
    for module, name, more in (
        ("xgboost.dask", "DaskXGBRegressor", {"max_depth": 1, "max_bin": 255}),
        ("lightgbm.dask", "DaskLGBMRegressor", {"num_leaves": 2, "max_bin": 255}),
    ):
        try:
            kind = getattr(importlib.import_module(module), name)
        except ImportError:
            print(f"{module} is not here")
            continue
        model = kind(client=client, **stumps, **more)
        begin = time.perf_counter()
        model.fit(X, y)
        yield module, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--partition-rows", type=int, default=250_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--loss", default="squared")
    parser.add_argument("--max-bins", type=int, default=64)
    parser.add_argument("--peers", action="store_true")
    given = parser.parse_args()

    from dask.distributed import Client, LocalCluster

    settings = {"loss": given.loss, "max_bins": given.max_bins, "interactions": 0}
    print(f"{given.rows:,} rows of {FEATURES}, partitions of {given.partition_rows:,}; {settings}")
    print("seconds of the fit, and of a pass on average; seconds of processors (the scheduler is")
    print("in the process of the client)")
    print(" | ".join(HEAD))
    first = None
    for n_workers in given.workers:
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit=0,
        )  # fmt: skip
        with cluster, Client(cluster) as client:
            few = make_rows(client, 20_000 * n_workers, 20_000)
            fit(client, *few, {**settings, "max_iter": 20})  # code is loaded
            rows = make_rows(client, given.rows, given.partition_rows)
            found = fit(client, *rows, settings)
            first = first or (n_workers, found["passes"])
            efficiency = first[0] * first[1] / (n_workers * found["passes"])
            times = [f"{found[name]:.3g}" for name in ("fit", *CALLS)]
            cpu = [f"{found[name]:.3g}" for name in ("client", "workers")]
            shown = [str(n_workers), *times, f"{efficiency:.2f}", *cpu, f"{found['score']:.4f}"]
            print(" | ".join(shown), flush=True)
            if given.peers:
                for name, seconds in fit_peers(client, *rows):
                    print(f"{n_workers} | {name}: {seconds:.3g}", flush=True)
    print(found["events"])


if __name__ == "__main__":
    main()
