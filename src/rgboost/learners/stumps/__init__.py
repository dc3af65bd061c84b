"""Stumps: one split of one feature, with or without monotone constraints."""

from .family import Stumps
from .monotone import Monotone, constrained

__all__ = ["Monotone", "Stumps", "constrained"]
