"""What people do with a fitted model, besides predicting, storing and explaining it."""

from .bags import BagsMixin, bands_of_runs, check_bags
from .decisions import DecisionsMixin, ScorecardMixin
from .edits import EditsMixin

__all__ = [
    "BagsMixin",
    "DecisionsMixin",
    "EditsMixin",
    "ScorecardMixin",
    "bands_of_runs",
    "check_bags",
]
