"""A cell of the experiments: one run of boosting, reduced to the numbers that are reported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..selection import RandomGroups
from ..theory.certificates.optimal import optimal_loss
from ..training import Boosted, Progress, boost
from .protocol import GAPS, STEPS, Budget, Part, Ready

CHECKPOINTS = 120
"""About how many iterations of a run are kept, evenly spaced on a logarithmic axis."""

CONVERGED = 1e-10
"""A run ends at this optimality gap, whatever is left of its budget."""

MOST_BINS = 256
"""Bins of a feature up to which the Gram and quadratic engines are shown: with more, Gram matrices
get large."""

_MANY_ROWS = 1000


@dataclass(frozen=True)
class Cell:
    """One run: a step rule, a subset size, a seed of split and subsets, and an engine.

    Engines other than the direct one are beyond the paper.
    """

    step: str
    t: int
    seed: int
    engine: str = "direct"

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.step}-t{self.t}-seed{self.seed}"


def find_optimum(part: Part) -> dict[str, float | None]:
    """The smallest training loss that any combination of the stumps can reach."""
    # Many rows: conjugate gradients in place of a factor, whose rank is doubtful where features
    # depend on each other (one-hot columns).
    exact = None if len(part.y_train) <= _MANY_ROWS else False
    best = optimal_loss(
        part.X_train, part.y_train, part.loss, Ready(part.prepared), n_jobs=1, exact=exact
    )
    gap = best.certificate.gap
    return {"loss": best.loss, "certified_gap": gap if math.isfinite(gap) else None}


def run_cell(cell: Cell, part: Part, budget: Budget, optimum: float) -> dict[str, Any]:
    """Run, and keep the losses at the checkpoints and when each gap was reached."""
    size, of = RandomGroups(cell.t).size(part.prepared.layout)
    share = size / max(1, of)
    boosted = _boost(cell, part, budget.most_iterations(share), _Limit(budget.seconds, optimum))
    trace = boosted.trace
    at = checkpoints(len(trace))
    test_loss, test_error = _on_test_rows(boosted, part, at)
    gap = trace.train_loss - optimum
    return {
        "step": cell.step,
        "t": cell.t,
        "seed": cell.seed,
        "engine": cell.engine,
        "ran": trace.engine,
        "epochs_per_iteration": share,
        "n_iter": len(trace),
        "iterations": at.tolist(),
        "seconds": trace.seconds[at].tolist(),
        "train_loss": trace.train_loss[at].tolist(),
        "test_loss": test_loss,
        "test_error": test_error,
        "lowest_gap": float(gap.min()),
        "reached": [_reached(gap, trace.seconds, target, share) for target in GAPS],
    }


def warm_up(cell: Cell, part: Part) -> None:
    """Compile before the clock starts."""
    _boost(cell, part, 2, _Limit(np.inf, -np.inf))


def extra_cells(part: Part, t: int, seed: int) -> list[Cell]:
    """Runs beyond the paper that look at all features: t is their number.

    The Gram engine where it can run, with the same iterates as the direct one; for the logistic
    loss the quadratic engine, which has other iterates and the same optimum. Statistics in place of
    rows pay only where rows are more than features.
    """
    if not few_bins(part) or len(part.y_train) <= t:
        return []
    engine = "gram" if part.loss.quadratic else "quadratic"
    return [Cell("constant", t, seed, engine)]


def few_bins(part: Part) -> bool:
    """Whether features have few enough bins for engines on statistics."""
    return bool(part.prepared.arrays.splits.most_bins <= MOST_BINS)


def checkpoints(n_iter: int) -> NDArray[np.int64]:
    """0, and iterations up to n_iter, evenly spaced on a logarithmic axis."""
    spaced = np.round(np.geomspace(1, max(1, n_iter), CHECKPOINTS)).astype(np.int64)
    return np.unique(np.append(0, np.minimum(spaced, n_iter)))


@dataclass(frozen=True)
class _Limit:
    """Stop after some seconds, or at the optimum."""

    seconds: float
    optimum: float

    def __call__(self, progress: Progress) -> bool:
        there = progress.settled and progress.train_loss <= self.optimum + CONVERGED
        return there or progress.seconds >= self.seconds


def _boost(cell: Cell, part: Part, n_iter: int, limit: _Limit) -> Boosted:
    # No validation rows: their cost would blur time against t. Test losses are computed after.
    return boost(
        part.X_train,
        part.y_train,
        loss=part.loss,
        learner=Ready(part.prepared),
        selection=RandomGroups(cell.t),
        step=STEPS[cell.step],
        n_iter=n_iter,
        random_state=cell.seed,
        n_jobs=1,
        callbacks=[limit],
        engine=cell.engine,  # type: ignore[arg-type]
    )


def _on_test_rows(
    boosted: Boosted, part: Part, at: NDArray[np.int64]
) -> tuple[list[float], list[float] | None]:
    """Mean test loss, and the share of wrong signs for classes, at the checkpoints."""
    path = boosted.trace.path()
    score = np.full(len(part.y_test), boosted.model.intercept)
    losses, errors, done = [], [], 0
    for m in at:
        if m > done:
            score += boosted.prepared.model(path.part(done, m), 0.0).score(part.X_test)
            done = m
        losses.append(float(part.loss.value(part.y_test, score).mean()))
        errors.append(float(np.mean(part.y_test * score <= 0.0)))
    return losses, None if part.loss.quadratic else errors


def _reached(
    gap: NDArray[np.float64], seconds: NDArray[np.float64], target: float, share: float
) -> dict[str, Any]:
    """When the gap was reached first; None: not within the budget."""
    below = np.flatnonzero(gap <= target)
    if len(below) == 0:
        return {"gap": target, "iterations": None, "epochs": None, "seconds": None}
    m = int(below[0])
    return {"gap": target, "iterations": m, "epochs": m * share, "seconds": float(seconds[m])}
