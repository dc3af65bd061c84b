"""Rules from what users write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .rules import AllLearners, RandomGroup, RandomGroups, RandomLearners, SelectionRule
from .subset_size import SubsetSize
from .weighted import WeightedGroups


def check_selection(
    selection: str | SelectionRule,
    subset_size: SubsetSize,
    feature_weights: Any = None,
    always_features: Sequence[int | str] | None = None,
) -> SelectionRule:
    """A rule from its name ("all", "learners", "group", "groups") and t, or the rule itself.

    With weights or features that are always in J, "group" and "groups" are `WeightedGroups`.
    """
    if feature_weights is not None or always_features is not None:
        if selection not in ("group", "groups"):
            raise ValueError(
                "feature_weights and always_features need selection='group' or 'groups', got "
                f"selection={selection!r}; a rule object has its own (see WeightedGroups)."
            )
        t = 1 if selection == "group" else subset_size
        return WeightedGroups(t, feature_weights, tuple(always_features or ()))
    if isinstance(selection, SelectionRule):
        return selection
    if selection == "all":
        return AllLearners()
    if selection == "learners":
        return RandomLearners(subset_size)
    if selection == "group":
        return RandomGroup()
    if selection == "groups":
        return RandomGroups(subset_size)
    raise ValueError(
        f"selection={selection!r} is not known; use 'all', 'learners', 'group', 'groups' "
        "(Types 0 to 3) or a rule from rgboost.selection."
    )
