"""One fit in a fresh process: seconds, and resident memory before it and at its peak.

python -m benchmarks.memory '{"peer": "LightGBM", "data": {"kind": "dense", ...}, ...}'
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from . import data
from .measure import PeakMemory
from .ours import Rgboost
from .peers import ALL, Spec


def measure(job: dict[str, Any]) -> dict[str, Any]:
    X, y = data.make(**job["data"])
    spec = Spec(n_features=X.shape[1], **job["spec"])
    is_ours = job["peer"] == "rgboost"
    peer = Rgboost(**job.get("options", {})) if is_ours else ALL[job["peer"]]
    few = slice(0, 200)
    columns = slice(0, min(X.shape[1], 200))
    some = Spec(**{**job["spec"], "n_features": columns.stop, "t": None})
    peer.fit(X[few, columns], y[few], some, 3)  # libraries and compiled code are no part of it
    with PeakMemory() as memory:
        start = time.perf_counter()
        model = peer.fit(X, y, spec, job["n_iter"])
        seconds = time.perf_counter() - start
    engine = getattr(getattr(model, "trace_", None), "engine", "")
    return {
        "seconds": seconds,
        "before": memory.before,
        "peak": memory.peak,
        "input": data.input_bytes(X),
        "engine": engine,
    }


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    result = measure(json.loads(sys.argv[1]))
    os.write(answer, (json.dumps(result) + "\n").encode())


if __name__ == "__main__":
    main()
