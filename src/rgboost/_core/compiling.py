"""While kernels are compiled: a person who waits is told, and the garbage collector rests.

A first fit compiles for some seconds; later ones find the code on disk (`rgboost._core.cache`).
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

NOTICE = "compiling for this machine, once"

_tellers: list[Callable[[], None]] = []


@contextmanager
def told_by(tell: Callable[[], None]) -> Iterator[None]:
    """Within, ``tell`` is called whenever compiling begins, in place of the line for a person."""
    _tellers.append(tell)
    try:
        yield
    finally:
        _tellers.remove(tell)


class _Listener(event.Listener):
    """Numba calls it when it begins and ends to compile a function; only one thread compiles."""

    def __init__(self) -> None:
        self.depth = 0
        self._collects = False
        self._told = False

    def on_start(self, event: Any) -> None:
        self.depth += 1
        ours = event.data["dispatcher"].py_func.__module__.startswith("rgboost.")
        if self.depth > 1 or not ours:  # a function that another one calls, or somebody else's
            return
        self._collects = gc.isenabled()
        gc.disable()  # it would visit the compiler's objects over and over: a tenth of the time
        if _tellers:
            _tellers[-1]()
        elif not self._told and _person_reads():
            print(f"rgboost: {NOTICE}", file=sys.stderr, flush=True)
        self._told = True

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self._collects:
            self._collects = False
            gc.enable()


def _person_reads() -> bool:
    """Whether somebody sees standard error: a terminal or a notebook, but not a job of joblib."""
    if multiprocessing.current_process().name != "MainProcess":
        return False
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


_listener = _Listener()
event.register("numba:compile", _listener)


def depth() -> int:
    """How many functions are being compiled, each on behalf of the one before."""
    return _listener.depth
