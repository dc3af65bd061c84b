"""What the direct engine does differently for one score a row, for several classes, for a loss that
is written in Python, and for few rows: how rows are kept, and which compiled loop runs on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...statistics.class_rows import ClassRows, class_tile, make_class_rows, start_classes
from ...statistics.rows import Rows, make_rows, start_rows
from ..base import Record
from ..problem import Problem, RowSet, with_offset
from .few_rows_loop import run_few_rows, set_losses
from .loop import Work, run_block
from .python_loss import run_block_with_python_loss
from .softmax_loop import ClassWork, run_softmax_block

Vector = NDArray[np.float64]

PARTIAL_BYTES = 64 << 20
"""Most memory for sums per chunk of rows; above it columns are searched whole."""
SPLITS_OF_COLUMN = 2
"""Splits in J for each column up to which sums of the rows on their left are faster than those of
all bins."""


class OneScore:
    """Rows with one score, and a compiled loss."""

    block: Any = staticmethod(run_block)
    most_threads: int | None = None
    """Threads that can work on one run; None: any number."""
    scores = 1
    """Scores of a row."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.terms = problem.loss.terms

    def rows(self, learners: Any, some: RowSet, start: Any, score: Vector | None) -> Any:
        """Rows at the null model, or at given scores."""
        rows = make_rows(some.y, some.weight, with_offset(start, some.offset), score)
        start_rows(self.terms, rows)
        return rows

    def work(self, learners: Any, rows: Any) -> Any:
        """Memory that the threads of a run share."""
        problem = self.problem
        n_columns, n_chunks = problem.most_columns(), len(rows.chunks) - 1
        most_bins = int(np.diff(problem.prepared.layout.offsets).max(initial=0)) + 1
        by_rows = problem.prepared.sums_by_rows and n_chunks > 1 and self.terms is not None
        if 8 * n_chunks * n_columns * most_bins > PARTIAL_BYTES:
            by_rows = False
        if most_bins * n_chunks > len(rows.y):  # a chunk has fewer rows than sums to add up
            by_rows = False
        return Work(
            partial=np.empty((n_chunks, n_columns, most_bins) if by_rows else (0, 0, 0)),
            score=np.empty(n_columns),
            learner=np.empty(n_columns, np.int64),
            inner=np.empty(n_columns),
            search=np.empty((2, 2, n_chunks)),
        )

    def run(self, team: Team, state: Any, subsets: Any, record: Record) -> None:
        """As many iterations as the record has room for."""
        team.run(
            self.block, state.learners, self.terms, state.rule, subsets, state.rows,
            state.held_learners, state.held, record, state.work,
        )  # fmt: skip

    def correct(self, rows: Any, losses: Vector) -> Vector:
        """Training losses of a block, the last of them exact."""
        return losses


class PythonLoss(OneScore):
    """Rows with one score, and a loss that is written in Python."""

    block = staticmethod(run_block_with_python_loss)
    most_threads = 1

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.terms = problem.loss

    def rows(self, learners: Any, some: RowSet, start: Any, score: Vector | None) -> Rows:
        rows = make_rows(some.y, some.weight, with_offset(start, some.offset), score)
        if len(rows.loss_sums):  # the loop sets them again
            values = self.problem.loss.value(rows.y, rows.score)
            rows.loss_sums[0] = float((rows.weight * values if rows.weighted else values).sum())
        return rows


class FewRows(OneScore):
    """Few rows of numbers, and Newton steps; see `few_rows_loop`."""

    block = staticmethod(run_few_rows)
    most_threads = 1

    def correct(self, rows: Any, losses: Vector) -> Vector:
        if self.problem.rule.flat:
            return losses
        set_losses(self.terms, rows)
        missing = rows.loss_sums.sum() - losses[-1]
        return losses + missing * np.linspace(0.0, 1.0, len(losses))


class ClassScores(OneScore):
    """Rows with a score for every class."""

    block = staticmethod(run_softmax_block)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.scores = problem.loss.outputs
        self.tile = class_tile(self.scores)

    def rows(self, learners: Any, some: RowSet, start: Any, score: Vector | None) -> ClassRows:
        at = with_offset(start, some.offset) if score is None else score
        rows = make_class_rows(some.y, some.weight, at)
        Team(1).run(start_classes, self.terms, rows, self.tile)
        return rows

    def work(self, learners: Any, rows: ClassRows) -> ClassWork:
        n_columns = self.problem.most_columns()
        partial, by_split = self._partial_sums(len(rows.chunks) - 1)
        return ClassWork(
            partial=partial,
            by_split=by_split,
            score=np.empty(n_columns),
            learner=np.empty(n_columns, np.int64),
            inner=np.empty((n_columns, self.scores)),
            sums=np.empty((len(rows.chunks) - 1, 2, self.scores)),
        )

    def _partial_sums(self, n_chunks: int) -> tuple[NDArray[np.float64], bool]:
        """Room for sums by chunks of rows, and whether they are those of the splits in J."""
        problem = self.problem
        layout, n_columns = problem.prepared.layout, problem.most_columns()
        if problem.selection.by_learner and problem.prepared.sums_by_rows:
            t = problem.selection.size(layout)[0]
            if t <= SPLITS_OF_COLUMN * n_columns:
                return np.empty((n_chunks, self.scores, t, 1)), True
        most_bins = int(np.diff(layout.offsets).max(initial=0)) + 1
        shape = (n_chunks, self.scores, n_columns, most_bins)
        by_rows = problem.prepared.sums_by_rows and n_chunks > 1
        by_rows &= 8 * int(np.prod(shape)) <= PARTIAL_BYTES
        return np.empty(shape if by_rows else (0, self.scores, 0, 0)), False

    def run(self, team: Team, state: Any, subsets: Any, record: Record) -> None:
        team.run(
            self.block, state.learners, self.terms, state.rule, subsets, state.rows,
            state.held_learners, state.held, record, state.work, self.tile,
        )  # fmt: skip
