"""Fits of Parquet files that need not fit into memory: seconds, passes, bytes, and memory.

python -m benchmarks.bench_chunks                       2,000,000 rows of 50 numbers
python -m benchmarks.bench_chunks --rows 40000000 --dir DIR    8 GB of them; kept in DIR
python -m benchmarks.bench_chunks --only "squared, 5 pairs"    one of the fits

Every fit is in a process of its own, whose address space has a limit (``--space``, GiB). The signal
is known: y = sin(3 x0) + x1² + |x2| + x3/2 + 2 [x4 > 0.5] + 1.5 x5 [x6 > 0] + x7 x8 + noise of
variance 1; labels of two classes are drawn with the log-odds of that, less 1.85. XGBoost reads the
same files by its external memory (`ExtMemQuantileDMatrix`), 500 rounds of stumps, where it is
installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

FEATURES = 50
ROWS_OF_FILE = 2_000_000
ROWS_OF_GROUP = 250_000
HEAD = (
    "fit", "seconds", "CPU seconds", "rounds", "how", "peak RssAnon, MiB", "R² or accuracy",
    "passes",
)  # fmt: skip


def signal(X: np.ndarray) -> np.ndarray:
    """The part of y that can be known."""
    score = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.5 * X[:, 3]
    score += 2.0 * (X[:, 4] > 0.5)
    return score + 1.5 * X[:, 5] * (X[:, 6] > 0) + X[:, 7] * X[:, 8]


def write_files(folder: Path, n_rows: int) -> list[Path]:
    """The data set, file by file; files that are there are kept."""
    import pyarrow
    import pyarrow.parquet

    names = [f"x{g}" for g in range(FEATURES)]
    paths = []
    for k, first in enumerate(range(0, n_rows, ROWS_OF_FILE)):
        rng, n = np.random.default_rng(k), min(ROWS_OF_FILE, n_rows - first)
        path = folder / f"pairs-{first}-{n}.parquet"
        paths.append(path)
        if path.exists():
            continue
        part = path.with_suffix(".part")
        schema = pyarrow.schema(
            [(name, pyarrow.float32()) for name in names]
            + [("y", pyarrow.float32()), ("label", pyarrow.int8())]
        )
        with pyarrow.parquet.ParquetWriter(part, schema, use_dictionary=False) as writer:
            for lo in range(0, n, ROWS_OF_GROUP):
                X = rng.standard_normal((min(ROWS_OF_GROUP, n - lo), FEATURES), dtype=np.float32)
                score = signal(X)
                y = (score + rng.standard_normal(len(X))).astype(np.float32)
                odds = 1.0 / (1.0 + np.exp(1.85 - score))
                label = (rng.random(len(X)) < odds).astype(np.int8)
                columns = [pyarrow.array(column) for column in X.T]
                arrays = [*columns, pyarrow.array(y), pyarrow.array(label)]
                writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        os.replace(part, path)
    return paths


class AnonymousMemory:
    """The most memory of this process that no file is behind (RssAnon), looked at all the time."""

    def __enter__(self) -> AnonymousMemory:
        self.before = self.peak = self.now()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def now(self) -> int:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
        raise OSError("RssAnon is told by Linux only")

    def _look(self) -> None:
        while not self._done.wait(0.02):
            self.peak = max(self.peak, self.now())

    def __exit__(self, *exc_info: object) -> None:
        self._done.set()
        self._thread.join()


class Passes:
    """What `Chunks` says of its passes: how many of each kind, the bytes of one, and seconds of the
    processor from the pass before to their ends."""

    def __init__(self) -> None:
        self.count: dict[str, int] = {}
        self.bytes: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self._last: tuple[str, int, float] = ("", 0, time.process_time())

    def __call__(self, what: str, done: int, total: int) -> None:
        name, before, then = self._last
        now = time.process_time()
        if what != name or done <= before:
            self.count[what] = self.count.get(what, 0) + 1
        self.bytes[what] = max(done, self.bytes.get(what, 0))
        self.seconds[what] = self.seconds.get(what, 0.0) + now - then
        self._last = what, done, now


def features() -> list[str]:
    return [f"x{g}" for g in range(FEATURES)]


def fit(model: Any, paths: list[Path], target: str, options: Any) -> list[Any]:
    """Fit once; the cells of a line of the table."""
    from rgboost import Chunks

    folder = options.work_dir
    chunks = Chunks.from_parquet(paths, target, features=features(), work_dir=folder)
    chunks.watch = passes = Passes()
    with AnonymousMemory() as memory:
        begin, cpu = time.perf_counter(), time.process_time()
        model.fit(chunks)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    some = Chunks.from_parquet(paths[:1], target, features=features())
    quality = model.score(some)
    told = "; ".join(
        f"{what}: {passes.count[what]} x {passes.bytes[what] / 1e9:.2f} GB, "
        f"{passes.seconds[what]:.0f} CPU s"
        for what in passes.count
    )
    way = model.plan_.ways[0]
    rounds = f"{model.n_iter_:,}"
    if hasattr(model, "pair_trace_"):
        rounds += f" and {len(model.pair_trace_):,}"
        told += "; " + ", ".join(name for name in model.term_names_ if " x " in name)
    how = f"{way.engine}, {way.max_bins} bins"
    return [seconds, cpu, rounds, how, memory, quality, told]


def squared(paths: list[Path], options: Any, interactions: int = 0) -> list[Any]:
    from rgboost import RGBMRegressor

    settings = dict(random_state=0, gram_memory=options.gram_memory)
    return fit(RGBMRegressor(interactions=interactions, **settings), paths, "y", options)


def with_pairs(paths: list[Path], options: Any) -> list[Any]:
    return squared(paths, options, 5)


def logistic(paths: list[Path], options: Any) -> list[Any]:
    from rgboost import RGBMClassifier

    model = RGBMClassifier(interactions=0, random_state=0, gram_memory=options.gram_memory)
    return fit(model, paths, "label", options)


def pieces(paths: list[Path]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows, some at a time, for XGBoost."""
    import pyarrow.parquet

    for path in paths:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(ROWS_OF_GROUP):
            X = np.column_stack([batch.column(name).to_numpy() for name in features()])
            yield X, batch.column("y").to_numpy()


