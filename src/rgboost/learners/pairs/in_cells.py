"""The best quadrant stumps by sums in the cells of pairs, without the rows.

A step v on the pair (g, h) changes the sums in its own table as it should. What it does to the
table of another pair (g, j) nobody knows without the rows, but for its mean in every bin of g,

    v_g(a) = sum_c W_gh(a, c) v(a, c) / sum_c W_gh(a, c)

which is the mean in that bin there, too. It is taken off: S_gj(a, b) -= W_gj(a, b) v_g(a); and of
pairs that have neither g nor h, the mean of all. The rest is left until sums are made anew from the
rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team
from ..kernels import TIE, Subset
from .look import look_at, make_look
from .score import EMPTY
from .search import MOST_BINS, PairArrays, make_found, search_any

Vector = NDArray[np.float64]

_NONE = np.zeros(0, np.int64)


class CellChoice(NamedTuple):
    """A quadrant stump: its number (-1: none), its column, the bins on the left of both cuts (bytes
    for compiled code, bits for the record), and in its quadrants the sums of residuals (4, outputs)
    and the weights."""

    learner: int
    column: int = -1
    left: NDArray[np.uint8] = np.zeros((2, 0), np.uint8)
    sets: NDArray[np.uint8] = np.zeros((2, 0), np.uint8)
    sums: Vector = np.zeros((4, 0))
    weights: Vector = np.zeros(4)

    @property
    def means(self) -> Vector:
        """S_q / W_q; 0 where a quadrant has no weight."""
        out = np.zeros_like(self.sums)
        weights = self.weights[:, None]
        return np.divide(self.sums, weights, out=out, where=weights > 0.0)


class RowsInCells(NamedTuple):
    """Of some rows, sums of residuals (outputs, cells) and of weights in the cells of all
    columns."""

    residual: Vector
    weight: Vector


class CellSearch:
    """The search of one run in the cells of all columns: of the rows that it is fitted to, and of
    those that are ``held`` out. Sums change with every step. ``noise`` is phi of
    `rgboost.learners.credibility`."""

    def __init__(
        self, arrays: PairArrays, rows: RowsInCells, held: RowsInCells | None, noise: float,
        set_bytes: int, search_cuts: int | None = None, seed: int = 0, done: int = 0,
    ) -> None:  # fmt: skip
        """``search_cuts``, ``seed``: see `choose.PairSearch`; ``done`` searches were before."""
        self.arrays = arrays
        self.rows = rows
        self.held = held
        self.noise = noise
        self.set_bytes = set_bytes
        self.search_cuts = search_cuts or MOST_BINS
        self.seed = seed
        self.done = done
        self._look = make_look(arrays.n_values)
        every = np.arange(len(arrays.pairs))
        self._every = Subset(every, False, _NONE, _NONE)
        self._found = make_found(len(every), len(rows.residual))
        shape = len(rows.residual), int(arrays.n_values.max(initial=0)) + 1
        self._along = np.zeros((len(arrays.n_values) + 1, *shape))
        """What steps added in the bins of every axis on average, beside their mean over all rows;
        nothing for those that have no second axis."""
        self._of_all = np.zeros((len(rows.residual), 1))
        self._taken = np.zeros((len(every), 2, *shape)), np.zeros((len(every), *self._of_all.shape))
        """So much of both was taken off the sums of each column."""

    def scores(self, columns: NDArray[np.int64], team: Team) -> Vector:
        """<b, r>^2 of the best weak-learner of each of some columns; -1 if it has none."""
        for k in columns:
            self._catch_up(int(k))
        look_at(self.arrays, columns, self.search_cuts, self.seed, self.done, self._look)
        self.done += 1
        team.run(
            search_cells, self.arrays, self._look, self._every, columns, *self.rows, self.noise,
            self._found,
        )  # fmt: skip
        return self._found.score[columns]

    def _catch_up(self, k: int) -> None:
        """Take off what steps on other columns added along the axes of column k."""
        along, of_all = self._along[self.arrays.pairs[k]], self._of_all
        ahead = along - self._taken[0][k]
        ahead[0] += of_all - self._taken[1][k]
        if not ahead.any():
            return
        self._taken[0][k], self._taken[1][k] = along, of_all
        now, shape = place_of(self.arrays, k)
        for rows in (self.rows, self.held):
            if rows is not None:
                take_off(*ahead, *shape, rows.residual[:, now], rows.weight[now])

    def __call__(self, columns: NDArray[np.int64], team: Team) -> CellChoice:
        """The best weak-learner of some columns; ties go to the first one."""
        scores = self.scores(columns, team)
        top = scores.max(initial=-1.0)
        if top < 0.0:
            return CellChoice(-1)
        k = int(columns[np.argmax(scores >= top * (1.0 - TIE))])
        found, arrays = self._found, self.arrays
        light = max(arrays.lightest, EMPTY * arrays.total_weight)
        weights = found.weights[k].copy()
        sums = np.where(weights[:, None] <= light, 0.0, found.sums[k])
        sets = np.zeros((2, self.set_bytes), np.uint8)
        for axis, g in enumerate(arrays.pairs[k]):
            if g >= 0:
                inside = found.left[k, axis, : arrays.n_values[g] + 1] == 1
                bits = np.packbits(inside, bitorder="little")
                sets[axis, : len(bits)] = bits
        return CellChoice(int(found.learner[k]), k, found.left[k].copy(), sets, sums, weights)

    def step(self, choice: CellChoice, values: Vector, out: Vector) -> tuple[float, float]:
        """Add the values of quadrants (4, outputs) to a model, ``out`` (outputs, cells); returns
        how much the losses fall on the quadratic model, of the rows and of those held out."""
        k = choice.column
        now, shape = place_of(self.arrays, k)
        add_in_cells(choice.left, values, *shape, out[:, now])
        along = np.zeros((2, *self._along.shape[1:]))
        weight = self.rows.weight[now]
        mean = mean_steps(choice.left, values, *shape, weight, *along)[:, None]
        for axis, one in zip(self.arrays.pairs[k], along, strict=True):
            self._along[axis] += one if axis >= 0 else 0.0
        self._of_all += mean
        self._taken[0][k] += along
        self._taken[1][k] += mean
        falls = [
            0.0 if rows is None
            else step_in_cells(choice.left, values, *shape, rows.residual[:, now], rows.weight[now])
            for rows in (self.rows, self.held)
        ]  # fmt: skip
        return falls[0], falls[1]


def place_of(arrays: PairArrays, k: int) -> tuple[slice, tuple[int, int]]:
    """The cells of a column, and the shape of its table."""
    g, h = arrays.pairs[k]
    shape = int(arrays.n_values[g]) + 1, 1 if h < 0 else int(arrays.n_values[h]) + 1
    return slice(int(arrays.cell_start[k]), int(arrays.cell_start[k + 1])), shape


@kernel()
def take_off(of_g, of_h, n, m, residual, weight):
    """r -= w v of a table, with v the sum of numbers (outputs, bins) along both axes."""
    for c in range(residual.shape[0]):
        for a in range(n):
            for b in range(m):
                residual[c, a * m + b] -= weight[a * m + b] * (of_g[c, a] + of_h[c, b])


@kernel()
def mean_steps(left, values, n, m, weight, of_g, of_h):
    """The mean of a step over all rows (outputs), and what its means in the bins of each axis are
    beside it, (outputs, bins)."""
    by_g, by_h, mean = np.zeros(n), np.zeros(m), np.zeros(values.shape[1])
    for a in range(n):
        side = 0 if left[0, a] == 1 else 2
        for b in range(m):
            q, w = side if left[1, b] == 1 else side + 1, weight[a * m + b]
            by_g[a] += w
            by_h[b] += w
            for c in range(mean.shape[0]):
                mean[c] += w * values[q, c]
                of_g[c, a] += w * values[q, c]
                of_h[c, b] += w * values[q, c]
    total = by_g.sum()
    for c in range(mean.shape[0]):
        mean[c] /= total
        for a in range(n):
            of_g[c, a] = of_g[c, a] / by_g[a] - mean[c] if by_g[a] > 0.0 else 0.0
        for b in range(m):
            of_h[c, b] = of_h[c, b] / by_h[b] - mean[c] if by_h[b] > 0.0 else 0.0
    return mean


@kernel()
def search_cells(arrays, look, subset, columns, residual, weight, noise, found, seat):
    """The best weak-learners of some columns, each by one thread."""
    for p in range(seat.rank, columns.shape[0], seat.size):
        k = columns[p]
        g, h = arrays.pairs[k, 0], arrays.pairs[k, 1]
        m = 1 if h < 0 else arrays.n_values[h] + 1
        a, b = look.n_values[g] + 1, 1 if h < 0 else look.n_values[h] + 1
        now = slice(arrays.cell_start[k], arrays.cell_start[k + 1])
        sums, weights = np.zeros((residual.shape[0], a, b)), np.zeros((a, b))
        for c in range(residual.shape[0]):
            add_seen(look, g, h, m, residual[c, now], sums[c])
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
def add_in_cells(left, values, n, m, out):
    """Add the values of quadrants to the cells of a table, (outputs, n m)."""
    for a in range(n):
        side = 0 if left[0, a] == 1 else 2
        for b in range(m):
            q = side if left[1, b] == 1 else side + 1
            for c in range(out.shape[0]):
                out[c, a * m + b] += values[q, c]


@kernel()
def step_in_cells(left, values, n, m, residual, weight):
    """Residuals of a table after a step: r -= w v. The loss falls by the sum of r v - w v^2 / 2."""
    fall = 0.0
    for a in range(n):
        side = 0 if left[0, a] == 1 else 2
        for b in range(m):
            q, w = side if left[1, b] == 1 else side + 1, weight[a * m + b]
            for c in range(residual.shape[0]):
                r, v = residual[c, a * m + b], values[q, c]
                fall += (r - 0.5 * w * v) * v
                residual[c, a * m + b] = r - w * v
    return fall
