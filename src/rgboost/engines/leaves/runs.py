"""Algorithm 2 on weak-learners that part the rows into leaves, such as pairs.

The search of an iteration takes long enough (a pass over the rows for each pair in J) that the loop
around it is plain Python; what runs over rows is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team, team_size
from ...learners.leaves import Leaves, divided
from ...losses import Loss
from ...selection import Subsets
from ...steps import ConstantRule, LineSearch, SearchRule
from ..base import Arrays, Losses, Run, Runs
from ..direct.leaf_search import LeafRule
from ..direct.newton_leaves import NewtonRule
from ..direct.step_length import own_rule
from ..problem import Problem, RowSet, start_of
from .rows import KEPT, NOTHING, LeafRows, make_leaf_rows

Vector = NDArray[np.float64]

LONGEST_BLOCK, BLOCK_CELLS = 64, 5e8
"""Iterations of several runs before rules of stopping and callbacks look at them, and entries of
the data that a run reads in them."""

CELLS_OF_A_CALL = 10
"""An iteration calls compiled code several times, so that threads pay for so many times the cells
of a call."""


class LeafRecord(NamedTuple):
    """What iterations wrote down; see `rgboost.engines.base.Record`."""

    loss: Vector
    held_loss: Vector
    learner: NDArray[np.int64]
    values: Vector
    gradient: Vector
    sets: NDArray[np.uint8]


def make_leaf_record(problem: Problem, n: int) -> LeafRecord:
    """Room for n iterations."""
    kind = problem.prepared.choice_type(problem.n_classes)
    return LeafRecord(
        np.empty(n), np.empty(n), np.empty(n, np.int64),
        np.zeros((n, *kind["values"].shape)), np.zeros(n),
        np.zeros((n, *kind["sets"].shape), np.uint8),
    )  # fmt: skip


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
        cells = problem.cells_per_iteration()
        self.team = Team(
            team_size(problem.n_jobs, cells / CELLS_OF_A_CALL) if len(runs) == 1 else 1
        )
        if len(runs) > 1:
            self.longest = max(1, min(LONGEST_BLOCK, int(BLOCK_CELLS / max(1.0, cells))))

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self.team.close()

    def make_record(self, n: int) -> Any:
        return make_leaf_record(self.problem, n)

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
            record.gradient[m] = found.gradient
            if found.lines is not None:
                values, norm = line_values(state.rule, found, values, state.rows, team)
                record.gradient[m] = np.hypot(found.gradient, norm)
            record.values[m, : len(values)] = values.reshape(-1, *record.values.shape[2:])
            record.sets[m] = choice.sets
            # (5), and (1) of the next iteration: f += step b, and the pseudo-residual r
            everywhere = choice.everywhere(values)
            add_values(state.rows, found.leaf, found.lines, everywhere, team)
            if len(state.held.rows.chunks) > 1:
                held_leaf = prepared.leaves_of(state.held_learners, choice, team)
                lines = prepared.lines_on(state.held_learners, choice)
                add_values(state.held, held_leaf, lines, everywhere, team)
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


def add_values(rows: LeafRows, leaf: Any, lines: Any, values: Vector, team: Team) -> None:
    """f += what the leaves say: a value each, or a linear function."""
    if lines is None:
        rows.add(leaf, values, team)
    else:
        rows.add_each(lines.say(leaf, values, team), team)


@functools.singledispatch
def leaf_values(rule: Any, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    """What to add in every leaf, (leaves, outputs): step 4 of Algorithm 2.

    With S_q, W_q and H_q the sums of weighted residuals, weights and curvatures in leaf q:

    - constant:     rho S_q / W_q, which is rho <b, r> b;
    - line search:  the same direction, as far as the loss falls;
    - Newton:       S_q / (H_q + l2);
    - leaf-wise:    the value with the smallest loss over the rows of the leaf.
    """
    raise TypeError(f"{type(rule).__name__} is no rule for weak-learners with several leaves.")


@leaf_values.register
def _(rule: ConstantRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    return rule.learning_rate * rule.rho * found.means


@leaf_values.register
def _(rule: SearchRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    if found.gradient == 0.0:
        return np.zeros_like(found.sums)
    unit = found.means / found.gradient
    step = found.gradient
    if not rows.loss.quadratic:
        along = unit[found.leaf, 0]
        step = LineSearch().find(rows.loss, rows.rows.y, rows.score, along, rows.weight)
    return rule.learning_rate * step * unit


@leaf_values.register
def _(rule: NewtonRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    below = rows.curvatures(found.leaf, len(found.weights), team) + rule.l2
    values = np.clip(divided(found.raw, below), -rule.limit, rule.limit) * found.trust
    if found.keep_order is not None:
        found.keep_order(values[:, 0], below[:, 0])
    if values.shape[1] > 1:  # which changes no probability: scores sum to 0
        values -= values.mean(axis=1, keepdims=True)
    return rule.learning_rate * values


@leaf_values.register
def _(rule: LeafRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    if rows.loss.quadratic:
        return rule.learning_rate * found.means
    values = np.zeros_like(found.sums)
    y, score, weight = rows.rows.y, rows.score, rows.weight
    order = np.argsort(found.leaf, kind="stable")
    start = np.searchsorted(found.leaf[order], np.arange(len(values) + 1))
    for q in range(len(values)):
        mine = order[start[q] : start[q + 1]]
        if len(mine):
            w = None if weight is None else weight[mine]
            values[q, 0] = best_value(rows.loss, y[mine], score[mine], w)
    values *= found.trust
    if found.keep_order is not None:
        found.keep_order(values[:, 0], found.weights)
    return rule.learning_rate * values


def best_value(loss: Loss, y: Vector, score: Vector, weight: Vector | None) -> float:
    """What to add to these scores for the smallest loss; see `LineSearch` where it falls for
    ever."""
    if loss.quantile_leaves:
        return loss.best_constant(y, weight, offset=score)
    return LineSearch().find(loss, y, score, np.ones(len(y)), weight)


def line_values(
    rule: Any, found: Leaves, values: Vector, rows: LeafRows, team: Team
) -> tuple[Vector, float]:
    """The same values as those of linear functions at the means of the leaves, with the slopes of a
    weighted least-squares fit: by the weights of the rows, or by their curvatures (Newton). And the
    norm of what the slopes add."""
    h, factor, limit = line_weights(rule, rows, team)
    slopes, means, squares = found.lines.fit(rows.residual[0], h, found.leaf, found.weights, team)
    slopes *= factor
    value = values[:, 0] - np.sum(slopes * means, axis=1)
    said = np.column_stack([value, value, value, slopes])
    said = found.lines.bounded(said, factor * limit, found.leaf, team)
    return said, float(np.sqrt(squares.sum()))


@functools.singledispatch
def line_weights(rule: Any, rows: LeafRows, team: Team) -> tuple[Vector, float, float]:
    """(weights, factor of the slopes, the largest value before it)."""
    raise ValueError(
        "leaves='linear' are fitted by least squares, and this step sets the values of leaves in "
        "another way; use step='constant' or 'newton', or leaves='constant'."
    )


@line_weights.register
def _(rule: ConstantRule, rows: LeafRows, team: Team) -> tuple[Vector, float, float]:
    weight = rows.weight
    return NOTHING if weight is None else weight, rule.learning_rate * rule.rho, np.inf


@line_weights.register
def _(rule: NewtonRule, rows: LeafRows, team: Team) -> tuple[Vector, float, float]:
    return rows.curvature(team), rule.learning_rate, rule.limit
