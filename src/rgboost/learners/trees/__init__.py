"""Regression trees as weak-learners."""

from .family import Trees

__all__ = ["Trees"]
