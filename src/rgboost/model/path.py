"""What boosting added, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line


@one_line
@dataclass(frozen=True)
class Path:
    """The weak-learners that were added, one entry an iteration.

    What was added is ``left`` and ``right`` on the two sides of a stump, and ``left`` times the
    normalised column of a dictionary. With C > 2 classes they are (iterations, C). ``learner`` is
    -1 where there was nothing to choose from. Where it is a split of a categorical feature, bit
    b % 8 of ``sets[m, b // 8]`` tells that bin b is on the left; ``sets`` is None if no feature is
    categorical.
    """

    learner: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    sets: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.learner)

    def part(self, start: int, stop: int) -> Path:
        """The iterations from ``start`` on, before ``stop``."""
        now = slice(start, stop)
        sets = None if self.sets is None else self.sets[now]
        return Path(self.learner[now], self.left[now], self.right[now], sets)


def not_stored(what: str) -> AttributeError:
    """The error of somebody who asks for what only the path can tell."""
    return AttributeError(
        f"{what} need the path of the model, and it was stored without; store it by "
        "save(path, full=True), or pickle it with warm_start=True."
    )
