"""How weak-learners lie in columns, and columns in groups; and uniform subsets of them."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel


@dataclass(frozen=True)
class Layout:
    """How the weak-learners of a family lie: in columns, and the columns in groups.

    ``offsets[c]:offsets[c + 1]`` are the weak-learners of column c (a feature of stumps, a column
    of a dictionary). ``members[group_start[g]:group_start[g + 1]]`` are the columns of group g
    that have at least one weak-learner; groups without any are left out. ``n_groups_given``
    counts those too. ``left_weight`` is the weight of the rows on the left of each weak-learner,
    ascending in a column, of ``total_weight`` in all; None where weak-learners are no thresholds.

    Groups of your own are given by index, or by the names of features.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout
    >>> layout = Layout.make(np.array([0, 2, 4, 6]), groups=[[0, 2], [1]])
    >>> layout.n_learners, layout.n_groups
    (6, 2)
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
        """K, how many weak-learners there are."""
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        """G, how many groups they are in."""
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
            known = _known(item, position)
            raise ValueError(f"{parameter} names the feature {item!r}, but {known}.")
        return position[item]
    if not isinstance(item, numbers.Integral) or not 0 <= item < n_columns:
        raise ValueError(
            f"{parameter} has the feature {item!r}; expected a name or an index from 0 to "
            f"{n_columns - 1}."
        )
    return int(item)


_NAMES_SHOWN = 10


def _known(item: str, names: Iterable[str]) -> str:
    """Why a name is not known, and which ones are."""
    names = [str(name) for name in names]
    if not names:
        return "the input has no feature names; give indices, or a data frame"
    close = difflib.get_close_matches(item, names, 3)
    if close:
        return f"no feature has that name; did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:_NAMES_SHOWN]))
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"no feature has that name; there are {shown}{more}"


class Subsets(NamedTuple):
    """The subsets J of a block of iterations, as compiled code reads them.

    Iteration m looks at ``columns[start[m]:start[m + 1]]`` (with m modulo the number of subsets).
    If ``restricted``, it looks only at the weak-learners ``learners[first[k]:first[k + 1]]`` of
    the column at position k; otherwise at all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomGroups
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))
    >>> drawn = RandomGroups(2).subsets(layout, np.random.default_rng(0), n_draws=3)
    >>> drawn.start, drawn.columns
    (array([0, 2, 4, 6]), array([0, 1, 0, 2, 1, 2]))
    """

    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    restricted: bool
    first: NDArray[np.int64]
    learners: NDArray[np.int64]


def draw_without_replacement(
    rng: np.random.Generator, n: int, t: int, n_draws: int
) -> NDArray[np.int64]:
    """``n_draws`` uniform t-subsets of ``range(n)`` as sorted rows, by Floyd's algorithm.

    The stream does not depend on how draws are cut into calls. Drawing everything (t = n) uses no
    random number and gives a single row.
    """
    if t == n:
        return np.arange(n, dtype=np.int64)[None]
    return subsets_of_uniform(rng.random((n_draws, t)), n)


def subsets_of_uniform(uniform: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Rows of t uniform numbers as sorted t-subsets of ``range(n)``, in the same memory."""
    out = uniform.view(np.int64)  # a number is read before it is written over
    floyd_subsets(uniform, n, out)
    if out.shape[1] > 1:
        out.sort(axis=1)
    return out


@kernel()
def floyd_subsets(uniform, n, out):
    """Turn rows of t numbers, uniform on [0, 1), into t-subsets of ``range(n)``.

    Floyd's algorithm: the k-th number is a draw from 0..n-t+k; take the draw unless it is in the
    set already, else take n - t + k. The set is a table with open addressing, so the cost is O(t)
    however large n is.
    """
    t = uniform.shape[1]
    size = 4
    while size < 2 * t:
        size *= 2
    table = np.empty(size, np.int64)
    for i in range(uniform.shape[0]):
        table[:] = -1
        for k in range(t):
            item = int(uniform[i, k] * (n - t + k + 1))
            slot = _slot(table, item)
            if table[slot] == item:
                item = n - t + k
                slot = _slot(table, item)
            table[slot] = item
            out[i, k] = item


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


def columns_of_groups(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
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


def columns_of_learners(layout: Layout, draw: NDArray[np.int64]) -> Subsets:
    """Sorted learners -> the columns they lie in, and for each column its share of them."""
    start = np.empty(len(draw) + 1, np.int64)
    columns, first = np.empty(draw.size, np.int64), np.empty(draw.size + 1, np.int64)
    n = group_by_column(layout.offsets, draw, start, columns, first)
    return Subsets(start, columns[:n], True, first[: n + 1], draw.ravel())


@kernel()
def group_by_column(offsets, draw, start_out, columns_out, first_out):
    """Write where each subset starts, its columns, and where their learners start; returns how many
    columns there are in all."""
    k = 0
    for i in range(draw.shape[0]):
        start_out[i] = k
        stop = -1  # the first learner after the column at hand
        for j in range(draw.shape[1]):
            if draw[i, j] >= stop:
                column = np.searchsorted(offsets, draw[i, j], side="right") - 1
                stop = offsets[column + 1]
                columns_out[k] = column
                first_out[k] = i * draw.shape[1] + j
                k += 1
    start_out[draw.shape[0]] = k
    first_out[k] = draw.size
    return k
