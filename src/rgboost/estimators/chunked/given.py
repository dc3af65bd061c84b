"""What tells `Chunks` from rows in memory, which are a single piece."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ...data.chunks import Chunks, Piece
from ...data.input import read_labels
from ...data.readers import DataError

CELLS_AT_ONCE = 1 << 22
"""Cells of a sparse piece that are made dense at once."""


def in_pieces(X: Any) -> bool:
    """Whether rows are read piece by piece."""
    return isinstance(X, Chunks)


def pieces_of(X: Any, offset: Any = None, y: Any = None, weight: Any = None) -> Iterator[Piece]:
    """The pieces of `Chunks` that have rows; or the rows in memory, as one piece."""
    if not in_pieces(X):
        yield Piece(X, y, weight, offset)
        return
    if any(part is not None for part in (offset, y, weight)):
        raise ValueError(
            "Labels, weights and offsets of Chunks are in its pieces; give nothing besides."
        )
    some = False
    for piece in X:
        if piece.n_rows:
            some = True
            yield piece
    if not some:
        raise ValueError("Chunks has no rows; check the files, or the function that makes pieces.")


def dense_pieces(chunks: Iterable[Piece]) -> Iterator[tuple[int, Piece]]:
    """The number of each piece and the piece, if it has rows; sparse ones in dense parts."""
    for k, piece in enumerate(chunks):
        yield from ((k, part) for part in dense_parts(piece, f"piece {k}"))


def dense_parts(piece: Piece, name: str) -> Iterator[Piece]:
    """A piece, if it has rows; a sparse one in dense parts."""
    n_rows = piece.n_rows
    if not n_rows or not scipy.sparse.issparse(piece.X):
        if n_rows:
            yield piece
        return
    with errors_name(name):
        X = piece.X.tocsr()
        others = [None if part is None else np.asarray(part) for part in piece[2:4]]
        y = None if piece.y is None else np.asarray(read_labels(piece.y, "y"))
    step = max(1, CELLS_AT_ONCE // max(1, X.shape[1]))
    for lo in range(0, n_rows, step):
        now = slice(lo, lo + step)
        labels, weight, offset = (None if part is None else part[now] for part in (y, *others))
        n_bytes = piece.n_bytes if lo == 0 else 0
        yield Piece(X[now].toarray(), labels, weight, offset, n_bytes)


@contextlib.contextmanager
def errors_name(name: str) -> Iterator[None]:
    """Errors say which piece they are about; those of files know it."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, TypeError) as fault:
        raise type(fault)(f"{name}: {fault}") from fault
