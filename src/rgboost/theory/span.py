r"""Range(B): everything that combinations of weak-learners can add to the scores of the rows.

A `Span` gives coordinates to that space, x = A t, and the sums over rows that solvers need. A is
never built where rows are many: products with it and with its transpose are passes over the bins.

For stumps the coordinates are the entries of the features' tables. Free leaves of all splits of a
feature span all tables. Signed leaves (+1 on the left, -1 on the right) span the tables whose
first and last entries cancel: one coordinate for both ends, one for each bin between. Either way
the columns of A that belong to one feature do not overlap, so they are orthogonal under any weights
of the rows: a diagonal is all that a feature's block of A'DA has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from .._jit import kernel
from .._team import Team
from ..boosting.row_gram import (
    MOST_BINS_IN_ALL,
    N_TABLES,
    RowBins,
    fill_whole_gram,
    make_row_bins,
)
from ..boosting.statistics import MemoryStatistics
from ..learners.base import Prepared
from ..learners.dictionary import DenseDictionary, PreparedDictionary
from ..learners.sparse_stumps import SparseStumps
from ..learners.stump_statistics import expand_codes
from ..learners.stumps import PreparedStumps
from ..losses import Squared

Vector = NDArray[np.float64]

_MOST_BINS = 256
"""Bins of a feature for which the statistics can make Gram rows."""


class Span(ABC):
    """The range of a matrix A with one row per row of the data and n_coordinates columns."""

    n_rows: int
    n_coordinates: int
    starts: NDArray[np.int64]
    """The first coordinate of each group (a feature; a column of a dictionary)."""

    holds_constants: bool
    """Whether constants are known to lie in the range."""

    cells: float
    """Entries of the data that a product with A reads."""

    gram_cells: float
    """Entries of the data that `gram` reads; infinite if there is no way to make it."""

    @abstractmethod
    def rows(self, t: Vector) -> Vector:
        """A t, a new array."""

    @abstractmethod
    def sums(self, x: Vector) -> Vector:
        """A' x."""

    @abstractmethod
    def squares(self, x: Vector) -> Vector:
        """The diagonal of A' diag(x) A."""

    @abstractmethod
    def gram(self, x: Vector) -> NDArray[np.float64]:
        """A' diag(x) A."""

    @abstractmethod
    def matrix(self) -> Any:
        """A itself, for few rows: dense, or sparse by rows."""


class StumpSpan(Span):
    """Tables of the features that have splits."""

    def __init__(self, arrays: Any, n_rows: int, cells: float, team: Team) -> None:
        splits = arrays.splits
        self.arrays, self.team, self.signed = arrays, team, bool(splits.signed)
        self.offsets = splits.offsets
        self.statistics = MemoryStatistics(arrays, np.zeros(n_rows), None, Squared(), 0.0, team)
        n_splits = np.diff(self.offsets)
        used = np.flatnonzero(n_splits > 0)
        self.features = used.astype(np.int64)
        self.first = self.offsets[used] + used  # of the bins of all features
        self.last = self.offsets[used + 1] + used
        self.n_bins = int(self.offsets[-1]) + len(n_splits)
        kept = np.repeat(n_splits > 0, n_splits + 1)
        inner = kept.copy()
        inner[self.last] = False
        self.splits_at = np.flatnonzero(inner)  # the bin left of each split
        self.at = np.flatnonzero(inner if self.signed else kept)
        self.n_rows, self.n_coordinates = n_rows, len(self.at)
        self.starts = np.searchsorted(self.at, self.first)
        self.holds_constants = not self.signed and len(used) > 0
        self.cells = cells
        self.row_bins: RowBins | None = None
        self.by_rows = isinstance(arrays, SparseStumps) and self.n_bins <= MOST_BINS_IN_ALL
        self.gram_cells = cells * len(used) / 2
        if self.by_rows:
            self.gram_cells = cells * cells / max(1, n_rows) / 2
        if splits.most_bins > _MOST_BINS:
            self.gram_cells = np.inf

    def tables(self, t: Vector) -> Vector:
        """Tables of all features, as `rgboost.boosting.statistics` lays them out."""
        tables = np.zeros(self.n_bins)
        tables[self.at] = t
        if self.signed:
            tables[self.last] = -tables[self.first]
        return tables

    def rows(self, t: Vector) -> Vector:
        return self.rows_of_tables(self.tables(t))

    def rows_of_tables(self, tables: Vector) -> Vector:
        """The score of every row at tables of all features."""
        if self.row_bins is None:
            return self.statistics.score(tables).copy()
        zero_bins = self.first + self.arrays.entries.zero_code[self.features]
        base = np.zeros(self.n_bins)
        base[self.at_all_bins] = np.repeat(tables[zero_bins], self.last - self.first + 1)
        out = np.full(self.n_rows, tables[zero_bins].sum())
        add_row_bins(self.row_bins, tables - base, out)
        return out

    @property
    def at_all_bins(self) -> NDArray[np.int64]:
        sizes = self.last - self.first + 1
        ends = np.cumsum(sizes)
        return np.arange(ends[-1]) + np.repeat(self.first - (ends - sizes), sizes)

    def bin_sums(self, x: Vector) -> Vector:
        """Sums of x in every bin of every feature."""
        left, total = self.statistics.weigh_splits(x)
        cumulative = np.zeros(self.n_bins)
        cumulative[self.splits_at] = left
        cumulative[self.last] = total
        sums = np.diff(cumulative, prepend=0.0)
        sums[self.first] = cumulative[self.first]
        return sums

    def sums(self, x: Vector) -> Vector:
        sums = self.bin_sums(x)
        if self.signed:
            sums[self.first] -= sums[self.last]
        return sums[self.at]

    def squares(self, x: Vector) -> Vector:
        sums = self.bin_sums(x)
        if self.signed:
            sums[self.first] += sums[self.last]
        return sums[self.at]

    def gram(self, x: Vector) -> NDArray[np.float64]:
        gram = self._bin_gram(x)
        if not self.signed:
            return gram
        sizes = self.last - self.first + 1
        last = np.cumsum(sizes) - 1
        first = last - sizes + 1
        gram[first] -= gram[last]
        gram[:, first] -= gram[:, last]
        inner = np.delete(np.arange(len(gram)), last)
        return gram[np.ix_(inner, inner)]

    def _bin_gram(self, x: Vector) -> NDArray[np.float64]:
        """Weights of pairs of bins, by differences of weights left of pairs of splits."""
        bins = self.at_all_bins
        inner = np.searchsorted(bins, self.splits_at)
        last = np.searchsorted(bins, self.last)
        first = np.searchsorted(bins, self.first)
        left_weight, total = self.statistics.weigh_splits(x)
        gram = np.empty((len(bins), len(bins)))
        gram[np.ix_(inner, inner)] = self._left_gram(x)
        gram[np.ix_(last, inner)] = left_weight
        gram[np.ix_(inner, last)] = left_weight[:, None]
        gram[np.ix_(last, last)] = total
        for axis in (0, 1):
            whole = gram if axis == 0 else gram.T
            begin = whole[first].copy()
            whole[1:] = np.diff(whole, axis=0)
            whole[first] = begin
        return gram

    def _left_gram(self, x: Vector) -> NDArray[np.float64]:
        n_splits, n_features = int(self.offsets[-1]), len(self.offsets) - 1
        out = np.zeros((n_splits, n_splits))
        if self.by_rows:
            tables = np.empty((N_TABLES, self.n_bins, self.n_bins))
            entries = self.arrays.entries
            self.team.run(
                fill_whole_gram, self.rows_by_bins(), entries, self.offsets, x, tables, out
            )
            return out
        for g in range(n_features):
            a, b = self.offsets[g], self.offsets[g + 1]
            self.statistics.weighted_gram_rows([g], range(g, n_features), x, out[a:b])
            out[b:, a:b] = out[a:b, b:].T
        return out

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
def add_row_bins(row_bins, tables, out):
    """Add the table entries of the stored bins of each row."""
    for i in range(out.shape[0]):
        total = 0.0
        for k in range(row_bins.start[i], row_bins.start[i + 1]):
            total += tables[row_bins.bins[k]]
        out[i] += total


