"""What boosting added, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Path:
    """The weak-learners that were added, one entry an iteration.

    What was added is ``left`` and ``right`` on the two sides of a stump, and ``left`` times the
    normalised column of a dictionary. With C > 2 classes they are (iterations, C). ``learner`` is
    -1 where there was nothing to choose from.
    """

    learner: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.learner)
