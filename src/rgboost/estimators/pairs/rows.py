"""Rows that pairs are fitted to, with what the curves say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engines.problem import Validation, with_offset
from ...training.plan.rules import HELD
from ..carry_out import Done, Job, Settings, with_folds

Vector = NDArray[np.float64]


@dataclass
class PairRows:
    """Rows that pairs are fitted to, labels and scores less the same number. ``scores`` are those
    of the curves: of every run (runs, rows[, classes]) where there are folds, else (rows[,
    classes]). ``validation`` has the scores of its rows as offset."""

    X: Any
    y: Vector
    weight: Vector | None
    fold: NDArray[np.int64] | None
    scores: Vector
    validation: Validation | None

    def honest(self) -> Vector:
        """The score of each row by a run that was not fitted to it, where there is one."""
        if self.fold is None:
            return self.scores
        return self.scores[self.fold, np.arange(len(self.y))]

    def held(self, k: int) -> tuple[Any, Vector, Vector | None, Vector]:
        """Rows that run k is not fitted to: X, y, weight and their scores."""
        if self.fold is None:
            assert self.validation is not None
            v = self.validation
            assert v.offset is not None
            return v.X, v.y, v.weight, v.offset
        mine = np.flatnonzero(self.fold == k)
        weight = None if self.weight is None else self.weight[mine]
        return self.X[mine], self.y[mine], weight, self.scores[k, mine]


def rows_for_pairs(job: Job, done: Done, given: Settings) -> PairRows:
    """The rows of the fit of curves, with what the curves say of them. Labels and scores are less
    the centre of the fit: far from zero, they would lose what tells them apart."""
    boosted, n_jobs, models = done.boosted, given["n_jobs"], done.boosted.run_models()
    centre = boosted.centre
    if boosted.trace.n_runs > 1:
        folds = with_folds(job, given)
        X, offset = folds["X"], folds["offset"]
        scores = [with_offset(one.score(X, n_jobs), offset) for one in models]
        y = folds["y"] - centre
        return PairRows(X, y, folds["weight"], folds["fold"], np.array(scores), None)
    rows = job.rows
    if job.plan.judge == HELD:
        rows = rows.held_out(job.parameters["validation_fraction"], job.seeds[1])
    X, y, weight, offset = rows.X, rows.y, rows.weight, rows.offset
    if weight is not None and (weight == 0).any():
        kept = weight > 0
        X, y, weight = X[kept], y[kept], weight[kept]
        offset = None if offset is None else offset[kept]
    assert rows.validation is not None
    held: Validation = rows.validation.with_positive_weight()
    known: Any = with_offset(models[0].score(held.X, n_jobs), held.offset)
    scores = with_offset(models[0].score(X, n_jobs), offset)
    held = replace(held, y=held.y - centre, offset=known)
    return PairRows(X, y - centre, weight, None, scores, held)
