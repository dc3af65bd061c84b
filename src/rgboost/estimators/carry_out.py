"""From a plan to the outcome of its runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..learners.base import Prepared
from ..steps import NewtonGain
from ..training import Boosted, EarlyStopping, RunState, boost
from ..training.callbacks import Part
from ..training.plan import Facts, Plan, Way, resolve
from ..training.plan.rules import FOLDS, HELD
from ..training.stopping import best_iteration

Settings = dict[str, Any]


@dataclass
class Job:
    """Rows, and the plan for them. ``fold`` is what `boost` takes as such, if the plan has folds;
    ``columns`` are those of the input that the rows have, None: all."""

    plan: Plan
    parameters: dict[str, Any]
    facts: Facts
    rows: Any
    """`held_out.TrainingRows`, or their sibling in `chunked`."""
    columns: NDArray[np.int64] | None
    fold: Any
    seeds: list[int]
    listeners: list[Part]
    state: RunState | None


@dataclass
class Done:
    """What came of it: ``way`` are the settings of the model."""

    boosted: Boosted
    way: Way
    cv_loss: NDArray[np.float64] | None = None


def carry_out(job: Job, settings: Callable[[Job, Way], Settings], **once: bool) -> Done:
    """The mean of several runs, or one run; what did not go as planned is an event of the plan."""
    if not job.plan.mean:
        return best_run(job, settings, **once)
    try:
        return best_mean(job, settings)
    except MemoryError:
        job.plan = resolve({**job.parameters, "ensemble": False}, job.facts)
        job.plan.events.append("The system refused memory for several runs: there is one.")
        return best_run(job, settings, **once)


def best_run(job: Job, settings: Callable[[Job, Way], Settings], **once: bool) -> Done:
    """Of the single runs of all ways, the best one."""
    return best_of(job, lambda way: one_run(job, way, settings(job, way), **once))


def best_mean(job: Job, settings: Callable[[Job, Way], Settings]) -> Done:
    """Of the means of all ways, the best one."""
    bins, prepared = None, None

    def fit(way: Way) -> Done:
        nonlocal bins, prepared
        if _bins_of(job, way) != bins:
            bins, prepared = _bins_of(job, way), None
        boosted = _mean(job, way, settings(job, way), prepared)
        job.plan.events += boosted.events
        prepared = boosted.prepared
        return Done(boosted, way, boosted.trace.validation_loss)

    return best_of(job, fit)


def best_of(job: Job, fit: Callable[[Way], Done]) -> Done:
    """Of the fits of all ways, the one with the smallest loss of rows that are held out."""
    best: Done | None = None
    interrupted = ended = False
    for way in job.plan.ways:
        try:
            done = fit(way)
        except KeyboardInterrupt:  # before the first iteration
            if best is None:
                raise
            interrupted = ended = True
            break
        if best is None or held_loss(done) < held_loss(best):
            best = done
        interrupted = done.boosted.interrupted
        ended = interrupted or done.boosted.asked_to_stop
        if ended:
            break
    assert best is not None
    if len(job.plan.ways) > 1:
        leaves = best.way.leaves
        what = f"leaves={leaves!r}" if leaves is not None else repr(best.way.selection)
        when = "smallest loss of held-out rows when the fit was ended" if ended else ""
        job.plan.events.append(f"{what} had the {when or 'smaller loss of held-out rows'}.")
    return replace(best, boosted=replace(best.boosted, interrupted=interrupted))


def held_loss(done: Done) -> float:
    """The smallest loss of held-out rows; where there are none, there is one way."""
    losses = done.boosted.trace.validation_loss
    assert losses is not None
    return float(losses.min())


def _bins_of(job: Job, way: Way) -> tuple[Any, ...]:
    """What the bins of the rows follow from: the same for two ways, they are made once."""
    dense = way.engine == "direct" or not scipy.sparse.issparse(job.rows.sample.X)
    return way.max_bins, way.min_weight_fraction_leaf, way.leaves, dense


def _mean(job: Job, way: Way, settings: Settings, prepared: Prepared | None) -> Boosted:
    """The mean of the folds' models."""
    folds = with_folds(job, settings)
    by_column = folds["learner"].by_statistics  # stumps, on rows side by side
    if way.engine == "direct" and by_column and scipy.sparse.issparse(folds["X"]):
        folds["X"] = folds["X"].toarray()
    if way.newton:
        folds["step"] = NewtonGain()
    rule = EarlyStopping(way.patience or way.n_iter, job.parameters["tol"])
    asked = job.parameters["engine"] == way.engine
    return boost(
        **folds,
        n_iter=way.n_iter,
        engine=way.engine,
        instead=None if asked else "quadratic",
        early_stopping=rule,
        callbacks=job.listeners,
        prepared=prepared,
    )


def one_run(
    job: Job, way: Way, settings: Settings, *, keep_state: bool = False, keeps_seed: bool = True
) -> Done:
    """One run: on all rows but those that are held out to stop it early."""
    plan, rows = job.plan, job.rows
    engine: Any = way.engine if job.state is None else job.parameters["engine"]
    n_iter, rule, losses, prepared = way.n_iter, None, None, None
    if way.patience is not None:
        rule = EarlyStopping(way.patience, job.parameters["tol"])
    if plan.judge == HELD:
        rows = rows.held_out(job.parameters["validation_fraction"], job.seeds[1])
        settings["learner"] = rows.for_learner(settings["learner"])
        if way.engine != "direct" and job.facts.missing.any():  # all of them may be held out
            settings["learner"] = settings["learner"].with_missing()
    elif plan.judge == FOLDS:
        assert plan.cv_engine is not None
        folds = with_folds(job, settings)
        found = boost(**folds, n_iter=n_iter, engine=plan.cv_engine, early_stopping=rule)
        if found.interrupted:
            raise KeyboardInterrupt
        losses, prepared = found.trace.validation_loss, found.prepared
        assert losses is not None
        n_iter, rule = max(1, best_iteration(losses)), None
    if not keeps_seed:  # that of the run before: a generator has moved on since
        settings["random_state"] = None
    boosted = boost(
        **rows.for_boost(),
        n_iter=n_iter,
        early_stopping=rule,
        callbacks=job.listeners,
        resume=job.state,
        keep_state=keep_state,
        engine=engine,
        prepared=prepared,
        **settings,
    )
    plan.events += boosted.events
    return Done(boosted, way, losses)


def with_folds(job: Job, settings: Settings) -> Settings:
    """Arguments of `boost` for several runs."""
    assert job.fold is not None
    return job.rows.in_folds(job.fold, settings)
