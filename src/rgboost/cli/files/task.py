"""Regression or classification: what a target asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["regression", "classification"]


class TaskChoice(StrEnum):
    """What --task can be."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


MOST_CODES = 10
"""Whole numbers with at most so many different values are taken for classes.

No rule of a plan: a plan is that of an estimator, and here there is none yet. Whoever writes Python
chooses one of the two by its name; a command has a file, and says in its summary what it chose and
why."""


def choose_task(task: TaskChoice | None, y: NDArray[Any]) -> tuple[Task, str]:
    """The task and the reason for it.

    None: texts, truth values and categories are classes; so are whole numbers with at most
    `MOST_CODES` different values. Everything else is regression.
    """
    if task is not None:
        return "regression" if task is TaskChoice.REGRESSION else "classification", "as asked"
    if y.dtype.kind not in "iuf":
        return "classification", "the target is not a number"
    values = np.unique(y)
    if len(values) <= MOST_CODES and (values == np.round(values)).all():
        return "classification", f"the target has {len(values)} whole values"
    return "regression", f"the target has {len(values):,} values"
