"""Shared settings of the tests."""

import os
import signal

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


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start background jobs with Ctrl-C switched off: tests of it would not see it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
