"""Algorithm 2 of the paper: the loop, the engine that runs it, and its trace."""

from .callbacks import Callback, ProgressBar
from .engine import Boosted, boost
from .problem import Validation
from .trace import Progress, Trace

__all__ = ["Boosted", "Callback", "Progress", "ProgressBar", "Trace", "Validation", "boost"]
