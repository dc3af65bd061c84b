"""Whether rows that are read again are the rows of the first time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...data.chunks.sample import random_numbers

COLUMNS = 4
"""Of the features, so many are looked at."""


class Tally:
    """The number of rows, and a digest of labels and of some features. It does not depend on the
    pieces that the rows come in."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.digest = np.zeros(1, np.uint64)  # an array: its sums may overflow
        self.class_rows = np.zeros(0, np.int64)
        """How many rows each class has."""

    def add(self, X: NDArray[np.floating], plain: NDArray[np.int64], y: NDArray | None) -> None:
        """More rows. ``plain`` are the features whose numbers are those of the input; labels are
        left out if y is None."""
        places = np.arange(self.n_rows, self.n_rows + len(X), dtype=np.uint64)
        self.n_rows += len(X)
        some = plain[np.arange(min(COLUMNS, len(plain))) * len(plain) // COLUMNS]
        columns = [X[:, g] for g in some] + ([] if y is None else [y])
        of_row = np.zeros(len(X), np.uint64)
        for k, column in enumerate(columns):
            bits = np.ascontiguousarray(column, np.float64).view(np.uint64)
            of_row += random_numbers(bits, k)
        self.digest += (of_row * (np.uint64(2) * places + np.uint64(1))).sum(dtype=np.uint64)

    def check(self, now: Tally) -> None:
        """Raise if other rows were read now."""
        if now.n_rows != self.n_rows:
            raise ValueError(
                f"Chunks gave {self.n_rows:,} rows when it was read first, and {now.n_rows:,} when "
                "it was read again: its function must make a new iterator of the same pieces at "
                "every call, and files must not change."
            )
        if (now.digest != self.digest).any() or (now.class_rows != self.class_rows).any():
            raise ValueError(
                "Chunks gave other rows when it was read again: its function must give the same "
                "pieces at every call (with a seed, if it draws them), and files must not change."
            )
