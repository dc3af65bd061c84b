"""How far the tables of several models of the same rows are apart: those of the runs of a mean, or
of bags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.one_line import one_line
from .._core.stored import check_arrays, require
from ..data.mixed_bins import find_categories
from .category_tables import CategoryTables
from .coverage import Coverage
from .pair_tables import PairTables
from .stump_model import StumpModel

Array = NDArray[Any]

_ARRAYS = {
    "tables": "f4 cuts+used *", "missing": "f4 used *", "category_tables": "f4 categories *",
    "category_missing": "f4 categorical *", "pairs": "f4 cells *",
}  # fmt: skip


@one_line
@dataclass(frozen=True)
class Bands:
    """Standard deviations of the tables of ``n`` models around their mean, bin by bin.

    Curves are compared without their means over the training rows: what shifts a curve as a whole
    is no part of its shape. ``tables`` and ``missing`` are those of `StumpModel`,
    ``category_tables`` and ``category_missing`` those of its categories, ``pairs`` those of its
    pairs, in 32 bits and in units of ``scale``, for values of any size. NaN stands where nothing is
    known: in terms that were edited.
    """

    of: Literal["runs", "bags"]
    n: int
    scale: float
    tables: Array
    missing: Array
    category_tables: Array
    category_missing: Array
    pairs: Array

    @classmethod
    def made(cls, of: Literal["runs", "bags"], n: int, arrays: Sequence[Array]) -> Bands:
        """From arrays in 64 bits, in the order of the fields."""
        scale = max(float(np.fmax.reduce(a, axis=None, initial=0.0)) for a in arrays) or 1.0
        return cls(of, n, scale, *((a / scale).astype(np.float32) for a in arrays))

    def like(self, other: Bands) -> bool:
        """Whether both are of as many runs, or of as many bags: else one word cannot tell both."""
        return (self.of, self.n) == (other.of, other.n)

    def by_term(self, wide: StumpModel) -> Iterator[Array]:
        """For each term of the model, in the order in which they are added, the deviations in its
        bins: those of missing values last, of pairs cell by cell."""
        groups, pairs = wide.categories, wide.pairs
        for k, (a, b) in enumerate(pairwise(() if groups is None else groups.starts)):
            yield self._scaled(self.category_tables[a:b], self.category_missing[k : k + 1])
        for k, (a, b) in enumerate(pairwise(wide.starts)):
            yield self._scaled(self.tables[a + k : b + k + 1], self.missing[k : k + 1])
        for a, b in pairwise(() if pairs is None else pairs.cell_starts):
            yield self._scaled(self.pairs[a:b])

    def _scaled(self, *parts: Array) -> Array:
        return self.scale * np.concatenate(parts).astype(np.float64)

    def check_stored(self, fitted: Mapping[str, Any]) -> None:
        """See `rgboost._core.stored`."""
        wide = fitted["model_"].wide
        groups, pairs = wide.categories, wide.pairs
        sizes = {
            "cuts": len(wide.cuts),
            "used": len(wide.features),
            "categories": 0 if groups is None else len(groups.values),
            "categorical": 0 if groups is None else len(groups.features),
            "cells": 0 if pairs is None else len(pairs.weights),
        }
        if wide.tables.ndim == 2:
            sizes["*"] = wide.tables.shape[1]
        check_arrays(self, "bands_", _ARRAYS, sizes)
        require(self.of in ("runs", "bags"), "bands_.of")
        require(type(self.n) is int and self.n > 1, "bands_.n")
        require(type(self.scale) is float and 0.0 < self.scale < np.inf, "bands_.scale")
        for name in _ARRAYS:
            values = getattr(self, name)
            require(not ((values < 0.0) | (values > 1.0)).any(), f"bands_.{name}")


def spread_of(
    of: Literal["runs", "bags"], model: Any, coverage: Coverage, others: Iterable[list[Any]]
) -> Bands:
    """The bands of a model: how far ``others`` are apart in its bins. Each of them is a list of
    models, of which it is the sum."""
    grid = _Grid(model.wide, coverage, at_ends=of == "runs")
    n, mean, squares = 0, [np.zeros(1)] * 5, [np.zeros(1)] * 5
    for parts in others:
        n += 1
        found = grid.values(parts)
        off = [x - m for x, m in zip(found, mean, strict=True)]
        mean = [m + d / n for m, d in zip(mean, off, strict=True)]
        squares = [s + d * (x - m) for s, d, x, m in zip(squares, off, found, mean, strict=True)]
    assert n > 1
    return Bands.made(of, n, [grid.unit * np.sqrt(s / (n - 1)) for s in squares])


class _Grid:
    """The bins of a model, in which other models are looked up.

    The runs of a mean step where the mean does, so that they have one value in each of its bins;
    others are looked up in the middle (``at_ends=False``).
    """

    def __init__(self, wide: StumpModel, coverage: Coverage, at_ends: bool) -> None:
        self.wide, self.coverage, self.at_ends = wide, coverage, at_ends
        groups, pairs = wide.categories, wide.pairs
        sizes = [wide.tables, wide.missing]
        sizes += [] if groups is None else [groups.tables, groups.missing]
        sizes += [] if pairs is None else [pairs.tables]
        self.unit = max(float(np.abs(a).max(initial=0.0)) for a in sizes) or 1.0
        """Of what is looked up: squares of very large and very small values exist, too."""
        n_steps = np.diff(wide.starts) + 1
        self.owner = np.repeat(wide.features, n_steps)
        self.firsts = (wide.starts[:-1] + np.arange(len(wide.features))).astype(np.int64)
        self.keys = _keys(self.owner, self._points(wide.cuts, self.firsts, n_steps))

    def _points(self, cuts: Array, firsts: Array, n_steps: Array) -> Array:
        """A value in each step of every feature."""
        lasts = firsts + n_steps - 1
        points = np.empty(int(n_steps.sum()))
        inner = np.ones(len(points), bool)
        inner[lasts] = False
        points[inner] = cuts
        points[lasts] = np.inf
        if not self.at_ends:
            left = np.concatenate([[-np.inf], points[:-1]])
            left[firsts] = -np.inf
            middle = 0.5 * left + 0.5 * points
            points = np.where(np.isfinite(middle), middle, points)
        return points

    def values(self, parts: list[Any]) -> list[Array]:
        """The tables of the sum of some models in these bins, in the order of `Bands` and in units
        of ``unit``."""
        found = [self._of_one(part.wide) for part in parts]
        curves, missing, by_set, unknown, pairs = (
            sum(a / self.unit for a in arrays) for arrays in zip(*found, strict=True)
        )
        self._centre(curves, missing)
        self._centre_categories(by_set, unknown)
        return [curves, missing, by_set, unknown, pairs]

    def _of_one(self, other: StumpModel) -> list[Array]:
        tail = self.wide.tables.shape[1:]
        curves = np.zeros((len(self.owner), *tail))
        missing = np.zeros((len(self.wide.features), *tail))
        if len(other.features):
            own = np.repeat(other.features, np.diff(other.starts))
            slot = np.minimum(np.searchsorted(other.features, self.owner), len(other.features) - 1)
            there = other.features[slot] == self.owner
            place = np.searchsorted(_keys(own, other.cuts), self.keys) + slot
            curves[there] = other.tables[place[there]]
            slots = slot[self.firsts]
            there = there[self.firsts]
            missing[there] = other.missing[slots[there]]
        return [curves, missing, *self._categories(other.categories), self._pairs(other.pairs)]

    def _categories(self, other: CategoryTables | None) -> list[Array]:
        own, tail = self.wide.categories, self.wide.tables.shape[1:]
        if own is None:
            return [np.zeros((0, *tail)), np.zeros((0, *tail))]
        tables, missing = np.zeros((len(own.values), *tail)), np.zeros((len(own.features), *tail))
        for k, g in enumerate(own.features):
            at = -1 if other is None else int(np.searchsorted(other.features, g))
            if other is None or at == len(other.features) or other.features[at] != g:
                continue
            values, found = other.table(int(g))
            padded = np.concatenate([found, other.missing[at : at + 1]])
            now = slice(own.starts[k], own.starts[k + 1])
            tables[now] = padded[find_categories(own.values[now], values)]
            missing[k] = other.missing[at]
        return [tables, missing]

    def _pairs(self, other: PairTables | None) -> Array:
        own, tail = self.wide.pairs, self.wide.tables.shape[1:]
        if own is None:
            return np.zeros((0, *tail))
        found = np.zeros(own.tables.shape)
        if other is None:
            return found
        place = {tuple(pair): j for j, pair in enumerate(other.features.tolist())}
        starts = own.cell_starts
        for j, pair in enumerate(own.features.tolist()):
            i = place.get(tuple(pair), -1)
            if i >= 0:
                bins = [other.bins(i, axis, self._axis_points(own, j, axis)) for axis in (0, 1)]
                cells = other.table(i)[np.ix_(*bins)]
                found[starts[j] : starts[j + 1]] = cells.reshape(-1, *tail)
        return found

    def _axis_points(self, pairs: PairTables, j: int, axis: int) -> Array:
        """A value in each bin of an axis of a pair, NaN for that of missing values."""
        edges = pairs.edges_of(j, axis)
        if pairs.categorical[j, axis]:
            return np.append(edges, np.nan)
        n = np.array([len(edges) + 1])
        return np.append(self._points(edges, np.zeros(1, np.int64), n), np.nan)

    def _centre(self, curves: Array, missing: Array) -> None:
        """Take the means of curves over the training rows away."""
        if len(missing):
            _subtract_means(
                curves, missing, self.coverage.weights, self.coverage.missing, self.firsts
            )

    def _centre_categories(self, tables: Array, missing: Array) -> None:
        groups = self.wide.categories
        if groups is not None:
            weights = self.coverage.category_weights, self.coverage.category_missing
            _subtract_means(tables, missing, *weights, groups.starts[:-1])


def _subtract_means(
    values: Array, missing: Array, weights: Array, missing_weights: Array, firsts: Array
) -> None:
    """Of each span of values that begins at one of ``firsts``, with its missing values."""
    axes = (slice(None), *(None,) * (values.ndim - 1))
    sums = np.add.reduceat(values * weights[axes], firsts) + missing * missing_weights[axes]
    means = sums / (np.add.reduceat(weights, firsts) + missing_weights)[axes]
    sizes = np.diff(np.append(firsts, len(values)))
    values -= np.repeat(means, sizes, axis=0)
    missing -= means


def _keys(features: Array, values: Array) -> Array:
    """Numbers in the order of features, and within a feature in that of values."""
    keys = np.empty(len(values), np.complex128)
    keys.real, keys.imag = features, values
    return keys
