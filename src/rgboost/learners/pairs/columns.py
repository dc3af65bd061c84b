"""Which pairs of features there are: all of them, a list, or those that constraints allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...selection.layout import column_index, draw_without_replacement

Columns = NDArray[np.int64]
"""(columns, 2): features g < h of a pair; h is -1 for a feature by itself."""

MOST_PAIRS = 1 << 22
"""Pairs that are listed; of more, some have to be drawn."""


def all_pairs(n_features: int) -> Columns:
    """Every pair of features, in order."""
    n = n_features * (n_features - 1) // 2
    if n > MOST_PAIRS:
        raise ValueError(
            f"{n_features:,} features have {n:,} pairs, more than the {MOST_PAIRS:,} that can be "
            "listed; give a list of pairs, or let an estimator draw some by interactions=<count>."
        )
    g, h = np.triu_indices(n_features, 1)
    return np.column_stack([g, h]).astype(np.int64)


def draw_pairs(features: NDArray[np.int64], n: int, seed: int) -> Columns:
    """n different pairs of these features, at random; nothing of the size of all pairs is made."""
    p = len(features)
    drawn = draw_without_replacement(np.random.default_rng(seed), p * (p - 1) // 2, n, 1)[0]
    # Pair number i of the rows (0, 1), (0, 2), ..., (1, 2), ...: row g begins at g (2 p - g - 1)/2.
    g = np.floor(p - 0.5 - np.sqrt((p - 0.5) ** 2 - 2.0 * drawn)).astype(np.int64)
    g -= g * (2 * p - g - 1) // 2 > drawn
    g += (g + 1) * (2 * p - g - 2) // 2 <= drawn
    h = drawn - g * (2 * p - g - 1) // 2 + g + 1
    return np.column_stack([features[g], features[h]])


def some_of(pairs: Columns, n: int, seed: int) -> Columns:
    """n of these pairs, at random; all if there are no more."""
    if len(pairs) <= n:
        return pairs
    return pairs[draw_without_replacement(np.random.default_rng(seed), len(pairs), n, 1)[0]]


def some_pairs(
    given: Iterable[Any], n_features: int, names: Sequence[str] | None, parameter: str
) -> Columns:
    """Pairs that are given by names or indices; an error says which one is wrong."""
    position = {} if names is None else {name: i for i, name in enumerate(names)}
    found: dict[tuple[int, int], Any] = {}
    for item in given:
        if isinstance(item, str | bytes) or not hasattr(item, "__len__") or len(item) != 2:
            raise ValueError(
                f"{parameter} has {item!r}; expected pairs of two features, by name or index, such "
                "as ('age', 'income')."
            )
        g, h = (column_index(one, n_features, position, parameter) for one in item)
        if g == h:
            raise ValueError(
                f"{parameter} has the pair {item!r} of a feature with itself; leave it out: every "
                "feature has a curve of its own."
            )
        pair = (min(g, h), max(g, h))
        if pair in found:
            raise ValueError(f"{parameter} has the pair {item!r} twice; leave one of them out.")
        found[pair] = item
    return np.array(sorted(found), np.int64).reshape(-1, 2)


def allowed_pairs(
    pairs: Columns, constraints: Any, n_features: int, names: Sequence[str] | None
) -> Columns:
    """The pairs whose features are together in one of the sets of ``interaction_constraints``;
    features of no set act with nobody. None: all."""
    if constraints is None:
        return pairs
    sets = check_sets(constraints, n_features, names)
    inside = np.zeros(len(pairs), dtype=bool)
    for members in sets:
        marked = np.zeros(n_features, dtype=bool)
        marked[members] = True
        inside |= marked[pairs].all(axis=1)
    return pairs[inside]


def check_sets(
    constraints: Any, n_features: int, names: Sequence[str] | None
) -> list[NDArray[np.int64]]:
    """Sets of features by index, or an error that says what is wrong."""
    if isinstance(constraints, str | bytes) or not isinstance(constraints, Iterable):
        raise TypeError(
            f"interaction_constraints={constraints!r} is no list of sets of features, such as "
            "[['age', 'income'], [2, 3, 4]]."
        )
    position = {} if names is None else {name: i for i, name in enumerate(names)}
    found = []
    for members in constraints:
        if isinstance(members, str | bytes) or not isinstance(members, Iterable):
            raise TypeError(
                f"interaction_constraints has {members!r}, which is no set of features; use lists "
                "of names or indices."
            )
        indices = [
            column_index(item, n_features, position, "interaction_constraints") for item in members
        ]
        found.append(np.array(sorted(set(indices)), np.int64))
    return found


def pairs_within(sets: list[NDArray[np.int64]], features: NDArray[np.int64]) -> Columns:
    """Every pair of these features that one of the sets has both of."""
    inside = [np.intersect1d(members, features) for members in sets]
    found = [np.empty((0, 2), np.int64), *(one[all_pairs(len(one))] for one in inside)]
    return np.unique(np.concatenate(found), axis=0)


def with_stumps(pairs: Columns, n_features: int) -> Columns:
    """Every feature by itself, then the pairs."""
    alone = np.column_stack([np.arange(n_features), np.full(n_features, -1)])
    return np.concatenate([alone.astype(np.int64), pairs])


def groups_of_columns(
    groups: Any, columns: Columns, n_features: int, names: Sequence[str] | None
) -> list[list[int]] | None:
    """A partition of pairs (and of features by themselves, where there are stumps) as one of
    columns."""
    if groups is None:
        return None
    position = {} if names is None else {name: i for i, name in enumerate(names)}
    place = {(int(g), int(h)): k for k, (g, h) in enumerate(columns)}
    found: list[list[int]] = []
    owner: dict[int, int] = {}
    for group in groups:
        mine = []
        for item in group:
            parts = (item,) if isinstance(item, str) or not hasattr(item, "__len__") else item
            index = sorted(column_index(one, n_features, position, "groups") for one in parts)
            key = (index[0], index[1] if len(index) == 2 else -1) if index else ()
            if len(index) > 2 or key not in place:
                raise ValueError(
                    f"groups has {item!r}, which is none of the {len(columns)} pairs and features "
                    "that the weak-learners are of; groups are a partition of these."
                )
            k = place[key]
            if k in owner:
                raise ValueError(
                    f"groups must be a partition: {item!r} is in groups[{owner[k]}] and in "
                    f"groups[{len(found)}]; leave one of them out."
                )
            owner[k] = len(found)
            mine.append(k)
        found.append(mine)
    left = [k for k in range(len(columns)) if k not in owner]
    if left:
        raise ValueError(
            f"groups must be a partition: {len(left)} of {len(columns)} pairs and features are in "
            f"no group, the first of them {_shown(columns[left[:3]], names)}; add them, leave them "
            "out by Pairs(pairs=...), or leave groups=None for a group for each."
        )
    return found


def _shown(columns: Columns, names: Sequence[str] | None) -> str:
    """Pairs and features as a user would give them."""
    known = [[int(g) if names is None else str(names[g]) for g in one if g >= 0] for one in columns]
    return ", ".join(repr(tuple(one) if len(one) > 1 else one[0]) for one in known)
