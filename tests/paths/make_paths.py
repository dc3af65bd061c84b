"""Write ``paths.json``: `python -m tests.paths.make_paths`.

What it holds is what later versions have to come back to, so it is written anew only for a case
that is new, or for a path that is meant to change: `python -m tests.paths.make_paths "gram, all"`.
"""

import json
import sys
from pathlib import Path

import numpy as np

from .cases import DEFAULTS, PATHS, QUADRATIC

FILE = Path(__file__).with_name("paths.json")
GROUPS = {
    "paths": (PATHS, lambda case, n_jobs: case.path(n_jobs)),
    "quadratic": (QUADRATIC, lambda case, n_jobs: case.final_loss(n_jobs)),
    "defaults": (DEFAULTS, lambda case, n_jobs: case.test_loss(n_jobs)),
}
"""The cases of each group, and what is written down of them."""


def found(group, name, n_jobs=1):
    cases, measure = GROUPS[group]
    return measure(cases[name], n_jobs)


def as_text(value):
    """Numbers with 13 digits: a thousand times what the paths are compared to."""
    if np.ndim(value):
        return [as_text(one) for one in value]
    return value if isinstance(value, int) else float(f"{value:.12e}")


def main(names):
    kept = json.loads(FILE.read_text()) if FILE.exists() and names else {}
    lines = []
    for group, (cases, _) in GROUPS.items():
        rows = []
        for name in cases:
            entry = kept.get(group, {}).get(name)
            if entry is None or name in names:
                entry = {key: as_text(value) for key, value in found(group, name).items()}
            rows.append(f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}")
        lines.append(f"{json.dumps(group)}: {{\n" + ",\n".join(rows) + "\n}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
