"""Tables of categorical features: one value for each category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.one_line import one_line
from .._core.stored import all_or_none, are_starts, ascends, check_arrays, require, within
from ..data.mixed_bins import OTHERS, find_categories
from ..data.sparse_columns import dense_column
from .path import bits_of

_ARRAYS = {
    "features": "i8 used", "starts": "i8 used+1", "values": "f8 values", "tables": "f8 values *",
    "missing": "f8 used *", "iteration": "i8? path", "sets": "u1? path bytes",
    "feature": "i8? path",
}  # fmt: skip


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

    def check_stored(self, fitted: Mapping[str, Any], sizes: dict[str, int]) -> None:
        """See `rgboost._core.stored`."""
        name, n_features = "model_.categories", fitted["n_features_in_"]
        check_arrays(self, name, _ARRAYS, sizes)
        inside = ascends(self.features) and within(self.features, 0, n_features)
        require(len(self.features) and inside, f"{name}.features")
        require(are_starts(self.starts, len(self.values)), f"{name}.starts")
        for g, (a, b) in zip(self.features, pairwise(self.starts), strict=True):
            values, labels = self.values[a:b], fitted["input_"].labels.get(int(g))
            require(ascends(values) and len(values), f"{name}.values")
            values = values[:-1] if values[-1] == OTHERS else values
            require(np.isfinite(values).all(), f"{name}.values")
            if labels is not None:  # a category is the number of its label
                known = (values >= 0) & (values < len(labels)) & (values == np.floor(values))
                require(known.all(), f"{name}.values")

    def check_path(
        self, by_set: NDArray[np.int64] | None, feature: NDArray[np.int64] | None
    ) -> None:
        """Whether the sets are those of the iterations ``by_set`` of a path (None: of none)."""
        name = "model_.categories.iteration"
        there = all_or_none((self.iteration, self.sets, self.feature), name)
        require(there == (by_set is not None), name)
        if by_set is not None and feature is not None and self.feature is not None:
            require(np.array_equal(self.iteration, by_set), name)  # type: ignore[arg-type]
            same = np.array_equal(self.feature, feature[by_set])
            known = np.isin(self.feature, self.features).all()
            require(same and known, "model_.categories.feature")

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
