"""Algorithm 2 on weak-learners that part the rows into leaves, such as pairs.

The search of an iteration takes long enough (a pass over the rows for each pair in J) that the loop
around it is plain Python; what runs over rows is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...selection import Subsets
from ..base import Arrays, Losses, Run, Runs
from ..direct.step_length import own_rule
from ..problem import Problem, RowSet, start_of
from .rows import KEPT, LeafRows, make_leaf_rows
from .steps import leaf_values

Vector = NDArray[np.float64]

LONGEST_BLOCK = 64
"""Iterations of several runs before rules of stopping and callbacks look at them."""


class LeafRecord(NamedTuple):
    """What iterations wrote down; see `rgboost.engines.base.Record`."""

    loss: Vector
    held_loss: Vector
    learner: NDArray[np.int64]
    values: Vector
    gradient: Vector
    sets: NDArray[np.uint8]


@dataclass
class LeafState:
    """Where a run stands: its search, rows and step rule, and the rows that are held out."""

    search: Any
    rows: LeafRows
    held_learners: Any
    held: LeafRows
    rule: Any


class LeafRuns(Runs):
    """Runs by passes over the rows, from the null model or from given scores."""

    engine = "direct"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        runs = list(self._begin())
        super().__init__(problem, runs)
        self.team = Team(problem.n_jobs if len(runs) == 1 else 1)
        if len(runs) > 1:
            self.longest = LONGEST_BLOCK

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self.team.close()

    def make_record(self, n: int) -> Any:
        kind = self.problem.prepared.choice_type(self.problem.n_classes)
        return LeafRecord(
            np.empty(n), np.empty(n), np.empty(n, np.int64),
            np.zeros((n, *kind["values"].shape)), np.zeros(n),
            np.zeros((n, *kind["sets"].shape), np.uint8),
        )  # fmt: skip

    def _begin(self) -> Iterator[Run]:
        problem, generators = self.problem, self.problem.generators()
        if problem.fold is None:
            rng, rows, arrays = next(generators), problem.rows, problem.prepared.arrays
            if self._by_pieces(len(rows.y)):
                order = mixed(np.arange(len(rows.y)))
                arrays, _ = problem.prepared.on_some_rows(order, rows.take(order).weight, order[:0])
                rows = rows.take(order)
            others = problem.held_arrays, problem.held_rows
            yield self._run(arrays, rows, *others, problem.start, rng, None, None)
            return
        for k, rng in enumerate(generators):
            train, held = np.flatnonzero(problem.fold != k), np.flatnonzero(problem.fold == k)
            if self._by_pieces(len(train)):
                train = mixed(train)
            rows, held_rows = problem.rows.take(train), problem.rows.take(held)
            arrays, held_arrays = problem.prepared.on_some_rows(train, rows.weight, held)
            start = start_of(problem.loss, rows, None) if problem.best_start else problem.start
            known = None if problem.run_scores is None else problem.run_scores[k]
            scores = (None, None) if known is None else (known[train], known[held])
            yield self._run(arrays, rows, held_arrays, held_rows, start, rng, *scores)

    def _by_pieces(self, n_rows: int) -> bool:
        """Whether a search looks at some of the rows."""
        most = self.problem.prepared.search_rows
        return most is not None and n_rows > most

    def _run(
        self, arrays: Any, rows: RowSet, held_arrays: Any, held: RowSet, start: Any,
        rng: np.random.Generator, score: Vector | None, held_score: Vector | None,
    ) -> Run:  # fmt: skip
        problem, loss = self.problem, self.problem.loss
        state = LeafState(
            problem.prepared.searcher(arrays, loss.outputs, seed_of(rng)),
            make_leaf_rows(loss, rows, start, score),
            held_arrays,
            make_leaf_rows(loss, held, start, held_score),
            own_rule(problem.rule, len(rows.y)),
        )
        return Run(start, rows.mass, held.mass, rng, state)

    def losses(self, run: Run) -> Losses:
        return Losses(run.state.rows.total_loss, run.state.held.total_loss)

    def advance(self, run: Run, subsets: Subsets, record: Any, begin: int) -> int:
        state, team, prepared = run.state, self.team, self.problem.prepared
        n = len(record.learner)
        for m in range(begin, n):
            record.loss[m], record.held_loss[m] = self.losses(run)
            # (2), (3): the best weak-learner in the random subset J
            choice = state.search(state.rows.residual, subsets, m, team)
            record.learner[m] = choice.learner
            if choice.learner < 0:
                continue
            # (4): the step
            found = choice.leaves
            values = leaf_values(state.rule, found, state.rows, team)
            record.values[m] = values.reshape(record.values.shape[1:])
            record.gradient[m], record.sets[m] = found.gradient, choice.sets
            # (5), and (1) of the next iteration: f += step b, and the pseudo-residual r
            everywhere = choice.everywhere(values)
            state.rows.add(found.leaf, everywhere, team)
            if len(state.held.rows.chunks) > 1:
                held_leaf = prepared.leaves_of(state.held_learners, choice)
                state.held.add(held_leaf, everywhere, team)
        return n

    def keep(self) -> Arrays:
        state = self.runs[0].state
        sides = (("train", state.rows.rows), ("held", state.held.rows))
        kept = {f"{name}_{field}": getattr(r, field).copy() for name, r in sides for field in KEPT}
        return kept | {"search": np.array([state.search.done, state.search.seed])}

    def restore(self, kept: Arrays) -> None:
        state = self.runs[0].state
        state.search.done, state.search.seed = (int(one) for one in kept["search"])
        for name, rows in (("train", state.rows.rows), ("held", state.held.rows)):
            for field in KEPT:
                getattr(rows, field)[:] = kept[f"{name}_{field}"]


def seed_of(rng: np.random.Generator) -> int:
    """A seed below 2**31 that belongs to a generator, whatever it has drawn."""
    return int(rng.bit_generator.seed_seq.generate_state(1)[0] >> 1)


def mixed(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same rows in a random order, always the same one."""
    return np.random.default_rng(0).permutation(rows)
