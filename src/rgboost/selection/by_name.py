"""Rules from what users write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .always import RandomLearnersAndAlways
from .rules import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    SelectionRule,
    SubsetSize,
)
from .thresholds import RandomThresholds
from .weighted import WeightedGroups


def check_selection(
    selection: str | SelectionRule,
    subset_size: SubsetSize,
    feature_weights: Any = None,
    always_features: Sequence[int | str] | None = None,
) -> SelectionRule:
    """A rule from its name ("all", "learners", "group", "groups", "thresholds") and t, or the rule
    itself.

    With weights, or features that are always in J, "group" and "groups" are `WeightedGroups`; with
    such features "learners" is `RandomLearnersAndAlways`.
    """
    if feature_weights is not None and selection not in ("group", "groups"):
        raise ValueError(
            f"feature_weights need selection='group' or 'groups', got selection={selection!r}; "
            "a rule object has its own (see WeightedGroups)."
        )
    if always_features is not None and selection not in ("learners", "group", "groups"):
        raise ValueError(
            "always_features need selection='learners', 'group' or 'groups', got "
            f"selection={selection!r}; a rule object has its own (see RandomLearnersAndAlways)."
        )
    if isinstance(selection, SelectionRule):
        return selection
    always, t = tuple(always_features or ()), subset_size
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
