"""Curves and tables of pairs, as boosting leaves them, added to a model: tables are purified, the
strongest come first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph
from numpy.typing import NDArray

from ..data.mixed_bins import MixedCuts
from .category_tables import CategoryTables
from .class_model import ClassStumpModel
from .pair_tables import PairTables
from .stump_model import StumpModel

Vector = NDArray[np.float64]
Array = NDArray[np.float64]
Model = TypeVar("Model", StumpModel, ClassStumpModel)

_ROUNDING = 1e-14

_STEPS = 4
"""The first one solves, the others take away what rounding left."""

_RIDGE = 1e-13
"""Effects that weights of this share of the rows would decide are left as they are: what they do to
a mean is below rounding."""


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


def with_pairs(
    model: Model, cuts: MixedCuts, tables: Sequence[RawPair], ordered: Collection[int] = ()
) -> Model:
    """The model that adds these tables to its scores.

    Thresholds where a table does not step are left out. Tables are purified: what one feature
    explains by itself goes to its curve, the mean to the intercept, and what is left has, in every
    row and column of the table, the mean zero over the training rows. A bin that no training row is
    in has what its neighbour has (numbers), or what the rows have on average (a category; missing
    values where there were none). Along the features of ``ordered`` the whole model rises or falls:
    so does what they say beside such a bin, which is the mean over the rows of what they say beside
    the others. Pairs come in the order of their strength; those that are zero are dropped. The
    model has no path.
    """
    wide = model.wide
    assert wide.pairs is None
    assert len({frozenset((raw.g, raw.h)) for raw in tables}) == len(tables)
    found = [_make_pair(cuts, raw, ordered) for raw in tables]
    curves = [curve for pair in found for curve in _curves_of_pair(cuts, pair)]
    intercept: Any = wide.intercept + sum(pair.pure.constant for pair in found)
    wide = replace(
        add_curves(wide, curves),
        intercept=intercept if np.ndim(intercept) else float(intercept),
        pairs=_strongest_first(cuts, [pair for pair in found if not _is_zero(pair)]),
    )
    return wide if isinstance(model, StumpModel) else ClassStumpModel(wide)


def pure_in_bins(cuts: MixedCuts, raw: RawPair) -> Pure:
    """What `with_pairs` makes of a table, in all bins of both features."""
    _, edges, pure = _make_pair(cuts, raw, ())
    places = []
    for g, kept in zip((raw.g, raw.h), edges, strict=True):
        place = np.arange(len(kept) + 1)
        if not cuts.categorical[g]:
            above = np.searchsorted(kept, cuts.edges_of(g), side="right")
            place = np.concatenate([[0], above, [len(kept) + 1]])
        places.append(place)
    i, j = places
    return Pure(pure.table[np.ix_(i, j)], pure.rows[i], pure.columns[j], pure.constant)


def _make_pair(cuts: MixedCuts, raw: RawPair, ordered: Collection[int]) -> _Pair:
    if raw.g > raw.h:
        raw = RawPair(raw.h, raw.g, raw.table.swapaxes(0, 1), raw.weights.T)
    edges = []
    for axis, g in enumerate((raw.g, raw.h)):
        now = cuts.edges_of(g)
        if not cuts.categorical[g]:
            raw, now = _without_idle_thresholds(raw, now, axis)
        edges.append(now)
    pure = purify(raw.table, raw.weights)
    for axis, g in enumerate((raw.g, raw.h)):
        if g in ordered:
            _keep_order(pure.table, raw.weights, axis)
    return _Pair(raw, (edges[0], edges[1]), pure)


def _keep_order(table: Vector, weights: Vector, axis: int) -> None:
    """Beside a bin of the other feature that no training row is in, values along ``axis`` are their
    mean over the rows of the other feature: a mean of functions that rise does so, and a curve
    without the table need not."""
    of_other = weights.sum(axis=axis)
    slices = np.moveaxis(table, 1 - axis, 0)
    slices[of_other == 0] = np.tensordot(of_other / of_other.sum(), slices, 1)


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


def _curves_of_pair(cuts: MixedCuts, pair: _Pair) -> list[Curve]:
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


class Pure(NamedTuple):
    """table = table_pure + rows[:, None] + columns[None] + constant, where there is weight.

    ``constant`` has the axis of several classes, or none.
    """

    table: Array
    rows: Array
    columns: Array
    constant: Array


def purify(table: Array, weights: Array) -> Pure:
    """The functional ANOVA of a table F (a, b) or (a, b, classes) under weights W (a, b):

        F_ij = P_ij + r_i + c_j + m,    sum_j W_ij P_ij = 0,    sum_i W_ij P_ij = 0,

    m the weighted mean of F, r and c of weighted mean zero (Lengerich et al. 2020). A row or column
    without weight has P = 0 and no effect: what the other rows have on average. Where the weights
    fall into blocks without a common row or column, the mean of a block is shared by r and c in
    halves.

    The effects solve the normal equations of the weighted regression of F on rows and columns, the
    longer of both eliminated: with B_ij = W_ij / sqrt(W_i W_j) that is (I - B'B) c = right side,
    c scaled by the root of the weights of its columns.
    """
    if table.shape[0] < table.shape[1]:
        found = purify(table.swapaxes(0, 1), weights.T)
        return Pure(found.table.swapaxes(0, 1), found.columns, found.rows, found.constant)
    i, j = weights.sum(axis=1) > 0, weights.sum(axis=0) > 0
    scale = float(np.abs(table).max(initial=0.0)) or 1.0
    flat = table.reshape(*weights.shape, -1) / scale
    pure, rows, columns = np.zeros_like(flat), np.zeros_like(flat[:, 0]), np.zeros_like(flat[0])
    mean = np.zeros(flat.shape[2])
    if i.any():
        inside = np.ix_(i, j)
        rows[i], columns[j], mean = _effects(flat[inside], weights[inside] / weights.max())
        pure[inside] = flat[inside] - rows[i, None] - columns[j] - mean
    tail = table.shape[2:]
    return Pure(
        scale * pure.reshape(table.shape),
        scale * rows.reshape(-1, *tail),
        scale * columns.reshape(-1, *tail),
        scale * mean.reshape(tail),
    )


def _effects(table: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Effects of rows and columns and the mean of a table (a, b, outputs) with weight in every row
    and column."""
    by_row, by_column = weights.sum(axis=1), weights.sum(axis=0)
    rows, columns = np.zeros_like(table[:, 0]), np.zeros_like(table[0])
    total = weights.sum()
    mean = np.einsum("ij,ijc->c", weights, table) / total
    solve, blocks = _solver(weights, by_row, by_column)
    for _ in range(_STEPS):
        rest = table - rows[:, None] - columns - mean
        of_rows = np.einsum("ij,ijc->ic", weights, rest) / by_row[:, None]
        left = np.einsum("ij,ijc->jc", weights, rest - of_rows[:, None])
        of_columns = solve(left)
        columns += of_columns
        rows += of_rows - weights @ of_columns / by_row[:, None]
    _share_blocks(rows, columns, weights, blocks)
    for effects, own in ((rows, by_row), (columns, by_column)):
        off = own @ effects / total
        effects -= off
        mean = mean + off
    return rows, columns, mean


def _solver(
    weights: Array, by_row: Array, by_column: Array
) -> tuple[Callable[[Array], Array], NDArray[np.int64]]:
    """The inverse of W_j c_j - sum_i W_ij (sum_k W_ik c_k) / W_i on what has mean zero in each
    block of columns, and the block of each column."""
    root = np.sqrt(by_column)
    B = weights / np.sqrt(by_row)[:, None] / root
    normal = B.T @ B
    blocks = _blocks(normal > 0)
    # A constant on a block counts as an effect of its rows: for columns it has the eigenvalue 1.
    constant = root / np.sqrt(np.bincount(blocks, by_column))[blocks]
    same = blocks[:, None] == blocks
    matrix = np.eye(len(root)) * (1.0 + _RIDGE) - normal + np.outer(constant, constant) * same
    factor = scipy.linalg.cho_factor(matrix, check_finite=False)

    def solve(left: Array) -> Array:
        return scipy.linalg.cho_solve(factor, left / root[:, None]) / root[:, None]

    return solve, blocks


def _blocks(meets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The block of each column, from which columns have a row in common."""
    if meets.all(axis=0).any():  # one of them meets all: they are one block
        return np.zeros(len(meets), np.int64)
    return scipy.sparse.csgraph.connected_components(meets, directed=False)[1]


def _share_blocks(rows: Array, columns: Array, weights: Array, blocks: NDArray[np.int64]) -> None:
    """Half of the mean of each block for its rows, half for its columns."""
    of_row = blocks[np.argmax(weights > 0, axis=1)]
    total = np.bincount(blocks, weights.sum(axis=0))
    for c in range(rows.shape[1]):
        of_rows = np.bincount(of_row, weights.sum(axis=1) * rows[:, c])
        of_columns = np.bincount(blocks, weights.sum(axis=0) * columns[:, c])
        half = 0.5 * (of_rows - of_columns) / total
        rows[:, c] -= half[of_row]
        columns[:, c] += half[blocks]


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
