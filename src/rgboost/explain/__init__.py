"""Explanations: an additive model is its functions of one and two features, so nothing here is
approximate."""

from .band import Band, Deviation
from .global_explanation import GlobalExplanation
from .local_explanation import LocalExplanation
from .pair_axis import PairAxis
from .pair_function import PairFunction
from .scale import Scale
from .shape_function import ShapeFunction

__all__ = [
    "Band",
    "Deviation",
    "GlobalExplanation",
    "LocalExplanation",
    "PairAxis",
    "PairFunction",
    "Scale",
    "ShapeFunction",
]
