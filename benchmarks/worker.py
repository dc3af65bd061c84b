"""Runs one case in this process and reports to the one that started it.

Every line on standard output is a JSON object: {"say": text} on the way, {"result": ...} or
{"skipped": why} at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from typing import Any

from .cases import CASES, Bench
from .cases.base import check_memory
from .measure import OtherLoad, Skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--set", choices=["short", "full"], default="short")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--patience", type=float, default=0.0)
    options = parser.parse_args()
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print goes to the log
    warnings.filterwarnings("ignore")

    def tell(**message: Any) -> None:
        os.write(answers, (json.dumps(message) + "\n").encode())

    case = CASES[options.case]
    bench = Bench(
        options.set,
        options.threads,
        options.data_dir,
        lambda text: tell(say=text),
        options.patience,
    )
    load, start = OtherLoad(), time.perf_counter()
    try:
        check_memory(case)
        case.run(bench)
    except Skip as why:
        tell(skipped=str(why))
        return
    result = bench.result()
    tell(result={**result, "seconds": time.perf_counter() - start, "other_load": load.cores()})


if __name__ == "__main__":
    main()
