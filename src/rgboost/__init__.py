"""Randomized Gradient Boosting Machines: additive models by random-then-greedy boosting."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .boosting import Trace, boost
    from .coordinate import random_then_greedy
    from .estimators import RGBMClassifier, RGBMRegressor
    from .learners import Dictionary, Stumps

__version__ = "0.1.0"

__all__ = [
    "Dictionary",
    "RGBMClassifier",
    "RGBMRegressor",
    "Stumps",
    "Trace",
    "boost",
    "random_then_greedy",
]

_HOME = {
    "Dictionary": "learners",
    "RGBMClassifier": "estimators",
    "RGBMRegressor": "estimators",
    "Stumps": "learners",
    "Trace": "boosting",
    "boost": "boosting",
    "random_then_greedy": "coordinate",
}
"""Where each name lives. It is imported when it is asked for: the program would have to wait a
second for scikit-learn and Numba before it could show its help."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
