"""The direct engine: every iteration recomputes residuals and sums from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.team import Team
from ...statistics.rows import Rows, make_rows, start_rows
from ...training.blocks import run_blocks, start_or_resume
from ..problem import Problem
from ..record import Record
from .loop import Work, run_block
from .python_loss import run_block_with_python_loss

PARTIAL_BYTES = 64 << 20
"""Most memory for sums per chunk of rows; above it columns are searched whole."""

ROW_CELLS = 5
"""What a row's new residual costs, in entries: 2 nanoseconds if the loss needs an exponential."""

_CELLS_PER_THREAD = 6_500
"""Entries of the data per iteration and thread (about 4 microseconds) that make a thread pay."""


def run_direct(problem: Problem, score: Any = None, held_score: Any = None) -> None:
    """Run the iterations that are left to do, from given scores or from the null model."""
    compiled = problem.loss.terms is not None
    block = run_block if compiled else run_block_with_python_loss
    terms = problem.loss.terms if compiled else problem.loss
    held = problem.held
    rows = make_rows(problem.y, problem.weight, problem.null_score, score)
    held_rows = make_rows(
        np.empty(0) if held is None else held.y,
        None if held is None else held.weight,
        problem.null_score_held,
        held_score,
    )
    start_or_resume(
        problem, rows, held_rows, lambda some: start_rows(terms, some) if compiled else None
    )
    cells = problem.cells_per_iteration() + ROW_CELLS * len(problem.y)
    work = make_work(problem, rows)
    learners, held_learners = problem.prepared.arrays, problem.held_arrays

    def run_one(team: Team, subsets: Any, record: Record) -> None:
        team.run(
            block, learners, terms, problem.rule, subsets, rows, held_learners, held_rows, record,
            work,
        )  # fmt: skip

    n_threads = team_size(problem.n_jobs, cells) if compiled else 1
    run_blocks(problem, rows, held_rows, n_threads, run_one)


def team_size(n_jobs: int, cells: float) -> int:
    """Threads that pay for this much work in an iteration."""
    return max(1, min(n_jobs, int(cells / _CELLS_PER_THREAD)))


def make_work(problem: Problem, rows: Rows) -> Work:
    n_columns = problem.most_columns()
    n_chunks = len(rows.chunks) - 1
    most_bins = int(np.diff(problem.prepared.layout.offsets).max(initial=0)) + 1
    by_rows = problem.prepared.sums_by_rows and n_chunks > 1 and problem.loss.terms is not None
    if 8 * n_chunks * n_columns * most_bins > PARTIAL_BYTES:
        by_rows = False
    if most_bins * n_chunks > len(problem.y):  # a chunk has fewer rows than sums to add up
        by_rows = False
    return Work(
        partial=np.empty((n_chunks, n_columns, most_bins) if by_rows else (0, 0, 0)),
        score=np.empty(n_columns),
        learner=np.empty(n_columns, np.int64),
        inner=np.empty(n_columns),
        search=np.empty((2, 2, n_chunks)),
    )
