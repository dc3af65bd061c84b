"""Rows that pairs are fitted to, with what the curves say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines.problem import Validation

Vector = NDArray[np.float64]


@dataclass
class PairRows:
    """Rows that pairs are fitted to, labels and scores less the same number. ``scores`` are those
    of the curves: of every run (runs, rows[, classes]) where there are folds, else (rows[,
    classes]). ``validation`` has the scores of its rows as offset."""

    X: Any
    y: Vector
    weight: Vector | None
    fold: NDArray[np.int64] | None
    scores: Vector
    validation: Validation | None

    def honest(self) -> Vector:
        """The score of each row by a run that was not fitted to it, where there is one."""
        if self.fold is None:
            return self.scores
        return self.scores[self.fold, np.arange(len(self.y))]

    def held(self, k: int) -> tuple[Any, Vector, Vector | None, Vector]:
        """Rows that run k is not fitted to: X, y, weight and their scores."""
        if self.fold is None:
            assert self.validation is not None
            v = self.validation
            assert v.offset is not None
            return v.X, v.y, v.weight, v.offset
        mine = np.flatnonzero(self.fold == k)
        weight = None if self.weight is None else self.weight[mine]
        return self.X[mine], self.y[mine], weight, self.scores[k, mine]
