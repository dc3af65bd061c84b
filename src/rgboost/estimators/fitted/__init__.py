"""What people do with a fitted model, besides predicting, storing and explaining it."""

from .edits import EditsMixin

__all__ = ["EditsMixin"]
