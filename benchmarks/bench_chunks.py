"""Fits of Parquet files that need not fit into memory: seconds, passes, bytes, and memory.

python -m benchmarks.bench_chunks                       2,000,000 rows of 50 numbers
python -m benchmarks.bench_chunks --rows 40000000 --dir DIR    8 GB of them; kept in DIR

The signal is known: y = sin(3 x0) + x1² + |x2| + x3/2 + 2 [x4 > 0.5] + noise of variance 1; labels
of two classes are drawn with the log-odds of that, less 1.85.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

FEATURES = 50
ROWS_OF_FILE = 2_000_000
ROWS_OF_GROUP = 250_000
HEAD = (
    "loss", "seconds", "CPU seconds", "rounds", "engine", "peak RssAnon, MiB", "R² or accuracy",
    "passes",
)  # fmt: skip


def signal(X: np.ndarray) -> np.ndarray:
    """The part of y that can be known."""
    score = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.5 * X[:, 3]
    return score + 2.0 * (X[:, 4] > 0.5)


def write_files(folder: Path, n_rows: int) -> list[Path]:
    """The data set, file by file; files that are there are kept."""
    import pyarrow
    import pyarrow.parquet

    names = [f"x{g}" for g in range(FEATURES)]
    paths = []
    for k, first in enumerate(range(0, n_rows, ROWS_OF_FILE)):
        rng, n = np.random.default_rng(k), min(ROWS_OF_FILE, n_rows - first)
        path = folder / f"rows-{first}-{n}.parquet"
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


def run(name: str, model: Any, paths: list[Path], target: str, work_dir: str | None) -> str:
    """Fit once; a line of the table."""
    from rgboost import Chunks

    features = [f"x{g}" for g in range(FEATURES)]
    chunks = Chunks.from_parquet(paths, target, features=features, work_dir=work_dir)
    chunks.watch = passes = Passes()
    with AnonymousMemory() as memory:
        begin, cpu = time.perf_counter(), time.process_time()
        model.fit(chunks)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    some = Chunks.from_parquet(paths[:1], target, features=features)
    quality = model.score(some)
    told = "; ".join(
        f"{what}: {passes.count[what]} x {passes.bytes[what] / 1e9:.2f} GB, "
        f"{passes.seconds[what]:.0f} CPU s"
        for what in passes.count
    )
    way = model.plan_.ways[0]
    most = f"{memory.peak / 2**20:.0f} (before: {memory.before / 2**20:.0f})"
    engine = f"{way.engine}, {way.max_bins} bins"
    cells = [name, f"{seconds:.0f}", f"{cpu:.0f}", model.n_iter_, engine, most, f"{quality:.4f}"]
    return f"| {' | '.join(map(str, cells))} | {told} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--dir", type=Path, help="where the files are kept (default: nowhere)")
    parser.add_argument("--work-dir", help="where bins are kept during a fit")
    parser.add_argument("--gram-memory", type=int, help="bytes; default: by the machine's memory")
    parser.add_argument("--only", choices=["squared", "logistic"])
    options = parser.parse_args()

    from rgboost import RGBMClassifier, RGBMRegressor

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.dir or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = write_files(folder, options.rows)
        size = sum(path.stat().st_size for path in paths)
        print(f"{options.rows:,} rows of {FEATURES} float32, {size / 1e9:.2f} GB of Parquet\n")
        print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
        fits = {"squared": (RGBMRegressor, "y"), "logistic": (RGBMClassifier, "label")}
        for name, (kind, target) in fits.items():
            if options.only in (None, name):
                memory = options.gram_memory
                model = kind(interactions=0, random_state=0, gram_memory=memory)
                print(run(name, model, paths, target, options.work_dir), flush=True)


if __name__ == "__main__":
    main()
