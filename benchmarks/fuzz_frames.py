"""Thousands of frames made by hypothesis: each fits, or fails with a clear error.

python -m benchmarks.fuzz_frames --examples 2000
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from hypothesis import HealthCheck, given, seed, settings
from tests.frame_strategies import cases, check_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    slowest = 0.0

    @seed(arguments.seed)
    @settings(
        max_examples=arguments.examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def run(case):
        nonlocal slowest
        begun = time.perf_counter()
        outcomes[check_case(case)] += 1
        slowest = max(slowest, time.perf_counter() - begun)

    begun = time.perf_counter()
    run()
    print(f"{sum(outcomes.values())} frames in {time.perf_counter() - begun:.0f} s, none crashed")
    for outcome, count in outcomes.most_common():
        print(f"{count:6d} {outcome}")
    print(f"slowest: {slowest:.1f} s (compiling included)")


if __name__ == "__main__":
    main()
