"""Selection rules: which weak-learners an iteration looks at (section 1.2.1 of the paper).

======================  ======  ================================================================
rule                    type    the random subset J
======================  ======  ================================================================
`AllLearners`           0       every weak-learner (this is the Gradient Boosting Machine)
`RandomLearners`        1       t weak-learners, uniformly, without replacement
`RandomGroup`           2       all weak-learners of one group, drawn uniformly
`RandomGroups`          3       all weak-learners of t groups, uniformly, without replacement
======================  ======  ================================================================

`WeightedGroups` is not in the paper: groups that are always in J, and others drawn with weights.

Type 2 is Type 3 with ``t=1``; Type 0 is Type 3 with ``t="all"``: they consume the same random
numbers and give the same path. A group without any weak-learner (a constant feature, say) does
not exist for the draw.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

SubsetSize = int | float | Literal["sqrt", "all"]


def resolve_subset_size(t: SubsetSize, n: int, *, of: str = "groups", available: int | None = None):
    """The number of items that a subset size means.

    Parameters
    ----------
    t : int, float, "sqrt" or "all"
        A count (1 <= t <= n), a fraction of n (0 < t <= 1; rounded to the nearest integer, halves
        to even, at least 1), ``"sqrt"`` (the integer part of the square root of n) or ``"all"``.
    n : int
        How many there are to draw from, as the user counts them.
    of : str
        What is counted, for the error message.
    available : int, optional
        How many of the n hold a weak-learner. A fraction and ``"sqrt"`` refer to this number, and
        no count is larger than it.
    """
    available = n if available is None else available
    if isinstance(t, str):
        if t not in ("sqrt", "all"):
            raise ValueError(
                f"subset_size={t!r} is not known; use a count, a fraction, 'sqrt' or 'all'."
            )
        return min(max(1, math.isqrt(available)), available) if t == "sqrt" else available
    if isinstance(t, bool | np.bool_) or not isinstance(t, numbers.Real):
        raise TypeError(f"subset_size must be a number, 'sqrt' or 'all', got {t!r}.")
    if isinstance(t, numbers.Integral):
        if not 1 <= t <= n:
            raise ValueError(
                f"subset_size={t} is impossible: there are {n} {of}; "
                f"use a count from 1 to {n}, a fraction, 'sqrt' or 'all'."
            )
        return min(int(t), available)
    if not 0.0 < t <= 1.0:
        raise ValueError(
            f"subset_size={t} is impossible: a fraction must be in (0, 1]; "
            f"pass an integer for a count of {of}."
        )
    return min(max(1, round(float(t) * available)), available)


class Subsets(NamedTuple):
    """The subsets J of a block of iterations, as compiled code reads them.

    Iteration m looks at ``columns[start[m]:start[m + 1]]`` (with m modulo the number of subsets).
    If ``restricted``, it looks only at the weak-learners ``learners[first[k]:first[k + 1]]`` of
    the column at position k; otherwise at all of them.
    """

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    restricted: bool
    first: NDArray[np.int64]
    learners: NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """How the weak-learners of a family lie: in columns, and the columns in groups.

    ``offsets[c]:offsets[c + 1]`` are the weak-learners of column c (a feature of stumps, a column
    of a dictionary). ``members[group_start[g]:group_start[g + 1]]`` are the columns of group g
    that have at least one weak-learner; groups without any are left out. ``n_groups_given``
    counts those too.
    """

    offsets: NDArray[np.int64]
    group_start: NDArray[np.int64]
    members: NDArray[np.int64]
    n_groups_given: int
    names: Sequence[str] | None = None

    @property
    def n_learners(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        return len(self.group_start) - 1

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


@dataclass(frozen=True)
class SelectionRule:
    """Base of the four rules. Draws are uniform, without replacement, sorted in each subset."""

    type: ClassVar[int]

    def size(self, layout: Layout) -> tuple[int, int]:
        """(t, n): each draw takes t out of n items."""
        raise NotImplementedError

    def draw(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw ``n_draws`` subsets as sorted rows of item numbers, one row if all are the same."""
        t, n = self.size(layout)
        return draw_without_replacement(rng, n, t, n_draws)

    def subsets(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> Subsets:
        """Draw the subsets J of ``n_draws`` iterations."""
        return _columns_of_groups(layout, self.draw(layout, rng, n_draws))

    def learners(self, layout: Layout, draw: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weak-learners (indices from 0 to K - 1, sorted) that one row of `draw` stands for."""
        columns = np.concatenate(
            [layout.members[layout.group_start[g] : layout.group_start[g + 1]] for g in draw]
        )
        spans = [np.arange(layout.offsets[c], layout.offsets[c + 1]) for c in np.sort(columns)]
        return np.concatenate(spans)


@dataclass(frozen=True)
class AllLearners(SelectionRule):
    """Type 0: J is the whole set. RGBM with this rule is GBM (Algorithm 1)."""

    type: ClassVar[int] = 0

    def size(self, layout: Layout) -> tuple[int, int]:
        return layout.n_groups, layout.n_groups


@dataclass(frozen=True)
class RandomLearners(SelectionRule):
    """Type 1: J holds t weak-learners drawn uniformly from all K of them."""

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 1

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_learners
        return resolve_subset_size(self.t, max(n, 1), of="weak-learners", available=n), n

    def subsets(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> Subsets:
        return _columns_of_learners(layout, self.draw(layout, rng, n_draws))

    def learners(self, layout: Layout, draw: NDArray[np.int64]) -> NDArray[np.int64]:
        return draw


@dataclass(frozen=True)
class RandomGroups(SelectionRule):
    """Type 3: J holds all weak-learners of t groups drawn uniformly from all G of them."""

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 3

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_groups
        return resolve_subset_size(self.t, layout.n_groups_given, available=n), n


@dataclass(frozen=True)
class RandomGroup(SelectionRule):
    """Type 2: J holds all weak-learners of one group drawn uniformly."""

    type: ClassVar[int] = 2

    def size(self, layout: Layout) -> tuple[int, int]:
        return min(1, layout.n_groups), layout.n_groups


@dataclass(frozen=True)
class WeightedGroups(SelectionRule):
    """J holds the groups of the features ``always``, and t of the other groups, drawn by weight.

    The t groups are drawn one after the other, without replacement; each time a group comes with
    probability weight / (sum of the weights of the groups that are left). A group's weight is the
    sum of the weights of its features (those that have weak-learners); a group with weight 0 is
    never drawn. With equal weights this is the law of `RandomGroups`, from other random numbers.

    Parameters
    ----------
    t : how many groups are drawn besides those that are always there: a count, a fraction of the
        groups that can be drawn, ``"sqrt"`` of them or ``"all"``.
    weights : dict from names or indices of features to weights (1 for the others), or a sequence
        with an entry for each feature. None: all are 1.
    always : names or indices of features.
    """

    t: SubsetSize = "sqrt"
    weights: Any = None
    always: Sequence[int | str] = ()
    type: ClassVar[int] = 4

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
        n_columns = len(layout.offsets) - 1
        names = layout.names
        position = {} if names is None else {name: i for i, name in enumerate(names)}
        kept = np.zeros(n_columns, dtype=bool)
        for item in self.always:
            kept[column_index(item, n_columns, position, "always_features")] = True
        by_column = check_feature_weights(self.weights, n_columns, position)
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


_RACE_ENTRIES = 1 << 20
"""Most random numbers of `WeightedGroups` in memory at once."""


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


def draw_without_replacement(
    rng: np.random.Generator, n: int, t: int, n_draws: int
) -> NDArray[np.int64]:
    """``n_draws`` uniform t-subsets of ``range(n)`` as sorted rows, by Floyd's algorithm.

    The stream does not depend on how draws are cut into calls. Drawing everything (t = n) uses no
    random number and gives a single row.
    """
    if t == n:
        return np.arange(n, dtype=np.int64)[None]
    highs = np.arange(n - t + 1, n + 1, dtype=np.int64)
    out = rng.integers(0, highs, size=(n_draws, t), dtype=np.int64)
    if t > 1:
        floyd_subsets(out, n)
        out.sort(axis=1)
    return out


@kernel()
def floyd_subsets(draws, n):
    """Turn rows of draws, ``draws[i, k]`` uniform on 0..n-t+k, into subsets, in place.

    Floyd's algorithm: take the draw unless it is in the set already, else take n - t + k. The set
    is a table with open addressing, so the cost is O(t) however large n is.
    """
    t = draws.shape[1]
    size = 4
    while size < 2 * t:
        size *= 2
    table = np.empty(size, np.int64)
    for i in range(draws.shape[0]):
        table[:] = -1
        for k in range(t):
            item = draws[i, k]
            slot = _slot(table, item)
            if table[slot] == item:
                item = n - t + k
                slot = _slot(table, item)
            table[slot] = item
            draws[i, k] = item


@kernel()
def _slot(table, item):
    """Where ``item`` is in the table, or the free slot where it belongs."""
    mask = table.shape[0] - 1
    # A multiplicative hash, kept below 2**63 so that plain Python computes the same.
    slot = ((item & 0xFFFFFFFF) * 0x9E3779B1 >> 15) & mask
    while table[slot] != -1 and table[slot] != item:
        slot = (slot + 1) & mask
    return slot


_NONE = np.zeros(0, dtype=np.int64)


def _columns_of_groups(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
    sizes = np.diff(layout.group_start)
    if len(layout.members) == layout.n_groups:  # one column a group
        start = np.arange(len(draw) + 1, dtype=np.int64) * draw.shape[1]
        return Subsets(start, layout.members[draw.ravel()], False, _NONE, _NONE)
    lengths = sizes[draw].sum(axis=1)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = np.empty(start[-1], np.int64)
    gather_groups(layout.group_start, layout.members, draw, start, columns)
    return Subsets(start, columns, False, _NONE, _NONE)


@kernel()
def gather_groups(group_start, members, draw, start, columns_out):
    """Write the columns of the drawn groups, sorted within each subset."""
    for i in range(draw.shape[0]):
        k = start[i]
        for g in draw[i]:
            for c in range(group_start[g], group_start[g + 1]):
                columns_out[k] = members[c]
                k += 1
        columns_out[start[i] : k].sort()


def _columns_of_learners(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
    """Sorted learners -> the columns they lie in, and for each column its share of them."""
    column = np.searchsorted(layout.offsets, draw, side="right") - 1
    new = np.ones(draw.shape, dtype=bool)
    new[:, 1:] = column[:, 1:] != column[:, :-1]
    start = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int64)
    first = np.append(np.flatnonzero(new.ravel()), draw.size).astype(np.int64)
    return Subsets(start, column.ravel()[new.ravel()], True, first, draw.ravel())


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
