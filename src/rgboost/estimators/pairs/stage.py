"""Pairs of features, fitted to what the curves leave.

1. Every pair is *screened*: the best quadrant stump on the residuals of the curves (where there
   are several runs, of the one that was not fitted to the row). The strongest are candidates.
2. Boosting goes on from the curves, run by run, with the candidates and the single features as
   groups (Type 3); the rows that are held out tell when to stop.
3. Pairs stay if these rows gain by more than noise, the fewest that have nearly all of the gain;
   so many as are asked for, or those of a list, stay whatever they gain.
4. Tables are purified and become part of the model (`rgboost.model.with_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.coarse import BinnedRows, coarse_cuts
from ...data.mixed_bins import MixedCuts
from ...learners import Pairs
from ...learners.pairs.columns import (
    Columns,
    all_pairs,
    allowed_pairs,
    check_sets,
    draw_pairs,
    pairs_within,
    some_of,
)
from ...learners.stumps.monotone import check_constraints
from ...losses import Loss
from ...model import Coverage
from ...selection import RandomGroups, SelectionRule, WeightedGroups
from ...training import Boosted, EarlyStopping, boost
from ...training.callbacks import Part
from ...training.plan.pair_rules import (
    MOST_KEPT,
    SCREENING_BINS,
    PairPlan,
    one_value,
)
from ...training.stopping import best_iteration
from ..carry_out import Done, Job, Settings
from .judge import Judged
from .rows import PairRows, rows_for_pairs
from .summed_rows import SummedRows, summed_rows

Vector = NDArray[np.float64]


@dataclass
class PairFit:
    """What came of it. ``model`` is None if no pair earned its place; ``strength`` has the screened
    strength of each of ``pairs``."""

    model: Any
    coverage: Coverage | None
    pairs: Columns
    strength: Vector
    trace: Any
    interrupted: bool
    event: str
    runs: list[Any] = field(default_factory=list)
    """What pairs add to the curves in each of several runs; none where there is one."""


def no_pairs(why: str, pairs: Columns | None = None, strength: Vector | None = None) -> PairFit:
    """Nothing came of it."""
    pairs = np.empty((0, 2), np.int64) if pairs is None else pairs
    strength = np.empty(0) if strength is None else strength
    return PairFit(None, None, pairs, strength, None, False, why)


@dataclass
class PairStage:
    """The fit of pairs beside curves."""

    plan: PairPlan
    loss: Loss
    rows: PairRows | SummedRows
    cuts: MixedCuts
    """The bins of the curves."""
    binned: BinnedRows | None
    """The rows in them, if these are kept."""
    names: Any
    monotone: Any
    together: Any
    """Sets of features that may act together; None: all may."""
    seed: int
    n_jobs: int
    listeners: list[Part]

    def run(self, curves: Any) -> PairFit:
        """Add pairs to a model of curves."""
        pairs = self.possible()
        strength = self.screen(pairs)
        order = np.argsort(-strength, kind="stable")
        order = order[strength[order] > 0][: self.plan.candidates]
        if not len(order):
            told = "pairs do not enter: no pair explains anything"
            if not len(pairs):
                none = "fewer than two features have several values"
                if self.together is not None:
                    none = "interaction_constraints leave none of features with several values"
                told = f"pairs do not enter: {none}"
            return no_pairs(told, pairs, strength)
        candidates = pairs[order]
        boosted = self.boost(candidates)
        if self.plan.given is not None or self.plan.count == len(candidates):
            boosted = with_every_pair(boosted)
        judged = Judged.of(boosted, self.rows, self.loss)
        if not (self.plan.asked or judged.worth_it):
            told = f"pairs do not enter: {judged.told(len(judged.order))}"
            return PairFit(None, None, pairs, strength, boosted.trace, boosted.interrupted, told)
        judged, n, beside = self.keep(judged, candidates)
        boosted = judged.boosted
        model = judged.model(curves, n)
        told = f"pairs: {n} kept of {len(pairs):,}; {judged.told(n)}{beside}"
        coverage = Coverage.of_mixed(model.wide, self.cuts)
        interrupted, runs = boosted.interrupted, judged.run_models(self.loss)
        return PairFit(model, coverage, pairs, strength, boosted.trace, interrupted, told, runs)

    def keep(self, judged: Judged, candidates: Columns) -> tuple[Judged, int, str]:
        """The fit whose first n pairs the model has, n, and what did not go as planned.

        A number of pairs is fitted anew without the others. So are pairs under constraints: what a
        pair that is left out explains by single features stays, and need not keep their order.
        """
        boosted, everything, count = judged.boosted, len(judged.order), self.plan.count
        n = everything if self.plan.asked else min(judged.fewest(), MOST_KEPT)
        n = n if count is None else min(n, count)
        ordered = bool(self._signs[judged.order[n:]].any())
        anew = ordered if count is None else count < len(candidates)
        if not anew:
            return judged, n, ""
        as_it_is = everything if ordered else n
        kept = judged.order[:n]
        if count is not None:  # so many, also where held-out rows gain nothing
            kept = first_of(np.concatenate([judged.order, candidates]), count)
        if boosted.interrupted or boosted.asked_to_stop:
            return judged, as_it_is, "; the run was stopped, they are not fitted anew"
        try:
            again = self.boost(kept, "pairs again")
        except KeyboardInterrupt:  # before the first iteration
            found = replace(judged, boosted=replace(boosted, interrupted=True))
            return found, as_it_is, "; the run was stopped, they are not fitted anew"
        again = again if count is None else with_every_pair(again)
        judged = Judged.of(again, self.rows, self.loss)
        return judged, len(judged.order), ""

    @property
    def _signs(self) -> NDArray[np.int8]:
        """The monotone constraint of each feature, 0 for none."""
        if self.monotone is None:
            return np.zeros(self.cuts.n_features, np.int8)
        return check_constraints(self.monotone, self.cuts.n_features, self.names)

    def possible(self) -> Columns:
        """The pairs that may enter; if there are very many, some of them."""
        n_features = self.cuts.n_features
        n_bins = [np.count_nonzero(self.cuts.weights_of(g)) for g in range(n_features)]
        useful = np.flatnonzero(np.array(n_bins, np.int64) > 1)
        if self.plan.given is not None:
            given = self.plan.given
            self._check_useful(given, useful)
            pairs = allowed_pairs(given, self.together, n_features, self.names)
            if len(pairs) < len(given):
                raise ValueError(
                    "interactions has pairs that interaction_constraints forbid: no list of these "
                    "has both features. Leave out the pairs, or add to the lists."
                )
            return pairs
        if self.together is not None:
            pairs = pairs_within(check_sets(self.together, n_features, self.names), useful)
            pairs = some_of(pairs, self.plan.screened, self.seed)
        elif len(useful) * (len(useful) - 1) // 2 > self.plan.screened:
            pairs = draw_pairs(useful, self.plan.screened, self.seed)
        else:
            pairs = useful[all_pairs(len(useful))]
        if self.plan.asked and (self.plan.count or 1) > len(pairs):
            raise ValueError(
                f"interactions={self.plan.count or 'all'} asks for more pairs than there are: "
                f"{len(pairs):,} of features that have more than one value, and that "
                "interaction_constraints allow. Ask for fewer, or use interactions='auto'."
            )
        return pairs

    def screen(self, pairs: Columns) -> Vector:
        """The share of the residual that the best quadrant stump of each pair explains."""
        if not len(pairs):
            return np.empty(0)
        family = Pairs(
            pairs=pairs, cuts=coarse_cuts(self.cuts, SCREENING_BINS), binned=self.binned,
            smooth=True, categorical=self._categorical,
        )  # fmt: skip
        return self.rows.strengths(family, self.loss, self.n_jobs)

    @property
    def _categorical(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.cuts.categorical).tolist())

    def _check_useful(self, pairs: Columns, useful: NDArray[np.int64]) -> None:
        for g in np.unique(pairs):
            if g not in useful:
                raise ValueError(one_value(self.names, g))

    def boost(self, pairs: Columns, part: str = "pairs") -> Boosted:
        """Boosting that goes on from the curves, with these pairs and every feature by itself."""
        plan = self.plan
        family = Pairs(
            pairs=pairs,
            stumps=True,
            cuts=coarse_cuts(self.cuts, plan.max_bins),
            binned=self.binned,
            categorical=self._categorical,
            min_weight_fraction_leaf=plan.least_share,
            smooth=True,
            constraints=self.monotone,
            search_rows=plan.search_rows,
            search_cuts=plan.search_cuts,
        )
        return boost(
            loss=self.loss, learner=family,
            selection=selection_of(plan.subset_size, len(pairs), self.cuts.n_features),
            step=plan.step,
            n_iter=plan.n_iter, learning_rate=plan.learning_rate, start_score=0.0,
            early_stopping=EarlyStopping(plan.patience, plan.tol),
            random_state=self.seed, n_jobs=self.n_jobs,
            callbacks=[listener.of(part) for listener in self.listeners],
            names=self.names, **self.rows.for_boost(),
        )  # fmt: skip


def selection_of(size: int, n_pairs: int, n_features: int) -> SelectionRule:
    """So many of the pairs and of the features by themselves. Of fewer pairs than features, half of
    them are pairs on average: a pair among thousands of features would never be looked at."""
    size = min(size, n_pairs)
    if n_pairs >= n_features:
        return RandomGroups(size)
    weights = np.append(np.full(n_features, n_pairs / n_features), np.ones(n_pairs))
    return WeightedGroups(size, weights)


def first_of(pairs: Columns, n: int) -> Columns:
    """The first n different pairs."""
    _, at = np.unique(pairs, axis=0, return_index=True)
    return pairs[np.sort(at)[:n]]


def with_every_pair(boosted: Boosted) -> Boosted:
    """The run, and its model after the best of the rounds by which every pair was chosen, by any of
    the runs: these pairs are wished for, and held-out rows need not gain by each."""
    prepared, trace = boosted.prepared, boosted.trace
    columns = np.searchsorted(prepared.arrays.offsets, trace.learner, side="right") - 1
    used, first = np.unique(columns, return_index=True)
    first = first[(used >= 0) & (prepared.columns_[used, 1] >= 0)]  # type: ignore[attr-defined]
    least = int(first.max(initial=-1)) // trace.n_runs + 1
    if least <= boosted.best_iteration:
        return boosted
    assert trace.validation_loss is not None
    return boosted.stopped_at(least + best_iteration(trace.validation_loss[least:]))


def add_pairs(job: Job, done: Done, settings: Callable[..., Settings]) -> PairFit | None:
    """Fit the pairs of a plan; None: nothing can be split. What came of it is an event."""
    boosted, plan = done.boosted, job.plan.pairs
    assert plan is not None
    if boosted.interrupted or boosted.asked_to_stop:
        who = "Ctrl-C" if boosted.interrupted else "a callback"
        found = no_pairs(f"pairs do not enter: {who} stopped the curves")
        job.plan.events.append(found.event)
        return found
    given = settings(job, done.way)
    cuts = boosted.prepared.bins()
    assert cuts is not None  # others have no pairs: see `rgboost.training.plan.pair_rules`
    codes = boosted.prepared.bins_of_rows()
    rows: PairRows | SummedRows
    if boosted.in_bins is None:
        rows = rows_for_pairs(job, done, given)
    else:
        rows = summed_rows(boosted, job.facts.loss)
    stage = PairStage(
        plan=plan,
        loss=job.facts.loss,
        rows=rows,
        cuts=cuts,
        binned=None if codes is None else BinnedRows(cuts, codes),
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
