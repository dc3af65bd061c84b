"""Which way to a mean of several runs is expected to be the faster one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy.sparse

from ..data.mixed_bins import columns_with_missing
from ..engines.quadratic.runs import loss_obstacle
from ..learners import LearnerFamily, Stumps
from ..learners.stumps import FEW_SPLITS
from ..losses import Loss
from ..selection import RandomThresholds, SelectionRule
from ..steps import StepRule

ENTRY, ROW, CURVED_ROW, SPLIT = 0.07, 1.0, 2.0, 1.0
"""Nanoseconds of an iteration by rows, for each entry that it reads and each row; and by
statistics, for each split."""
MANY_BINS = 255
LONG_ITERATION = 25_000.0
"""Nanoseconds of an iteration from which quadratic models are faster."""
MOST_ROWS = 20_000
"""More rows have blocks of iterations that are too long for those who wait, and sums that are too
long for single precision."""
MOST_CLASS_SCORES = 100_000
"""Rows times classes up to which the mean of several runs is worth its time."""
DENSE_CELLS = 1 << 22
"""Entries of a sparse matrix that is made dense."""


def rows_are_faster(
    shape: tuple[int, int],
    selection: SelectionRule,
    loss: Loss,
    step: StepRule,
    learning_rate: float,
    engine: str,
) -> bool:
    """Whether runs by rows are expected to be faster than those by statistics, which are there; or,
    of several classes, whether they are worth their time."""
    n_rows, n_features = shape
    if loss.outputs > 1:
        return n_rows * loss.outputs <= MOST_CLASS_SCORES
    if not (isinstance(selection, RandomThresholds) and type(selection.t) is int):
        return False
    if loss.quadratic:
        cheap = SPLIT * n_features * MANY_BINS
        return n_rows * (ENTRY * selection.t + ROW) < cheap and engine == "auto"
    if engine != "auto" or not loss.newton:
        return False
    if loss_obstacle(loss, step, learning_rate) is not None:
        return False
    return n_rows * (ENTRY * selection.t + CURVED_ROW) < LONG_ITERATION


def can_be_dense(X: Any) -> bool:
    """Whether rows are dense, or few enough to be."""
    return not scipy.sparse.issparse(X) or X.shape[0] * X.shape[1] <= DENSE_CELLS


def can_be_plain(X: Any, learner: Stumps) -> bool:
    """Whether rows are numbers without missing values, dense or few enough to be."""
    if learner.categorical or 0 in X.shape or not can_be_dense(X):
        return False
    return X.shape[0] <= MOST_ROWS and not columns_with_missing(X).any()


def bins_of_thresholds(learner: LearnerFamily, selection: SelectionRule, X: Any) -> LearnerFamily:
    """With ``max_bins="auto"``, more bins for `RandomThresholds`: those that few rows fill follow
    their noise only if they can be chosen from."""
    if not isinstance(selection, RandomThresholds) or not isinstance(learner, Stumps):
        return learner
    if learner.max_bins != "auto" or 0 in X.shape:
        return learner
    if can_be_plain(X, learner):
        return replace(learner, max_bins=MANY_BINS)  # an iteration on rows costs the same
    usual = learner.bins_for(X)
    assert usual is not None
    return replace(learner, max_bins=max(usual, min(MANY_BINS, FEW_SPLITS // X.shape[1])))
