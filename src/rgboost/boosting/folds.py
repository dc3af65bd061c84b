"""Cross-validation of the number of iterations from statistics: k folds for one pass over the rows.

All that the Gram engine needs of a set of rows are sums over them: left sums, weights left of
splits, Gram rows. Sums over the training rows of a fold are the sums over all other folds. So every
row is read once for each feature that is chosen, whatever k is, and then k runs take O(K) an
iteration each.

Bins come from all rows (they do not depend on the labels), as in the fit that follows. So the
curves are those of k fits to those bins, up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._team import Team
from ..learners.splits import weighted_splits
from ..losses import Squared
from .gram import GramRows, loop_threads, missing_features
from .gram_loop import GramState, GramWork, Pending, run_gram_block
from .problem import Problem
from .record import Record
from .statistics import Columns, MemoryStatistics, Statistics
from .step_length import ConstantRule
from .stopping import EarlyStopping

CHUNK = 128
"""Iterations that every fold does before the rule of stopping looks at them."""


@dataclass
class Fold:
    """One of the runs: its statistics, its generator, and where it stands."""

    splits: Any
    train: GramState
    held: GramState
    rng: np.random.Generator
    pending: Pending = field(default_factory=lambda: Pending(np.full(1, -1, np.int64), np.zeros(2)))


class RestOfFolds:
    """Gram rows of the rows outside a fold: the sum over the other folds."""

    def __init__(self, gram: GramRows, fold: int, n_folds: int) -> None:
        self.gram = gram
        self.others = [k for k in range(n_folds) if k != fold]

    def gram_rows(self, features: Sequence[int], columns: Columns, out: NDArray) -> None:
        rows = slice(self.gram.used, self.gram.used + len(out))
        out[:] = self.gram.blocks[self.others[0]][rows]
        for k in self.others[1:]:
            out += self.gram.blocks[k][rows]


def fold_losses(
    problem: Problem,
    X: Any,
    fold: NDArray[np.int64],
    seed: int,
    best_start: bool,
    rule: EarlyStopping,
    memory: int,
) -> NDArray[np.float64] | None:
    """Mean losses of the held-out rows after 0, 1, ... iterations, until the rule holds.

    ``problem`` is the fit to all rows X (squared loss, stumps), whose bins and rules are used.
    ``fold`` has the number of each row's fold. ``best_start``: start from the mean label of a
    fold's training rows, not from the problem's. None if Gram rows do not fit into memory.
    """
    n_folds = int(fold.max()) + 1
    offsets = problem.prepared.arrays.splits.offsets
    dtype = np.uint32 if problem.weight is None else np.float64
    size = loop_threads(problem.n_jobs, int(offsets[-1]))
    with Team(problem.n_jobs) as builders, Team(size) as team, rule:
        parts = [_statistics(problem, X, fold == k, builders) for k in range(n_folds)]
        gram = GramRows(offsets, [dtype] * (2 * n_folds), memory)
        rest = [RestOfFolds(gram, k, n_folds) for k in range(n_folds)]
        providers: list[Any] = [*parts, *rest]
        folds = _folds(problem, parts, gram, seed, best_start)
        total_weight = sum(one.held.total_weight for one in folds)
        losses: list[float] = [sum(float(one.held.loss[0]) for one in folds) / total_weight]
        rule.observe(losses)
        while len(losses) <= problem.recorder.n_iter:
            n = min(CHUNK, problem.recorder.n_iter + 1 - len(losses))
            chunk = np.zeros(n)
            for one in folds:
                held_losses = _run(problem, one, n, gram, providers, team)
                if held_losses is None:
                    return None
                chunk += held_losses
            losses += (chunk / total_weight).tolist()
            if rule.observe(losses[-n:]):
                break
    return np.array(losses if rule.stop_at is None else losses[: rule.stop_at + 1])


def _statistics(problem: Problem, X: Any, rows: NDArray[np.bool_], team: Team) -> MemoryStatistics:
    arrays = problem.prepared.arrays_for(X[rows], problem.n_jobs)
    weight = None if problem.weight is None else problem.weight[rows]
    return MemoryStatistics(arrays, problem.y[rows], weight, Squared(), problem.start, team)


def _folds(
    problem: Problem,
    parts: list[MemoryStatistics],
    gram: GramRows,
    seed: int,
    best_start: bool,
) -> list[Fold]:
    """The states of the null models, of the training rows and the rows that are held out."""
    splits = problem.prepared.arrays.splits
    null = np.zeros(int(splits.offsets[-1]) + len(splits.offsets) - 1)
    weights = [part.bin_weights() for part in parts]
    sums = [part.gradient(null) for part in parts]
    left_weights = np.array([weight[0] for weight in weights])
    totals = np.array([weight[1] for weight in weights])
    left_sums = np.array([one.left_sums for one in sums])
    residuals = np.array([one.total for one in sums])
    losses = np.array([one.loss for one in sums])
    folds = []
    for k in range(len(parts)):
        here = np.arange(len(parts)) == k
        shift = residuals[~here].sum() / totals[~here].sum() if best_start else 0.0

        def state(rows: NDArray, block: NDArray, shift: float = shift) -> GramState:
            weight, total_weight = left_weights[rows].sum(axis=0), float(totals[rows].sum())
            total, loss = residuals[rows].sum(), losses[rows].sum()
            return GramState(
                left_sums=left_sums[rows].sum(axis=0) - shift * weight,
                left_weight=weight,
                total_weight=total_weight,
                total=np.array([total - shift * total_weight]),
                loss=np.array([loss - shift * total + 0.5 * shift * shift * total_weight]),
                rows=block,
                row_start=gram.row_start,
            )

        train = state(~here, gram.blocks[len(parts) + k])
        held = state(here, gram.blocks[k])
        its_splits = weighted_splits(splits, train.left_weight, train.total_weight)
        folds.append(Fold(its_splits, train, held, np.random.default_rng(seed)))
    return folds


def _run(
    problem: Problem,
    fold: Fold,
    n: int,
    gram: GramRows,
    providers: list[Statistics],
    team: Team,
) -> NDArray[np.float64] | None:
    """n iterations of a fold: the losses after each; None if Gram rows do not fit."""
    rule = problem.rule
    rho = rule.learning_rate * (rule.rho if isinstance(rule, ConstantRule) else 1.0)
    shape = (2, problem.most_columns())
    work = GramWork(np.empty(shape), np.empty(shape, np.int64), np.empty(shape), np.empty(shape))
    subsets = problem.selection.subsets(problem.prepared.layout, fold.rng, n)
    room = [np.empty(n) for _ in range(5)]
    learner, sets = np.empty(n, np.int64), np.empty((n, 0), np.uint8)
    record = Record(room[0], room[1], learner, room[2], room[3], room[4], sets)
    m = 0
    while True:
        m = team.run(
            run_gram_block, fold.splits, fold.train, fold.held, 1.0, rho, subsets, record, m,
            fold.pending, work,
        )  # fmt: skip
        if fold.pending.learner[0] < 0:
            break
        wanted = missing_features(fold.pending, fold.train, fold.splits, gram, team)
        if not gram.add(wanted, providers):
            return None
    return np.append(record.held_loss[1:], fold.held.loss[0])
