"""What readability costs: models of different sizes, compared on the same held-out rows."""

from .compared import ComparedModel
from .result import Comparison
from .run import compare

__all__ = ["ComparedModel", "Comparison", "compare"]
