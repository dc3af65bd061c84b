"""Groups that are always looked at, or more often than others: not in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .layout import Layout, column_index
from .rules import SelectionRule, SubsetSize, resolve_subset_size

_RACE_ENTRIES = 1 << 20
"""Most random numbers of `WeightedGroups` in memory at once."""


@dataclass(frozen=True)
class WeightedGroups(SelectionRule):
    """J holds the groups of the features ``always``, and t of the other groups, drawn by weight.

    The t groups are drawn one after the other, without replacement; each time a group comes with
    probability weight / (sum of the weights of the groups that are left). A group's weight is the
    sum of the weights of its features (those that have weak-learners); a group with weight 0 is
    never drawn. With equal weights this is the law of `RandomGroups`, from other random numbers.

    Parameters
    ----------
    t
        How many groups are drawn besides those that are always there: a count, a fraction of the
        groups that can be drawn, ``"sqrt"`` of them or ``"all"``.
    weights
        Dict from names or indices of features to weights (1 for the others), or a sequence with an
        entry for each feature. None: all are 1.
    always
        Names or indices of features.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, WeightedGroups
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = WeightedGroups(1, weights={1: 0.0}, always=[2])
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([0, 1, 4, 5])
    """

    t: SubsetSize = "sqrt"
    weights: Any = None
    always: Sequence[int | str] = ()
    type: ClassVar[int] = 4
    uniform: ClassVar[bool] = False

    def size(self, layout: Layout) -> tuple[int, int]:
        always, others, _ = self._groups(layout)
        return len(always) + self._n_drawn(layout, len(always), len(others)), layout.n_groups

    def draw(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        always, others, weight = self._groups(layout)
        t = self._n_drawn(layout, len(always), len(others))
        if t == len(others):
            return np.sort(np.concatenate([always, others]))[None]
        out = np.empty((n_draws, len(always) + t), np.int64)
        out[:, t:] = always
        step = max(1, _RACE_ENTRIES // len(others))
        for start in range(0, n_draws, step):
            rows = out[start : start + step]
            # An exponential race: with E ~ Exp(1), the order of E / weight is that of such draws.
            arrival = rng.standard_exponential((len(rows), len(others))) / weight
            rows[:, :t] = others[np.argpartition(arrival, t - 1, axis=1)[:, :t]]
        out.sort(axis=1)
        return out

    def _n_drawn(self, layout: Layout, n_always: int, n_others: int) -> int:
        if n_others == 0:
            return 0
        given = layout.n_groups_given - n_always
        return resolve_subset_size(self.t, given, of="other groups", available=n_others)

    def _groups(
        self, layout: Layout
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """(groups that are always in J, groups that can be drawn, weights of these)."""
        kept = layout.mark(self.always, "always_features")
        by_column = check_feature_weights(self.weights, len(kept), layout.position)
        if layout.n_groups == 0:
            none = np.zeros(0, np.int64)
            return none, none, np.zeros(0)
        start = layout.group_start[:-1]
        is_always = np.logical_or.reduceat(kept[layout.members], start)
        weight = np.add.reduceat(by_column[layout.members], start)
        can_come = ~is_always & (weight > 0)
        if not (is_always | can_come).any():
            raise ValueError(
                "feature_weights is 0 for every feature that can be split; "
                "give some feature a positive weight."
            )
        return np.flatnonzero(is_always), np.flatnonzero(can_come), weight[can_come]


def check_feature_weights(
    weights: Any, n_columns: int, position: dict[str, int]
) -> NDArray[np.float64]:
    """The weight of every feature, or an error that says what is wrong."""
    if weights is None:
        return np.ones(n_columns)
    if isinstance(weights, Mapping):
        found = np.ones(n_columns)
        for item, weight in weights.items():
            found[column_index(item, n_columns, position, "feature_weights")] = weight
    else:
        found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_columns,):
        raise ValueError(
            f"feature_weights has shape {found.shape} and there are {n_columns} features; give "
            "one weight for each, or a dict."
        )
    if not (np.isfinite(found) & (found >= 0)).all():
        wrong = found[~(np.isfinite(found) & (found >= 0))][0]
        raise ValueError(f"feature_weights has {wrong:g}; weights must be finite and 0 or greater.")
    return found
