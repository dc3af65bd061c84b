"""Categories of a column that comes piece by piece: which there are, and their weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

MOST_LEVELS = 1 << 17
"""Categories of a column that are counted one by one. Beyond, the lighter half goes to the rest."""


class Found(NamedTuple):
    """The levels of a column in ascending order, their weights, and that of all others.
    ``place[k]`` is where the level with the number k is among them, or their number if it is one of
    the others."""

    levels: NDArray
    weights: Vector
    rest: float
    place: Vector

    @property
    def places(self) -> Vector:
        """0, 1, ..., one for each level."""
        return np.arange(float(len(self.levels)))


class Levels:
    """Counts the levels of a column. Every level has a number, by the order in which they came."""

    def __init__(self, most: int = MOST_LEVELS) -> None:
        self.most = most
        self.number: dict[object, int] = {}
        self.weight = np.zeros(16)
        """By number."""
        self.rest = 0.0
        self._next = 0

    def number_of(self, values: NDArray) -> NDArray[np.int64]:
        """The numbers of some values, none of them missing."""
        import pandas

        place, levels = pandas.factorize(values)
        found: NDArray[np.int64] = self._numbers(levels.tolist())[place]
        return found

    def _numbers(self, levels: Iterable[object]) -> NDArray[np.int64]:
        """The numbers of levels; those that are new get the next ones."""
        numbers = []
        for level in levels:
            number = self.number.get(level)
            if number is None:
                number = self.number[level] = self._next
                self._next += 1
            numbers.append(number)
        if self._next > len(self.weight):
            self.weight = np.append(self.weight, np.zeros(self._next))
        return np.array(numbers, np.int64)

    def add(self, numbers: NDArray[np.int64], weight: Vector | None) -> None:
        """Rows with these numbers, and their weights."""
        self.weight += np.bincount(numbers, weight, len(self.weight))
        if len(self.number) > self.most:
            self._drop()

    def merge(self, other: Levels) -> NDArray[np.int64]:
        """Add what another has counted; the numbers that its levels have here, by those that they
        had there. Levels that it counts no longer get one that nobody has."""
        numbers = np.full(other._next, self._next, np.int64)
        self._next += 1
        kept = np.fromiter(other.number.values(), np.int64, len(other.number))
        numbers[kept] = self._numbers(other.number)
        self.rest += other.rest
        self.add(numbers[kept], other.weight[kept])
        return numbers

    def _drop(self) -> None:
        """The lighter half of the levels goes to the rest; of equal weights, those that came
        last."""
        numbers = np.fromiter(self.number.values(), np.int64, len(self.number))
        order = np.lexsort((numbers, -self.weight[numbers]))
        kept = set(numbers[order[: self.most // 2]].tolist())
        self.number = {level: k for level, k in self.number.items() if k in kept}
        gone = np.ones(len(self.weight), bool)
        gone[list(kept)] = False
        self.rest += float(self.weight[gone].sum())
        self.weight[gone] = 0.0

    def found(self) -> Found:
        """All levels, in ascending order."""
        pairs = sorted(self.number.items(), key=lambda pair: pair[0])  # type: ignore[arg-type, return-value]
        levels = [level for level, _ in pairs]
        numbers = np.array([number for _, number in pairs], np.int64)
        place = np.full(self._next, float(len(levels)))
        place[numbers] = np.arange(len(levels))
        texts = any(isinstance(level, str) for level in levels)
        array = np.array(levels, dtype=object if texts else np.float64)
        return Found(array, self.weight[numbers], self.rest, place)
