"""A matrix that is not in memory, and says itself what is to be known of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class MatrixElsewhere(ABC):
    """Rows that are elsewhere, such as on a graphics card: what is asked of a dense matrix before
    it is in bins. Rows are chosen by their places; columns are not chosen."""

    shape: tuple[int, int]
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @abstractmethod
    def __getitem__(self, rows: Any) -> MatrixElsewhere:
        """Some rows, by a slice, their numbers or a mask; nothing is copied."""

    @abstractmethod
    def to_host(self) -> NDArray[np.floating]:
        """All rows as an array in memory: for few of them."""

    @abstractmethod
    def weigh_missing(self, weight: Vector | None) -> Vector:
        """The weight of the rows in which each column is missing."""

    @abstractmethod
    def first_bad(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first row in which each column is infinite, and the first in which it is missing;
        -1: none."""

    @abstractmethod
    def weigh_levels(self, g: int, weight: Vector | None) -> tuple[Vector, Vector]:
        """The distinct values of a column, in ascending order, and their weights."""
