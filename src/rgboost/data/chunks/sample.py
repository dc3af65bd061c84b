"""A sample of rows that come piece by piece: which rows are in it, chance alone decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Change = Callable[[NDArray], NDArray]


class Drawn(NamedTuple):
    """The rows of a sample, in the order in which they came. Weights and offsets are None if no
    piece had any. ``places`` are the numbers of these rows among all."""

    X: NDArray[np.floating]
    y: NDArray
    weight: NDArray[np.float64] | None
    offset: NDArray[np.float64] | None
    places: NDArray[np.int64] | None = None


class RowSample:
    """The ``size`` rows with the smallest of numbers that are drawn for all of them.

    The number of a row is a function of the seed and of its place among all rows: pieces of any
    size give the same sample, and of no more than ``size`` rows it is all. ``first`` is the place
    of the first row; rows with numbers above the ``bar`` are certainly not in the sample.
    """

    def __init__(self, size: int, seed: int, first: int = 0, bar: int = 2**64 - 1) -> None:
        self.size = size
        self.seed = seed
        self.n_seen = first
        self._n_kept = 0
        self._bar = np.uint64(bar)
        self._kept: list[tuple[NDArray, ...]] = []
        """(number, place, X, y, weight, offset) of the rows that may be in it, without parts that
        there are none of."""
        self._has: tuple[bool, ...] = ()

    def add(self, rows: Drawn) -> None:
        """More rows."""
        places = np.arange(self.n_seen, self.n_seen + len(rows.y), dtype=np.uint64)
        self.n_seen += len(rows.y)
        numbers = random_numbers(places, self.seed)
        chosen = np.flatnonzero(numbers <= self._bar)
        if not len(chosen):
            return
        self._has = tuple(part is not None for part in rows[:4])
        parts = [part[chosen] for part in rows[:4] if part is not None]
        self._kept.append((numbers[chosen], places[chosen].astype(np.int64), *parts))
        self._n_kept += len(chosen)
        if self._n_kept > 2 * self.size:
            self._drop()

    def merge(self, other: RowSample, X: Change, y: Change) -> None:
        """Add the rows that come next, of which another has the sample; ``X`` and ``y`` make its
        features and labels those here."""
        self.n_seen = other.n_seen
        self._has = self._has or other._has
        for number, place, rows, labels, *rest in other._kept:
            self._kept.append((number, place, X(rows), y(labels), *rest))
        self._n_kept += other._n_kept
        if self._n_kept > 2 * self.size:
            self._drop()

    def _drop(self) -> None:
        """Keep the smallest numbers only."""
        numbers, *parts = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        if len(numbers) > self.size:
            few = np.sort(np.argpartition(numbers, self.size)[: self.size])
            numbers, parts = numbers[few], [part[few] for part in parts]
            self._bar = numbers.max()
        self._kept, self._n_kept = [(numbers, *parts)], len(numbers)

    def rows(self) -> Drawn:
        """The sample."""
        self._drop()
        ((_, places, *parts),) = self._kept
        found = iter(parts)
        drawn = (next(found) if has else None for has in self._has)
        return Drawn(*drawn)._replace(places=places)  # type: ignore[arg-type]


def random_numbers(places: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """A number for each place, as good as random (the finaliser of SplitMix64)."""
    mixed = (places + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
