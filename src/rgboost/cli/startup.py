"""A quick start and a quick end: what is imported stays, so the garbage collector need not look at
it, and nobody has to take it apart."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import within. The collector rests meanwhile (it would take a fifth of the time) and does not
    visit these objects later, not at the end of the process either."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def quick_exit(code: int) -> NoReturn:
    """End the process. Files are closed by now; to take down the imported modules one by one, as
    the interpreter does at its end, would take a tenth of a second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody is left to tell
            stream.flush()
    os._exit(code)
