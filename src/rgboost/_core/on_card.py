"""Arrays on a graphics card, told from others without a package for cards."""

from __future__ import annotations

import re
from typing import Any

LIBRARIES = "CuPy's X.get(), torch's X.cpu()"
"""How such arrays come to the host."""


_CARD = re.compile(r"cuda(?::(\d+))?$")


def card_number(device: Any) -> int | None:
    """The number of the card that ``device`` names; None: the processor."""
    found = _CARD.match(device) if isinstance(device, str) else None
    if found is not None:
        return int(found[1] or 0)
    if isinstance(device, str) and device == "cpu":
        return None
    raise ValueError(
        f"device={device!r} is not known; use 'cpu', 'cuda' (the first card), or 'cuda:1' and the "
        "like."
    )


class NoCardError(RuntimeError):
    """There is no card, or not the one that is asked for."""


def is_on_card(values: Any) -> bool:
    """Whether an array is on a graphics card: one of CuPy, of torch, of Numba, or any other with
    ``__cuda_array_interface__``, or that DLPack says to be there."""
    if values is None or type(values).__module__ == "numpy":
        return False
    try:
        if hasattr(values, "__cuda_array_interface__"):
            return True
    except Exception:  # torch's, where there is one that nobody else can read
        return True
    if getattr(type(values), "__cuda_ndarray__", False):  # Numba's simulator
        return True
    return _dlpack_says_so(values)


def _dlpack_says_so(values: Any) -> bool:
    if not callable(getattr(type(values), "__dlpack_device__", None)):
        return False
    try:
        return int(values.__dlpack_device__()[0]) == 2  # kDLCUDA
    except Exception:  # of what cannot be handed over, such as a lazy array
        return False


def library_of(values: Any) -> str:
    """The package that an array is of."""
    return type(values).__module__.split(".")[0]


def to_host(values: Any) -> Any:
    """An array in memory, if it is on a card; what is in memory stays as it is."""
    if not is_on_card(values):
        return values
    library = library_of(values)
    if library == "torch":
        return values.detach().cpu().numpy()
    if library == "cupy":
        return values.get()
    for name in ("copy_to_host", "to_numpy"):
        if hasattr(values, name):
            return getattr(values, name)()
    from numba import cuda

    return cuda.as_cuda_array(values).copy_to_host()
