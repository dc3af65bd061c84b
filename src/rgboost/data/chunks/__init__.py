"""Rows that are read piece by piece, from files or from a function of the user's."""

from .chunks import Chunks
from .piece import Piece

__all__ = ["Chunks", "Piece"]
