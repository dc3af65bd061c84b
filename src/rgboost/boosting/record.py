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


def make_record(n: int, set_bytes: int) -> Record:
    """Room for n iterations."""
    room = [np.empty(n) for _ in range(5)]
    learner, sets = np.empty(n, np.int64), np.empty((n, set_bytes), np.uint8)
    return Record(room[0], room[1], learner, room[2], room[3], room[4], sets)
