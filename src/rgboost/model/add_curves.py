"""Functions of single features, added to the curves of a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .category_tables import CategoryTables
from .stump_model import StumpModel

Vector = NDArray[np.float64]


class Curve(NamedTuple):
    """What a feature adds: ``values`` between its thresholds, or by category (``edges``), and the
    value for missing values last. With several classes values have a column for each."""

    feature: int
    categorical: bool
    edges: Vector
    values: Vector


def add_curves(model: StumpModel, curves: Iterable[Curve]) -> StumpModel:
    """The model whose curves are the sums, on all thresholds of the summands; without a path.

    Features that the model does not use get a curve.
    """
    numeric: dict[int, list[Curve]] = defaultdict(list)
    categorical: dict[int, list[Curve]] = defaultdict(list)
    for curve in [*_curves_of(model), *curves]:
        (categorical if curve.categorical else numeric)[curve.feature].append(curve)
    sums = [_sum_of_steps(numeric[g]) for g in sorted(numeric)]
    tail = model.tables.shape[1:]
    return replace(
        model.without_path(),
        features=np.array([curve.feature for curve in sums], np.int64),
        starts=_starts([len(curve.edges) for curve in sums]),
        cuts=_join([curve.edges for curve in sums], ()),
        tables=_join([curve.values[:-1] for curve in sums], tail),
        missing=_join([curve.values[-1:] for curve in sums], tail),
        categories=_sum_of_categories(categorical, tail),
    )


def add_model(model: Any, other: Any) -> Any:
    """The sum of two models of curves, of which the other may have pairs; without a path."""
    wide, more = model.wide, other.wide
    assert wide.pairs is None
    wide = replace(
        add_curves(wide, _curves_of(more)),
        intercept=wide.intercept + more.intercept,
        pairs=more.pairs,
    )
    return wide if model is model.wide else replace(model, wide=wide)


def _curves_of(model: StumpModel) -> Iterable[Curve]:
    for k, g in enumerate(model.features):
        cuts, values = model.table(g)
        yield Curve(int(g), False, cuts, np.concatenate([values, model.missing[k : k + 1]]))
    if model.categories is not None:
        for k, g in enumerate(model.categories.features):
            edges, values = model.categories.table(g)
            missing = model.categories.missing[k : k + 1]
            yield Curve(int(g), True, edges, np.concatenate([values, missing]))


def _sum_of_steps(curves: list[Curve]) -> Curve:
    """The sum of step functions of one feature."""
    edges = np.unique(np.concatenate([curve.edges for curve in curves]))
    values = np.zeros((len(edges) + 2, *curves[0].values.shape[1:]))
    for curve in curves:
        place = np.searchsorted(curve.edges, np.append(edges, np.inf))
        values += curve.values[np.append(place, len(curve.edges) + 1)]
    return curves[0]._replace(edges=edges, values=values)


def _sum_of_categories(
    curves: Mapping[int, list[Curve]], tail: tuple[int, ...]
) -> CategoryTables | None:
    """The sums of the tables of each categorical feature."""
    if not curves:
        return None
    for g, some in curves.items():
        if any(not np.array_equal(curve.edges, some[0].edges) for curve in some):
            raise ValueError(f"the categories of feature {g} are not the same in all tables.")
    order = sorted(curves)
    sums = [sum(curve.values for curve in curves[g]) for g in order]
    edges = [curves[g][0].edges for g in order]
    return CategoryTables(
        features=np.array(order, np.int64),
        starts=_starts([len(e) for e in edges]),
        values=_join(edges, ()),
        tables=_join([values[:-1] for values in sums], tail),  # type: ignore[index]
        missing=_join([values[-1:] for values in sums], tail),  # type: ignore[index]
        iteration=None,
        sets=None,
        feature=None,
    )


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _join(parts: list[Vector], tail: tuple[int, ...]) -> Vector:
    return np.concatenate([*parts, np.empty((0, *tail))])
