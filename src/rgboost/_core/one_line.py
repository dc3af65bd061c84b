"""Representations of one line for objects that hold arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)

_TEXT_MOST = 60
_ITEMS_MOST = 4


def one_line(kind: Kind) -> Kind:
    """A class decorator for dataclasses: ``repr`` tells types and shapes of arrays, not their
    entries, and how many items long lists have."""

    def represent(self: Any) -> str:
        shown = [f"{f.name}={brief(getattr(self, f.name))}" for f in fields(kind) if f.repr]
        return f"{type(self).__name__}({', '.join(shown)})"

    kind.__repr__ = represent  # type: ignore[assignment]
    return kind


def brief(value: Any) -> str:
    """A value in a few words, without a line break."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, type):
        return value.__name__
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:  # an array, a sparse matrix, a frame
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        return f"{kind}{list(shape)}"
    if isinstance(value, list | tuple):
        if len(value) > _ITEMS_MOST:
            return f"<{len(value)} items>"
        return f"({', '.join(brief(item) for item in value)})"
    if isinstance(value, Mapping):
        return f"<{len(value)} entries>"
    if callable(value):
        return f"<{getattr(value, '__name__', type(value).__name__)}>"
    return shortened(repr(value).replace("\n", " "), _TEXT_MOST)


def shortened(text: str, most: int) -> str:
    """At most so many characters of a text; the last one tells that there were more."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
