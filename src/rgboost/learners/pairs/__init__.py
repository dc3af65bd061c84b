"""Quadrant stumps: weak-learners on pairs of features."""

from .family import Pairs, PreparedPairs

__all__ = ["Pairs", "PreparedPairs"]
