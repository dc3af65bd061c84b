"""The quadratic engine for several classes.

With p the probabilities of the classes, the Hessian of a row is diag(p) - p p'. In its place stands
one number h a row, the same for all classes, as in Böhning's bound h = 1/2 (1992), but near the
eigenvalues at the scores of the moment (`rgboost.losses.Softmax.model_curvature`). So classes do
not see each other, one Gram matrix serves all of them (`rgboost.engines.gram.class_loop`), and the
values of a leaf sum to 0 over the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...selection import Subsets
from ...statistics.base import Sums
from ..base import Arrays, Record, Run
from ..gram.class_loop import ClassState, HeldState, run_class_block
from ..gram.class_search import make_room
from ..gram.loop import Pending
from ..gram.runs import SumState
from ..problem import Problem
from .runs import _UNITS, QuadraticRuns

Vector = NDArray[np.float64]

LOWER = 0.7
"""Gram rows are made anew when the curvature of all rows is less than this share of theirs, or as
much more: they are most of the work where there are many features."""


class ClassQuadraticRuns(QuadraticRuns):
    """Runs of several classes on quadratic models of their loss."""

    def __init__(self, problem: Problem) -> None:
        self.n_classes = problem.loss.outputs
        super().__init__(problem)
        self.team.close()
        self.team = Team(1)  # the loop has no use for more

    def _is_other(self, curvature: float) -> bool:
        if self.weighting is None:
            return True
        before = self.weighting.unit * _UNITS[self.gram.blocks[0].dtype.itemsize]
        return not LOWER < curvature / before < 1.0 / LOWER

    def _whole(self) -> Arrays:
        assert self.weighting is not None
        curved = {"curved": self.weighting.tables.copy(), "unit": np.array(self.weighting.unit)}
        return super()._whole() | curved

    def restore(self, kept: Arrays) -> None:
        assert self.weighting is not None
        tables, unit = kept["curved"].copy(), float(kept["unit"])
        self.weighting = self.weighting._replace(tables=tables, unit=unit)
        self.gram.forget()
        super().restore(kept)

    def _no_tables(self) -> Vector:
        return np.zeros((self.problem.n_runs, self.n_classes, self.family.n_tables))

    def make_work(self) -> Any:
        layout, selection = self.problem.prepared.layout, self.problem.selection
        most = int(np.diff(layout.offsets).max(initial=0)) + 1
        chosen = selection.size(layout)[0] if selection.by_learner else 0
        n_sums = int(self.family.offsets[-1])
        return make_room(self.n_classes, n_sums, most, self.problem.most_columns(), chosen)

    def advance(self, run: Run, subsets: Subsets, record: Record, begin: int) -> int:
        state = run.state
        return int(
            run_class_block(
                state.splits, state.train, state.held, self.rho, subsets, record, begin,
                state.pending, state.work,
            )
        )  # fmt: skip

    def _state(
        self, k: int, run: Run, sums: Sums, left_weight: Vector, total: float, noise: float
    ) -> SumState:
        train, held = self._folds_of(k)
        share = self._share(run.mass)
        left, of_all, loss = (part[train, k].sum(axis=0) for part in sums[:3])
        mine = ClassState(
            left_sums=np.ascontiguousarray(left),
            left_weight=share * left_weight,
            total_weight=float(share * total),
            constant=np.zeros(self.n_classes),
            total=of_all,
            loss=np.array([loss]),
            rows=self.gram.blocks[0],
            row_start=self.gram.row_start,
            share=share,
        )
        ratio = run.held_mass / run.mass
        held_left, held_total, held_loss = (part[held, k].sum(axis=0) for part in sums[:3])
        others = HeldState(
            beside=held_left - ratio * left if held else np.zeros((self.n_classes, 0)),
            total_beside=held_total - ratio * of_all,
            ratio=ratio,
            loss=np.array([held_loss]),
        )
        splits = self._splits(mine, noise)
        pending = Pending(np.full(1, -1, np.int64), np.zeros((2, self.n_classes)))
        return SumState(splits, mine, others, self.make_work(), pending)
