"""Losses l(y, f): value, residual, curvature, smoothness, strong convexity, link.

All share one scale, stated by the formula in each docstring.
"""

from .base import Loss
from .exponential import Exponential
from .huber import Huber
from .logistic import Logistic
from .ridged import Ridged
from .squared import Squared

__all__ = ["Exponential", "Huber", "Logistic", "Loss", "Ridged", "Squared"]
