"""Regression or classification: as asked, or what a target asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from numpy.typing import NDArray

from ...data.input.task import Task, task_of
from ..options import literal


class TaskChoice(StrEnum):
    """What --task can be."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


def choose_task(
    task: TaskChoice | None, y: NDArray[Any], has_more: bool = False
) -> tuple[Task, str]:
    """The task and the reason for it; ``has_more``: the target has values besides these."""
    if task is None:
        return task_of(y, has_more)
    return "regression" if task is TaskChoice.REGRESSION else "classification", "as asked"


def by_label(weights: dict[str, Any], y: NDArray[Any]) -> dict[Any, Any]:
    """Weights of classes by their labels: the keys of JSON are texts, labels may be numbers."""
    known = set(y.tolist())
    return {key if key in known else literal(key, "class_weight"): w for key, w in weights.items()}
