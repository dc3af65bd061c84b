"""Randomized Gradient Boosting Machines: additive models by random-then-greedy boosting."""

from .boosting import Trace, boost
from .coordinate import random_then_greedy
from .estimators import RGBMClassifier, RGBMRegressor, load
from .learners import Dictionary, Stumps

__version__ = "0.1.0"

__all__ = [
    "Dictionary",
    "RGBMClassifier",
    "RGBMRegressor",
    "Stumps",
    "Trace",
    "boost",
    "load",
    "random_then_greedy",
]
