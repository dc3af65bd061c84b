"""The command-line program ``rgboost``: one file a command, in `commands`.

Modules import what is heavy inside functions, so that ``rgboost --help`` and shell completion
answer at once.
"""

from .app import app, main

__all__ = ["app", "main"]
