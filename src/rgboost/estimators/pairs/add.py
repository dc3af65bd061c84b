"""From a fit of curves to one of pairs beside them: which rows, and the scores of the curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...engines.problem import Validation, with_offset
from ...training.plan.rules import HELD
from ..carry_out import Done, Job, Settings, with_folds
from ..holdout import hold_out
from .rows import PairRows
from .stage import PairFit, PairStage, no_pairs


def add_pairs(job: Job, done: Done, settings: Callable[..., Settings]) -> PairFit | None:
    """Fit pairs if the plan has any; None: there are none. What came of it is an event."""
    boosted, plan = done.boosted, job.plan.pairs
    if plan is None or boosted.interrupted or boosted.asked_to_stop:
        return None
    given = settings(job, done.way)
    cuts = boosted.prepared.bins()
    if cuts is None:
        return None
    stage = PairStage(
        plan=plan,
        loss=job.facts.loss,
        rows=rows_for_pairs(job, done, given),
        cuts=cuts,
        names=given["names"],
        monotone=job.parameters["monotone_constraints"],
        together=job.parameters["interaction_constraints"],
        seed=job.seeds[0],
        n_jobs=given["n_jobs"],
        listeners=job.listeners,
    )
    try:
        found = stage.run(boosted.model)
    except MemoryError:
        found = no_pairs("the system refused memory for pairs: there are none")
    except KeyboardInterrupt:  # the curves are done
        found = replace(no_pairs("pairs were interrupted: there are none"), interrupted=True)
    job.plan.events.append(found.event)
    return found


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
        rows = hold_out(rows, job.parameters["validation_fraction"], job.seeds[1])
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
