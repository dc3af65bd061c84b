"""Weak-learners of some features in every subset: not in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .layout import Layout, draw_without_replacement
from .rules import RandomLearners, resolve_subset_size


@dataclass(frozen=True)
class RandomLearnersAndAlways(RandomLearners):
    """J holds all weak-learners of the features ``always``, and t drawn uniformly from the others.

    Parameters
    ----------
    t
        How many weak-learners are drawn besides those that are always there: a count, a fraction of
        those that can be drawn, ``"sqrt"`` of them or ``"all"``.
    always
        Names or indices of features.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomLearnersAndAlways
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomLearnersAndAlways(1, always=[0])
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([0, 1, 4])
    """

    always: Sequence[int | str] = ()
    uniform: ClassVar[bool] = False

    def size(self, layout: Layout) -> tuple[int, int]:
        always, others = self._parts(layout)
        return len(always) + self._n_drawn(len(others)), layout.n_learners

    def draw(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        always, others = self._parts(layout)
        n = len(others)
        drawn = others[draw_without_replacement(rng, n, self._n_drawn(n), n_draws)]
        fixed = np.broadcast_to(always, (len(drawn), len(always)))
        return np.sort(np.concatenate([fixed, drawn], axis=1), axis=1)

    def _n_drawn(self, n: int) -> int:
        return resolve_subset_size(self.t, n, of="weak-learners of other features") if n else 0

    def _parts(self, layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(weak-learners that are always in J, those that can be drawn)."""
        kept = layout.mark(self.always, "always_features")
        is_always = np.repeat(kept, np.diff(layout.offsets))
        return np.flatnonzero(is_always), np.flatnonzero(~is_always)
