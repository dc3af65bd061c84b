"""Pairs of features beside the curves of a fit."""

from .stage import PairFit, add_pairs

__all__ = ["PairFit", "add_pairs"]
