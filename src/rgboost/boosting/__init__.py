"""Algorithm 2 of the paper: the loop, the engine that runs it, and its trace."""

from .callbacks import Callback, LogProgress, ProgressBar, TimeLimit
from .engine import Boosted, boost
from .problem import Validation
from .stopping import EarlyStopping
from .trace import Progress, Trace

__all__ = [
    "Boosted",
    "Callback",
    "EarlyStopping",
    "LogProgress",
    "Progress",
    "ProgressBar",
    "TimeLimit",
    "Trace",
    "Validation",
    "boost",
]
