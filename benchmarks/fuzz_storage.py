"""Load thousands of changed model files: each is refused with one error class, or is a model.

    python -m benchmarks.fuzz_storage --files 20000 --seed 0

Half of the files are damaged (cut off, flipped bits, moved bytes); the other half are hostile, with
checksums set right. No load may raise anything but StorageError, take more memory than a small
file is worth, or give a model that crashes.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.storage.checks import check_mutant
from tests.storage.mutations import mutants

from rgboost import RGBMClassifier, RGBMRegressor
from rgboost.losses import Huber, Ridged


def models(X):
    y = X[:, 0] + np.sin(3 * X[:, 1])
    yield RGBMRegressor(max_iter=30, random_state=0).fit(X, y)
    yield RGBMRegressor(loss=Ridged(Huber(0.5), 0.1), groups=[[0, 1], [2]], max_iter=5).fit(X, y)
    yield RGBMClassifier(max_iter=30, max_bins=8).fit(X, np.where(y > 0, "yes", "no"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(60, 3))
    originals = list(models(X))
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        files = []
        for model in originals:
            model.save(path)
            files.append(path.read_bytes())
        for hostile, which, name, data in mutants(files, arguments.files, arguments.seed):
            try:
                refused = check_mutant(hostile, originals[which], data, path, X)
            except BaseException:
                kept = Path(tempfile.gettempdir()) / f"fuzz_{name}.safetensors"
                kept.write_bytes(data)
                print(f"{name}: see {kept}")
                raise
            counts[name, refused] += 1
    for name in dict.fromkeys(name for name, _ in counts):
        print(f"{name:18} refused {counts[name, True]:6}   loaded {counts[name, False]:6}")
    seconds = time.perf_counter() - begun
    print(f"{counts.total()} files in {seconds:.0f} s, no crash, no other error")


if __name__ == "__main__":
    main()
