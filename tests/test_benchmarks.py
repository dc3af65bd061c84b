"""The benchmark's clock."""

import numba
import pytest
from benchmarks.measure import Rules, race

from .conftest import JIT


@pytest.mark.skipif(not JIT, reason="nothing is compiled without JIT")
def test_a_run_that_compiles_does_not_count():
    runs = []

    @numba.njit
    def double(x):
        return 2 * x

    def run():
        double(1)  # compiles the first time
        runs.append("run")
        return {"seconds": float(len(runs))}

    timings = race({"rgboost": run}, Rules(long_seconds=0.0, repeats=3))
    assert timings["rgboost"].seconds == 2.0
    assert len(runs) == 2
