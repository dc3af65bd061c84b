"""Rules from what users write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from .always import RandomLearnersAndAlways
from .rules import AllLearners, RandomGroup, RandomGroups, RandomLearners, SelectionRule
from .subset_size import SubsetSize
from .thresholds import RandomThresholds
from .weighted import WeightedGroups

MANY_ROWS = 10_000
"""From so many rows on ``selection="auto"`` is ``"learners"``."""
ROWS_PER_THRESHOLD = 150
"""``selection="thresholds"`` looks at one for every so many rows, but at least at as many as half
the square root of the number of features: the more rows, the less the best of many follows the
noise."""


def check_selection(
    selection: str | SelectionRule,
    subset_size: SubsetSize | Literal["auto"],
    feature_weights: Any = None,
    always_features: Sequence[int | str] | None = None,
    *,
    shape: tuple[int, int] = (0, 0),
    spread: bool = False,
) -> SelectionRule:
    """A rule from its name ("auto", "all", "learners", "group", "groups", "thresholds") and t, or
    the rule itself.

    ``shape`` are the numbers of rows and features; with ``spread``, "auto" may be "thresholds".

    With weights, or features that are always in J, "group" and "groups" are `WeightedGroups`; with
    such features "learners" is `RandomLearnersAndAlways`.
    """
    if feature_weights is not None and selection not in ("group", "groups"):
        raise ValueError(
            f"feature_weights need selection='group' or 'groups', got selection={selection!r}; "
            "a rule object has its own (see WeightedGroups)."
        )
    if selection == "auto":
        few = spread and shape[0] < MANY_ROWS and subset_size == "auto"
        selection = "thresholds" if few and always_features is None else "learners"
    if always_features is not None and selection not in ("learners", "group", "groups"):
        raise ValueError(
            "always_features need selection='learners', 'group' or 'groups', got "
            f"selection={selection!r}; a rule object has its own (see RandomLearnersAndAlways)."
        )
    if isinstance(selection, SelectionRule):
        return selection
    always, t = tuple(always_features or ()), subset_size
    if t == "auto":
        t = threshold_count(*shape) if selection == "thresholds" else "sqrt"
    if always and selection == "learners":
        return RandomLearnersAndAlways(t, always)
    if always or feature_weights is not None:
        return WeightedGroups(1 if selection == "group" else t, feature_weights, always)
    if selection == "all":
        return AllLearners()
    if selection == "learners":
        return RandomLearners(t)
    if selection == "group":
        return RandomGroup()
    if selection == "groups":
        return RandomGroups(t)
    if selection == "thresholds":
        return RandomThresholds(t)
    raise ValueError(
        f"selection={selection!r} is not known; use 'auto', 'all', 'learners', 'group', 'groups' "
        "(Types 0 to 3), 'thresholds' or a rule from rgboost.selection."
    )


def threshold_count(n_rows: int, n_features: int) -> int:
    """How many ``selection="thresholds"`` looks at."""
    return max(1, math.isqrt(n_features) // 2, n_rows // ROWS_PER_THRESHOLD)
