"""Randomized Gradient Boosting Machines: additive models by random-then-greedy boosting."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import compare
    from .coordinate import random_then_greedy
    from .data.chunks import Chunks
    from .estimators import RGBMClassifier, RGBMRegressor
    from .estimators.loading import from_json, load
    from .learners import Dictionary, Stumps
    from .training import Trace, boost
    from .warming import warm_up

__version__ = "0.1.0"

__all__ = [
    "Chunks",
    "Dictionary",
    "RGBMClassifier",
    "RGBMRegressor",
    "Stumps",
    "Trace",
    "boost",
    "compare",
    "from_json",
    "load",
    "random_then_greedy",
    "warm_up",
]

_HOME = {
    "Chunks": "data.chunks",
    "Dictionary": "learners",
    "RGBMClassifier": "estimators",
    "RGBMRegressor": "estimators",
    "Stumps": "learners",
    "Trace": "training",
    "boost": "training",
    "compare": "comparison",
    "from_json": "estimators",
    "load": "estimators",
    "random_then_greedy": "coordinate",
    "warm_up": "warming",
}
"""Where each name lives. It is imported when it is asked for: the program would have to wait a
second for scikit-learn and Numba before it could show its help."""


def __getattr__(name: str) -> Any:
    """A name of the public face, or a part of the package such as ``rgboost.losses``."""
    try:
        home = importlib.import_module(f".{_HOME.get(name, name)}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    if name not in _HOME:
        return home
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
