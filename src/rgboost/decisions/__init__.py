"""From scores to decisions: points, reasons, and what would have to be different."""

from .counterfactual import Counterfactuals, counterfactual
from .reasons import ReasonCodes, reason_codes
from .scorecard import Scorecard, to_scorecard

__all__ = [
    "Counterfactuals",
    "ReasonCodes",
    "Scorecard",
    "counterfactual",
    "reason_codes",
    "to_scorecard",
]
