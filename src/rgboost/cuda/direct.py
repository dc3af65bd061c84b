"""The direct engine on a card: Algorithm 2 on rows that stay there.

The host draws the subsets and asks for kernels; what they find is fetched when a block of
iterations is over. Sums that weak-learners are chosen by are exact, so the iterates are those of
the direct engine in memory, but for rounding, and the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import MixedCuts
from ..engines.base import Losses, Run, Runs
from ..engines.direct.newton_leaves import NewtonRule
from ..engines.leaves.runs import make_leaf_record
from ..engines.problem import Problem
from ..learners.pairs.score import EMPTY
from ..selection import Subsets
from ..statistics.cells import Cells
from ..steps import ConstantRule, SearchRule
from . import direct_kernels as kernels
from . import search_kernels
from .card import Card
from .compiled import loss_on_card
from .kernels import LONGS, THREADS, stretches
from .rows import MOST_BLOCKS, CardRows

Vector = NDArray[np.float64]


@dataclass
class CardState:
    """Where a run stands: scores and residuals of the rows, their sums (`search_kernels.LOSS` and
    so on), and the move that was made last. Rows of ``held`` are held out."""

    held: tuple[int, int]
    score: Any
    residual: Any
    sums: Any
    partial: Any
    chosen: Any
    left: Any
    move: Any


@dataclass
class Search:
    """Room for a search: sums in the cells of the columns of J, and the best of each."""

    cells: Any
    best: Any
    learner: Any


class CardRuns(Runs):
    """A run by passes over rows on a card; ``rows`` may have a second fold, of validation rows.
    ``masses`` are the weights of both."""

    engine = "direct"

    def __init__(self, problem: Problem, rows: CardRows, masses: Sequence[float]) -> None:
        super().__init__(problem, [])
        self.card: Card = rows.card
        self.rows = rows
        with self.card.at_work():
            columns = columns_of(problem.prepared)
            weights = weigh_columns(rows, columns)
            problem.prepared = columns.weighed(weights)
            self.columns = columns_of(problem.prepared)
            self.axes = self._send_axes(weights)
            self.loss = loss_on_card(problem.loss.terms)
            self.advance_rows = kernels.make_advance(self.loss)
            self.add_curvatures = kernels.make_sum_curvatures(self.loss)
            self.choice = self._choice()
            self.search = self._room()
            state = self._begin()
        (rng,) = problem.generators()
        self.runs = [Run(problem.start, masses[0], masses[1], rng, state)]

    def _choice(self) -> search_kernels.Choice:
        columns, rule = self.columns, self.problem.rule
        step = 0.0
        if isinstance(rule, ConstantRule):
            step = rule.learning_rate * rule.rho
        elif isinstance(rule, SearchRule):  # of the squared loss
            step = rule.learning_rate
        light = max(EMPTY * columns.total, np.nextafter(columns.lightest, 0.0))
        return search_kernels.Choice(
            columns.total, light, columns.alone, columns.signed, float(step)
        )

    def _send_axes(self, weights: list[Vector]) -> search_kernels.Axes:
        columns, send = self.columns, self.card.send
        cuts = columns.cuts
        known = [up_to_cells(one) for one in weights]
        return search_kernels.Axes(
            send(cuts.n_values.astype(np.int64)), send(columns.missing), send(columns.n_splits),
            send(columns.features), send(columns.offsets[:-1]), send(columns.cells.start),
            send(np.concatenate([*known, np.empty(0)])),
        )  # fmt: skip

    def _room(self) -> Search:
        most, cells = max(1, self.problem.most_columns()), self.columns.cells
        widest = int(np.diff(cells.start).max(initial=1))
        card = self.card
        return Search(
            card.zeros((most, widest), np.int64), card.empty(most, np.float64),
            card.empty(most, np.int64),
        )  # fmt: skip

    def _begin(self) -> CardState:
        """The rows at the null model."""
        card, rows = self.card, self.rows
        n, starts = rows.rows.n_rows, rows.starts
        held = (int(starts[1]), int(starts[2])) if len(starts) > 2 else (n, n)
        score = np.full(n, float(self.problem.start))
        if rows.rows.offset.shape[0]:
            score += rows.rows.offset.copy_to_host()
        blocks = min(kernels.BLOCKS, -(-max(1, n) // THREADS))
        widest = int(self.columns.cuts.n_values.max(initial=0)) + 1
        left = np.ones((2, widest), np.uint8)
        state = CardState(
            held, card.send(score), card.empty(n, np.float64), card.empty(4, np.float64),
            card.empty((5, blocks), np.float64), card.send(np.full(2, -1, np.int64)),
            card.send(left), card.zeros(kernels.MOVE, np.float64),
        )  # fmt: skip
        self._advance(state)
        return state

    def make_record(self, n: int) -> Any:
        return super().make_record(n) if self.columns.alone else make_leaf_record(self.problem, n)

    def losses(self, run: Run) -> Losses:
        with self.card.at_work():
            sums = run.state.sums.copy_to_host()
        return Losses(float(sums[search_kernels.LOSS]), float(sums[search_kernels.HELD]))

    def advance(self, run: Run, subsets: Subsets, record: Any, begin: int) -> int:
        end = len(record.learner)
        if end == begin:
            return end
        with self.card.at_work():
            room = self._room_to_write(end - begin)
            drawn = Drawn.send(self.card, subsets)
            for m in range(begin, end):
                at = m % (len(subsets.start) - 1)
                self._iterate(run.state, drawn, at, m - begin, room)
            self._write(room, record, begin)
        return end

    def _room_to_write(self, n: int) -> kernels.Written:
        card, n_bytes = self.card, self.columns.set_bytes
        return kernels.Written(
            card.empty(n, np.float64), card.empty(n, np.float64), card.empty(n, np.int64),
            card.zeros((n, 4), np.float64), card.empty(n, np.float64),
            card.zeros((n, 2, n_bytes), np.uint8),
        )  # fmt: skip

    def _iterate(
        self, state: CardState, drawn: Drawn, at: int, m: int, out: kernels.Written
    ) -> None:
        """An iteration, whose kernels come one after the other."""
        rows, axes, search = self.rows.rows, self.axes, self.search
        first, n = int(drawn.start[at]), int(drawn.start[at + 1] - drawn.start[at])
        # (2), (3): the best weak-learner in the random subset J
        tiles = -(-search.cells.shape[1] // LONGS)
        for lo in range(0, n, MOST_BLOCKS):
            some = min(MOST_BLOCKS, n - lo)
            n_blocks, length = stretches(rows.n_rows, some * tiles)
            search_kernels.add_residuals[(n_blocks, some, tiles), THREADS](
                rows.codes, axes, drawn.columns, first + lo, state.residual, state.sums, length,
                search.cells[lo:],
            )  # fmt: skip
        if n:
            search_kernels.search[n, THREADS](
                axes, drawn.columns, first, drawn.restricted, drawn.first, drawn.learners,
                self.choice, state.sums, search.cells, search.best, search.learner,
            )  # fmt: skip
        # (4): the step
        kernels.pick[1, THREADS](
            axes, drawn.columns, first, n, search.best, search.learner, search.cells, self.choice,
            state.sums, m, state.chosen, state.left, state.move, out,
        )  # fmt: skip
        if isinstance(self.problem.rule, NewtonRule):
            self._newton(state, m, out)
        # (5), and (1) of the next iteration: f += step b, and the pseudo-residual r
        self._advance(state)

    def _newton(self, state: CardState, m: int, out: kernels.Written) -> None:
        rows, rule = self.rows.rows, kernels.Newton(*self.problem.rule)
        self.add_curvatures[state.partial.shape[1], THREADS](
            self.problem.loss.terms, rows.codes, state.chosen, state.left, rows.y, rows.weight,
            *state.held, state.score, state.partial,
        )  # fmt: skip
        kernels.newton_values[1, THREADS](rule, state.partial, state.chosen, m, state.move, out)

    def _advance(self, state: CardState) -> None:
        rows = self.rows.rows
        used = self.search.cells.reshape(self.search.cells.size)
        self.advance_rows[state.partial.shape[1], THREADS](
            self.problem.loss.terms, rows.codes, state.chosen, state.left, state.move, rows.y,
            rows.weight, *state.held, state.score, state.residual, used, state.partial,
        )  # fmt: skip
        n_fitted = rows.n_rows - (state.held[1] - state.held[0])
        kernels.settle[1, THREADS](state.partial, max(1, n_fitted), state.sums)

    def _write(self, room: kernels.Written, record: Any, begin: int) -> None:
        """What a block of iterations wrote, as a record."""
        found = kernels.Written(*(part.copy_to_host() for part in room))
        for name in ("loss", "held_loss", "learner", "gradient"):
            getattr(record, name)[begin:] = getattr(found, name)
        if not self.columns.alone:
            record.values[begin:] = found.values
            record.sets[begin:] = found.sets
            return
        chosen = found.learner >= 0
        record.left[begin:] = np.where(chosen, found.values[:, 0], 0.0)
        record.right[begin:] = np.where(chosen, found.values[:, 2], 0.0)


@dataclass
class Drawn:
    """`rgboost.selection.Subsets`, on the card; ``start`` is the host's."""

    start: NDArray[np.int64]
    columns: Any
    restricted: bool
    first: Any
    learners: Any

    @classmethod
    def send(cls, card: Card, subsets: Subsets) -> Drawn:
        parts = (card.send(np.append(part, -1)) for part in (
            subsets.columns, subsets.first, subsets.learners,
        ))  # fmt: skip
        columns, first, learners = parts
        return cls(subsets.start, columns, subsets.restricted, first, learners)


