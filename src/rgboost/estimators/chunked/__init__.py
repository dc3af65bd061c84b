"""Fits and predictions of rows that are read piece by piece (`rgboost.Chunks`)."""

from .given import in_pieces, pieces_of
from .refuse import refuse_early
from .rows import ChunkedRows, chunked_rows

__all__ = ["ChunkedRows", "chunked_rows", "in_pieces", "pieces_of", "refuse_early"]
