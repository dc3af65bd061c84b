"""Pairs of features beside the curves of a fit."""

from .add import add_pairs
from .stage import PairFit

__all__ = ["PairFit", "add_pairs"]
