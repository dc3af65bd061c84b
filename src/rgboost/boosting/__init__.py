"""Algorithm 2 of the paper: the loop, the engine that runs it, and its trace."""

from .callbacks import Callback, LogProgress, ProgressBar, TimeLimit
from .checkpoint import Checkpoint
from .engine import Boosted, boost
from .problem import Validation
from .state import RunState
from .stopping import EarlyStopping
from .trace import Progress, Trace

__all__ = [
    "Boosted",
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "LogProgress",
    "Progress",
    "ProgressBar",
    "RunState",
    "TimeLimit",
    "Trace",
    "Validation",
    "boost",
]
