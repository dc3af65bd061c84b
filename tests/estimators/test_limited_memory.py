"""Default fits in a process that may use little memory."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of address space")

FIT = """
import resource
import numpy as np
from rgboost import RGBMRegressor

def mapped():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

rng = np.random.default_rng(0)
X = rng.standard_normal((30_000, 40), dtype=np.float32)
y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.standard_normal(len(X))
RGBMRegressor(random_state=0).fit(X[:12_000, :4], y[:12_000])
RGBMRegressor(random_state=0, gram_memory=2 * (4 * 100) ** 2).fit(X[:12_000, :4], y[:12_000])
limit = mapped() + {spare} * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
model = RGBMRegressor(random_state=0, gram_memory={gram_memory}).fit(X, y)
print(model.score(X, y) > 0.8, model.n_learners_, model.trace_.engine, sep="|")
"""


def fit(spare, gram_memory):
    code = FIT.format(spare=spare, gram_memory=gram_memory)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    good, n_learners, engine = done.stdout.strip().split("|")
    assert good == "True"
    return int(n_learners), engine


def test_the_budget_follows_the_address_space():
    # Gram rows of all five folds would take 1.2 GB, and one of them 200 MB.
    n_learners, engine = fit(600, None)
    assert "quadratic models" in engine
    assert n_learners < 40 * 254


def test_a_budget_that_is_too_large_ends_in_the_direct_engine():
    n_learners, engine = fit(400, 10**12)
    assert engine.endswith("direct from there")
    assert n_learners == 40 * 254
