"""The paper's four selection rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .draws import Subsets, columns_of_groups, columns_of_learners, draw_without_replacement
from .layout import Layout
from .subset_size import SubsetSize, resolve_subset_size


@dataclass(frozen=True)
class SelectionRule:
    """Base of the rules. Draws are without replacement, sorted in each subset."""

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
    """Type 0: J is the whole set. RGBM with this rule is GBM (Algorithm 1)."""

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
    """Type 1: J holds t weak-learners drawn uniformly from all K of them."""

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 1

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_learners
        return resolve_subset_size(self.t, max(n, 1), of="weak-learners", available=n), n


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
