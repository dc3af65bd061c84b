"""How weak-learners lie in columns, and columns in groups."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Layout:
    """How the weak-learners of a family lie: in columns, and the columns in groups.

    ``offsets[c]:offsets[c + 1]`` are the weak-learners of column c (a feature of stumps, a column
    of a dictionary). ``members[group_start[g]:group_start[g + 1]]`` are the columns of group g
    that have at least one weak-learner; groups without any are left out. ``n_groups_given``
    counts those too. ``left_weight`` is the weight of the rows on the left of each weak-learner,
    ascending in a column, of ``total_weight`` in all; None where weak-learners are no thresholds.
    """

    offsets: NDArray[np.int64]
    group_start: NDArray[np.int64]
    members: NDArray[np.int64]
    n_groups_given: int
    names: Sequence[str] | None = None
    left_weight: NDArray[np.float64] | None = None
    total_weight: float = 0.0

    def weighed(self, left_weight: NDArray[np.float64], total_weight: float) -> Layout:
        """The same, with weights of thresholds."""
        return replace(self, left_weight=left_weight, total_weight=total_weight)

    @property
    def n_learners(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        return len(self.group_start) - 1

    @property
    def position(self) -> dict[str, int]:
        """The index of every name; empty if there are none."""
        return {} if self.names is None else {name: i for i, name in enumerate(self.names)}

    def mark(self, features: Iterable[int | str], parameter: str) -> NDArray[np.bool_]:
        """Which features a parameter means that gives them by name or index."""
        position, n_columns = self.position, len(self.offsets) - 1
        marked = np.zeros(n_columns, dtype=bool)
        for item in features:
            marked[column_index(item, n_columns, position, parameter)] = True
        return marked

    @classmethod
    def make(
        cls,
        offsets: NDArray[np.int64],
        groups: Sequence[Iterable[int | str]] | None = None,
        names: Sequence[str] | None = None,
    ) -> Layout:
        """Group the columns: one group per column, or a user's partition by index or name."""
        n_columns = len(offsets) - 1
        filled = np.diff(offsets) > 0
        if groups is None:
            members = np.flatnonzero(filled)
            return cls(offsets, np.arange(len(members) + 1), members, n_columns, names)
        resolved = check_partition(groups, n_columns, names)
        kept = [np.sort(g[filled[g]]) for g in resolved]
        kept = [g for g in kept if len(g)]
        start = np.concatenate([[0], np.cumsum([len(g) for g in kept])]).astype(np.int64)
        members = np.concatenate(kept) if kept else np.empty(0, np.int64)
        return cls(offsets, start, members.astype(np.int64), len(resolved), names)


def check_partition(
    groups: Sequence[Iterable[int | str]], n_columns: int, names: Sequence[str] | None = None
) -> list[NDArray[np.int64]]:
    """Turn groups of indices or names into arrays of indices; raise if they are no partition."""
    position = {} if names is None else {name: i for i, name in enumerate(names)}
    owner = np.full(n_columns, -1, dtype=np.int64)
    resolved = []
    for g, group in enumerate(groups):
        indices = [column_index(item, n_columns, position, "groups") for item in group]
        if not indices:
            raise ValueError(f"groups[{g}] is empty; every group needs at least one feature.")
        for item, index in zip(group, indices, strict=True):
            if owner[index] >= 0:
                raise ValueError(
                    f"groups must be a partition: feature {item!r} is in groups[{owner[index]}] "
                    f"and in groups[{g}]."
                )
            owner[index] = g
        resolved.append(np.asarray(indices, dtype=np.int64))
    missing = np.flatnonzero(owner < 0)
    if len(missing):
        shown = [names[i] if names is not None else int(i) for i in missing[:5]]
        raise ValueError(
            f"groups must be a partition: {len(missing)} of {n_columns} features are in no group, "
            f"the first of them {shown}; add them, or leave groups=None for one group per feature."
        )
    return resolved


def column_index(item: int | str, n_columns: int, position: dict[str, int], parameter: str) -> int:
    """The index of a feature that a parameter gives by name or by index."""
    if isinstance(item, str):
        if item not in position:
            known = "the input has no feature names" if not position else "no feature has that name"
            raise ValueError(f"{parameter} names the feature {item!r}, but {known}.")
        return position[item]
    if not isinstance(item, numbers.Integral) or not 0 <= item < n_columns:
        raise ValueError(
            f"{parameter} has the feature {item!r}; expected a name or an index from 0 to "
            f"{n_columns - 1}."
        )
    return int(item)
