"""A problem: everything that an engine needs to begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from ..learners.base import Prepared
from ..losses import Loss
from ..selection import SelectionRule
from ..statistics.base import Facts, RowsInBins, Source
from ..steps import StepRule

Vector = NDArray[np.float64]


@one_line
@dataclass(frozen=True)
class Validation:
    """Held-out rows whose loss is recorded in every iteration.

    Parameters
    ----------
    X
        The rows.
    y : ndarray
        Their labels.
    weight : ndarray, optional
        Their weights.
    offset : ndarray, optional
        A known part of the score of every row; see `rgboost.boost`.

    Examples
    --------
    >>> import numpy as np
    >>> from rgboost import Stumps, boost
    >>> from rgboost.losses import Squared
    >>> from rgboost.selection import RandomGroups
    >>> from rgboost.steps import ConstantStep
    >>> from rgboost.training import Validation
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> rules = dict(learner=Stumps(max_bins=16), selection=RandomGroups(1), step=ConstantStep())
    >>> held = Validation(X[150:], y[150:])
    >>> boosted = boost(X[:150], y[:150], loss=Squared(), n_iter=50, validation=held, **rules)
    >>> len(boosted.trace.validation_loss)
    51
    """

    X: Any
    y: Vector
    weight: Vector | None = None
    offset: Vector | None = None
    """A known part of the score of every row; see `rgboost.boost`."""

    def with_positive_weight(self) -> Validation:
        """Without the rows that have no weight."""
        if self.weight is None or (self.weight > 0).all():
            return self
        kept = self.weight > 0
        return Validation(self.X[kept], self.y[kept], self.weight[kept], rows_of(self.offset, kept))

    def shifted(self) -> Validation:
        """The offset as a shift of the labels."""
        return self if self.offset is None else replace(self, y=self.y - self.offset, offset=None)


def rows_of(values: Vector | None, rows: NDArray) -> Vector | None:
    """Weights or offsets of some rows; None stays None."""
    return None if values is None else values[rows]


def with_offset(start: Any, offset: Vector | None) -> Any:
    """The scores of the rows at the null model; ``start`` itself if all have the same."""
    return start if offset is None else start + offset


def total_weight(y: Vector, weight: Vector | None) -> float:
    return float(len(y)) if weight is None else float(weight.sum())


class RowSet(NamedTuple):
    """Some rows: their labels, weights (None: all 1) and offsets (None: all 0)."""

    y: Vector
    weight: Vector | None
    offset: Vector | None

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        return total_weight(self.y, self.weight)

    def take(self, rows: NDArray) -> RowSet:
        return RowSet(self.y[rows], rows_of(self.weight, rows), rows_of(self.offset, rows))


def start_of(loss: Loss, rows: RowSet, start_score: float | None) -> Any:
    """The score of the null model, with several classes one for each; infinite where sums overflow.

    None: the best constant for these rows.
    """
    if start_score is None:
        beside = {} if rows.offset is None else {"offset": rows.offset}
        with np.errstate(over="ignore", invalid="ignore"):
            return loss.best_constant(rows.y, rows.weight, **beside)
    if loss.outputs > 1:
        return np.full(loss.outputs, float(start_score))
    return float(start_score)


@dataclass
class Problem:
    """Prepared weak-learners, labels and rules.

    ``start`` is the constant score of the null model (one for each of several classes), to which
    the ``offset`` of a row is added. ``best_start``: every run starts from the best constant of its
    own rows. ``held`` are validation rows, with ``held_arrays`` the weak-learners on them. ``fold``
    has the number of each row's fold, for a run without each of them; None: one run on all rows.
    Labels and scores are counted from ``centre``: sums of labels that are far from zero would lose
    what tells them apart.
    """

    prepared: Prepared
    y: Vector
    weight: Vector | None
    start: Any
    loss: Loss
    selection: SelectionRule
    step: StepRule
    rule: Any
    """The step rule as compiled code reads it."""
    learning_rate: float
    held: Validation | None
    held_arrays: Any
    random_state: Any
    n_iter: int
    n_jobs: int
    gram_memory: int
    """Bytes for Gram rows."""
    offset: Vector | None = None
    centre: float = 0.0
    best_start: bool = False
    fold: NDArray[np.int64] | None = None
    source: Source | None = None
    """Who has the rows, if they are not above; then ``start`` may be None, to be found out."""
    facts: Facts | None = None
    """What the source says of its rows."""
    in_bins: RowsInBins | None = None
    """The rows of the source, once they are in bins."""
    n_folds: int = 1
    """How many folds the rows of a source are in."""
    run_scores: Vector | None = None
    """Scores that the runs of folds begin with: (runs, rows), or (runs, rows, classes)."""
    tol: float = 0.0
    """The least relative fall of the loss for which quadratic models are made anew."""

    @property
    def rows(self) -> RowSet:
        return RowSet(self.y, self.weight, self.offset)

    @property
    def held_rows(self) -> RowSet:
        """The validation rows; none if there are none."""
        held = self.held
        if held is None:
            return RowSet(np.empty(0), None, None)
        return RowSet(held.y, held.weight, held.offset)

    @property
    def n_classes(self) -> int | None:
        """How many scores a row has, if several."""
        outputs = self.loss.outputs
        return None if outputs == 1 else outputs

    @property
    def n_runs(self) -> int:
        return self.n_folds if self.fold is None else int(self.fold.max()) + 1

    @property
    def goes_on_from_curves(self) -> bool:
        """Whether runs go on from curves with pairs, by sums in the cells of these."""
        return self.source is not None and self.source.curves is not None

    def generators(self) -> Iterator[np.random.Generator]:
        """A generator of subsets for every run."""
        if self.n_runs == 1:
            yield np.random.default_rng(self.random_state)
        else:
            yield from (np.random.default_rng([self.random_state, k]) for k in range(self.n_runs))

    @property
    def null_score(self) -> Any:
        """The scores of the rows at the null model; one number if all have the same."""
        return with_offset(self.start, self.offset)

    def most_columns(self) -> int:
        """The most columns that a subset J can have."""
        layout = self.prepared.layout
        size, _ = self.selection.size(layout)
        if self.selection.by_learner:
            return min(size, len(layout.members))
        sizes = np.diff(layout.group_start)
        return int(np.sort(sizes)[::-1][:size].sum())

    def cells_per_iteration(self) -> float:
        """Entries of the data that the search of an average iteration reads."""
        layout = self.prepared.layout
        size, of = self.selection.size(layout)
        if self.selection.by_learner:
            size, of = min(size, len(layout.members)), len(layout.members)
        return self.prepared.cells * size / max(1, of)
