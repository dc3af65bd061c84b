"""What does not go with ``device="cuda"``: known from the parameters alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from ...learners import family_of
from .pieces import IN_MEMORY, Obstacle, by_sums_obstacles, loss_obstacles

REMEDY = "device='cpu'"


def obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    """What of the parameters does not go with rows on a card."""
    direct = on_rows(p)
    found = chain(by_sums_obstacles(p), () if direct else loss_obstacles(p))
    for what, why, remedy in found:
        if not (direct and what.startswith("learner=")):
            yield what, why, remedy.replace(IN_MEMORY, f"use {REMEDY}")
    if direct:
        yield from _direct_obstacles(p)


def on_rows(p: Mapping[str, Any]) -> bool:
    """Whether the direct engine runs: it is asked for, or has weak-learners of its own."""
    family = family_of(p["learner"])
    return p["engine"] == "direct" or (family.additive and not family.by_statistics)


def _direct_obstacles(p: Mapping[str, Any]) -> Iterator[Obstacle]:
    if not family_of(p["learner"]).on_cards:
        why = "no kernels search for such weak-learners"
        yield f"learner={p['learner']!r}", why, f"use stumps or pairs, or {REMEDY}"
    if p["max_iter"] == "cv":
        why = "the direct engine is one run on a card"
        yield "max_iter='cv'", why, "give max_iter a number, or leave engine='auto'"
