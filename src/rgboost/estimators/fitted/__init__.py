"""What people do with a fitted model, besides predicting, storing and explaining it."""

from .decisions import DecisionsMixin, ScorecardMixin
from .edits import EditsMixin

__all__ = ["DecisionsMixin", "EditsMixin", "ScorecardMixin"]
