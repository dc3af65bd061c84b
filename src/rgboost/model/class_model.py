"""Additive models of step functions for several classes: tables with a column for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.one_line import one_line
from .._core.stored import require
from .._core.team import map_ranges
from ..data.cuts import Cuts
from .ladders import BLOCK, FEW_CUTS, climb_ladder, count_cuts, make_ladders
from .path import Path
from .stump_model import StumpModel

_TABLES = ("tables", "missing")
_VALUES = (*_TABLES, "left", "right", "when_missing")
"""What has a column for each class."""


@one_line
@dataclass(frozen=True)
class ClassStumpModel:
    """score_c(x) = intercept[c] + sum_g table_g[bin(x_g), c].

    ``wide`` is a `StumpModel` whose intercept, tables and values of the path have a column for each
    class: features, cuts and path are those of all classes.
    """

    wide: StumpModel

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
                Path.of(
                    learner=path.learner,
                    left=path.left[:, c],
                    right=path.right[:, c],
                    sets=path.sets if path.has("sets") else None,
                ),
                float(start[c]),
            )
            for c in range(len(start))
        ]
        values: dict[str, Any] = {
            name: np.column_stack([getattr(model, name) for model in models]) for name in _VALUES
        }
        tables = [model.categories for model in models if model.categories is not None]
        if tables:
            values["categories"] = replace(
                tables[0],
                tables=np.column_stack([one.tables for one in tables]),
                missing=np.column_stack([one.missing for one in tables]),
            )
        return cls(replace(models[0], intercept=start, **values))  # type: ignore[arg-type]

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        require(isinstance(self.wide, StumpModel) and self.wide.tables.ndim == 2, "model_.wide")
        self.wide.check_stored(fitted)

    @property
    def intercept(self) -> Any:
        return self.wide.intercept

    def among(self, columns: NDArray[np.int64], n_features: int) -> ClassStumpModel:
        """The same model where its features are these columns of ``n_features``."""
        return replace(self, wide=self.wide.among(columns, n_features))

    @property
    def n_classes(self) -> int:
        return len(self.intercept)

    def without_path(self) -> ClassStumpModel:
        """The tables alone: the same scores, but no stages."""
        return ClassStumpModel(self.wide.without_path())

    def of_class(self, c: int) -> StumpModel:
        """The additive model of the score of class c."""
        wide, categories = self.wide, self.wide.categories
        if categories is not None:
            categories = replace(
                categories,
                tables=categories.tables[:, c].copy(),
                missing=categories.missing[:, c].copy(),
            )
        names = _VALUES if wide.feature is not None else _TABLES
        values: dict[str, Any] = {name: getattr(wide, name)[:, c].copy() for name in names}
        return replace(
            wide, intercept=float(self.intercept[c]), categories=categories,
            pairs=None if wide.pairs is None else wide.pairs.of_class(c), **values,
        )  # fmt: skip

    def table(self, feature: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(cuts, values) of a feature's step functions; values is (cuts + 1, classes)."""
        found = [self.of_class(c).table(feature) for c in range(self.n_classes)]
        return found[0][0], np.column_stack([values for _, values in found])

    def score(self, X: Any, n_jobs: int = 1) -> NDArray[np.float64]:
        """The scores (rows, classes)."""
        wide = self.wide
        if scipy.sparse.issparse(X):
            rows, curves = scipy.sparse.csr_array(X), ClassStumpModel(replace(wide, pairs=None))
            scores = [curves.of_class(c).score(rows, n_jobs) for c in range(self.n_classes)]
            out = np.column_stack(scores)
        else:
            out = np.tile(self.intercept, (X.shape[0], 1))
            if wide.categories is not None:
                wide.categories.add_scores(X, out)
            args = (wide.features, wide.starts, wide.cuts, wide.tables, wide.missing)
            map_ranges(lambda a, b: score_classes(X[a:b], *args, out[a:b]), len(out), n_jobs, BLOCK)
        if wide.pairs is not None:
            wide.pairs.add_scores(X, out, n_jobs)
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
                unknown = values[i] != values[i]
                for c in range(n_classes):
                    scores[i, c] += missing[k, c] if unknown else tables[entry, c]
