"""The mean of k models, each fitted without one fold, by passes over few rows.

For every loss that is compiled; see `rgboost.training.fold_mean` for what the mean is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...data.mixed_bins import columns_with_missing
from ...learners import LearnerFamily, Stumps
from ...learners.dense_stumps import DenseStumps
from ...learners.stumps import FEW_SPLITS
from ...losses import Loss, Softmax, Squared
from ...selection import RandomThresholds, SelectionRule
from ...steps import StepRule
from ...training.boost import Boosted, enter_all
from ...training.budget import gram_budget
from ...training.callbacks import Callback
from ...training.fold_mean import mean_of_runs
from ...training.make_problem import make_problem
from ...training.stopping import EarlyStopping
from ..problem import Problem
from ..quadratic.curved_rows import LIGHTEST, curvature_of, in_units_of_the_largest
from ..quadratic.quadratic_mean import quadratic_obstacle
from .class_runs import ClassRuns
from .few_rows_loop import FewRowsRule
from .row_runs import RowRuns
from .softmax import check_classes

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
    if isinstance(loss, Softmax):
        return n_rows * loss.n_classes <= MOST_CLASS_SCORES
    if not (isinstance(selection, RandomThresholds) and type(selection.t) is int):
        return False
    if type(loss) is Squared:
        cheap = SPLIT * n_features * MANY_BINS
        return n_rows * (ENTRY * selection.t + ROW) < cheap and engine == "auto"
    if quadratic_obstacle(loss, step, learning_rate, engine) is not None:
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


def boost_row_mean(
    X: Any,
    y: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    loss: Loss,
    n_iter: int,
    rule: EarlyStopping,
    start_score: float | None,
    random_state: int,
    weight: NDArray[np.float64] | None = None,
    callbacks: Sequence[Callback] = (),
    engine: str = "auto",
    gram_memory: int | None = None,
    **settings: Any,
) -> Boosted | None:
    """The mean of k runs as of `rgboost.training.fold_mean.boost_mean`.

    None for losses in Python, for other weak-learners than stumps on numbers without missing
    values, for more than `MOST_ROWS` rows, for large sparse matrices, and where a copy of the bins
    for every run would take more than ``gram_memory``.
    """
    if engine not in ("auto", "direct") or loss.terms is None:
        return None
    learner, selection = settings.pop("learner"), settings["selection"]
    if type(learner) is not Stumps or not can_be_plain(X, learner):
        return None  # before rows are prepared
    X = X.toarray() if scipy.sparse.issparse(X) else X
    memory = gram_budget(X) if gram_memory is None else gram_memory
    n_scores = 1
    if isinstance(loss, Softmax):
        check_classes(settings["step"], engine)
        n_scores = loss.n_classes
    if (2 * X.size + 32 * n_scores * len(y)) * (int(fold.max()) + 1) > memory:
        return None
    with ExitStack() as stack:
        enter_all(stack, callbacks)
        step, rate = settings["step"], settings["learning_rate"]
        newton = quadratic_obstacle(loss, step, rate, engine) is None
        newton &= selection.by_learner and learner.leaves == "free"
        problem = make_problem(
            X, y, loss=loss, learner=learner, n_iter=1, start_score=start_score, validation=None,
            random_state=random_state, callbacks=tuple(callbacks), weight=weight, **settings,
        )  # fmt: skip
        assert isinstance(problem.prepared.arrays, DenseStumps)
        if newton:
            problem.rule = newton_rule(problem, settings["learning_rate"])
        kind = ClassRuns if isinstance(loss, Softmax) else RowRuns
        return mean_of_runs(kind(problem, fold, random_state, start_score), n_iter, rule)


def newton_rule(problem: Problem, learning_rate: float) -> FewRowsRule:
    loss, y = problem.loss, problem.y
    if type(loss) is Squared:
        return FewRowsRule(learning_rate, np.inf, 1.0, 0.0, True)
    curvature = curvature_of(loss, y, np.full(len(y), problem.null_score))
    weight = in_units_of_the_largest(problem.weight)
    curvature = curvature if weight is None else curvature * weight
    usual = max(float(np.median(curvature)), 1e-30 * float(curvature.max()))  # a unit, so not 0
    limit = loss.newton_limit
    assert limit is not None
    return FewRowsRule(learning_rate, limit, usual, LIGHTEST * usual, False)
