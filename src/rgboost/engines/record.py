"""What compiled code writes down in a block of iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Record(NamedTuple):
    """Room for a block of iterations; losses are sums, at the start of the iteration.

    ``sets`` are the bits of `rgboost.learners.kernels.note_set`, no bytes if there are none.
    """

    loss: NDArray[np.float64]
    held_loss: NDArray[np.float64]
    learner: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    gradient: NDArray[np.float64]
    sets: NDArray[np.uint8]


def make_record(n: int, set_bytes: int, n_classes: int | None = None) -> Record:
    """Room for n iterations; with several classes, steps are (n, classes)."""
    steps = (n,) if n_classes is None else (n, n_classes)
    return Record(
        loss=np.empty(n),
        held_loss=np.empty(n),
        learner=np.empty(n, np.int64),
        left=np.empty(steps),
        right=np.empty(steps),
        gradient=np.empty(n),
        sets=np.empty((n, set_bytes), np.uint8),
    )
