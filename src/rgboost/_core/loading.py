"""While a kernel is compiled, or loaded from disk: clocks stand still, and Ctrl-C waits.

A first iteration may take seconds to compile; that is not the time of a run. And Numba calls Python
functions from C, where KeyboardInterrupt gets lost or becomes a SystemError: so Ctrl-C that comes
meanwhile is delivered when the kernel is there.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

from numba.core import event


class _Waiting(threading.local):
    """How deep a thread is in Numba's compiler, since when, and how long it was there before."""

    depth = 0
    since = 0.0
    before = 0.0


_waiting = _Waiting()


def working_seconds() -> float:
    """A clock that stands still while this thread compiles or loads kernels."""
    return time.perf_counter() - _waiting.before


class _Listener(event.Listener):
    """Numba calls it wherever a thread comes to the compiler's lock and leaves it."""

    def __init__(self) -> None:
        self._handler: Any = None
        self._pressed: list[tuple[int, FrameType | None]] = []

    def on_start(self, event: Any) -> None:
        _waiting.depth += 1
        if _waiting.depth == 1:
            _waiting.since = time.perf_counter()
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler) and threading.current_thread() is threading.main_thread():
                self._handler = handler
                signal.signal(signal.SIGINT, self._keep)

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._pressed.append((number, frame))

    def on_end(self, event: Any) -> None:
        _waiting.depth -= 1
        if _waiting.depth == 0:
            _waiting.before += time.perf_counter() - _waiting.since
            if threading.current_thread() is threading.main_thread():
                self._deliver()

    def _deliver(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        pressed, self._pressed = self._pressed, []
        for number, frame in pressed:
            handler(number, frame)


event.register("numba:compiler_lock", _Listener())
