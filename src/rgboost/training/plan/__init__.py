"""What a fit will do, decided before anything is binned: the only place that reads ``"auto"``."""

from .facts import Facts, Values, counted_once, facts_of
from .report import Considered, Entry, Plan, Way
from .resolve import resolve, wants_folds
from .rules import paper_bins

__all__ = [
    "Considered",
    "Entry",
    "Facts",
    "Plan",
    "Values",
    "Way",
    "counted_once",
    "facts_of",
    "paper_bins",
    "resolve",
    "wants_folds",
]
