"""A piece of rows, as it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """Some rows as they are given; labels, weights and offsets are None where there are none.
    ``n_bytes`` is what was read for them, as far as it is known."""

    X: Any
    y: Any = None
    weight: Any = None
    offset: Any = None
    n_bytes: int = 0

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


_PARTS = ("X", "y", "weight", "offset")


def as_piece(given: Any, k: int) -> Piece:
    """The parts of a piece."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in _PARTS]
        if unknown or "X" not in given:
            what = f"has the key {unknown[0]!r}" if unknown else "has no key 'X'"
            raise ValueError(f"piece {k} {what}; a piece that is a dict has {', '.join(_PARTS)}.")
        return Piece(**given)
    if isinstance(given, tuple):
        if not 1 <= len(given) <= 3:
            raise ValueError(
                f"piece {k} is a tuple of {len(given)}; give (X, y), (X, y, weight), or a dict."
            )
        return Piece(*given)
    return Piece(given)
