"""Tables of pairs, as boosting leaves them, as part of a model: purified, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import MixedCuts
from .add_curves import Curve, add_curves
from .class_model import ClassStumpModel
from .pair_tables import PairTables
from .purify import Pure, purify
from .stump_model import StumpModel

Vector = NDArray[np.float64]
Model = TypeVar("Model", StumpModel, ClassStumpModel)

_ROUNDING = 1e-14


class RawPair(NamedTuple):
    """What a pair adds on all bins of its features, those of missing values last.

    ``table`` is (bins of g, bins of h), with several classes one axis more; ``weights`` are those
    of the training rows in the cells.
    """

    g: int
    h: int
    table: Vector
    weights: Vector


class _Pair(NamedTuple):
    """A pair with the edges of both axes."""

    raw: RawPair
    edges: tuple[Vector, Vector]
    pure: Pure


def with_pairs(model: Model, cuts: MixedCuts, tables: Sequence[RawPair]) -> Model:
    """The model that adds these tables to its scores.

    Thresholds where a table does not step are left out. Tables are purified: what one feature
    explains by itself goes to its curve, the mean to the intercept, and what is left has, in every
    row and column of the table, the mean zero over the training rows. A bin that no training row is
    in has what its neighbour has (numbers), or what the rows have on average (a category; missing
    values where there were none). Pairs come in the order of their strength; those that are zero
    are dropped. The model has no path.
    """
    wide = model.wide
    assert wide.pairs is None
    assert len({frozenset((raw.g, raw.h)) for raw in tables}) == len(tables)
    found = [_make_pair(cuts, raw) for raw in tables]
    curves = [curve for pair in found for curve in _curves_of(cuts, pair)]
    intercept: Any = wide.intercept + sum(pair.pure.constant for pair in found)
    wide = replace(
        add_curves(wide, curves),
        intercept=intercept if np.ndim(intercept) else float(intercept),
        pairs=_strongest_first(cuts, [pair for pair in found if not _is_zero(pair)]),
    )
    return wide if isinstance(model, StumpModel) else ClassStumpModel(wide)


def _make_pair(cuts: MixedCuts, raw: RawPair) -> _Pair:
    if raw.g > raw.h:
        raw = RawPair(raw.h, raw.g, raw.table.swapaxes(0, 1), raw.weights.T)
    edges = []
    for axis, g in enumerate((raw.g, raw.h)):
        now = cuts.edges_of(g)
        if not cuts.categorical[g]:
            raw, now = _without_idle_thresholds(raw, now, axis)
        edges.append(now)
    return _Pair(raw, (edges[0], edges[1]), purify(raw.table, raw.weights))


def _without_idle_thresholds(raw: RawPair, edges: Vector, axis: int) -> tuple[RawPair, Vector]:
    """Bins of numbers between which the table does not step, or that no training row is in, become
    one with their neighbours."""
    table, weights = np.moveaxis(raw.table, axis, 0), np.moveaxis(raw.weights, axis, 0)
    m = len(edges) + 1
    heavy = weights[:m].any(axis=1)
    some = np.flatnonzero(heavy) if heavy.any() else np.zeros(1, np.int64)
    table = np.concatenate([_filled(table[:m], some), table[m:]])
    kept = (table[: m - 1] != table[1:m]).reshape(m - 1, -1).any(axis=1)
    first = np.concatenate([[0], np.flatnonzero(kept) + 1, [m]])  # of each bin that is left
    table, weights = table[first], np.add.reduceat(weights, first)
    back = raw._replace(table=np.moveaxis(table, 0, axis), weights=np.moveaxis(weights, 0, axis))
    return back, edges[kept]


def _filled(values: Vector, some: NDArray[np.int64]) -> Vector:
    """Each bin that is not among ``some`` has the values of the last of them before it, or of the
    first one."""
    place = np.searchsorted(some, np.arange(len(values)), side="right") - 1
    return values[some[np.maximum(place, 0)]]


def _curves_of(cuts: MixedCuts, pair: _Pair) -> list[Curve]:
    """What the features of a pair explain by themselves."""
    raw, pure = pair.raw, pair.pure
    sides = zip((raw.g, raw.h), pair.edges, (pure.rows, pure.columns), strict=True)
    return [
        Curve(int(g), bool(cuts.categorical[g]), edges, values)
        for g, edges, values in sides
        if values.any()
    ]


def _is_zero(pair: _Pair) -> bool:
    """Whether rounding is all that is left of it."""
    left, of = (np.abs(values).max(initial=0.0) for values in (pair.pure.table, pair.raw.table))
    return bool(left <= _ROUNDING * of)


def _strongest_first(cuts: MixedCuts, found: Sequence[_Pair]) -> PairTables | None:
    if not found:
        return None
    features = np.array([[pair.raw.g, pair.raw.h] for pair in found], np.int64)
    edges = [edges for pair in found for edges in pair.edges]
    sizes = [len(e) for e in edges]
    tail = found[0].raw.table.shape[2:]
    pairs = PairTables(
        features=features,
        categorical=cuts.categorical[features],
        edge_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        edges=np.concatenate(edges),
        tables=np.concatenate([pair.pure.table.reshape(-1, *tail) for pair in found]),
        weights=np.concatenate([pair.raw.weights.ravel() for pair in found]),
    )
    return pairs.take(np.argsort(-pairs.strengths, kind="stable"))
