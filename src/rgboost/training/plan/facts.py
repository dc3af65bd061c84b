"""What is known of the data before anything is binned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._core.jit import kernel
from ..._core.memory import memory_budget
from ..._core.one_line import one_line
from ...data.elsewhere import MatrixElsewhere
from ...data.mixed_bins import columns_with_missing
from ...losses import Loss
from ...statistics.chunks import block_rows

SAMPLE, CELLS, FEWEST = 10_000, 1 << 20, 1000
"""Values are counted in at most so many rows, evenly spaced, and so many entries; but not in fewer
rows than the last number."""
MOST_COUNTED = 256
"""Of more features without categories, values of so many are counted; the others are taken to be
like their neighbours."""


@one_line
@dataclass(frozen=True)
class Values:
    """How often each value of a feature occurs in ``n_rows`` of the rows.

    ``counts[start[k]:start[k + 1]]``, with k = ``place[g]``, are those of feature g, its values in
    ascending order and missing ones left out: all that the number of quantile cuts depends on.
    """

    n_rows: int
    counts: NDArray[np.int64]
    start: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, categorical: NDArray[np.bool_] | None = None) -> Values:
        """Of evenly spaced rows and features of a matrix."""
        sparse = scipy.sparse.issparse(X)
        numbers = np.ones(X.shape[1], bool) if categorical is None else ~categorical
        counted, place = features_to_count(numbers)
        most = SAMPLE if sparse else max(FEWEST, min(SAMPLE, CELLS // max(1, len(counted))))
        some = X[:: -(-X.shape[0] // most) or 1]
        if isinstance(some, MatrixElsewhere):
            some = some.to_host()
        if len(counted) < X.shape[1]:
            some = some[:, counted]
        n_rows, counts, distinct = _sparse_counts(some) if sparse else _dense_counts(some)
        start = np.concatenate([[0], np.cumsum(distinct)]).astype(np.int64)
        return cls(n_rows, counts.astype(np.int64), start, place)

    @property
    def distinct(self) -> NDArray[np.int64]:
        """How many values each feature has."""
        return np.diff(self.start)[self.place]

    def cuts(self, max_bins: int | None, least: float) -> tuple[NDArray, NDArray]:
        """(thresholds of each feature, share of rows in its heaviest bin) with so many bins at
        quantiles and at least the share ``least`` of the rows on either side."""
        n_counted = len(self.start) - 1
        n_cuts, heaviest = np.zeros(n_counted, np.int64), np.zeros(n_counted, np.int64)
        count_cuts(self.counts, self.start, max_bins or 0, least * self.n_rows, n_cuts, heaviest)
        return n_cuts[self.place], (heaviest / max(1, self.n_rows))[self.place]

    def levels(self, least: float, most: int | None) -> NDArray[np.int64]:
        """How many categories a feature has if those below ``least`` rows, and those beyond the
        ``most`` heaviest, share one."""
        distinct = np.diff(self.start)
        feature = np.repeat(np.arange(len(distinct)), distinct)
        own = np.bincount(feature[self.counts >= least], minlength=len(distinct))
        found = (own + (own < distinct))[self.place]
        return found if most is None else np.minimum(found, most)


def features_to_count(numbers: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
    """(features whose values are counted, which of them stands for each feature): evenly spaced
    ones of the numbers, and all others."""
    several = np.flatnonzero(numbers)
    n = min(len(several), MOST_COUNTED)
    some = several[np.arange(n) * len(several) // max(1, n)]
    counted = np.sort(np.concatenate([some, np.flatnonzero(~numbers)]))
    stands = np.arange(len(numbers))
    stands[several] = some[np.arange(len(several)) * n // max(1, len(several))]
    return counted, np.searchsorted(counted, stands)


@kernel()
def count_cuts(counts, start, max_bins, lightest, n_cuts_out, heaviest_out):
    """Of each feature: its quantile cuts with ``max_bins`` bins (0: one after every value) and at
    least ``lightest`` rows on either side, and the rows of its heaviest bin."""
    for g in range(len(start) - 1):
        first, last = start[g], start[g + 1] - 1
        every = max_bins == 0 or last - first < max_bins
        total = 0
        for j in range(first, last + 1):
            total += counts[j]
        below = begin = 0
        next_quantile = total  # times max_bins
        for j in range(first, last):
            below += counts[j]
            if not every:
                if below * max_bins < next_quantile:
                    continue
                next_quantile = (below * max_bins // total + 1) * total
            if below >= lightest and total - below >= lightest:
                n_cuts_out[g] += 1
                heaviest_out[g] = max(heaviest_out[g], below - begin)
                begin = below
        heaviest_out[g] = max(heaviest_out[g], total - begin)


def _dense_counts(rows: NDArray) -> tuple[int, NDArray, NDArray]:
    """(rows, how often each value of each feature occurs, how many values a feature has)."""
    ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)  # missing values last
    n_rows = ordered.shape[1]
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    there = ~np.isnan(ordered)
    kept = (new & there).ravel()
    starts = np.flatnonzero(new.ravel())
    lengths = np.diff(starts, append=new.size)[kept[starts]]
    return n_rows, lengths, (new & there).sum(axis=1)


def _sparse_counts(rows: Any) -> tuple[int, NDArray, NDArray]:
    """The same of a sparse matrix; values that are the same in single precision are one."""
    n_rows, n_features = rows.shape
    entries = rows.tocsr()
    kept = ~np.isnan(entries.data)
    missing = np.bincount(entries.indices[~kept], minlength=n_features)
    kept &= entries.data != 0
    key = entries.indices[kept].astype(np.int64)  # by column, then by value; 0 where zeros belong
    zeros = n_rows - missing - np.bincount(key, minlength=n_features)
    key <<= 33
    with np.errstate(over="ignore", under="ignore"):
        bits = entries.data[kept].astype(np.float32).view(np.int32)
    key += np.where(bits < 0, -1 - (bits & 0x7FFFFFFF), bits)
    del entries, kept, bits  # rows and their keys are what a fit of sparse rows takes at most
    key.sort()
    new = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    counts, key = np.diff(starts, append=len(key)), key[starts]
    there = np.flatnonzero(zeros)
    counts = np.insert(counts, np.searchsorted(key, there << 33), zeros[there])
    distinct = np.bincount((key + (1 << 32)) >> 33, minlength=n_features) + (zeros > 0)
    return n_rows, counts, distinct


@one_line
@dataclass(frozen=True)
class Facts:
    """What a plan is made of beside the parameters. Rows without weight are not there."""

    rows: int
    loss: Loss
    count_values: Callable[[], Values] = field(repr=False)
    """`Values` of the rows, counted when a rule first asks for them (`counted_once`)."""
    categorical: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    """Which features have categories, and which have missing values."""
    loss_why: str = ""
    """How the loss follows from the one that is given, and from the rows."""
    sparse: bool = False
    stored: int = 0
    """Entries that are stored: all of a dense matrix."""
    input_bytes: int = 0
    weighted: bool = False
    has_offset: bool = False
    class_rows: tuple[int, ...] | None = None
    """How many rows each class has; None for a regression."""
    n_groups: int | None = None
    """Groups of rows that stay together; None: there are none."""
    held_rows: int | None = None
    """Validation rows that are given; None: there are none."""
    held_missing: bool = False
    held_weighted: bool = False
    n_folds: int | None = None
    """None: not yet known, and ``cv`` is their number."""
    largest_fold: int | None = None
    heaviest_fold: float | None = None
    """The share of the weight of all rows that the heaviest fold has."""
    goes_on: str | None = None
    """Why there can be one run only: it goes on with another, or a callback looks at one."""
    engine_before: str | None = None
    """The engine of the run to go on with."""
    empty_columns: int = 0
    """Columns of sparse rows that store nothing and are left out; ``features`` are the others."""
    names: Sequence[str] | None = field(default=None, repr=False)
    sample_rows: int | None = None
    """Of rows that are read piece by piece, how many were looked at one by one, as a sample. None:
    rows are in memory."""
    sample_given: bool = False
    partitions: tuple[int, ...] | None = None
    """Rows of each partition, where rows are on a cluster."""
    card: str | None = None
    """The card that sums are made on; thresholds follow from ``sample_rows``, then."""
    card_memory: int | None = None
    """Bytes that may be used on it."""
    memory: int = 1 << 30
    """Bytes that a fit may add."""

    def with_folds(
        self, fold: NDArray[np.int64], weight: NDArray[np.float64] | None = None
    ) -> Facts:
        """The same with the number of each row's fold, -1 for rows without weight."""
        there = fold >= 0
        sizes = np.bincount(fold[there])
        weights = sizes if weight is None else np.bincount(fold[there], weight[there])
        return replace(
            self,
            n_folds=int((sizes > 0).sum()),
            largest_fold=int(sizes.max()),
            heaviest_fold=float(weights.max() / weights.sum()),
        )

    @property
    def values(self) -> Values:
        return self.count_values()

    @property
    def features(self) -> int:
        return len(self.categorical)

    @property
    def in_pieces(self) -> bool:
        """Whether all that engines know of rows are sums: they are read piece by piece, and are
        never all in memory, or are on a card."""
        return self.sample_rows is not None

    @property
    def rows_at_once(self) -> int:
        """How many rows a pass has in memory at once; of a cluster or a card, none."""
        if self.partitions is not None or self.card is not None:
            return 0
        return min(self.rows, block_rows(self.features)) if self.in_pieces else self.rows

    @property
    def rows_shown(self) -> int:
        """How many rows are looked at one by one."""
        return self.rows if self.sample_rows is None else min(self.rows, self.sample_rows)

    @property
    def mixed(self) -> bool:
        """Whether there are missing values or categories."""
        return bool(self.categorical.any() or self.missing.any())

    @property
    def several_classes(self) -> bool:
        return self.loss.outputs > 1

    @property
    def rarest(self) -> int:
        """Rows of the rarest class; all rows if there are no classes."""
        return self.rows if self.class_rows is None else min(self.class_rows)

    @property
    def units(self) -> int:
        """What folds are made of: groups of rows, or rows."""
        return self.rows if self.n_groups is None else self.n_groups