@dataclass(frozen=True)
class ColumnsOnCard:
    """What the search has to know of a family. ``alone``: columns are features by themselves, and
    a weak-learner with an empty side is out."""

    prepared: Any
    cuts: MixedCuts
    features: NDArray[np.int64]
    offsets: NDArray[np.int64]
    alone: bool
    signed: bool = False
    lightest: float = 0.0
    set_bytes: int = 0
    cells: Cells = field(init=False)

    def __post_init__(self) -> None:
        sizes = self.cuts.n_values + 1
        first_bin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        codes = np.concatenate([np.arange(n) for n in sizes])
        made = Cells.make(self.features, first_bin[:-1], codes, sizes)
        object.__setattr__(self, "cells", made)

    @property
    def total(self) -> float:
        if self.alone:
            return float(self.cuts.total_weight)
        return float(self.prepared.arrays.total_weight)

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(self.cuts.has_missing)

    @property
    def n_splits(self) -> NDArray[np.int64]:
        n_values = self.cuts.n_values
        found = np.where(self.missing, 2 * n_values - 1, n_values - 1)
        return np.maximum(found, 0).astype(np.int64)

    def weighed(self, weights: list[Vector]) -> Any:
        """The family, with these weights of the rows in the cells of its columns."""
        total = float(weights[0].sum()) if weights else self.total
        if not self.alone:
            usual = total / max(1, self.prepared.arrays.n_rows)
            return self.prepared.weighed_cells(
                np.concatenate([one.ravel() for one in weights]), usual
            )
        n_bins = self.cuts.n_values + (not self.prepared.numeric_bins)
        bins = np.concatenate([one.ravel()[:n] for one, n in zip(weights, n_bins, strict=True)])
        return self.prepared.weighed(bins, total)


