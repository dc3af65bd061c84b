"""The card that is asked for: whether there is one, what fits on it, and arrays there."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import config
from numpy.typing import NDArray

vars(np).setdefault("row_stack", np.vstack)  # numba-cuda 0.30 wants it, and NumPy 2.5 has it not

from numba import cuda  # noqa: E402

from .._core.on_card import NoCardError  # noqa: E402

SIMULATED = bool(config.ENABLE_CUDASIM)
"""Whether Numba plays the card on the processor (``NUMBA_ENABLE_CUDASIM=1``): slow, for tests."""

SHARE = 0.8
"""Of the memory that is free on the card, that is used at most."""

_NAME = re.compile(r"cuda(?::(\d+))?$")


def card_number(device: Any) -> int:
    """The number of the card that ``device`` names."""
    found = _NAME.match(device) if isinstance(device, str) else None
    if found is None:
        raise ValueError(
            f"device={device!r} is not known; use 'cpu', 'cuda' (the first card), or 'cuda:1' and "
            "the like."
        )
    return int(found[1] or 0)


class Card:
    """A card that is there. ``memory`` is how many bytes may be used on it, None: most of those
    that are free."""

    def __init__(self, device: str, memory: int | None = None) -> None:
        number = card_number(device)
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

    def send(self, values: NDArray) -> Any:
        """An array, on the card."""
        return cuda.to_device(np.ascontiguousarray(values))

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
