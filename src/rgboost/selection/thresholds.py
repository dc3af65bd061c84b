"""A random threshold of each of some features: not in the paper."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .layout import Layout, Subsets, columns_of_learners, subsets_of_uniform
from .rules import LearnerRule, SubsetSize, resolve_subset_size


@dataclass(frozen=True)
class RandomThresholds(LearnerRule):
    """J holds t weak-learners, spread evenly over the features: one of each of t features, which
    are drawn uniformly; if t is more than their number, as many of each, and one more of some.

    Of a feature it is the threshold nearest to a random quantile of its values; of one with
    categories or missing values, any of its weak-learners. This is how Extra-Trees split a node
    (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006). With `RandomLearners` a
    feature with many thresholds comes more often than one with few; here it does not, and the less
    there is to choose from, the less the choice follows the noise.

    Parameters
    ----------
    t
        How many weak-learners (a threshold may come twice): a count, a fraction of all, ``"sqrt"``
        of them or ``"all"`` (their number, which is also the most).

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost.selection import Layout, RandomThresholds
    >>> layout = Layout.make(np.array([0, 2, 4, 6]))  # three features with two weak-learners each
    >>> rule = RandomThresholds(3)
    >>> rule.learners(layout, rule.draw(layout, np.random.default_rng(0), 1)[0])
    array([1, 2, 4])
    """

    t: SubsetSize = "sqrt"
    type: ClassVar[int] = 5
    uniform: ClassVar[bool] = False

    def size(self, layout: Layout) -> tuple[int, int]:
        n = layout.n_learners
        t = min(self.t, max(n, 1)) if isinstance(self.t, numbers.Integral) else self.t
        return resolve_subset_size(t, max(n, 1), of="weak-learners", available=n), n

    def subsets(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> Subsets:
        draw, columns = self._draw(layout, rng, n_draws)
        t = draw.shape[1]
        if t > len(layout.members):
            return columns_of_learners(layout, draw)
        start = np.arange(n_draws + 1, dtype=np.int64) * t
        first = np.arange(draw.size + 1, dtype=np.int64)  # one weak-learner of each column
        return Subsets(start, columns.ravel(), True, first, draw.ravel())

    def draw(self, layout: Layout, rng: np.random.Generator, n_draws: int) -> NDArray[np.int64]:
        return self._draw(layout, rng, n_draws)[0]

    def _draw(
        self, layout: Layout, rng: np.random.Generator, n_draws: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Weak-learners, and the columns that they lie in: in the same order if t is at most the
        number of columns."""
        columns, t = np.sort(layout.members), self.size(layout)[0]
        out = np.empty((n_draws, t), np.int64)
        if t == 0:
            return out, out
        of_each, of_some = divmod(t, len(columns))
        uniform = rng.random((n_draws, t + of_some))  # in one call: blocks of any length agree
        drawn = columns[subsets_of_uniform(uniform[:, t:].copy(), len(columns))]
        if of_each:
            every = np.broadcast_to(np.repeat(columns, of_each), (n_draws, t - of_some))
            drawn = np.concatenate([every, drawn], axis=1)
        drawn = np.ascontiguousarray(drawn)  # one layout, so that one kernel is compiled
        left_weight = np.empty(0) if layout.left_weight is None else layout.left_weight
        pick_thresholds(layout.offsets, left_weight, layout.total_weight, drawn, uniform, out)
        if of_each:  # in one of several, columns come in order already
            out.sort(axis=1)
        return out, drawn


@kernel()
def pick_thresholds(offsets, left_weight, total_weight, columns, uniform, out):
    """Of each column, the weak-learner at a share of its weight, or of their number if weights are
    not given."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            first, stop = offsets[columns[i, k]], offsets[columns[i, k] + 1]
            if left_weight.shape[0] == 0:
                out[i, k] = first + int(uniform[i, k] * (stop - first))
                continue
            weight = uniform[i, k] * total_weight
            if left_weight[first] > weight:  # mostly so where most values are the smallest
                out[i, k] = first
                continue
            lo, hi = first, stop  # the first threshold with more than that on its left
            while lo < hi:
                middle = (lo + hi) // 2
                if left_weight[middle] > weight:
                    hi = middle
                else:
                    lo = middle + 1
            if lo == stop:
                lo = stop - 1
            elif lo > first and weight - left_weight[lo - 1] < left_weight[lo] - weight:
                lo -= 1
            out[i, k] = lo
