"""The surrogate engine: blocks of iterations on a quadratic model of a smooth loss.

Around the current f the loss is replaced by a quadratic in the step d,

    L(f) - <r, d> + 1/2 sum_i h_i d_i^2,

on which iterations cost O(K) as in the Gram engine. After a block the residuals are computed from
the rows anew ("refresh"). Two models:

- majoriser: h_i = sigma w_i. It lies above the loss, so the loss falls by at least as much as the
  model. The Gram matrix is the one of the weights, made once. A block of one iteration is an
  iteration of Algorithm 2 with the constant step.
- Newton: h_i = w_i l''(y_i, f_i). It is close to the loss, so few refreshes are needed, but its
  Gram matrix changes with f. How far to go along the step of a block is found by a line search on
  the rows.

The iterates are not those of Algorithm 2; the optimum is. Losses in the trace are exact at
refreshes and linear in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.loading import working_seconds
from ..._core.team import Team
from ...learners.sparse_stumps import SparseStumps
from ...learners.splits import weighted_splits
from ...losses import Loss
from ...model.path_tables import path_tables
from ...statistics.memory import MOST_BINS, Gradient, Line, MemoryStatistics
from ...statistics.row_gram import MOST_BINS_IN_ALL, WholeGram
from ...training.state import Arrays
from ..direct.step_length import ConstantRule
from ..gram.gram import (
    GramRows,
    OneByOne,
    gram_type,
    loop_threads,
    missing_features,
    no_rows,
    stumps_obstacle,
)
from ..gram.loop import GramState, Pending, make_work, run_gram_block
from ..problem import Problem

_shortest_part = 16

_MOST_SCALES = 8
"""Tries of the line search of a block."""

_NEWTON_REFRESHES = 8
_MAJORISER_REFRESHES = 100
"""How many refreshes the two models need, roughly, to decide which one is cheaper."""


def surrogate_obstacle(problem: Problem) -> str | None:
    """Why the surrogate engine cannot run this problem; None if it can."""
    if problem.loss.smoothness is None:
        return f"it needs a smooth loss, and {problem.loss!r} is not"
    obstacle = stumps_obstacle(problem)
    if obstacle is not None:
        return obstacle
    if problem.prepared.arrays.splits.most_bins > MOST_BINS:
        return f"it needs at most {MOST_BINS} bins per feature; set max_bins to that or less"
    if not isinstance(problem.rule, ConstantRule):
        return "its steps are those of the model; use step='constant'"
    return None


class QuadraticModel(ABC):
    """The quadratic model of a block: its Gram rows, and a state at the current gradient."""

    splits: Any
    sigma: float
    name: str
    enough: float
    """A block ends when its last part gained less than this share of the whole block: a model that
    is expensive to make, and close to the loss, is used up further."""

    rounds: float
    """The length of a part: how often every column is looked at in it."""

    @abstractmethod
    def state(self, gradient: Gradient) -> GramState:
        """The model around the point that the rows are at."""

    @abstractmethod
    def scale(self, line: Line) -> float:
        """How far to go along the step of a block."""

    @abstractmethod
    def supply(self, pending: Pending, state: GramState, team: Team) -> bool:
        """Make the Gram rows that the pending step needs; False if there is no memory for them."""

    def keep(self) -> Arrays:
        """What the model needs to be made again as it is."""
        return {}

    def restore(self, kept: Arrays) -> None:
        """Make it again from what `keep` gave."""
        return


class Majoriser(QuadraticModel):
    """h_i = sigma w_i: Gram rows of the weights, made when a feature is first chosen."""

    name = "majoriser"
    enough = 0.1
    rounds = 0.5

    def __init__(self, problem: Problem, rows: MemoryStatistics, memory: int) -> None:
        assert problem.loss.smoothness is not None
        self.splits = problem.prepared.arrays.splits
        self.sigma = problem.loss.smoothness
        self.gram = GramRows(
            self.splits.offsets, [gram_type(problem.weight, len(problem.y))], memory
        )
        self.rows = rows
        self.left_weight, self.total_weight = rows.bin_weights()

    def state(self, gradient: Gradient) -> GramState:
        return _state(
            gradient, self.left_weight, self.total_weight, self.gram.blocks[0], self.gram.row_start
        )

    def scale(self, line: Line) -> float:
        return 1.0  # down to the minimum of the majoriser, which is above that of the loss

    def supply(self, pending: Pending, state: GramState, team: Team) -> bool:
        wanted = missing_features(pending, state, self.splits, self.gram, team)
        return self.gram.add(wanted, OneByOne(self.rows))

    def keep(self) -> Arrays:
        return self.gram.keep()

    def restore(self, kept: Arrays) -> None:
        self.gram.restore(kept, OneByOne(self.rows))


class Newton(QuadraticModel):
    """h_i = w_i l'': all Gram rows anew at every refresh."""

    name = "newton"
    sigma = 1.0
    enough = 0.01
    rounds = 2.0

    def __init__(self, problem: Problem, rows: MemoryStatistics) -> None:
        self.arrays = problem.prepared.arrays
        self.rows = rows
        self.learning_rate = problem.rule.learning_rate
        self.offsets = self.arrays.splits.offsets
        n_splits = int(self.offsets[-1])
        self.gram = np.zeros((n_splits, n_splits))
        self.by_rows: WholeGram | None = None
        if fits_row_by_row(problem):
            self.by_rows = WholeGram(self.arrays.entries, self.offsets, len(problem.y))

    def state(self, gradient: Gradient) -> GramState:
        weight = self.rows.curvature_weights()
        self._fill(weight)
        left_weight, total = self.gram.diagonal().copy(), float(weight.sum())
        self.splits = weighted_splits(self.arrays.splits, left_weight, total)
        return _state(gradient, left_weight, total, self.gram, self.offsets[:-1])

    def scale(self, line: Line) -> float:
        """A learning rate below 1 asks for short steps: they are not made longer."""
        return best_scale(line) if self.learning_rate >= 1.0 else min(best_scale(line), 1.0)

    def supply(self, pending: Pending, state: GramState, team: Team) -> bool:
        raise AssertionError("all Gram rows are there")

    def _fill(self, weight: NDArray[np.float64]) -> None:
        if self.by_rows is not None:
            self.by_rows.fill(weight, self.rows.team, self.gram)
            return
        n_features = len(self.offsets) - 1
        for g in range(n_features):
            a, b = self.offsets[g], self.offsets[g + 1]
            self.rows.weighted_gram_rows([g], range(g, n_features), weight, self.gram[a:b])
            self.gram[b:, a:b] = self.gram[a:b, b:].T


def _state(
    gradient: Gradient,
    left_weight: NDArray[np.float64],
    total_weight: float,
    rows: NDArray,
    row_start: NDArray[np.int64],
) -> GramState:
    return GramState(
        left_sums=gradient.left_sums,
        left_weight=left_weight,
        total_weight=total_weight,
        constant=np.zeros(1),
        total=np.array([gradient.total]),
        loss=np.array([gradient.loss]),
        rows=rows,
        row_start=row_start,
    )


def fits_row_by_row(problem: Problem) -> bool:
    """Whether the Gram matrix can be made row by row: sparse, and not too many bins."""
    layout = problem.prepared.layout
    n_bins = layout.n_learners + len(layout.offsets) - 1
    return isinstance(problem.prepared.arrays, SparseStumps) and n_bins <= MOST_BINS_IN_ALL


def choose_model(problem: Problem, rows: MemoryStatistics, memory: int) -> QuadraticModel:
    """Newton if its Gram matrix fits and is cheap enough to be made anew at every refresh."""
    layout = problem.prepared.layout
    cells, n_features = problem.prepared.cells, len(layout.members)
    gram_cells = cells * n_features / 2
    if fits_row_by_row(problem):
        gram_cells = cells * cells / len(problem.y) / 2
    cheap = _NEWTON_REFRESHES * gram_cells < _MAJORISER_REFRESHES * cells
    has_curvature = type(problem.loss).curvature is not Loss.curvature
    if has_curvature and cheap and 8.0 * layout.n_learners**2 <= memory:
        return Newton(problem, rows)
    return Majoriser(problem, rows, memory)


class Block(NamedTuple):
    """``n`` iterations. ``supplied``: there was memory for all Gram rows. ``whole``: it would have
    ended there with more iterations left to do, too."""

    n: int
    supplied: bool
    whole: bool


class Point(NamedTuple):
    """A refresh that a run with more iterations left to do comes by as well."""

    done: int
    tables: NDArray[np.float64]


def run_surrogate(problem: Problem, memory: int, tol: float) -> None:
    """Run blocks until the iterations are used up or a block gains too little of the loss."""
    arrays, recorder, held = problem.prepared.arrays, problem.recorder, problem.held
    offsets = arrays.splits.offsets
    loss = problem.loss
    size = loop_threads(problem.n_jobs, int(offsets[-1]))
    with Team(problem.n_jobs) as builders, Team(size) as team:
        rows = MemoryStatistics(
            arrays, problem.y, problem.weight, loss, problem.null_score, builders
        )
        held_rows = None
        if held is not None:
            held_rows = MemoryStatistics(
                problem.held_arrays, held.y, held.weight, loss, problem.null_score_held, builders
            )
        model = choose_model(problem, rows, memory)
        recorder.engine = f"surrogate ({model.name})"
        tables = np.zeros(int(offsets[-1]) + len(offsets) - 1)
        kept = problem.rows_to_resume("surrogate")
        if kept is not None:
            tables[:] = kept["tables"]
            model.restore(kept)
        else:
            held_loss = held_rows.loss(tables) if held_rows is not None else 0.0
            recorder.loss[0], recorder.held_loss[0] = rows.loss(tables), held_loss
        point = Point(recorder.done, tables.copy())
        problem.begin("surrogate", lambda: (point.done, {"tables": point.tables} | model.keep()))
        begun = working_seconds() - recorder.seconds[recorder.done]
        gradient = rows.gradient(tables)
        while recorder.left_to_do:
            problem.begin_block()
            held_before = recorder.held_loss[recorder.done]
            n, supplied, whole = _run_block(problem, model, gradient, team)
            made = recorder.record(n)
            change = path_tables(offsets, made.learner, made.left, made.right)
            scale = model.scale(rows.line(change))
            scale, after = falling_step(rows, tables, change, scale, gradient.loss)
            tables += scale * change
            recorder.scale_steps(n, scale)
            held_loss = held_rows.loss(tables) if held_rows is not None else 0.0
            gained = gradient.loss - after.loss
            gradient = after
            # The loop on the model knows nothing of validation rows and wrote zeros.
            recorder.held_loss[recorder.done] = held_before
            recorder.finish_block(n, working_seconds() - begun, after.loss, held_loss)
            recorder.smooth_block(n)
            small = gained <= tol * abs(gradient.loss)
            if whole:
                point = Point(recorder.done, tables.copy())
                problem.finished = small or not supplied
            if not supplied:
                recorder.engine += ", ended where gram_memory was used up"
            if problem.wants_to_stop() or small or not supplied:
                break


def falling_step(
    rows: MemoryStatistics, tables: NDArray, change: NDArray, scale: float, loss: float
) -> tuple[float, Gradient]:
    """Halve the step of a block until the loss does not rise."""
    while scale > 1e-6:
        after = rows.gradient(tables + scale * change)
        if after.loss <= loss:
            return scale, after
        scale *= 0.5
    return 0.0, rows.gradient(tables)


def best_scale(line: Line) -> float:
    """The minimum along the line by Newton's method, to a tenth: the next block does the rest."""
    scale = 1.0
    for _ in range(_MOST_SCALES):
        slope, curvature = line.slope(scale)
        if not curvature > 0.0:
            break
        new = min(max(scale - slope / curvature, 0.25 * scale), 4.0 * scale)
        close = abs(new - scale) <= 0.1 * scale
        scale = new
        if close:
            break
    return scale


