"""A team of threads that run one kernel together.

An iteration of boosting can last 20 microseconds: too short to hand work to a thread pool each
time. Instead every thread of a team runs the *whole* loop, takes its share of the rows or columns
(``range(rank, n, size)``), and waits for the others at a barrier, which costs about 0.1
microseconds. Nothing here depends on the number of threads but who does the work: sums are taken
over a grid of row chunks that is fixed by the number of rows (`row_chunks`), so results are the
same bits for every team size.

Threads are made for one fit and end with it: fits can run in several Python threads, in processes
and after a fork.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import llvmlite.binding
import numba
import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from .jit import kernel, ready

if os.name == "nt":  # the same call under its name on Windows
    _address = ctypes.cast(ctypes.windll.kernel32.SwitchToThread, ctypes.c_void_p).value  # type: ignore[attr-defined]
    llvmlite.binding.add_symbol("sched_yield", _address)

_sched_yield = types.ExternalFunction("sched_yield", types.int32())

_SPINS_BEFORE_YIELD = 2000
"""About 5 microseconds. After that a waiting thread offers its core to others at every look."""

_ROWS_PER_CHUNK = 4096
_MOST_CHUNKS = 16


class Seat(NamedTuple):
    """One thread's place in a team: its rank, the team's size, and the counters they share."""

    rank: int
    size: int
    arrived: NDArray[np.int64]
    tickets: NDArray[np.int64]


def lone_seat() -> Seat:
    """The seat of a thread that works alone."""
    return Seat(0, 1, np.zeros(1, np.int64), np.zeros(2, np.int64))


@intrinsic
def _atomic_add(typing_context, array, value):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", data, args[1], "seq_cst")

    return types.int64(array, types.int64), codegen


@intrinsic
def _atomic_load(typing_context, array):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(data, "seq_cst", 8)

    return types.int64(array), codegen


@kernel()
def wait_for_all(seat, goal):
    """Wait until every thread of the team is here. Returns the goal to pass to the next call.

    The counter only grows: the k-th barrier is passed when ``size * k`` arrivals were counted.
    """
    if seat.size == 1:
        return goal
    goal += seat.size
    _atomic_add(seat.arrived, 1)
    spins = 0
    while _atomic_load(seat.arrived) < goal:
        spins += 1
        if spins > _SPINS_BEFORE_YIELD:
            _sched_yield()
    return goal


@kernel()
def take_ticket(seat, turn):
    """The next number 0, 1, 2, ... that no other thread of the team took in this turn.

    Turns use two counters by turns; `close_turn` readies the counter for the turn after next.
    """
    return _atomic_add(seat.tickets[turn % 2 : turn % 2 + 1], 1)


@kernel()
def close_turn(seat, turn):
    """After the barrier that ends a turn, and before the one that ends the next."""
    if seat.rank == 0:
        seat.tickets[turn % 2] = 0


def row_chunks(n_rows: int) -> NDArray[np.int64]:
    """Boundaries of the chunks of rows that partial sums are taken over.

    A function of the number of rows alone, so that sums do not depend on the number of threads.
    Inner boundaries are multiples of 8 rows (packed bins are read a word at a time).
    """
    n_chunks = 1  # a power of two, so that two, four or eight threads have equal shares
    while n_chunks < _MOST_CHUNKS and 2 * n_chunks * _ROWS_PER_CHUNK <= n_rows:
        n_chunks *= 2
    size = -(-n_rows // n_chunks)
    size += -size % 8
    inner = np.arange(0, n_rows, size, dtype=np.int64)
    return np.append(inner, n_rows)


def default_n_jobs() -> int:
    """The threads that this process may use (``NUMBA_NUM_THREADS``, which joblib's workers set)."""
    return int(numba.config.NUMBA_NUM_THREADS)


def check_n_jobs(n_jobs: int | None) -> int:
    """Number of threads: None for all that the process may use, -1 for all, -2 for all but one."""
    if n_jobs is None:
        return default_n_jobs()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of threads; use None, a positive integer, "
            "or -1 for all cores."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, default_n_jobs() + 1 + int(n_jobs))


_CELLS_PER_THREAD = 6_500
"""Entries of the data per iteration and thread (about 4 microseconds) that make a thread pay."""


def team_size(n_jobs: int, cells: float) -> int:
    """Threads that pay for this much work in an iteration."""
    return max(1, min(n_jobs, int(cells / _CELLS_PER_THREAD)))


class Team:
    """Runs a kernel on ``size`` threads at once, each with its own `Seat`. Threads are made when
    there is something to do; a team that was closed makes others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call ``function(*args, seat)`` on every thread; returns what the first one returned."""
        arrived, tickets = np.zeros(1, np.int64), np.zeros(2, np.int64)
        if self.size > 1:
            self._pool = self._pool or ThreadPoolExecutor(self.size - 1, "rgboost")
            ready(function, *args, Seat(0, self.size, arrived, tickets))
        others = []
        try:
            for rank in range(1, self.size):
                seat = Seat(rank, self.size, arrived, tickets)
                others.append(self._pool.submit(function, *args, seat))  # type: ignore[union-attr]
            result = function(*args, Seat(0, self.size, arrived, tickets))
        except BaseException:  # Ctrl-C between two threads, no memory: let nobody wait for ever
            arrived[0] = np.iinfo(np.int64).max // 2
            raise
        for other in others:
            other.result()
        return result

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


LARGE = 1 << 22
"""Numbers of a matrix that one thread looks at as fast as several."""


def sums_are_finite(X: NDArray) -> bool:
    """Whether there is neither infinity nor NaN, and sums of rows do not overflow: one pass that
    allocates nothing."""
    with np.errstate(all="ignore"):
        if X.size <= LARGE or X.ndim != 2:
            return bool(np.isfinite(X.sum()))
        pieces = np.array_split(X, -(-X.size // LARGE))
        with ThreadPoolExecutor(default_n_jobs(), "rgboost") as pool:
            return bool(np.isfinite(list(pool.map(np.sum, pieces))).all())


def map_ranges(
    function: Callable[[int, int], None], n: int, n_jobs: int, at_least: int = 1
) -> None:
    """Call ``function(start, stop)`` on the pieces of ``range(n)``, ``n_jobs`` at a time. An empty
    piece may come before them."""
    pieces = max(1, min(n_jobs * 4, n // at_least)) if n_jobs > 1 else 1
    if pieces == 1:
        function(0, n)
        return
    bounds = np.linspace(0, n, pieces + 1).astype(int)
    function(0, 0)  # compiles, see `rgboost._core.jit.ready`
    with ThreadPoolExecutor(n_jobs, "rgboost") as pool:
        list(pool.map(function, bounds[:-1], bounds[1:]))
