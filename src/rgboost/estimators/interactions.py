"""Pairs of features, fitted to what the curves leave.

1. Every pair is *screened*: the best quadrant stump on the residuals of rows that the curves were
   not fitted to. The strongest are candidates.
2. Boosting goes on from the curves, run by run, with the candidates and the single features as
   groups (Type 3); the rows that are held out tell when to stop.
3. Pairs stay if these rows gain by more than noise, the fewest that have nearly all of the gain.
4. Tables are purified and become part of the model (`rgboost.model.with_pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.team import Team
from ..data.coarse import coarse_cuts
from ..data.mixed_bins import MixedCuts
from ..engines.problem import Validation
from ..learners import Pairs
from ..learners.pairs.columns import Columns, all_pairs, allowed_pairs, draw_pairs, some_pairs
from ..learners.pairs.screen import screen_pairs
from ..learners.pairs.tables import add_tables, empty_model, raw_tables
from ..losses import Loss
from ..model import Coverage
from ..selection import RandomGroups
from ..training import Boosted, EarlyStopping, boost
from ..training.plan.pair_rules import (
    MOST_CANDIDATES,
    MOST_KEPT,
    MOST_SCREENED,
    SCREENING_BINS,
    SHARE_OF_GAIN,
    STANDARD_ERRORS,
    PairPlan,
)

Vector = NDArray[np.float64]

BLOCK_ENTRIES = 1 << 20
"""Contributions of pairs to rows that are kept at a time."""


@dataclass
class Rows:
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


@dataclass
class PairStage:
    """The fit of pairs beside curves."""

    plan: PairPlan
    loss: Loss
    rows: Rows
    cuts: MixedCuts
    """The bins of the curves."""
    names: Any
    monotone: Any
    together: Any
    """Sets of features that may act together; None: all may."""
    seed: int
    n_jobs: int
    listeners: list[Any]

    def run(self, curves: Any) -> PairFit:
        """Add pairs to a model of curves."""
        pairs, strength = self.screen()
        order = np.argsort(-strength, kind="stable")
        order = order[strength[order] > 0][: None if self.plan.given else MOST_CANDIDATES]
        if not len(order):
            return PairFit(None, None, pairs, strength, None, False, "no pair explains anything")
        boosted = self.boost(pairs[order])
        judged = Judged.of(self, boosted)
        if not (self.plan.asked or judged.gains(0, len(judged.order))):
            told = f"pairs do not enter: {judged.told(len(judged.order))}"
            return PairFit(None, None, pairs, strength, boosted.trace, boosted.interrupted, told)
        n = judged.smallest()
        if self.plan.given is not None or (self.plan.asked and self.plan.count is None):
            n = len(judged.order)
        elif self.plan.count is not None:
            n = min(self.plan.count, len(judged.order))
        else:
            n = min(n, MOST_KEPT)
        if self.plan.count is not None and n < len(judged.order):
            boosted = self.boost(judged.order[:n])
            judged = Judged.of(self, boosted)
            n = len(judged.order)
        model = judged.model(curves, n)
        told = f"pairs: {n} of {len(pairs):,} are kept; {judged.told(n)}"
        coverage = Coverage.of_mixed(model.wide, self.cuts)
        return PairFit(model, coverage, pairs, strength, boosted.trace, boosted.interrupted, told)

    def screen(self) -> tuple[Columns, Vector]:
        """The pairs that were looked at, and the share of the residual that each explains."""
        rows, n_features = self.rows, self.cuts.n_features
        useful = np.flatnonzero(self.cuts.n_values + self.cuts.has_missing > 1)
        if self.plan.given is not None:
            pairs = some_pairs(self.plan.given, n_features, self.names, "interactions")
            self._check_useful(pairs, useful)
        elif len(useful) * (len(useful) - 1) // 2 > MOST_SCREENED:
            pairs = draw_pairs(useful, MOST_SCREENED, self.seed)
        else:
            pairs = useful[all_pairs(len(useful))]
        pairs = allowed_pairs(pairs, self.together, n_features, self.names)
        if not len(pairs):
            return pairs, np.empty(0)
        residual = self.loss.residual(rows.y, rows.honest())
        if rows.weight is not None:
            residual = residual * (rows.weight if residual.ndim == 1 else rows.weight[:, None])
        residual = np.ascontiguousarray(residual.T.reshape(-1, len(rows.y)))
        coarse = coarse_cuts(self.cuts, SCREENING_BINS)
        family = Pairs(pairs=pairs, cuts=coarse, smooth=True, categorical=self._categorical)
        prepared = family.prepare(rows.X, rows.weight, n_jobs=self.n_jobs)
        with Team(self.n_jobs) as team:
            return pairs, screen_pairs(prepared.arrays, residual, team)

    @property
    def _categorical(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.cuts.categorical).tolist())

    def _check_useful(self, pairs: Columns, useful: NDArray[np.int64]) -> None:
        for g in np.unique(pairs):
            if g not in useful:
                name = int(g) if self.names is None else str(self.names[g])
                raise ValueError(
                    f"interactions has a pair of the feature {name!r}, which has one value only; "
                    "leave that pair out."
                )

    def boost(self, pairs: Columns) -> Boosted:
        """Boosting that goes on from the curves, with these pairs and every feature by itself."""
        plan, rows = self.plan, self.rows
        family = Pairs(
            pairs=pairs,
            stumps=True,
            cuts=coarse_cuts(self.cuts, plan.max_bins),
            categorical=self._categorical,
            min_weight_fraction_leaf=plan.least_share,
            smooth=True,
            constraints=self.monotone,
            search_rows=plan.search_rows,
        )
        where: dict[str, Any] = {"fold": rows.fold, "run_scores": rows.scores}
        if rows.fold is None:
            where = {"offset": rows.scores, "validation": rows.validation}
        return boost(
            rows.X, rows.y, weight=rows.weight, loss=self.loss, learner=family,
            selection=RandomGroups(min(plan.subset_size, len(pairs))), step=plan.step,
            n_iter=plan.n_iter, learning_rate=plan.learning_rate, start_score=0.0,
            early_stopping=EarlyStopping(plan.patience, plan.tol), engine="direct",
            random_state=self.seed, n_jobs=self.n_jobs, callbacks=self.listeners, **where,
        )  # fmt: skip


@dataclass
class Judged:
    """Pairs, the strongest first, and the losses of held-out rows with the first 0, 1, ... of
    them: ``losses[i]`` with the first ``counts[i]``; ``difference`` and ``error``, the mean
    difference to the loss of the curves alone and its standard error, at each."""

    stage: PairStage
    boosted: Boosted
    order: Columns
    counts: NDArray[np.int64]
    losses: Vector
    gain: Vector
    error: Vector
    curves_loss: float

    @classmethod
    def of(cls, stage: PairStage, boosted: Boosted) -> Judged:
        prepared: Any = boosted.prepared
        path = boosted.trace.path(boosted.best_iteration)
        n_classes = stage.loss.outputs if stage.loss.outputs > 1 else None
        tables = raw_tables(prepared.arrays, path, n_classes)
        start = np.zeros(n_classes) if n_classes else 0.0
        none = empty_model(prepared.n_features, start)
        mean = add_tables(none, prepared.cuts, prepared.arrays, prepared.columns_, tables)
        order = np.empty((0, 2), np.int64)
        if mean.wide.pairs is not None:
            order = mean.wide.pairs.features
        counts = np.unique(np.round(np.geomspace(1, max(1, len(order)), 24)).astype(np.int64))
        counts = np.concatenate([[0], counts[counts <= len(order)]])
        sums = [held_losses(stage, boosted, k, order, counts) for k in range(boosted.trace.n_runs)]
        before, after, weight = (np.concatenate(part) for part in zip(*sums, strict=True))
        total = weight.sum()
        gain = before[:, None] - after
        mean_gain = weight @ gain / total
        scale = float(np.abs(gain).max()) or 1.0  # squares of very large numbers exist, too
        spread = scale * np.sqrt(weight**2 @ ((gain - mean_gain) / scale) ** 2) / total
        loss = float(weight @ before / total)
        return cls(stage, boosted, order, counts, loss - mean_gain, mean_gain, spread, loss)

    def gains(self, i: int, n: int) -> bool:
        """Whether all pairs gain more than noise."""
        return bool(self.gain[-1] > STANDARD_ERRORS * self.error[-1])

    def smallest(self) -> int:
        """The fewest pairs that have nearly all of the gain."""
        if self.gain.max() <= 0:
            return 0
        enough = self.gain >= SHARE_OF_GAIN * self.gain.max()
        return int(self.counts[np.argmax(enough)])

    def told(self, n: int) -> str:
        at = int(np.searchsorted(self.counts, n))
        at = min(at, len(self.counts) - 1)
        return (
            f"the loss of held-out rows goes from {self.curves_loss:.6g} to {self.losses[at]:.6g} "
            f"(by {self.gain[at]:.3g} with a standard error of {self.error[at]:.2g})"
        )

    def model(self, curves: Any, n: int) -> Any:
        """The curves with the first n pairs; what the others explain by single features stays."""
        prepared: Any = self.boosted.prepared
        path = self.boosted.trace.path(self.boosted.best_iteration)
        n_classes = self.stage.loss.outputs if self.stage.loss.outputs > 1 else None
        tables = raw_tables(prepared.arrays, path, n_classes)
        whole = add_tables(curves, prepared.cuts, prepared.arrays, prepared.columns_, tables)
        return with_first_pairs(whole, n)


def with_first_pairs(model: Any, n: int) -> Any:
    """The same curves, and the first n of the pairs."""
    pairs = model.wide.pairs
    if pairs is None or n >= len(pairs):
        return model
    kept = pairs.take(np.arange(n)) if n else None
    wide = replace(model.wide, pairs=kept)
    return wide if model is model.wide else replace(model, wide=wide)


def held_losses(
    stage: PairStage, boosted: Boosted, k: int, order: Columns, counts: NDArray[np.int64]
) -> tuple[Vector, Vector, Vector]:
    """Losses of the rows that run k is not fitted to: by the curves alone, and with the first pairs
    of ``order`` (rows, counts); and the weights of the rows."""
    X, y, weight, score = stage.rows.held(k)
    prepared: Any = boosted.prepared
    n_classes = stage.loss.outputs if stage.loss.outputs > 1 else None
    tables = raw_tables(prepared.arrays, boosted.run_path(k), n_classes)
    start = np.zeros(n_classes) if n_classes else 0.0
    none = empty_model(prepared.n_features, start)
    model = add_tables(none, prepared.cuts, prepared.arrays, prepared.columns_, tables)
    pairs = model.wide.pairs
    before = stage.loss.value(y, score)
    after = np.empty((len(y), len(counts)))
    place = np.full(0 if pairs is None else len(pairs), -1)
    if pairs is not None:
        known = {tuple(pair): i for i, pair in enumerate(order.tolist())}
        place = np.array([known.get(tuple(pair), -1) for pair in pairs.features.tolist()])
    curves = with_first_pairs(model, 0)
    step = max(1, BLOCK_ENTRIES // max(1, len(order)) // (n_classes or 1))
    for lo in range(0, len(y), step):
        now = slice(lo, lo + step)
        running = score[now] + curves.score(X[now])
        added = np.zeros((len(order) + 1, *running.shape))
        added[0] = running
        if pairs is not None:
            contributions = pairs.contributions(X[now])
            for i, at in enumerate(place):
                if at >= 0:
                    added[at + 1] = contributions[:, i]
        np.cumsum(added, axis=0, out=added)
        for i, count in enumerate(counts):
            after[now, i] = stage.loss.value(y[now], added[count])
    return before, after, np.ones(len(y)) if weight is None else weight