def columns_of(prepared: Any) -> ColumnsOnCard:
    """The columns of stumps or pairs."""
    if prepared.by_leaves:
        return ColumnsOnCard(
            prepared, prepared.cuts, prepared.columns_, prepared.arrays.offsets, False,
            lightest=prepared.arrays.lightest, set_bytes=prepared.set_bytes,
        )  # fmt: skip
    cuts = prepared.bins()
    features = np.column_stack([np.arange(cuts.n_features), np.full(cuts.n_features, -1)])
    mixed = getattr(prepared.arrays, "columns", None)
    lightest = 0.0 if mixed is None else mixed.lightest
    splits = prepared.arrays.splits
    return ColumnsOnCard(prepared, cuts, features, splits.offsets, True, splits.signed, lightest)


def weigh_columns(rows: CardRows, columns: ColumnsOnCard) -> list[Vector]:
    """The weights in the cells of every column, of the rows that runs are fitted to."""
    found = rows.cell_weights(columns.cells)[0]
    start = columns.cells.start
    shapes = (columns.cells.shape(k) for k in range(len(columns.features)))
    return [found[start[k] : start[k + 1]].reshape(shape) for k, shape in enumerate(shapes)]


def up_to_cells(weights: Vector) -> Vector:
    """As `search_kernels.add_up_cells`."""
    found = weights.copy()
    if found.shape[1] == 1:
        found[:-1] = np.cumsum(found[:-1], axis=0)
        return found.ravel()
    found[:, :-1] = np.cumsum(found[:, :-1], axis=1)
    found[:-1] = np.cumsum(found[:-1], axis=0)
    return found.ravel()


def obstacle(problem: Problem) -> str | None:
    """Why the direct engine cannot run a problem on a card; None if it can."""
    prepared, loss, rule = problem.prepared, problem.loss, problem.rule
    if loss.outputs > 1:
        return "several classes have several scores a row, and it keeps one"
    if loss.terms is None:
        return f"{loss!r} is written in Python"
    along = isinstance(rule, SearchRule) and loss.quadratic  # how far, <b, r> tells
    if not (along or isinstance(rule, ConstantRule | NewtonRule)):
        return f"step={problem.step!r} looks at all rows several times: use 'constant' or 'newton'"
    columns = columns_of(prepared)
    if bool(columns.cuts.categorical[columns.features[columns.features >= 0]].any()):
        return "categories are sorted anew in every iteration"
    if problem.n_runs > 1:
        return "it is one run: give max_iter a number"
    some = [getattr(prepared, name, None) for name in ("search_rows", "search_cuts")]
    if some != [None, None]:
        return "it searches all rows and all cuts: leave out search_rows and search_cuts"
    return None
