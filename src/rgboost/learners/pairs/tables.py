"""A path of quadrant stumps as a model: tables of pairs, purified, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from ...data.mixed_bins import MixedCuts
from ...model import ClassStumpModel, Path, StumpModel
from ...model.path import bits_of
from ...model.with_pairs import Curve, RawPair, add_curves, with_pairs
from .search import PairArrays, weigh_cells

Vector = NDArray[np.float64]


def raw_tables(
    arrays: PairArrays, path: Path, n_classes: int | None
) -> dict[int, NDArray[np.float64]]:
    """What a path adds in the cells of each column that it uses: (bins, bins[, classes])."""
    column = np.searchsorted(arrays.offsets, path.learner, side="right") - 1
    column[path.learner < 0] = -1
    values = path.values if n_classes is not None else path.values[..., None]
    sets = path.sets
    found = {}
    for k in np.unique(column[column >= 0]):
        mine = np.flatnonzero(column == k)
        g, h = arrays.pairs[k]
        a, b = int(arrays.n_values[g]) + 1, 1 if h < 0 else int(arrays.n_values[h]) + 1
        out = np.zeros((a, b, values.shape[2]))
        left_g = np.ascontiguousarray(bits_of(sets[mine, 0], a))
        left_h = np.ones((len(mine), 1), bool)
        if h >= 0:
            left_h = np.ascontiguousarray(bits_of(sets[mine, 1], b))
        add_choices(left_g, left_h, np.ascontiguousarray(values[mine]), out)
        found[int(k)] = out if n_classes is not None else out[:, :, 0]
    return found


@kernel()
def add_choices(left_g, left_h, values, out):
    """Add the values of quadrants on all cells."""
    for m in range(left_g.shape[0]):
        for a in range(out.shape[0]):
            side = 0 if left_g[m, a] else 2
            for b in range(out.shape[1]):
                q = side if left_h[m, b] else side + 1
                for c in range(out.shape[2]):
                    out[a, b, c] += values[m, q, c]


def cell_weights(arrays: PairArrays, k: int) -> Vector:
    """Weights of the training rows in the cells of a column."""
    g, h = arrays.pairs[k]
    a, b = int(arrays.n_values[g]) + 1, 1 if h < 0 else int(arrays.n_values[h]) + 1
    out = np.empty((a, b))
    weigh_cells(arrays, g, h, out)
    return out


def empty_model(n_features: int, intercept: Any) -> StumpModel | ClassStumpModel:
    """A model of no weak-learners."""
    tail = np.shape(intercept)
    none, no = np.empty(0), np.empty(0, np.int64)
    wide = StumpModel(
        n_features=n_features,
        intercept=np.asarray(intercept, np.float64) if tail else float(intercept),  # type: ignore[arg-type]
        features=no,
        starts=np.zeros(1, np.int64),
        cuts=none,
        tables=np.empty((0, *tail)),
        missing=np.empty((0, *tail)),
        feature=None,
        threshold=None,
        left=None,
        right=None,
        when_missing=None,
    )
    return ClassStumpModel(wide) if tail else wide


def models_of_runs(prepared: Any, paths: Sequence[Path], n_classes: int | None) -> list[Any]:
    """What the path of each run adds up to, purified: with the same weights, so that the tables of
    all runs lie side by side and are purified at once, like those of several classes."""
    width = n_classes or 1
    found: dict[int, Vector] = {}
    for run, path in enumerate(paths):
        for k, table in raw_tables(prepared.arrays, path, n_classes).items():
            if k not in found:
                found[k] = np.zeros((*table.shape[:2], len(paths) * width))
            found[k][:, :, run * width : (run + 1) * width] = table.reshape(*table.shape[:2], width)
    every = empty_model(prepared.n_features, np.zeros(len(paths) * width))
    wide = add_tables(every, prepared, found).wide
    return [_some_outputs(wide, run * width, n_classes) for run in range(len(paths))]


def _some_outputs(wide: StumpModel, first: int, n_classes: int | None) -> Any:
    """Of the outputs of a model, one, or those of all classes."""
    some = first if n_classes is None else slice(first, first + n_classes)
    categories, pairs = wide.categories, wide.pairs
    if categories is not None:
        tables, missing = categories.tables[:, some], categories.missing[:, some]
        categories = replace(categories, tables=tables, missing=missing)
    one = replace(
        wide,
        intercept=wide.intercept[some],  # type: ignore[index]
        tables=np.ascontiguousarray(wide.tables[:, some]),
        missing=np.ascontiguousarray(wide.missing[:, some]),
        categories=categories,
        pairs=None if pairs is None else replace(pairs, tables=pairs.tables[:, some]),
    )
    return one if n_classes is None else ClassStumpModel(one)


def add_path(model: Any, prepared: Any, path: Path) -> Any:
    """A model of curves with a path of quadrant stumps added to it, purified."""
    n_classes = len(model.intercept) if np.ndim(model.intercept) else None
    return add_tables(model, prepared, raw_tables(prepared.arrays, path, n_classes))


def add_tables(model: Any, prepared: Any, tables: Mapping[int, Vector]) -> Any:
    """A model of curves with tables of some columns added to it, purified."""
    cuts, pairs, curves = prepared.cuts, [], []
    for k, table in tables.items():
        g, h = (int(one) for one in prepared.columns_[k])
        if h >= 0:
            pairs.append(RawPair(g, h, table, prepared.cell_weights(k)))
        else:
            curves.append(_curve(cuts, g, table[:, 0]))
    if curves:
        wide = add_curves(model.wide, curves)
        model = ClassStumpModel(wide) if isinstance(model, ClassStumpModel) else wide
    ordered = frozenset(prepared.axes[prepared.arrays.sign != 0].tolist())
    return with_pairs(model, cuts, pairs, ordered)


def _curve(cuts: MixedCuts, g: int, values: Vector) -> Curve:
    """The table of a feature by itself; missing values that never were get the mean."""
    weights = cuts.weights_of(g)
    values = values.copy()
    if weights[-1] == 0:
        values[-1] = np.tensordot(weights[:-1], values[:-1], 1) / weights.sum()
    return Curve(g, bool(cuts.categorical[g]), cuts.edges_of(g), values)
