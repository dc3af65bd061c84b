"""Runs of several classes without one fold of the rows each, by passes over the rows."""

from __future__ import annotations

from typing import Any

from ..._core.team import Team
from ...losses import Softmax
from ...selection import Subsets
from ..record import Record
from .row_runs import RowRun, RowRuns, Vector
from .softmax import make_class_work, tile_of
from .softmax_loop import ClassWork, run_softmax_block, start_softmax
from .softmax_rows import ClassRows, make_class_rows


class ClassRuns(RowRuns):
    """As `RowRuns`, with a score for every class."""

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        loss = self.problem.loss
        assert isinstance(loss, Softmax)
        return loss.n_classes

    def make_rows(self, y: Vector, weight: Vector | None, start: Any) -> ClassRows:
        rows = make_class_rows(y, weight, start)
        terms, arrays = self.problem.loss.terms, self.problem.prepared.arrays
        start_softmax(arrays, terms, rows, tile_of(self.n_classes))
        return rows

    def make_work(self, rows: ClassRows) -> ClassWork:
        return make_class_work(self.problem, rows)

    def run(self, one: RowRun, subsets: Subsets, record: Record) -> None:
        Team(1).run(
            run_softmax_block, one.learners, self.problem.loss.terms, one.rule, subsets, one.rows,
            one.held_learners, one.held, record, one.work, tile_of(self.n_classes),
        )  # fmt: skip
