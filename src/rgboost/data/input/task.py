"""Regression or classification: what labels ask for."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["regression", "classification"]

MOST_CODES = 10
"""Whole numbers with at most so many different values are taken for classes.

No rule of a plan: a plan is that of an estimator, and here there is none yet. Whoever writes Python
may choose one of the two by its name; a command has a file, and says in its summary what it chose
and why."""


def task_of(y: NDArray[Any], has_more: bool = False) -> tuple[Task, str]:
    """The task and the reason for it; ``has_more``: there are other labels besides these.

    Texts, truth values and categories are classes; so are whole numbers with at most `MOST_CODES`
    different values. Everything else is regression.
    """
    if y.dtype.kind not in "iuf":
        return "classification", "the target is not a number"
    values = np.unique(y)
    at_least = "at least " if has_more else ""
    if len(values) <= MOST_CODES and (values == np.round(values)).all():
        return "classification", f"the target has {len(values)} whole values"
    return "regression", f"the target has {at_least}{len(values):,} values"
