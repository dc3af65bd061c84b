"""The card that is asked for: whether there is one, what fits on it, and arrays there."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba.core import config
from numpy.typing import NDArray

vars(np).setdefault("row_stack", np.vstack)  # numba-cuda 0.30 wants it, and NumPy 2.5 has it not

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, about what numba-cuda does
    from numba import cuda

from .._core.on_card import NoCardError, card_number  # noqa: E402
from .._core.team import default_n_jobs  # noqa: E402

SIMULATED = bool(config.ENABLE_CUDASIM)
"""Whether Numba plays the card on the processor (``NUMBA_ENABLE_CUDASIM=1``): slow, for tests."""

SHARE = 0.8
"""Of the memory that is free on the card, that is used at most."""


class Card:
    """A card that is there. ``memory`` is how many bytes may be used on it, None: most of those
    that are free."""

    def __init__(self, device: str, memory: int | None = None) -> None:
        number = card_number(device)
        assert number is not None
        _check_installed(device)
        n_cards = 1 if SIMULATED else _count_cards(device)
        if number >= n_cards:
            cards = "is one card, 'cuda:0'" if n_cards == 1 else f"are {n_cards}, from 'cuda:0' on"
            raise NoCardError(f"device={device!r}: there {cards}; use that, or device='cpu'.")
        self.number = number
        self.device = device
        self.asked = memory

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Kernels and arrays are those of this card."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*under-utilization.*")
            if SIMULATED:
                yield
                return
            with cuda.gpus[self.number]:
                yield

    @property
    def memory(self) -> int:
        """Bytes that may be used."""
        free = 1 << 30
        if not SIMULATED:
            with cuda.gpus[self.number]:
                free = int(SHARE * cuda.current_context().get_memory_info().free)
        return free if self.asked is None else min(self.asked, free)

    @functools.cached_property
    def carrier(self) -> Carrier:
        return Carrier()

    def send(self, values: NDArray) -> Any:
        """An array, on the card."""
        return cuda.to_device(np.ascontiguousarray(values))

    def send_all(self, *several: NDArray) -> list[Any]:
        """Short arrays of one type, which travel together: each trip waits for all kernels."""
        ends = np.cumsum([len(one) for one in several]).tolist()
        there = cuda.to_device(np.concatenate(several))
        return [there[end - len(one) : end] for end, one in zip(ends, several, strict=True)]

    def empty(self, shape: Any, dtype: Any) -> Any:
        return cuda.device_array(shape, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        found = cuda.device_array(shape, dtype)
        size = math.prod(shape) if isinstance(shape, tuple) else shape
        if size:
            flat = found.reshape(size)
            from .kernels import clear, grid

            clear[grid(size)](flat)
        return found


CARRIED = 1 << 26
"""Bytes that are carried at once."""


class Carrier:
    """Carries large arrays between the memory of the host and the card.

    A card reads and writes pages that stay where they are, at several times the speed. Threads copy
    between these and the arrays, while the card goes on with the next ones.
    """

    def __init__(self) -> None:
        self.n_threads = min(8, default_n_jobs())
        self._pool = ThreadPoolExecutor(self.n_threads, "rgboost")
        size = CARRIED if not SIMULATED else 1 << 16
        self._pages = [cuda.pinned_array(size, np.uint8) for _ in range(2)]
        self._waiting: list[list[Future]] = [[], []]
        self._turn = 0

    def _next(self) -> NDArray[np.uint8]:
        """Pages that nobody reads any more."""
        self._turn = 1 - self._turn
        for one in self._waiting[self._turn]:
            one.result()
        self._waiting[self._turn] = []
        return self._pages[self._turn]

    def _stripes(self, n: int) -> list[tuple[int, int]]:
        bounds = np.linspace(0, n, self.n_threads + 1).astype(int).tolist()
        return [(a, b) for a, b in pairwise(bounds) if a < b]

    def fetch(self, found: Any, put: Callable[[NDArray, int], None]) -> None:
        """Call ``put(some rows, number of the first)`` with rows of an array on the card, by
        several threads; it may go on until `wait`."""
        n_rows, width = found.shape
        row_bytes = max(1, width * found.dtype.itemsize)
        together = max(1, len(self._pages[0]) // row_bytes)
        for lo in range(0, n_rows, together):
            some = found[lo : lo + together]
            pages = self._next()
            if row_bytes > len(pages):
                put(some.copy_to_host(), lo)
                continue
            here = pages[: some.shape[0] * row_bytes].view(found.dtype).reshape(some.shape)
            some.copy_to_host(here)
            self._waiting[self._turn] = [
                self._pool.submit(put, here[a:b], lo + a) for a, b in self._stripes(len(here))
            ]

    def wait(self) -> None:
        """Until all that was fetched is in its place."""
        self._next()
        self._next()

    def rows(self, X: NDArray) -> Iterator[tuple[int, Any]]:
        """(number of the first, some rows on the card) of a matrix, one after the other."""
        row_bytes = max(1, X.shape[1] * X.dtype.itemsize)
        together = max(1, len(self._pages[0]) // row_bytes)
        for lo in range(0, X.shape[0], together):
            some = X[lo : lo + together]
            if row_bytes > len(self._pages[0]):
                yield lo, cuda.to_device(np.ascontiguousarray(some))
                continue
            pages = self._next()
            here = pages[: some.shape[0] * row_bytes].view(X.dtype).reshape(some.shape)
            stripes = self._stripes(len(here))
            list(self._pool.map(lambda s, here=here, some=some: copy_rows(some, here, *s), stripes))
            yield lo, cuda.to_device(here)

    def __del__(self) -> None:
        self._pool.shutdown(wait=False)


def copy_rows(rows: NDArray, out: NDArray, begin: int, end: int) -> None:
    out[begin:end] = rows[begin:end]


def out_of_memory(fault: BaseException) -> bool:
    """Whether the card had no room."""
    return isinstance(fault, MemoryError) or "OUT_OF_MEMORY" in str(fault).upper()


def _check_installed(device: str) -> None:
    if not SIMULATED and importlib.util.find_spec("numba_cuda") is None:
        raise ImportError(
            f"device={device!r} needs the package numba-cuda: pip install 'rgboost[cuda]'; or use "
            "device='cpu'."
        )


def _count_cards(device: str) -> int:
    """How many cards there are; an error if there is none that can be used."""
    try:
        found = len(cuda.gpus)
    except Exception as fault:  # whatever a driver says
        found, why = 0, f" ({str(fault).splitlines()[0]})" if str(fault) else ""
    else:
        why = ""
    if found == 0:
        raise NoCardError(
            f"device={device!r} needs an NVIDIA card and its driver, and none can be used{why}; "
            "use device='cpu'."
        )
    return found
