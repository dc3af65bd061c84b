"""Shared settings of the tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

settings.register_profile(
    "rgboost",
    deadline=None,  # the first example compiles
    derandomize=True,
    max_examples=60 if JIT else 15,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rgboost")


@pytest.fixture
def ctrl_c_interrupts():
    """Shells start background jobs with Ctrl-C switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
