"""The mean of k models, each fitted without one fold, by passes over few rows.

For every loss that is compiled; see `rgboost.boosting.fold_mean` for what the mean is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..learners import Stumps
from ..learners.dense_stumps import DenseStumps
from ..losses import Loss, Softmax, Squared
from ..selection import RandomThresholds, SelectionRule
from .callbacks import Callback
from .curved_rows import LIGHTEST, curvature_of, in_units_of_the_largest
from .engine import Boosted, enter_all
from .few_rows_loop import FewRowsRule
from .fold_mean import mean_of_runs
from .make_problem import make_problem
from .problem import Problem
from .quadratic_mean import quadratic_obstacle
from .row_runs import RowRuns
from .stopping import EarlyStopping

ENTRY, ROW, CURVED_ROW, SPLIT = 0.07, 1.0, 2.0, 1.0
"""Nanoseconds of an iteration by rows, for each entry that it reads and each row; and by
statistics, for each split."""
MANY_BINS = 255
LONG_ITERATION = 25_000.0
"""Nanoseconds of an iteration from which quadratic models are faster."""


def pays_by_rows(n_rows: int, n_features: int, selection: SelectionRule, loss: Loss) -> bool:
    """Whether runs are faster by rows than by statistics."""
    if not (isinstance(selection, RandomThresholds) and type(selection.t) is int):
        return False
    t = selection.t
    if type(loss) is Squared:
        return n_rows * (ENTRY * t + ROW) < SPLIT * n_features * MANY_BINS
    return n_rows * (ENTRY * t + CURVED_ROW) < LONG_ITERATION


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
    """The mean of k runs as of `rgboost.boosting.fold_mean.boost_mean`.

    None for losses in Python, for several classes, and for other weak-learners than stumps on a
    dense matrix of numbers without missing values.
    """
    if engine not in ("auto", "direct") or loss.terms is None or isinstance(loss, Softmax):
        return None
    learner, selection = settings.pop("learner"), settings["selection"]
    if type(learner) is not Stumps or learner.categorical or scipy.sparse.issparse(X):
        return None  # before rows are prepared
    if learner.max_bins == "auto" and isinstance(selection, RandomThresholds):
        learner = replace(learner, max_bins=MANY_BINS)  # an iteration costs the same
    with ExitStack() as stack:
        enter_all(stack, callbacks)
        step, rate = settings["step"], settings["learning_rate"]
        newton = quadratic_obstacle(loss, step, rate, engine) is None
        newton &= selection.by_learner and learner.leaves == "free"
        weight = in_units_of_the_largest(weight)
        problem = make_problem(
            X, y, loss=loss, learner=learner, n_iter=1, start_score=start_score, validation=None,
            random_state=random_state, callbacks=tuple(callbacks), weight=weight, **settings,
        )  # fmt: skip
        if not isinstance(problem.prepared.arrays, DenseStumps):
            return None
        if newton:
            problem.rule = newton_rule(problem, settings["learning_rate"])
        return mean_of_runs(RowRuns(problem, fold, random_state, start_score), n_iter, rule)


def newton_rule(problem: Problem, learning_rate: float) -> FewRowsRule:
    loss, y, weight = problem.loss, problem.y, problem.weight
    if type(loss) is Squared:
        return FewRowsRule(learning_rate, np.inf, 0.0, True)
    curvature = curvature_of(loss, y, np.full(len(y), problem.start))
    usual = float(np.median(curvature if weight is None else curvature * weight))
    limit = loss.newton_limit
    assert limit is not None
    return FewRowsRule(learning_rate, limit, LIGHTEST * usual, False)
