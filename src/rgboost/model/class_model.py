"""Additive models of step functions for several classes: tables with a column for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._jit import kernel
from .._one_line import one_line
from .._team import map_ranges
from ..data.cuts import Cuts
from .category_tables import CategoryTables
from .path import Path
from .stump_model import BLOCK, FEW_CUTS, StumpModel, climb_ladder, count_cuts, make_ladders

_PER_CLASS = ("tables", "missing", "left", "right", "when_missing")


@one_line
@dataclass(frozen=True)
class ClassStumpModel:
    """score_c(x) = intercept[c] + sum_g table_g[bin(x_g), c].

    ``shape`` is the model of the first class; the others have the same features, cuts and path.
    ``tables``, ``missing``, ``left``, ``right`` and ``when_missing`` are those of `StumpModel` with
    a column for each class, and so are ``tables`` and ``missing`` of ``categories``.
    """

    shape: StumpModel
    intercept: NDArray[np.float64]
    tables: NDArray[np.float64]
    missing: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    when_missing: NDArray[np.float64]
    categories: CategoryTables | None = None

    @classmethod
    def collapse(
        cls, cuts: Cuts, path: Path, intercept: Any, total_weight: float
    ) -> ClassStumpModel:
        """Add up the stumps of a path that starts from constant scores."""

        def collapse(one: Path, start: float) -> StumpModel:
            return StumpModel.collapse(cuts, one, start, total_weight)

        return cls.collapse_each(collapse, path, intercept)

    @classmethod
    def collapse_each(
        cls, collapse: Callable[[Path, float], StumpModel], path: Path, intercept: Any
    ) -> ClassStumpModel:
        """Collapse the path of each class by itself, and put the models side by side."""
        start = np.asarray(intercept, np.float64)
        models = [
            collapse(
                Path(path.learner, path.left[:, c].copy(), path.right[:, c].copy(), path.sets),
                float(start[c]),
            )
            for c in range(len(start))
        ]
        values: dict[str, Any] = {
            name: np.column_stack([getattr(model, name) for model in models]) for name in _PER_CLASS
        }
        tables = [model.categories for model in models if model.categories is not None]
        if tables:
            values["categories"] = replace(
                tables[0],
                tables=np.column_stack([one.tables for one in tables]),
                missing=np.column_stack([one.missing for one in tables]),
            )
        return cls.from_wide(replace(models[0], intercept=start, **values))  # type: ignore[arg-type]

    @classmethod
    def from_wide(cls, wide: StumpModel) -> ClassStumpModel:
        """From a `StumpModel` whose arrays of values have a column for each class."""
        values = {name: getattr(wide, name) for name in _PER_CLASS}
        intercept: Any = wide.intercept
        whole = cls(shape=wide, intercept=intercept, **values, categories=wide.categories)
        return replace(whole, shape=whole.of_class(0))

    def wide(self) -> StumpModel:
        """What `from_wide` was given."""
        values: dict[str, Any] = {name: getattr(self, name) for name in _PER_CLASS}
        return replace(
            self.shape,
            intercept=self.intercept,  # type: ignore[arg-type]
            categories=self.categories,
            **values,
        )

    @property
    def n_classes(self) -> int:
        return len(self.intercept)

    @property
    def feature(self) -> NDArray[np.int64]:
        return self.shape.feature

    @property
    def threshold(self) -> NDArray[np.float64]:
        return self.shape.threshold

    def of_class(self, c: int) -> StumpModel:
        """The additive model of the score of class c."""
        categories = self.categories
        if categories is not None:
            categories = replace(
                categories,
                tables=categories.tables[:, c].copy(),
                missing=categories.missing[:, c].copy(),
            )
        return replace(
            self.shape,
            categories=categories,
            intercept=float(self.intercept[c]),
            tables=self.tables[:, c].copy(),
            missing=self.missing[:, c].copy(),
            left=self.left[:, c].copy(),
            right=self.right[:, c].copy(),
            when_missing=self.when_missing[:, c].copy(),
        )

    def table(self, feature: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(cuts, values) of a feature's step functions; values is (cuts + 1, classes)."""
        found = [self.of_class(c).table(feature) for c in range(self.n_classes)]
        return found[0][0], np.column_stack([values for _, values in found])

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The scores (rows, classes)."""
        if scipy.sparse.issparse(X):
            rows = scipy.sparse.csr_array(X)
            scores = [self.of_class(c).score(rows, n_jobs) for c in range(self.n_classes)]
            return np.column_stack(scores)
        out = np.tile(self.intercept, (X.shape[0], 1))
        if self.categories is not None:
            self.categories.add_scores(X, out)
        shape = self.shape
        args = (shape.features, shape.starts, shape.cuts, self.tables, self.missing)
        map_ranges(lambda a, b: score_classes(X[a:b], *args, out[a:b]), len(out), n_jobs, BLOCK)
        return out

    def staged_score(self, X: Any, n_jobs: int = 1) -> Iterator[NDArray[np.float64]]:
        """The scores after each iteration, a new array every time."""
        stages = [self.of_class(c).staged_score(X, n_jobs) for c in range(self.n_classes)]
        for scores in zip(*stages, strict=True):
            yield np.column_stack(scores)


@kernel()
def score_classes(X, features, starts, cuts, tables, missing, out):
    """`stump_model.score_rows` for several classes: a bin is looked up once for all of them."""
    ladder_starts, ladders = make_ladders(starts, cuts)
    found = np.empty(BLOCK, np.uint32)
    values = np.empty(BLOCK, X.dtype)
    n_classes = tables.shape[1]
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK]
        scores = out[start : start + BLOCK]
        for k in range(features.shape[0]):
            g = features[k]
            for i in range(rows.shape[0]):
                values[i] = rows[i, g]
            a, n_cuts = starts[k], starts[k + 1] - starts[k]
            if n_cuts <= FEW_CUTS:
                count_cuts(values, cuts[a : a + n_cuts], found)
            else:
                climb_ladder(values, ladders[ladder_starts[k] : ladder_starts[k + 1]], found)
            for i in range(scores.shape[0]):
                entry = a + k + found[i]
                gap = values[i] != values[i]
                for c in range(n_classes):
                    scores[i, c] += missing[k, c] if gap else tables[entry, c]
