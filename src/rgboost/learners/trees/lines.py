"""Linear functions in the leaves of a tree.

On leaf q, which has the rows i with weights h_i (their own, or curvatures), residuals r_i and the
numbers z_ik of the features k on its way, the function c + sum_k b_k (z_ik - m_k) has the c of the
step rule, m_k the weighted means, and the slopes b of a ridge regression of r_i / h_i:

    (A + ridge h I) b = g,   A_kl = sum_i h_i (z_ik - m_k) (z_il - m_l),
                             g_k  = sum_i r_i (z_ik - m_k),

with h the mean of the h_i. Both come from sums over the rows of the leaf. It is cut off at the
least and the largest value that it has there, so that it says nothing else anywhere.

z are the means of the bins in standard deviations of the feature: what trees see of a number. A
missing value is the mean of all. Categories have no part in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.team import Team, row_chunks
from ...data.binning import SparseCodes
from ...data.mixed_bins import MixedCuts
from ..leaves import divided
from .arrays import Bins, TreeArrays, bin_of

Vector = NDArray[np.float64]

MOST_SLOPES = 8
"""Features of a leaf that its function depends on: the last ones that were split on the way."""

RIDGE = 1.0

VALUE, LOW, HIGH, FIRST = range(4)
"""What a leaf says: its value where all z are 0, the bounds, and the slopes from `FIRST` on."""


class BinMeans(NamedTuple):
    """z of bin b of column g is ``z[start[g] + b]``; 0 of missing values and of categories."""

    z: Vector
    start: NDArray[np.int64]


@np.errstate(over="ignore", invalid="ignore")
def bin_means(X: Any, bins: Bins, cuts: MixedCuts, weight: Vector | None) -> BinMeans:
    """z of all bins; 0 of a feature whose numbers are too large to be squared."""
    start, m = cuts.bin_start[:-1], cuts.n_values
    is_number = np.ones(len(cuts.bin_weight), bool)
    is_number[start + m] = False
    is_number &= np.repeat(~cuts.categorical, m + 1)
    weights = np.where(is_number, cuts.bin_weight, 0.0)
    sums = _sums_in_bins(X, bins, cuts, weight)
    means = divided(np.where(is_number, sums, 0.0), weights)
    total = np.add.reduceat(weights, start)
    centre = np.repeat(divided(np.add.reduceat(weights * means, start), total), m + 1)
    square = divided(np.add.reduceat(weights * (means - centre) ** 2, start), total)
    spread = np.repeat(np.sqrt(square), m + 1)
    use = (weights > 0.0) & (spread > 0.0) & np.isfinite(spread)
    return BinMeans(divided(np.where(use, means - centre, 0.0), np.where(use, spread, 1.0)), start)


def _sums_in_bins(X: Any, bins: Bins, cuts: MixedCuts, weight: Vector | None) -> Vector:
    """Weighted sums of the values in the bins of all features."""
    start, size = cuts.bin_start, len(cuts.bin_weight)
    if isinstance(bins, SparseCodes):  # what is not stored is 0
        place = np.repeat(start[:-1], np.diff(bins.indptr)) + bins.codes
        w = 1.0 if weight is None else weight[bins.rows]
        return np.bincount(place, X.data * w, size).astype(np.float64)
    sums = np.empty(size)
    for g in range(cuts.n_features):
        x = X[:, g] * (1.0 if weight is None else weight)
        n = int(start[g + 1] - start[g])
        sums[start[g] : start[g + 1]] = np.bincount(bins[g, : len(x)], x, n)
    return sums


class Lines(NamedTuple):
    """The linear functions of a tree on some rows: that of leaf q depends on the first
    ``counts[q]`` of ``features[q]``. ``usual`` is the mean weight of a row."""

    arrays: TreeArrays
    table: BinMeans
    features: NDArray[np.int64]
    counts: NDArray[np.int64]
    usual: float

    def fit(
        self, residual: Vector, h: Vector, leaf: NDArray[np.uint8], weights: Vector, team: Team
    ) -> tuple[Vector, Vector, Vector]:
        """(slopes, means, squared norms b'Ab) of every leaf with these weights of rows; ``h`` is
        empty if all are 1."""
        n_leaves, n = self.features.shape
        chunks = row_chunks(len(leaf))
        partial = np.empty((len(chunks) - 1, n_leaves, 2 + 2 * n + n * (n + 1) // 2))
        team.run(
            sum_products, self.arrays, self.table, self.features, self.counts, leaf, residual, h,
            chunks, partial,
        )  # fmt: skip
        return solve(partial.sum(axis=0), self.usual / weights, n)

    def say(self, leaf: NDArray[np.uint8], values: Vector, team: Team) -> Vector:
        """What the leaves say to every row."""
        out = np.empty(len(leaf))
        team.run(say_lines, self.arrays, self.table, self.features, self.counts, leaf, values, out)
        return out

    def bounded(self, values: Vector, limit: float, leaf: NDArray[np.uint8], team: Team) -> Vector:
        """The same with the least and the largest value that each leaf says to these rows as
        bounds, and none beyond ``limit``."""
        values[:, LOW], values[:, HIGH] = -limit, limit
        said = self.say(leaf, values, team)
        ends = np.full((2, len(values)), np.inf)
        find_ends(leaf, said, *ends)
        values[:, LOW], values[:, HIGH] = ends[0], -ends[1]
        return values


def features_on_the_way(
    leaf: NDArray[np.integer], column: NDArray[np.integer], is_number: NDArray[np.bool_], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(features (leaves, most), their numbers): those that were split last on the way to each leaf,
    the last one first, of splits in the order in which they were made."""
    ways: list[list[int]] = [[]]
    for q, g in zip(leaf.tolist(), column.tolist(), strict=True):
        if is_number[g]:
            ways[q] = [g, *(k for k in ways[q] if k != g)]
        ways.append(list(ways[q]))
    features = np.zeros((len(ways), most), np.int64)
    for q, way in enumerate(ways):
        features[q, : len(way[:most])] = way[:most]
    return features, np.array([min(len(way), most) for way in ways], np.int64)


def solve(sums: Vector, per_row: Vector, n: int) -> tuple[Vector, Vector, Vector]:
    """(slopes, means, b'Ab) of each leaf, from the sums of `sum_products`; ``per_row`` times the
    sum of h is its mean."""
    h, r = sums[:, 0], sums[:, 1]
    means = divided(sums[:, 2 : 2 + n], h[:, None])
    along = sums[:, 2 + n : 2 + 2 * n] - r[:, None] * means
    squares = np.zeros((len(sums), n, n))
    rows, columns = np.tril_indices(n)
    squares[:, rows, columns] = squares[:, columns, rows] = sums[:, 2 + 2 * n :]
    squares -= h[:, None, None] * means[:, :, None] * means[:, None, :]
    ridge = np.where(h > 0.0, RIDGE * h * per_row, 1.0)
    squares[:, range(n), range(n)] += ridge[:, None]
    slopes: Vector = np.asarray(np.linalg.solve(squares, along[:, :, None])[:, :, 0], np.float64)
    square: Vector = np.sum(slopes * along, axis=1) - ridge * np.sum(slopes**2, axis=1)
    return slopes, means, np.maximum(square, 0.0)  # rounding may leave less


@scalar()
def z_of(arrays, table, g, i):
    return table.z[table.start[g] + bin_of(arrays, g, i)]


@kernel()
def sum_products(arrays, table, features, counts, leaf, residual, h, chunks, sums_out, seat):
    """(sum h, sum r, sum h z, sum r z, sum h z z') of each leaf, for each chunk of rows."""
    n_most = features.shape[1]
    z = np.empty(n_most)
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        sums = sums_out[chunk]
        sums[:] = 0.0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            q = leaf[i]
            mine, n = sums[q], counts[q]
            hi, ri = h[i] if h.shape[0] > 0 else 1.0, residual[i]
            mine[0] += hi
            mine[1] += ri
            at = 2 + 2 * n_most
            for k in range(n):
                zk = z_of(arrays, table, features[q, k], i)
                z[k] = zk
                mine[2 + k] += hi * zk
                mine[2 + n_most + k] += ri * zk
                for j in range(k + 1):
                    mine[at + j] += hi * zk * z[j]
                at += k + 1


@kernel()
def say_lines(arrays, table, features, counts, leaf, values, out, seat):
    """What the leaves say to every row."""
    n = leaf.shape[0]
    for i in range(n * seat.rank // seat.size, n * (seat.rank + 1) // seat.size):
        q = leaf[i]
        value = values[q, VALUE]
        for k in range(counts[q]):
            value += values[q, FIRST + k] * z_of(arrays, table, features[q, k], i)
        out[i] = min(max(value, values[q, LOW]), values[q, HIGH])


@kernel()
def find_ends(leaf, said, low_out, minus_high_out):
    """The least value of each leaf, and minus the largest one."""
    for i in range(leaf.shape[0]):
        q = leaf[i]
        low_out[q] = min(low_out[q], said[i])
        minus_high_out[q] = min(minus_high_out[q], -said[i])
