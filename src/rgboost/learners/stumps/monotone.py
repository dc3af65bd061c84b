"""Stumps that rise or fall with their feature: monotone constraints.

A stump is monotone by itself, and a sum of stumps that rise with a feature rises with it. So it is
enough to look at each stump. With S the left sum and E the one that scores nothing (see `splits`),
the right leaf is above the left one exactly if S < E. Where the order is the forbidden one, the
best vector of the cone that is left is the constant one (free leaves) or none (signed leaves): the
same score with S - E taken as 0.

Missing values have no place in the order of a feature. A threshold is kept in order whichever side
missing values take; the split of missing values from all values is free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ...data.mixed_bins import MixedCuts
from ...model import Coverage, Path
from ...selection.layout import column_index
from ..base import Additive, LearnerFamily, Prepared
from ..kernels import (
    Pick,
    accumulate,
    direction,
    make_pick,
    note_noise,
    note_set,
    scratch_size,
    search_columns,
    trust,
)
from .family import PreparedStumps, Stumps
from .prepared_mixed import PreparedMixedStumps
from .some_rows import normalised, on_some_rows, same_as, take_rows
from .splits import best_allowed, expected_sum, pick_split, shared_score, split_type
from .stump_statistics import bar_light_sides, column_left_sums, gather_column


@dataclass(frozen=True)
class Monotone(LearnerFamily):
    """`Stumps` under constraints: +1 for a feature whose function may not fall, -1 for one that
    may not rise, 0 for any.

    ``constraints`` is a dict from names or indices of features, or a sequence with an entry for
    each feature. The value of missing entries is free; a categorical feature cannot be
    constrained. Steps are along the weak-learner: the constant step or line search.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import RGBMRegressor
    >>> from rgboost.learners import Monotone, Stumps
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> rising = Monotone(Stumps(max_bins=16), {0: 1})
    >>> model = RGBMRegressor(learner=rising, max_iter=50).fit(X, np.sin(6 * X[:, 0]))
    >>> bool((np.diff(model.predict(X)) >= 0).all())
    True
    """

    stumps: Stumps
    constraints: Any
    knows_folds: ClassVar[bool] = True

    @property
    def unconstrained(self) -> Stumps:
        return self.stumps

    def acting_together(self, sets: Any) -> Monotone:
        return self  # functions of single features

    def prepare(
        self,
        X: Any,
        weight: NDArray[np.float64] | None = None,
        *,
        groups: Any = None,
        names: Any = None,
        n_jobs: int = 1,
    ) -> Prepared:
        signs = check_constraints(self.constraints, X.shape[1], names)
        check_ordered(signs, self.stumps.categorical, names)
        prepared = self.stumps.prepare(X, weight, groups=groups, names=names, n_jobs=n_jobs)
        return PreparedMonotone(prepared, split_signs(signs, prepared)) if signs.any() else prepared


def constrained(family: LearnerFamily, constraints: Any) -> LearnerFamily:
    """A family under monotone constraints, or an error if it knows none.

    Parameters
    ----------
    family : LearnerFamily
    constraints : dict or sequence of {-1, 0, 1}
        As ``monotone_constraints`` of the estimators.

    Returns
    -------
    LearnerFamily

    Examples
    --------
    >>> from rgboost.learners import Stumps, constrained
    >>> constrained(Stumps(), {"income": 1}).constraints
    {'income': 1}
    """
    if isinstance(family, Stumps):
        return Monotone(family, constraints)
    if getattr(family, "constraints", None) is not None:
        raise ValueError(
            "monotone_constraints are given twice, to the estimator and to "
            f"{type(family).__name__}; leave out one of them."
        )
    return family.constrained(constraints)


def check_constraints(
    constraints: Any, n_features: int, names: Sequence[str] | None = None
) -> NDArray[np.int8]:
    """The sign of every feature, or an error that says what is wrong."""
    signs = np.zeros(n_features, np.int8)
    if isinstance(constraints, Mapping):
        position = {} if names is None else {name: i for i, name in enumerate(names)}
        given: dict[int, Any] = {}
        for item, sign in constraints.items():
            index = column_index(item, n_features, position, "monotone_constraints")
            first = given.setdefault(index, item)
            if first is not item and signs[index] != sign:  # by name and by index, say
                raise ValueError(
                    f"monotone_constraints has {signs[index]} for the feature {first!r} and "
                    f"{sign!r} for {item!r}, which is the same feature; give it once."
                )
            signs[index] = _check_sign(sign, item)
        return signs
    if isinstance(constraints, str) or np.ndim(constraints) != 1:
        raise TypeError(
            f"monotone_constraints={constraints!r} is not a dict from features to -1, 0 or 1, "
            "nor a sequence of them."
        )
    if len(constraints) != n_features:
        raise ValueError(
            f"monotone_constraints has {len(constraints)} entries and X has {n_features} features; "
            "give one for each feature, or a dict of those that are constrained."
        )
    for index, sign in enumerate(constraints):
        signs[index] = _check_sign(sign, index)
    return signs


def _check_sign(sign: Any, item: Any) -> int:
    if isinstance(sign, bool | np.bool_) or sign not in (-1, 0, 1):
        raise ValueError(
            f"monotone_constraints has {sign!r} for the feature {item!r}; use 1 (may not fall), "
            "-1 (may not rise) or 0."
        )
    return int(sign)


def check_ordered(
    signs: NDArray[np.int8], categorical: Sequence[int], names: Sequence[str] | None
) -> None:
    """Raise if a categorical feature is to rise or fall: its categories have no order."""
    for g in categorical:
        if signs[g]:
            name = g if names is None else names[g]
            raise ValueError(
                f"monotone_constraints has {signs[g]} for the feature {name!r}, which is "
                "categorical: its categories have no order. Use 0, or encode them as numbers."
            )


def split_signs(
    signs: NDArray[np.int8], prepared: PreparedStumps | PreparedMixedStumps
) -> NDArray[np.int8]:
    """The sign of every weak-learner: that of its feature, but 0 for the one that separates
    missing values from all values."""
    offsets = prepared.layout.offsets
    found = np.repeat(signs, np.diff(offsets))
    if isinstance(prepared, PreparedMixedStumps):
        cuts = prepared.cuts
        free = np.flatnonzero(cuts.has_missing & ~cuts.categorical & (np.diff(offsets) > 0))
        found[offsets[free] + cuts.n_values[free] - 1] = 0
    return found


class MonotoneStumps(NamedTuple):
    """The arrays of stumps, and the sign of every weak-learner."""

    stumps: Any
    signs: NDArray[np.int8]


@dataclass
class PreparedMonotone(Prepared):
    """Stumps on binned training rows, under constraints."""

    inner: PreparedStumps | PreparedMixedStumps
    signs: NDArray[np.int8]

    def __post_init__(self) -> None:
        self.arrays = MonotoneStumps(self.inner.arrays, self.signs)
        self.layout = self.inner.layout
        self.cuts = self.inner.cuts
        self.cells = self.inner.cells
        self.sums_by_rows, self.sparse = self.inner.sums_by_rows, self.inner.sparse
        self.set_bytes = self.inner.set_bytes

    def arrays_for(self, X: Any, n_jobs: int = 1) -> Any:
        return MonotoneStumps(self.inner.arrays_for(X, n_jobs), self.signs)

    def lasting(self, arrays: Any) -> Any:
        return self.inner.lasting(arrays.stumps), self.signs

    step_fields = ("left", "right")

    def choice_type(self, n_classes: int | None) -> np.dtype[Any]:
        return split_type(n_classes, self.set_bytes)

    def on_some_rows(self, rows: Any, weight: Any, others: Any) -> tuple[Any, Any]:
        return on_some_rows(self.arrays, rows, weight, others)

    def model(self, path: Path, intercept: Any) -> Additive:
        return self.inner.model(path, intercept)

    def bins(self) -> MixedCuts:
        return self.inner.bins()

    def bins_of_rows(self) -> Any:
        return self.inner.bins_of_rows()

    def coverage(self, model: Any, path: Path) -> Coverage:
        return self.inner.coverage(model, path)


@scratch_size.register(MonotoneStumps)
def _scratch_size(learners):
    return scratch_size(learners.stumps)


@accumulate.register(MonotoneStumps)
def _accumulate(learners, columns, residual, lo, hi, scratch, first, partial_out):
    accumulate(learners.stumps, columns, residual, lo, hi, scratch, first, partial_out)


@note_noise.register(MonotoneStumps)
def _note_noise(learners, residual, weight, weighted):
    note_noise(learners.stumps, residual, weight, weighted)


@trust.register(MonotoneStumps)
def _trust(learners, pick):
    return trust(learners.stumps, pick)


@note_set.register(MonotoneStumps)
def _note_set(learners, pick, bits_out):
    note_set(learners.stumps, pick, bits_out)


@direction.register(MonotoneStumps)
def _direction(learners, pick, lo, hi, out):
    direction(learners.stumps, pick, lo, hi, out)


@make_pick.register(MonotoneStumps)
def _make_pick(learners, column, learner, inner, total):
    splits = learners.stumps.splits
    pick = pick_split(splits, column, learner, inner, total)
    if learners.signs[learner] * (pick.right - pick.left) >= 0.0:
        return pick
    if splits.signed:
        return Pick(learner, column, 0.0, 0.0, 0.0)
    root = math.sqrt(splits.total_weight)
    height = 1.0 / root if total >= 0.0 else -1.0 / root
    return Pick(learner, column, abs(total) / root, height, height)


@search_columns.register(MonotoneStumps)
def _search_columns(learners, subset, k_start, k_stop, residual, total, scratch, partial, best_out):
    splits, bins = learners.stumps.splits, scratch.bins
    base = shared_score(splits, total)
    slope, shift = expected_sum(splits, total)
    for k in range(k_start, k_stop):
        column = subset.columns[k]
        first = splits.offsets[column]
        n = splits.offsets[column + 1] - first
        gather_column(learners.stumps, column, k, residual, total, partial, scratch)
        column_left_sums(learners.stumps, column, bins, total)
        scores = bins[n : 2 * n]
        score_allowed(
            bins[:n],
            splits.left_weight[first : first + n],
            splits.gain[first : first + n],
            slope,
            shift,
            learners.signs[first : first + n],
            scores,
        )
        bar_light_sides(learners.stumps, column, scores)
        best_out.score[k], split = best_allowed(scores, n, subset, k, first, base)
        best_out.learner[k], best_out.inner[k] = first + split, bins[split]


@kernel()
def score_allowed(sums, left_weight, gain, slope, shift, signs, out):
    """`splits.score_splits`, nothing where the leaves would be in the forbidden order."""
    for s in range(sums.shape[0]):
        off = sums[s] - (slope * left_weight[s] + shift)
        off = 0.0 if signs[s] * off > 0.0 else off
        out[s] = off * off * gain[s]


@take_rows.register
def _(arrays: MonotoneStumps, rows: NDArray[np.int64], n_rows: int) -> MonotoneStumps:
    return arrays._replace(stumps=take_rows(arrays.stumps, rows, n_rows))


@normalised.register
def _(arrays: MonotoneStumps, weight: NDArray[np.float64] | None, n_rows: int) -> MonotoneStumps:
    return arrays._replace(stumps=normalised(arrays.stumps, weight, n_rows))


@same_as.register
def _(arrays: MonotoneStumps, others: MonotoneStumps) -> MonotoneStumps:
    return arrays._replace(stumps=same_as(arrays.stumps, others.stumps))
