"""What benchmarks measure and say."""

import numba
import pytest
from benchmarks.measure import Rules, race
from benchmarks.quality.verdicts import verdicts

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


def test_a_sentence_on_standard_errors_needs_some():
    """Of EBM with pairs, losses of test rows were not kept: nothing is said of its noise."""
    results = {"bike": {"rgboost, one split": {"loss": 2.0}, "EBM": {"loss": 1.0}}}
    (said,) = verdicts(results)["one split"]
    assert "(not: bike)" in said
    assert "standard errors" not in said
    results["bike"]["rgboost, one split"]["behind"] = [1.0, 0.1]
    (said,) = verdicts(results)["one split"]
    assert "larger by two standard errors or more on 1 (bike)" in said