def facts_of(
    X: Any,
    y: NDArray[np.float64],
    loss: Loss,
    *,
    weight: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    categorical: NDArray[np.bool_] | None = None,
    classes: bool = False,
    validation: Any = None,
    **more: Any,
) -> Facts:
    """The facts of checked rows; ``more`` are other fields of `Facts`."""
    present = None if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)
    if present is not None:
        X, y = X[present], y[present]
        groups = None if groups is None else groups[present]
    sparse = scipy.sparse.issparse(X)
    held = None if validation is None else validation.with_positive_weight()
    return Facts(
        rows=X.shape[0],
        loss=loss,
        count_values=counted_once(X, categorical),
        categorical=np.zeros(X.shape[1], bool) if categorical is None else categorical,
        missing=columns_with_missing(X),
        sparse=sparse,
        stored=int(X.nnz) if sparse else X.shape[0] * X.shape[1],
        input_bytes=_bytes_of(X),
        weighted=weight is not None,
        class_rows=tuple(_class_rows(y)) if classes else None,
        n_groups=None if groups is None else len(np.unique(groups)),
        held_rows=None if held is None else len(held.y),
        held_missing=held is not None and bool(columns_with_missing(held.X).any()),
        memory=memory_budget(),
        held_weighted=held is not None and held.weight is not None,
        **more,
    )


def counted_once(X: Any, categorical: NDArray[np.bool_] | None) -> Callable[[], Values]:
    """What counts the values of a matrix when it is first asked: not every plan needs that."""
    return cache(lambda: Values.of(X, categorical))


def _class_rows(y: NDArray[np.float64]) -> list[int]:
    """How many rows each class has; classes are whole numbers here, -1 and 1 or 0, 1, ..."""
    counts = np.bincount((y - y.min()).astype(np.intp))
    return counts[counts > 0].tolist()


def _bytes_of(X: Any) -> int:
    if scipy.sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
