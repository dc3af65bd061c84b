"""The direct engine for several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.dense_stumps import DenseStumps
from ...learners.mixed_stumps import MixedStumps
from ...statistics.rows import TILE
from ...steps import ConstantStep, NewtonStep, StepRule
from ...training.blocks import run_blocks, start_or_resume
from ..problem import Problem
from ..record import Record
from .direct import PARTIAL_BYTES, ROW_CELLS, team_size
from .equal_rows import merge_equal_rows
from .softmax_loop import ClassWork, run_softmax_block, start_softmax
from .softmax_rows import ClassRows, make_class_rows

_SHORTEST_TILE = 1024

SPLITS_OF_COLUMN = 2
"""Splits in J for each column up to which sums of the rows on their left are faster than those of
all bins."""


def check_classes(step: StepRule, engine: str) -> None:
    """Raise if several classes do not go with these parameters."""
    if not isinstance(step, ConstantStep | NewtonStep):
        raise ValueError(
            f"step={step!r} is not for more than two classes; use step='constant' (sigma is 1/2 "
            "there) or 'newton'."
        )
    if engine in ("gram", "surrogate"):
        raise ValueError(
            f"engine={engine!r} cannot do more than two classes; use engine='direct' or 'auto'."
        )


def run_softmax(problem: Problem) -> None:
    """Run the iterations that are left to do, from the null model or where a run stopped."""
    terms, rule, held = problem.loss.terms, problem.rule, problem.held
    learners, rows = _merged(problem.prepared.arrays, problem.y, problem.weight, problem.null_score)
    held_learners, held_rows = _merged(
        problem.held_arrays,
        np.empty(0) if held is None else held.y,
        None if held is None else held.weight,
        problem.null_score_held,
    )
    n_classes = len(rows.score)
    tile = tile_of(n_classes)
    start_or_resume(
        problem, rows, held_rows, lambda some: start_softmax(learners, terms, some, tile)
    )
    cells = n_classes * (problem.cells_per_iteration() + ROW_CELLS * len(rows.label))
    work = make_class_work(problem, rows)

    def run_one(team: Team, subsets: Any, record: Record) -> None:
        team.run(
            run_softmax_block, learners, terms, rule, subsets, rows, held_learners, held_rows,
            record, work, tile,
        )  # fmt: skip

    run_blocks(problem, rows, held_rows, team_size(problem.n_jobs, cells), run_one)


def _merged(
    learners: Any, y: NDArray[np.float64], weight: NDArray[np.float64] | None, start: Any
) -> tuple[Any, ClassRows]:
    """Weak-learners and rows at the null model, equal ones merged unless each has its offset."""
    if np.ndim(start) == 1:
        learners, y, weight = merge_equal_rows(learners, y, weight)
    return learners, make_class_rows(y, weight, start)


def tile_of(n_classes: int) -> int:
    """Rows that are updated at once: all classes of them fit the cache."""
    return max(_SHORTEST_TILE, TILE // n_classes // 8 * 8)


def make_class_work(problem: Problem, rows: ClassRows) -> ClassWork:
    n_columns, n_classes = problem.most_columns(), len(rows.score)
    partial, by_split = _partial_sums(problem, len(rows.chunks) - 1, n_classes)
    return ClassWork(
        partial=partial,
        by_split=by_split,
        score=np.empty(n_columns),
        learner=np.empty(n_columns, np.int64),
        inner=np.empty((n_columns, n_classes)),
        sums=np.empty((len(rows.chunks) - 1, 2, n_classes)),
    )


def _partial_sums(
    problem: Problem, n_chunks: int, n_classes: int
) -> tuple[NDArray[np.float64], bool]:
    """Room for sums by chunks of rows, and whether they are those of the splits in J."""
    layout, n_columns = problem.prepared.layout, problem.most_columns()
    if problem.selection.by_learner and type(problem.prepared.arrays) in (DenseStumps, MixedStumps):
        t = problem.selection.size(layout)[0]
        if t <= SPLITS_OF_COLUMN * n_columns:
            return np.empty((n_chunks, n_classes, t, 1)), True
    shape = (n_chunks, n_classes, n_columns, int(np.diff(layout.offsets).max(initial=0)) + 1)
    by_rows = problem.prepared.sums_by_rows and n_chunks > 1
    by_rows &= 8 * int(np.prod(shape)) <= PARTIAL_BYTES
    return np.empty(shape if by_rows else (0, n_classes, 0, 0)), False
