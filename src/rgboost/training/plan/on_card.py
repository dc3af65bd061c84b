"""What does not go with ``device="cuda"``: known from the parameters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .pieces import IN_MEMORY, Obstacle, by_sums_obstacles, loss_obstacles

REMEDY = "device='cpu'"


def obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    """What of the parameters does not go with rows on a card."""
    for what, why, remedy in by_sums_obstacles(p):
        yield what, why, remedy.replace(IN_MEMORY, f"use {REMEDY}")
    if p["engine"] == "direct":
        return
    for what, why, remedy in loss_obstacles(p):
        yield what, why, remedy.replace(IN_MEMORY, f"use {REMEDY}")
