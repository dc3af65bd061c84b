r"""Range(B) of stumps. A is never built where rows are many: products with it and its transpose
are passes over the bins.

The coordinates are the entries of the features' tables. Free leaves of all splits of a feature span
all tables. Signed leaves (+1 on the left, -1 on the right) span the tables whose first and last
entries cancel: one coordinate for both ends, one for each bin between. Either way the columns of A
that belong to one feature do not overlap, so they are orthogonal under any weights of the rows: a
diagonal is all that a feature's block of A'DA has.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.team import Team, wait_for_all
from ...learners.base import Prepared
from ...learners.stumps.stump_statistics import expand_codes, joint_bins
from ...losses import Squared
from ...statistics.memory import MOST_BINS, MemoryStatistics, expanded_type, weigh_bins
from ...statistics.whole_gram import MOST_BINS_IN_ALL, RowBins, add_pairs, make_row_bins
from .products import add_row_bins, multiply_dense
from .span import MatrixSpan, Span, Vector

_PARTIAL_BYTES = 64 << 20
"""Most memory for sums by chunks of rows; above it products take one column at a time."""


def span_of(prepared: Prepared, n_rows: int, team: Team) -> Span:
    """The range of prepared weak-learners."""
    if prepared.numeric_bins:
        return StumpSpan(prepared, n_rows, team)
    columns = prepared.columns(n_rows)
    if columns is None:
        raise ValueError(
            f"certificates are for dictionaries and for stumps on features without missing values "
            f"and without categories, not for {type(prepared).__name__}; fill in what is missing, "
            "and encode the categories as numbers."
        )
    return MatrixSpan(columns)


class StumpSpan(Span):
    """Tables of the features that have splits."""

    def __init__(self, prepared: Prepared, n_rows: int, team: Team) -> None:
        arrays, cells = prepared.arrays, prepared.cells
        splits = arrays.splits
        self.arrays, self.team, self.signed = arrays, team, bool(splits.signed)
        self.sparse = prepared.sparse
        self.offsets = splits.offsets
        self.statistics = MemoryStatistics(arrays, np.zeros(n_rows), None, Squared(), 0.0, team)
        n_splits = np.diff(self.offsets)
        used = np.flatnonzero(n_splits > 0)
        self.features = used.astype(np.int64)
        self.first = self.offsets[used] + used  # of the bins of all features
        self.last = self.offsets[used + 1] + used
        self.n_bins = int(self.offsets[-1]) + len(n_splits)
        inner = np.repeat(n_splits > 0, n_splits + 1)
        self.bins = np.flatnonzero(inner)
        inner[self.last] = False
        self.splits_at = np.flatnonzero(inner)  # the bin left of each split
        self.at = self.splits_at if self.signed else self.bins
        self.n_rows, self.n_coordinates = n_rows, len(self.at)
        self.starts = np.searchsorted(self.at, self.first)
        self.holds_constants = not self.signed and len(used) > 0
        self.cells = cells
        self.row_bins: RowBins | None = None
        n_chunks = len(self.statistics.rows.chunks) - 1
        room = 8 * n_chunks * len(used) * splits.most_bins
        self.by_tiles = prepared.sums_by_rows and room <= _PARTIAL_BYTES
        self.by_rows = self.sparse and self.n_bins <= MOST_BINS_IN_ALL
        self.gram_by_rows = self.by_rows
        self.gram_cells = cells * len(used) / 2
        if self.by_rows:
            self.gram_cells = cells * cells / max(1, n_rows) / 2
        if splits.most_bins > MOST_BINS:
            self.gram_cells = np.inf

    def use(self, team: Team) -> None:
        self.team = self.statistics.team = team

    def tables(self, t: Vector) -> Vector:
        """Tables of all features, as `rgboost.statistics.memory` lays them out."""
        tables = np.zeros(self.n_bins)
        tables[self.at] = t
        if self.signed:
            tables[self.last] = -tables[self.first]
        return tables

    def rows(self, t: Vector) -> Vector:
        return self.scores(self.tables(t))

    def scores(self, tables: Vector) -> Vector:
        """The score of every row at tables of all features."""
        if self.row_bins is None:
            return self.statistics.score(tables).copy()
        at_zero = tables[self._zero]
        change = np.zeros(self.n_bins)
        change[self.bins] = tables[self.bins] - np.repeat(at_zero, self._counts)
        out = np.full(self.n_rows, at_zero.sum())
        add_row_bins(self.row_bins, change, out)
        return out

    def bin_sums(self, x: Vector) -> Vector:
        """Sums of x in every bin of every feature."""
        if self.by_tiles:
            return self._pass(None, x)[1]
        left, total = self.statistics.weigh_splits(x)
        cumulative = np.zeros(self.n_bins)
        cumulative[self.splits_at] = left
        cumulative[self.last] = total
        sums = cumulative.copy()
        sums[1:] -= cumulative[:-1]
        sums[self.first] = cumulative[self.first]
        return sums

    def _pass(self, tables: Vector | None, x: Vector) -> tuple[Vector, Vector]:
        """One pass over the bins: (scores, sums of x times scores), or sums of x if no tables."""
        gather = tables is not None
        rows, weighted = (np.empty(self.n_rows), np.empty(self.n_rows)) if gather else (x, x)
        given = np.zeros(self.n_bins) if tables is None else tables
        chunks = self.statistics.rows.chunks
        arguments = self.arrays, self.features, given, x, chunks, gather, rows, weighted
        self.team.run(multiply_dense, *arguments, self.partial)
        sums = np.zeros(self.n_bins)
        sums[self.bins] = self.partial.sum(axis=0).ravel()[self._in_partial]
        two = self.last - self.first == 1  # the last bin of an indicator is left out
        sums[self.last[two]] = weighted.sum() - sums[self.first[two]]
        return rows, sums

    @cached_property
    def partial(self) -> NDArray[np.float64]:
        """Room for the sums of every chunk of rows."""
        n_chunks = len(self.statistics.rows.chunks) - 1
        return np.empty((n_chunks, len(self.features), self.arrays.splits.most_bins))

    @cached_property
    def _in_partial(self) -> NDArray[np.int64]:
        """Where the bins of features with splits are in a chunk's sums."""
        feature = np.repeat(np.arange(len(self.features)), self._counts)
        inner = self.bins - np.repeat(self.first, self._counts)
        return feature * self.arrays.splits.most_bins + inner

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return self.last - self.first + 1

    @cached_property
    def _zero(self) -> NDArray[np.int64]:
        """The bin of zero of each feature."""
        return self.first + self.arrays.entries.zero_code[self.features]

    def normal(self, t: Vector, x: Vector) -> tuple[Vector, Vector]:
        if not self.by_tiles:
            return super().normal(t, x)
        rows, sums = self._pass(self.tables(t), x)
        return rows, self._to_coordinates(sums)

    def sums(self, x: Vector) -> Vector:
        return self._to_coordinates(self.bin_sums(x))

    def _to_coordinates(self, sums: Vector) -> Vector:
        if self.signed:
            sums[self.first] -= sums[self.last]
        return sums[self.at]

    def squares(self, x: Vector) -> Vector:
        sums = self.bin_sums(x)
        if self.signed:
            sums[self.first] += sums[self.last]
        return sums[self.at]

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """The bins (of all features) that span the range together with the constant.

        Of each feature all but one: the bin of zero if rows are sparse, whose sums are known by
        subtraction only, or else the heaviest.
        """
        if self.sparse:
            dropped = self._zero
        else:
            sums = self.bin_sums(np.ones(self.n_rows))
            ends = zip(self.first, self.last, strict=True)
            dropped = np.array([a + int(np.argmax(sums[a : b + 1])) for a, b in ends])
        kept = np.zeros(self.n_bins, bool)
        kept[self.bins] = True
        kept[dropped] = False
        return np.flatnonzero(kept)

    @cached_property
    def signed_columns(self) -> scipy.sparse.csr_array:
        """The columns of signed stumps, from the constant and the bins that are kept."""
        place = np.full(self.n_bins, -1)
        place[self.kept] = np.arange(1, len(self.kept) + 1)
        out = scipy.sparse.lil_array((len(self.kept) + 1, self.n_coordinates))

        def add(column: int, bin_: int, sign: float, first: int, last: int) -> None:
            if place[bin_] >= 0:
                out[place[bin_], column] += sign
                return
            out[0, column] += sign  # the bin that was dropped: 1 less the others of its feature
            others = place[first : last + 1]
            for row in others[others >= 0]:
                out[row, column] -= sign

        for first, last, start in zip(self.first, self.last, self.starts, strict=True):
            add(start, first, 1.0, first, last)
            add(start, last, -1.0, first, last)
            for k in range(1, last - first):
                add(start + k, first + k, 1.0, first, last)
        return out.tocsr()

    def gram(self, x: Vector) -> NDArray[np.float64]:
        bins = self._gram_by_rows(x) if self.by_rows else self._column_gram(x)
        gram = np.empty((len(self.kept) + 1, len(self.kept) + 1))
        gram[1:, 1:] = bins
        gram[0, 1:] = gram[1:, 0] = np.diag(bins)
        gram[0, 0] = x.sum()
        if self.signed:
            columns = self.signed_columns
            return np.asarray(columns.T @ (columns.T @ gram).T)
        return gram

    def to_columns(self, sums: Vector) -> Vector:
        if self.signed:
            return sums
        total = sums[: self.last[0] - self.first[0] + 1].sum()
        return np.concatenate([[total], sums[self._kept_coordinates]])

    def from_columns(self, z: Vector) -> Vector:
        if self.signed:
            return z
        t = np.zeros(self.n_coordinates)
        t[: self.last[0] - self.first[0] + 1] = z[0]
        t[self._kept_coordinates] += z[1:]
        return t

    @cached_property
    def _kept_coordinates(self) -> NDArray[np.int64]:
        return np.searchsorted(self.at, self.kept)

    def _gram_by_rows(self, x: Vector) -> NDArray[np.float64]:
        """Weights of pairs of bins that sparse rows store."""
        table = np.zeros((self.n_bins, self.n_bins))
        add_pairs(self.rows_by_bins(), x, 0, self.n_rows, table)
        table = table[np.ix_(self.kept, self.kept)]
        return table + np.triu(table, 1).T

    def _column_gram(self, x: Vector) -> NDArray[np.float64]:
        """Weights of pairs of bins, two features at a time."""
        place = np.full(self.n_bins, -1)
        place[self.kept] = np.arange(len(self.kept))
        out = np.empty((len(self.kept), len(self.kept)))
        kind = expanded_type(int(self.arrays.splits.most_bins))
        codes = np.empty((len(self.features), self.n_rows), kind)
        arguments = self.arrays, self.features, self.first, place, codes, x
        self.team.run(fill_bin_gram, *arguments, out)
        return out

    def expect_grams(self) -> None:
        if self.by_rows:
            self.rows_by_bins()

    def rows_by_bins(self) -> RowBins:
        """The bins of sparse rows; products with A are faster from here on."""
        if self.row_bins is None:
            self.row_bins = make_row_bins(self.arrays.entries, self.offsets, self.n_rows)
        return self.row_bins

    def matrix(self) -> scipy.sparse.csr_array:
        codes = np.empty((len(self.features), self.n_rows), np.uint16)
        for k, g in enumerate(self.features):
            fill_codes(self.arrays, g, codes[k])
        bins = codes.T.astype(np.int64) + self.first
        value = np.ones(bins.shape)
        if self.signed:
            ends = bins == self.last
            value[ends] = -1.0
            bins = np.where(ends, self.first, bins)
        columns = np.searchsorted(self.at, bins)
        start = np.arange(self.n_rows + 1) * len(self.features)
        shape = (self.n_rows, self.n_coordinates)
        return scipy.sparse.csr_array((value.ravel(), columns.ravel(), start), shape=shape)


@kernel()
def fill_codes(learners, column, codes_out):
    expand_codes(learners, column, 1, codes_out)


@kernel()
def fill_bin_gram(learners, features, first, place, codes, weight, out, seat):
    """Weights of the rows in both of two bins, for bins that have a place in ``out``."""
    stride = learners.splits.most_bins
    offsets = learners.splits.offsets
    n_features = features.shape[0]
    for a in range(seat.rank, n_features, seat.size):
        expand_codes(learners, features[a], stride, codes[a])
    wait_for_all(seat, 0)
    table = np.empty((stride, stride))
    for a in range(n_features):
        n_bins = offsets[features[a] + 1] - offsets[features[a]] + 1
        bin_weights = weigh_bins(codes[a], stride, weight, np.zeros(n_bins))
        for b in range(a + (seat.rank - a) % seat.size, n_features, seat.size):
            joint_bins(learners, codes[a], bin_weights, features[b], weight, table)
            n_others = offsets[features[b] + 1] - offsets[features[b]] + 1
            for k in range(n_bins):
                row = place[first[a] + k]
                for j in range(n_others):
                    column = place[first[b] + j]
                    if row >= 0 and column >= 0:
                        out[row, column] = table[k, j]
                        out[column, row] = table[k, j]
