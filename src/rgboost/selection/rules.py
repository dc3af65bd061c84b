"""The paper's four selection rules."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .layout import (
    Layout,
    Subsets,
    columns_of_groups,
    columns_of_learners,
    draw_without_replacement,
)

SubsetSize = int | float | Literal["sqrt", "all"]
"""t, the size of the random subset: a count, a fraction, the square root, or all."""


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


@dataclass(frozen=True)
class SelectionRule:
    """Base of the rules. Draws are without replacement, sorted in each subset.

    A rule of your own says in `size` that a draw takes t out of n items.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomGroups
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomGroups(2)
    >>> rule.size(layout)
    (2, 3)
    """

    type: ClassVar[int]
    uniform: ClassVar[bool] = True
    """Whether all items are drawn with the same probability, as in the paper."""
    by_learner: ClassVar[bool] = False
    """Whether the items are single weak-learners, not groups of them."""

    def size(self, layout: Layout) -> tuple[int, int]:
        """(t, n): each draw takes t out of n items."""
        raise NotImplementedError

    def draw(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        """Draw ``n_draws`` subsets as sorted rows of item numbers, one row if all are the same."""
        t, n = self.size(layout)
        return draw_without_replacement(rng, n, t, n_draws)

    def subsets(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> Subsets:
        """Draw the subsets J of ``n_draws`` iterations."""
        return columns_of_groups(layout, self.draw(layout, rng, n_draws))

    def learners(self, layout: Layout, draw: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weak-learners (indices from 0 to K - 1, sorted) that one row of `draw` stands for."""
        columns = np.concatenate(
            [layout.members[layout.group_start[g] : layout.group_start[g + 1]] for g in draw]
        )
        spans = [np.arange(layout.offsets[c], layout.offsets[c + 1]) for c in np.sort(columns)]
        return np.concatenate(spans)


@dataclass(frozen=True)
class AllLearners(SelectionRule):
    """Type 0: J is the whole set. RGBM with this rule is GBM (Algorithm 1).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import AllLearners, Layout
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = AllLearners()
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([0, 1, 2, 3, 4, 5])
    """

    type: ClassVar[int] = 0

    def size(self, layout: Layout) -> tuple[int, int]:
        return layout.n_groups, layout.n_groups


@dataclass(frozen=True)
class LearnerRule(SelectionRule):
    """Base of the rules that draw single weak-learners."""

    by_learner: ClassVar[bool] = True

    def subsets(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> Subsets:
        return columns_of_learners(layout, self.draw(layout, rng, n_draws))

    def learners(self, layout: Layout, draw: NDArray[np.int64]) -> NDArray[np.int64]:
        return draw


@dataclass(frozen=True)
class RandomLearners(LearnerRule):
    """Type 1: J holds t weak-learners drawn uniformly from all K of them.

    Parameters
    ----------
    t : int, float, "sqrt" or "all"
        How many: a count, a fraction of K, the square root of K, or all.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomLearners
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomLearners(3)
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([0, 1, 2])
    """

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 1

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_learners
        return resolve_subset_size(self.t, max(n, 1), of="weak-learners", available=n), n


@dataclass(frozen=True)
class RandomGroups(SelectionRule):
    """Type 3: J holds all weak-learners of t groups drawn uniformly from all G of them.

    Parameters
    ----------
    t : int, float, "sqrt" or "all"
        How many groups: a count, a fraction of G, the square root of G, or all.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomGroups
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomGroups(2)
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([0, 1, 2, 3])
    """

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 3

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_groups
        return resolve_subset_size(self.t, layout.n_groups_given, available=n), n


@dataclass(frozen=True)
class RandomGroup(SelectionRule):
    """Type 2: J holds all weak-learners of one group drawn uniformly.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomGroup
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomGroup()
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([2, 3])
    """

    type: ClassVar[int] = 2

    def size(self, layout: Layout) -> tuple[int, int]:
        return min(1, layout.n_groups), layout.n_groups
