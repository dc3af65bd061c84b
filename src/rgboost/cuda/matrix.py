"""Rows of numbers that are on a card already, and stay there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from .._core.on_card import LIBRARIES, is_on_card, library_of
from ..data.elsewhere import MatrixElsewhere
from .card import Card
from .kernels import edges_below, grid, in_units
from .rows import unit_scale

Vector = NDArray[np.float64]

GATHERED_BYTES = 1 << 28
"""Of rows that are put side by side at once."""
RUN = 64
"""Rows of a column that a thread looks at."""
FIRST_LEVELS = 1 << 16
"""New values of a column that are noted in a pass over it, at least."""


class CardMatrix(MatrixElsewhere):
    """A matrix on a card, or those of its rows whose ``places`` are given."""

    def __init__(self, card: Card, array: Any, places: NDArray[np.int64] | None = None) -> None:
        self.card = card
        self.array = array
        self.places = places
        n_rows = int(array.shape[0]) if places is None else len(places)
        self.shape = n_rows, int(array.shape[1])
        single = array.dtype == np.float32
        self.dtype = np.dtype(np.float32 if single else np.float64)
        """Of the numbers that they are in memory; on the card they are as they came."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> CardMatrix:
        if isinstance(rows, slice):
            first, stop, step = rows.indices(len(self))
            if step == 1 and self.places is None:
                with self.card.at_work():
                    return CardMatrix(self.card, self.array[first : max(first, stop)])
            rows = np.arange(first, stop, step)
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        places = rows.astype(np.int64) if self.places is None else self.places[rows]
        return CardMatrix(self.card, self.array, places)

    def on_card(self) -> Any:
        """The rows side by side, on the card."""
        if self.places is None:
            return self.array
        out = self.card.empty(self.shape, self.dtype)
        if out.size:
            sent = self.card.send(self.places)
            gather_rows[grid(out.size)](self.array, sent, out)
        return out

    def to_host(self) -> NDArray[np.floating]:
        rows = self
        if self.places is None and not self.array.is_c_contiguous():  # what lies between them, too
            rows = self[np.arange(len(self))]
        with self.card.at_work():
            found = rows.on_card().copy_to_host()
        return np.ascontiguousarray(found, self.dtype)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Rows side by side, some at a time."""
        if self.places is None:
            yield slice(0, len(self)), self.array
            return
        step = max(1, GATHERED_BYTES // max(1, self.shape[1] * self.dtype.itemsize))
        for lo in range(0, len(self), step):
            now = slice(lo, min(lo + step, len(self)))
            yield now, self[now].on_card()

    def _scale(self, weight: Vector | None) -> float:
        """In what units weights are added up."""
        most = 0.0 if weight is None else float(weight.max(initial=0.0))
        return 1.0 if weight is None else unit_scale(most, len(self))

    def _send(self, weight: Vector | None, now: slice) -> Any:
        return self.card.send(np.empty(0) if weight is None else weight[now])

    def weigh_missing(self, weight: Vector | None) -> Vector:
        return self._look(weight)[0]

    def first_bad(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        _, infinite, missing = self._look(None)
        return infinite, missing

    def _look(self, weight: Vector | None) -> tuple[Vector, NDArray, NDArray]:
        n_features, scale = self.shape[1], self._scale(weight)
        never = np.iinfo(np.int64).max
        with self.card.at_work():
            missing = self.card.zeros(n_features, np.int64)
            first = self.card.send(np.full((2, n_features), never))
            for now, rows in self._blocks():
                n_threads = n_features * -(-int(rows.shape[0]) // RUN)
                if n_threads:
                    look_at_columns[grid(n_threads)](
                        rows, self._send(weight, now), scale, now.start, missing, first
                    )
            counted, found = missing.copy_to_host() / scale, first.copy_to_host()
        found[found == never] = -1
        return counted, found[0], found[1]

    def weigh_levels(self, g: int, weight: Vector | None) -> tuple[Vector, Vector]:
        """Passes over the column note values that are not known yet, until all are."""
        known, scale = np.empty(0), self._scale(weight)
        with self.card.at_work():
            while True:
                room = max(FIRST_LEVELS, 2 * len(known))
                sums, sent = self.card.zeros(len(known), np.int64), self.card.send(known)
                new, n_new = self.card.empty(room, np.float64), self.card.zeros(1, np.int64)
                for now, rows in self._blocks():
                    if rows.shape[0]:
                        count_levels[grid(int(rows.shape[0]))](
                            rows, g, sent, self._send(weight, now), scale, sums, new, n_new
                        )
                noted = min(room, int(n_new.copy_to_host()[0]))
                if noted == 0:
                    return known, sums.copy_to_host() / scale
                known = np.union1d(known, new[:noted].copy_to_host())


@cuda.jit
def gather_rows(X, places, out):
    """Rows at some places, side by side."""
    j = cuda.grid(1)
    if j < out.shape[0] * out.shape[1]:
        i, g = j // out.shape[1], j % out.shape[1]
        out[i, g] = X[places[i], g]


@cuda.jit
def look_at_columns(X, weight, scale, first_row, missing, first):
    """Weights of the rows in which a column is missing, in units; and the first row (counted from
    ``first_row``) in which it is infinite (``first[0]``) or missing (``first[1]``). A thread has a
    column, and `RUN` rows of it."""
    j = cuda.grid(1)
    n_features = X.shape[1]
    lo = (j // n_features) * RUN
    g = j % n_features
    found = np.int64(0)
    if lo < X.shape[0]:
        for i in range(lo, min(lo + RUN, X.shape[0])):
            x = np.float64(X[i, g])
            if x != x:
                value = np.int64(1)
                if weight.shape[0] > 0:
                    value = in_units(weight[i], scale)
                found += value
                cuda.atomic.min(first, (1, g), np.int64(first_row + i))
            elif math.isinf(x):
                cuda.atomic.min(first, (0, g), np.int64(first_row + i))
    if found != 0:
        cuda.atomic.add(missing, g, found)


@cuda.jit
def count_levels(X, g, known, weight, scale, sums, new, n_new):
    """Add weights, in units, to the sums of the ``known`` values of a column; others are noted, as
    far as there is room. A thread has a row."""
    i = cuda.grid(1)
    if i < X.shape[0]:
        x = np.float64(X[i, g])
        if x == x:
            low = edges_below(known, 0, known.shape[0], x)
            if low < known.shape[0] and known[low] == x:
                value = np.int64(1)
                if weight.shape[0] > 0:
                    value = in_units(weight[i], scale)
                cuda.atomic.add(sums, low, value)
            else:
                place = cuda.atomic.add(n_new, 0, 1)
                if place < new.shape[0]:
                    new[place] = x


def number_of(array: Any) -> int:
    """The number of the card that an array is on."""
    found = getattr(array, "device", None)
    for name in ("index", "id"):  # torch's, CuPy's
        number = getattr(found, name, None)
        if isinstance(number, int):
            return number
    try:
        return int(array.gpu_data.context.device.id)
    except AttributeError:
        return 0


def matrix_on(card: Card, X: Any, name: str = "X") -> CardMatrix:
    """An array on a card, of any library, as a matrix of that card; nothing is copied."""
    number = number_of(X)
    if number != card.number:
        raise ValueError(
            f"{name} is on the card 'cuda:{number}', and device={card.device!r} is another one; "
            "give arrays on that card."
        )
    with card.at_work():
        array = as_array(X, name)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead: {name} on the card needs rows "
            "and columns; use X.reshape(-1, 1) for a single feature."
        )
    if np.dtype(array.dtype).kind not in "fiub" or np.dtype(array.dtype) == np.float16:
        raise TypeError(
            f"{name} on the card has the type {array.dtype}; turn it into float32, float64 or "
            "integers."
        )
    return CardMatrix(card, array)


def as_array(X: Any, name: str = "X") -> Any:
    """An array as Numba knows it; what others have queued for it is waited for."""
    if library_of(X) == "torch":
        import torch

        torch.cuda.current_stream(X.device).synchronize()
    if getattr(type(X), "__cuda_ndarray__", False):
        return X
    try:
        return cuda.as_cuda_array(X)
    except Exception as fault:
        what = "an array on a card" if is_on_card(X) else "no array on a card"
        raise TypeError(
            f"{name} is {what}, and cannot be read there ({fault}); give an array of float32, "
            "float64 or integers, without a gradient, that has __cuda_array_interface__ "
            "(cupy.from_dlpack and torch.from_dlpack make one), or bring it to the host: "
            f"{LIBRARIES}."
        ) from fault


def given_back(found: Any, like: Any, card: Card) -> Any:
    """An array on the card as one of the library that ``like`` is of."""
    if library_of(like) not in ("cupy", "torch"):
        return found
    cuda.synchronize()
    if library_of(like) == "torch":
        import torch

        return torch.as_tensor(found, device=f"cuda:{card.number}")
    import cupy

    with cupy.cuda.Device(card.number):
        return cupy.asarray(found)
