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

from tests.storage.checks import check_mutant
from tests.storage.make_models import stored_models
from tests.storage.mutations import mutants


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        stored = list(stored_models(path))
        files = [data for _, _, data in stored]
        for hostile, which, name, data in mutants(files, arguments.files, arguments.seed):
            original, rows, _ = stored[which]
            try:
                refused = check_mutant(hostile, original, data, path, rows)
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