class MatrixSpan(Span):
    """The columns of an explicit matrix, dense or sparse."""

    holds_constants = False

    def __init__(self, A: Any) -> None:
        self.A = A
        self.n_rows, self.n_coordinates = A.shape
        self.starts = np.arange(self.n_coordinates)
        self.cells = float(A.nnz if scipy.sparse.issparse(A) else A.size)
        self.gram_cells = self.cells * self.n_coordinates / 8  # by BLAS
        self._squared: Any = None

    def rows(self, t: Vector) -> Vector:
        return np.asarray(self.A @ t)

    def sums(self, x: Vector) -> Vector:
        return np.asarray(self.A.T @ x)

    def squares(self, x: Vector) -> Vector:
        if self._squared is None:
            self._squared = self.A.multiply(self.A) if scipy.sparse.issparse(self.A) else self.A**2
        return np.asarray(self._squared.T @ x)

    def gram(self, x: Vector) -> NDArray[np.float64]:
        if scipy.sparse.issparse(self.A):
            scaled = scipy.sparse.diags_array(x) @ self.A
            return np.asarray((self.A.T @ scaled).toarray())
        return np.asarray((self.A.T * x) @ self.A)

    def matrix(self) -> Any:
        return self.A


def orthonormal_span(span: Span, weight: Vector) -> MatrixSpan:
    """The same range with orthonormal coordinates (in the weighted inner product), for few rows.

    The basis are the eigenvectors of A A' with columns of length 1. A direction is left out only
    if it cannot be told from rounding; to keep one too many would enlarge the range, which makes
    lower bounds of the best loss smaller, not wrong.
    """
    A = span.matrix()
    norm = np.sqrt(span.squares(weight))
    scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
    root = np.sqrt(weight)
    if scipy.sparse.issparse(A):
        A = scipy.sparse.diags_array(root) @ A @ scipy.sparse.diags_array(scale)
        kernel_matrix = (A @ A.T).toarray()
    else:
        A = root[:, None] * A * scale
        kernel_matrix = A @ A.T
    values, vectors = scipy.linalg.eigh(kernel_matrix)
    noise = len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return MatrixSpan(vectors[:, values > noise] / root[:, None])


def span_of(prepared: Prepared, n_rows: int, team: Team) -> Span:
    """The range of prepared weak-learners."""
    if isinstance(prepared, PreparedStumps):
        return StumpSpan(prepared.arrays, n_rows, prepared.cells, team)
    if isinstance(prepared, PreparedDictionary):
        arrays = prepared.arrays
        if isinstance(arrays, DenseDictionary):
            return MatrixSpan(arrays.columns.T)
        parts = arrays.data, arrays.rows, arrays.indptr
        return MatrixSpan(scipy.sparse.csc_array(parts, shape=(n_rows, len(arrays.scale))))
    raise ValueError(
        f"weak-learners of {type(prepared).__name__} are not known here; use Stumps or Dictionary."
    )
