"""``rgboost reproduce``."""

from ...experiments.command import reproduce

__all__ = ["reproduce"]
