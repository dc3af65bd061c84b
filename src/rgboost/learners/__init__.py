"""Families of weak-learners: what boosting chooses from."""

from .base import LearnerFamily
from .dictionary import Dictionary
from .monotone import Monotone
from .stumps import Stumps

__all__ = ["Dictionary", "LearnerFamily", "Monotone", "Stumps"]
