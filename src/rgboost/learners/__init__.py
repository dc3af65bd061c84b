"""Families of weak-learners: what boosting chooses from."""

from .base import LearnerFamily
from .dictionary import Dictionary
from .pairs import Pairs
from .stumps import Monotone, Stumps, constrained

__all__ = ["Dictionary", "LearnerFamily", "Monotone", "Pairs", "Stumps", "constrained"]
