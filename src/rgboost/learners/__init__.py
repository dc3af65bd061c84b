"""Families of weak-learners: what boosting chooses from."""

from .base import LearnerFamily
from .dictionary import Dictionary
from .monotone import Monotone, constrained
from .pairs import Pairs
from .stumps import Stumps

__all__ = ["Dictionary", "LearnerFamily", "Monotone", "Pairs", "Stumps", "constrained"]
