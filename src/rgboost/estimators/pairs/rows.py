"""Rows that pairs are fitted to, with what the curves say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...engines.problem import Validation, with_offset
from ...learners import Pairs
from ...learners.pairs.choose import screen_pairs
from ...learners.pairs.columns import Columns
from ...losses import Loss
from ...training import Boosted
from ...training.plan.rules import HELD
from ..carry_out import Done, Job, Settings, with_folds
from .gains import Gains, held_losses, models_of_all

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

    def strengths(self, family: Pairs, loss: Loss, n_jobs: int) -> Vector:
        """The share of the residual that the best quadrant stump of each pair of a family
        explains."""
        residual = loss.residual(self.y, self.honest())
        if self.weight is not None:
            residual = residual * (self.weight if residual.ndim == 1 else self.weight[:, None])
        residual = np.ascontiguousarray(residual.T.reshape(-1, len(self.y)))
        prepared = family.prepare(self.X, self.weight, n_jobs=n_jobs)
        with Team(n_jobs) as team:
            return screen_pairs(prepared.arrays, residual, team)

    def for_boost(self) -> Settings:
        """Arguments of `boost`."""
        rows = {"X": self.X, "y": self.y, "weight": self.weight, "engine": "direct"}
        if self.fold is None:
            return rows | {"offset": self.scores, "validation": self.validation}
        return rows | {"fold": self.fold, "run_scores": self.scores}

    def gains(
        self, boosted: Boosted, loss: Loss, order: Columns, counts: NDArray[np.int64]
    ) -> Gains:
        """What rows that were held out gain by the first ``counts[i]`` pairs of ``order``."""
        gains = Gains(len(counts))
        for k, model in enumerate(models_of_all(boosted, loss)):
            for some in held_losses(model, self.held(k), loss, order, counts):
                gains.add(*some)
        return gains

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
