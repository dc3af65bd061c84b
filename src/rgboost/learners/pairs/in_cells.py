"""The best quadrant stumps by sums in the cells of pairs, where nobody has all rows.

Sums of residuals in all cells are exact at some model, from which runs go on. What a step v does to
the residuals of another pair follows from the rows, -h_i v(x_i), of which a sample is at hand: with
u_i what the steps since then add to row i of the sample, and s the weight of all rows over that of
the sample,

    S_k(cell) = S_k(cell) there - s sum_{i in cell} h_i u_i

The errors of an estimate of what changed are small beside those of sums over the sample alone, and
are gone when sums are made anew (as in stochastic gradients with reduced variance: Johnson and
Zhang 2013). What steps on k itself did in its own cells is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from ..kernels import TIE, Subset
from ..leaves import divided
from .look import look_at, make_look, whole_look
from .score import EMPTY
from .search import (
    MOST_BINS,
    PairArrays,
    find_leaves,
    make_found,
    search_any,
    sum_leaves,
    sum_quadrants,
)

Vector = NDArray[np.float64]

_NONE = np.zeros(0, np.int64)


class RowsInCells:
    """Sums of residuals (outputs, cells) and of weights of some rows, in the cells of all columns.
    In the sample, the rows of a ``part`` stand for them; ``sample_weight`` are the weights of all
    its rows."""

    def __init__(
        self, arrays: PairArrays, residual: Vector, weight: Vector, sample_weight: Vector,
        part: slice,
    ) -> None:  # fmt: skip
        self.arrays = arrays
        self.residual = residual
        self.weight = weight
        self.part = part
        of_part = sample_weight[part]
        total = float(weight[: int(arrays.cell_start[1])].sum())  # all are in some cell of a column
        self.scale = total / float(of_part.sum()) if len(of_part) else 0.0
        """The weight of the rows over that of the part."""
        self.beside = weight - self.scale * weigh_part(arrays, of_part, part.start)
        """What the sample does not tell of the weights."""

    def quadrants(
        self, k: int, left: NDArray[np.uint8], leaf: NDArray[np.uint8], moved: Vector
    ) -> tuple[Vector, Vector]:
        """Sums of residuals (4, outputs), and of weights, in the quadrants of a cut of column k;
        ``leaf`` and ``moved`` are the quadrants and h u of the rows of the sample."""
        now, shape = place_of(self.arrays, k)
        sums, weights = np.empty((4, len(self.residual))), np.empty(4)
        residual = np.ascontiguousarray(self.residual[:, now]).reshape(-1, *shape)
        sum_quadrants(residual, self.weight[now].reshape(shape), left, sums, weights)
        return sums - self.scale * sum_leaves(moved[:, self.part], leaf[self.part], 4), weights

    def step(self, k: int, left: NDArray[np.uint8], values: Vector) -> None:
        """After a step on column k, which the sample knows of."""
        now, shape = place_of(self.arrays, k)
        add_in_cells(left, -values, *shape, self.beside[now], self.residual[:, now])


class CellChoice(NamedTuple):
    """A quadrant stump: its number (-1: none), its column, the bins on the left of both cuts (bytes
    for compiled code, bits for the record), the quadrants of the rows of the sample; in the
    quadrants the sums of residuals (4, outputs) that it was chosen by, which may be smoothed, and
    the weights; and as they are, of the rows and of those held out."""

    learner: int
    column: int = -1
    left: Any = None
    sets: Any = None
    leaf: Any = None
    sums: Any = None
    weights: Any = None
    sides: Sequence[tuple[Vector, Vector]] = ()

    @property
    def means(self) -> Vector:
        """S_q / W_q; 0 where a quadrant has no weight."""
        return divided(self.sums, self.weights[:, None])


class CellSearch:
    """The search of one run. ``arrays`` have the rows of the sample, and ``weight`` their weights
    h; ``rows`` are those that the run is fitted to, whose part of the sample comes first, in a
    random order, and those that are held out, if there are any. ``noise`` is phi of
    `rgboost.learners.credibility`, which falls with the loss by ``slope``; see `choose.PairSearch`
    for ``search_rows``, ``search_cuts``, ``seed`` and ``done``."""

    def __init__(
        self, arrays: PairArrays, weight: Vector, rows: Sequence[RowsInCells], noise: float,
        slope: float, set_bytes: int, search_rows: int | None, search_cuts: int | None, seed: int,
        done: int,
    ) -> None:  # fmt: skip
        self.arrays = arrays
        self.weight = weight
        self.rows = rows
        self.noise = noise
        self.slope = slope
        self.set_bytes = set_bytes
        self.n_rows = rows[0].part.stop
        self.size = min(self.n_rows, search_rows or self.n_rows)
        self.search_cuts = search_cuts or MOST_BINS
        self.seed = seed
        self.done = done
        self.moved = np.zeros((len(rows[0].residual), len(weight)))
        """h u of the rows of the sample."""
        self._look = make_look(arrays.n_values)
        self._every = Subset(np.arange(len(arrays.pairs)), False, _NONE, _NONE)
        self._found = make_found(len(arrays.pairs), len(self.moved))

    def __call__(self, columns: NDArray[np.int64], team: Team) -> CellChoice:
        """The best weak-learner of some columns; ties go to the first one."""
        if not len(columns):
            return CellChoice(-1)
        look_at(self.arrays, columns, self.search_cuts, self.seed, self.done, self._look)
        mine = self.rows[0]
        pieces = -(-self.n_rows // max(1, self.size))
        piece, self.done = self.done % max(1, pieces), self.done + 1
        lo = min(piece * self.size, self.n_rows - self.size)
        share = mine.scale * self.n_rows / max(1, self.size)
        team.run(
            search_cells, self.arrays, self._look, self._every, columns, mine.residual, mine.weight,
            self.moved[:, lo : lo + self.size], lo, share, self.noise, self._found,
        )  # fmt: skip
        scores = self._found.score[columns]
        top = scores.max()
        if top < 0.0:
            return CellChoice(-1)
        return self._choice(int(columns[np.argmax(scores >= top * (1.0 - TIE))]))

    def _choice(self, k: int) -> CellChoice:
        """The weak-learner that was found in column k, with sums over the whole sample."""
        found, arrays = self._found, self.arrays
        g, h = (int(one) for one in arrays.pairs[k])
        left, leaf = found.left[k].copy(), np.empty(len(self.weight), np.uint8)
        find_leaves(arrays.codes[:, : len(leaf)], g, h, left, leaf)
        sides = [rows.quadrants(k, left, leaf, self.moved) for rows in self.rows]
        raw, weights = sides[0]
        share = np.where(found.raw[k] == 0.0, 1.0, divided(found.sums[k], found.raw[k]))
        light = weights <= max(arrays.lightest, EMPTY * arrays.total_weight)
        sums = np.where(light[:, None], 0.0, share * raw)
        sets = np.zeros((2, self.set_bytes), np.uint8)
        for axis, one in enumerate((g, h) if h >= 0 else (g,)):
            inside = left[axis, : arrays.n_values[one] + 1] == 1
            bits = np.packbits(inside, bitorder="little")
            sets[axis, : len(bits)] = bits
        return CellChoice(int(found.learner[k]), k, left, sets, leaf, sums, weights, sides)

    def step(self, choice: CellChoice, values: Vector, out: Vector) -> tuple[float, float]:
        """Add the values of quadrants (4, outputs) to a model, ``out`` (outputs, cells); returns
        how much the losses fall on the quadratic model, of the rows and of those held out."""
        k, left = choice.column, choice.left
        now, shape = place_of(self.arrays, k)
        add_in_cells(left, values, *shape, np.ones(now.stop - now.start), out[:, now])
        for rows in self.rows:
            rows.step(k, left, values)
        move(choice.leaf, values, self.weight, self.moved)
        falls = [fall(*side, values) for side in choice.sides]
        self.noise -= self.slope * falls[0]
        return falls[0], falls[1] if len(falls) > 1 else 0.0


def fall(sums: Vector, weights: Vector, values: Vector) -> float:
    """By how much a step lowers the quadratic model: sum_q S_q v_q - W_q v_q^2 / 2."""
    return float(np.sum((sums - 0.5 * weights[:, None] * values) * values))


def screen_cells(
    arrays: PairArrays, residual: Vector, weight: Vector, noise: float, team: Team
) -> Vector:
    """<b, r>^2 of the best weak-learner of every column; -1 if it has none."""
    every = np.arange(len(arrays.pairs))
    found, none = make_found(len(every), len(residual)), np.zeros((len(residual), 0))
    team.run(
        search_cells, arrays, whole_look(arrays, every), Subset(every, False, _NONE, _NONE), every,
        residual, weight, none, 0, 1.0, noise, found,
    )  # fmt: skip
    return found.score


def place_of(arrays: PairArrays, k: int) -> tuple[slice, tuple[int, int]]:
    """The cells of a column, and the shape of its table."""
    g, h = arrays.pairs[k]
    shape = int(arrays.n_values[g]) + 1, 1 if h < 0 else int(arrays.n_values[h]) + 1
    return slice(int(arrays.cell_start[k]), int(arrays.cell_start[k + 1])), shape


@kernel()
def search_cells(
    arrays, look, subset, columns, residual, weight, moved, first, share, noise, found, seat
):
    """The best weak-learners of some columns, each by one thread. ``moved`` are h u of the rows of
    the sample from ``first`` on, of which each counts ``share`` times."""
    for p in range(seat.rank, columns.shape[0], seat.size):
        k = columns[p]
        g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
        m = 1 if h < 0 else arrays.n_values[h] + 1
        a, b = look.n_values[g] + 1, 1 if h < 0 else look.n_values[h] + 1
        now = slice(arrays.cell_start[k], arrays.cell_start[k + 1])
        sums, weights, off = np.zeros((residual.shape[0], a, b)), np.zeros((a, b)), np.empty((a, b))
        for c in range(residual.shape[0]):
            add_seen(look, g, h, m, residual[c, now], sums[c])
            if moved.shape[1] > 0:
                off[:] = 0.0
                add_moved(arrays, look, g, h, moved[c], first, off)
                for i in range(a):
                    for j in range(b):
                        sums[c, i, j] -= share * off[i, j]
        add_seen(look, g, h, m, weight[now], weights)
        search_any(arrays, look, subset, k, sums, weights, noise, found)


@kernel()
def add_seen(look, g, h, m, values, out):
    """Sums in the bins that a look sees, from those in cells (of m columns)."""
    bin_g, bin_h = look.bin_of[g], look.bin_of[max(h, 0)]
    for i in range(values.shape[0] // m):
        row, mine = out[bin_g[i]], values[i * m : (i + 1) * m]
        if h < 0:
            row[0] += mine[0]
        else:
            for j in range(m):
                row[bin_h[j]] += mine[j]


@kernel()
def add_moved(arrays, look, g, h, values, first, out):
    """Sums of values of the rows from ``first`` on, in the bins that a look sees."""
    codes_g, bin_g = arrays.codes[g, first : first + values.shape[0]], look.bin_of[g]
    if h < 0:
        for i in range(values.shape[0]):
            out[bin_g[codes_g[i]], 0] += values[i]
        return
    codes_h, bin_h = arrays.codes[h, first : first + values.shape[0]], look.bin_of[h]
    for i in range(values.shape[0]):
        out[bin_g[codes_g[i]], bin_h[codes_h[i]]] += values[i]


def weigh_part(arrays: PairArrays, weight: Vector, first: int) -> Vector:
    """The weight of the rows of the sample from ``first`` on, in the cells of all columns."""
    out = np.zeros(int(arrays.cell_start[-1]))
    add_weights(arrays, weight, first, out)
    return out


@kernel()
def add_weights(arrays, weight, first, out):
    for k in range(arrays.pairs.shape[0]):
        g, h, start = arrays.pairs[k, 0], arrays.pairs[k, 1], arrays.cell_start[k]
        codes_g = arrays.codes[g, first : first + weight.shape[0]]
        codes_h = arrays.codes[max(h, 0), first : first + weight.shape[0]]
        m = 1 if h < 0 else arrays.n_values[h] + 1
        for i in range(weight.shape[0]):
            out[start + codes_g[i] * m + (0 if h < 0 else codes_h[i])] += weight[i]


@kernel()
def add_in_cells(left, values, n, m, factor, out):
    """Add the values of quadrants times a factor of each cell to a table, (outputs, n m)."""
    for a in range(n):
        side = 0 if left[0, a] == 1 else 2
        for b in range(m):
            q = side if left[1, b] == 1 else side + 1
            for c in range(out.shape[0]):
                out[c, a * m + b] += factor[a * m + b] * values[q, c]


@kernel()
def move(leaf, values, weight, moved):
    """h u of the rows of the sample after a step."""
    for c in range(moved.shape[0]):
        out = moved[c]
        for i in range(leaf.shape[0]):
            out[i] += weight[i] * values[leaf[i], c]
