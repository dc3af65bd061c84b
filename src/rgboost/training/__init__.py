"""Algorithm 2 of the paper: the loop, the engine that runs it, and its trace."""

from ..engines.problem import Validation
from .boost import Boosted, boost
from .callbacks import Callback, LogProgress, ProgressBar, TimeLimit
from .checkpoint import Checkpoint
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