def _run_block(problem: Problem, model: QuadraticModel, gradient: Gradient, team: Team) -> Block:
    """Iterate on the quadratic model until it gains little."""
    state = model.state(gradient)
    splits = model.splits
    nobody = no_rows(state)
    rule = problem.rule
    assert isinstance(rule, ConstantRule)
    rho = rule.learning_rate * (1.0 if model.name == "newton" else rule.rho)
    pending = Pending(np.full(1, -1, np.int64), np.zeros(2))
    most = problem.most_columns()
    work = make_work(most, team.size)
    recorder = problem.recorder
    size, of = problem.selection.size(problem.prepared.layout)
    n_columns = len(problem.prepared.layout.members)
    part = max(_shortest_part, int(model.rounds * n_columns * of / max(1, size)))
    part = min(part, max(1, (1 << 20) // max(1, most)))
    done = 0
    before = gradient.loss
    while done < recorder.left_to_do:
        n = min(part, recorder.left_to_do - done)
        subsets = problem.selection.subsets(problem.prepared.layout, problem.rng, n)
        record = recorder.record(n, skip=done)
        m = 0
        while True:
            m = team.run(
                run_gram_block, splits, state, nobody, model.sigma, rho, subsets, record, m,
                pending, work,
            )  # fmt: skip
            if pending.learner[0] < 0:
                break
            if not model.supply(pending, state, team):
                return Block(done + m - 1, False, True)  # the last choice cannot be applied
        gained = before - state.loss[0]
        before = state.loss[0]
        done += n
        if gained <= model.enough * (gradient.loss - before):
            return Block(done, True, n == part)
    return Block(done, True, False)
