"""Tables of categorical features: one value for each category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import one_line
from ..data.mixed_bins import find_categories


@one_line
@dataclass(frozen=True)
class CategoryTables:
    """What categorical features add, and the sets that the path split them into.

    Feature ``features[k]`` has the categories ``values[starts[k]:starts[k + 1]]``, in ascending
    order, and adds the entries of ``tables`` at the same places; ``missing[k]`` where x is NaN or a
    category that was not there at fit time. Entry ``iteration[i]`` of the path had category c
    (counted from 0 in its feature, ``feature[i]``) on the left if bit c % 8 of ``sets[i, c // 8]``
    is set; these three are None in a model without its path.
    """

    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    tables: NDArray[np.float64]
    missing: NDArray[np.float64]
    iteration: NDArray[np.int64] | None
    sets: NDArray[np.uint8] | None
    feature: NDArray[np.int64] | None

    def without_path(self) -> CategoryTables:
        """The tables alone."""
        return replace(self, iteration=None, sets=None, feature=None)

    def table(self, feature: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(categories, values) of a feature; empty if the path did not use it."""
        k = int(np.searchsorted(self.features, feature))
        if k == len(self.features) or self.features[k] != feature:
            return np.empty(0), np.empty(0)
        now = slice(self.starts[k], self.starts[k + 1])
        return self.values[now], self.tables[now]

    def add_scores(self, X: Any, out: NDArray[np.float64]) -> None:
        """Add what the categorical features say about every row."""
        columns = scipy.sparse.csc_array(X) if scipy.sparse.issparse(X) else X
        for k, g in enumerate(self.features):
            values, table = self.table(g)
            place = find_categories(dense_column(columns, g), values)
            out += np.concatenate([table, self.missing[k : k + 1]])[place]

    def step(
        self, m: int, x: NDArray[np.floating], left: float, right: float, when_missing: float
    ) -> NDArray[np.float64]:
        """What iteration m of the path added to rows with these values."""
        assert self.iteration is not None
        assert self.sets is not None
        assert self.feature is not None
        i = int(np.searchsorted(self.iteration, m))
        values, _ = self.table(int(self.feature[i]))
        on_left = bits_of(self.sets[i : i + 1], len(values))[0]
        added = np.append(np.where(on_left, left, right), when_missing)
        return added[find_categories(x, values)]


def bits_of(sets: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    """The first n bits of each row."""
    return np.unpackbits(sets, axis=1, count=n, bitorder="little").astype(bool)


def dense_column(X: Any, g: int) -> NDArray[np.floating]:
    """Column g of an array or of a sparse matrix in CSC form."""
    return X[:, [g]].toarray().ravel() if scipy.sparse.issparse(X) else X[:, g]
