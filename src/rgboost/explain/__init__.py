"""Explanations: an additive model is its step functions, so nothing here is approximate."""

from .global_explanation import GlobalExplanation, ShapeFunction
from .local_explanation import LocalExplanation
from .scale import Scale

__all__ = ["GlobalExplanation", "LocalExplanation", "Scale", "ShapeFunction"]