def xgboost_outside(paths: list[Path], options: Any) -> list[Any]:
    """XGBoost's external memory: bins in files beside, stumps."""
    import xgboost

    class Pieces(xgboost.DataIter):
        def __init__(self, folder: str) -> None:
            self.passes = 0
            self.reset()
            super().__init__(cache_prefix=os.path.join(folder, "xgboost"))

        def reset(self) -> None:
            self.left = pieces(paths)
            self.passes += 1

        def next(self, input_data: Callable[..., Any]) -> bool:
            piece = next(self.left, None)
            if piece is not None:
                input_data(data=piece[0], label=piece[1])
            return piece is not None

    settings = {"max_depth": 1, "tree_method": "hist", "eta": 0.3, "max_bin": 256}
    threads = os.cpu_count()
    with tempfile.TemporaryDirectory(dir=options.work_dir) as folder, AnonymousMemory() as memory:
        begin, cpu = time.perf_counter(), time.process_time()
        rows = Pieces(folder)
        binned = xgboost.ExtMemQuantileDMatrix(rows, max_bin=256, nthread=threads)
        model = xgboost.train({**settings, "nthread": threads}, binned, XGBOOST_ROUNDS)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        del binned
    X, y = (np.concatenate(part) for part in zip(*pieces(paths[:1]), strict=True))
    quality = 1.0 - np.mean((model.inplace_predict(X) - y) ** 2) / np.var(y)
    told = f"{rows.passes} passes over the files, {XGBOOST_ROUNDS} over bins ({size / 1e9:.2f} GB)"
    rounds = f"{XGBOOST_ROUNDS:,}"
    return [seconds, cpu, rounds, "hist, 256 bins", memory, float(quality), told]


XGBOOST_ROUNDS = 500
FITS: dict[str, Callable[[list[Path], Any], list[Any]]] = {
    "squared": squared,
    "logistic": logistic,
    "squared, 5 pairs": with_pairs,
    "XGBoost": xgboost_outside,
}


def line(name: str, paths: list[Path], options: Any) -> str:
    """A line of the table, by a fit in this process."""
    if options.space:
        most = int(options.space * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        seconds, cpu, rounds, how, memory, quality, told = FITS[name](paths, options)
    except ImportError as missing:
        return f"| {name} | {missing} |" + " |" * (len(HEAD) - 2)
    most = f"{memory.peak / 2**20:.0f} (before: {memory.before / 2**20:.0f})"
    cells = [name, f"{seconds:.0f}", f"{cpu:.0f}", rounds, how, most, f"{quality:.4f}", told]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--dir", type=Path, help="where the files are kept (default: nowhere)")
    parser.add_argument("--work-dir", help="where bins are kept during a fit")
    parser.add_argument("--gram-memory", type=int, help="bytes; default: by the machine's memory")
    parser.add_argument("--space", type=float, default=6.0, help="address space of a fit, in GiB")
    parser.add_argument("--only", choices=list(FITS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = write_files(folder, options.rows)
        if options.only:
            print(line(options.only, paths, options), flush=True)
            return
        size = sum(path.stat().st_size for path in paths)
        print(f"{options.rows:,} rows of {FEATURES} float32, {size / 1e9:.2f} GB of Parquet\n")
        print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
        again = [*sys.argv[1:], "--dir", str(folder)]
        for name in FITS:
            command = [sys.executable, "-m", "benchmarks.bench_chunks", *again, "--only", name]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
