"""A path of trees as a model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.mixed_bins import MixedCuts
from ...model import Path
from ...model.leaf_lines import LeafLines
from ...model.trees import TreesModel
from ..pairs.axes import WITH_MISSING
from .arrays import TreeArrays
from .leaf_of import children_of
from .lines import FIRST, HIGH, LOW, VALUE, BinTable, features_on_the_way
from .stored import split_type


def trees_of(
    arrays: TreeArrays, cuts: MixedCuts, table: BinTable | None, path: Path, intercept: Any,
    set_bytes: int,
) -> TreesModel:  # fmt: skip
    """The model of a path; an iteration that found nothing to split is a tree of one leaf."""
    kind = split_type(set_bytes)
    n_splits = path.sets.shape[1] // kind.itemsize
    every = path.sets.view(kind).reshape(len(path), n_splits)
    there = every["learner"] >= 0
    there[path.learner < 0] = False
    lengths = there.sum(axis=1)
    splits = every[there]
    feature = np.searchsorted(arrays.offsets, splits["learner"], side="right") - 1
    threshold = thresholds_of(arrays, cuts, feature, splits["learner"])
    by_set = cuts.categorical[feature]
    used = np.unique(feature[by_set])
    edges = [cuts.edges_of(g) for g in used]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    children = [children_of(splits["leaf"][a:b]) for a, b in pairwise(starts)]
    values, lines = leaf_values(path, lengths), None
    if table is not None:
        lines = leaf_lines(cuts, table, splits, feature, starts, values)
        values = np.ascontiguousarray(values[:, VALUE])
    return TreesModel(
        n_features=cuts.n_features,
        intercept=np.asarray(intercept, np.float64) if np.ndim(intercept) else float(intercept),
        starts=starts,
        feature=feature.astype(np.int64),
        threshold=np.where(by_set, np.nan, threshold),
        children=np.concatenate([*children, np.empty((0, 2), np.int64)]),
        missing_left=splits["missing_left"].copy(),
        which_set=np.where(by_set, np.cumsum(by_set) - 1, -1),
        sets=splits["set"][by_set].copy(),
        gain=splits["gain"].copy(),
        values=values,
        weight=leaf_weights(splits, starts),
        category_features=used.astype(np.int64),
        category_starts=np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64),
        categories=np.concatenate([*edges, np.empty(0)]),
        lines=lines,
    )


def thresholds_of(
    arrays: TreeArrays, cuts: MixedCuts, feature: NDArray[np.int64], learner: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The threshold of each split of a number; infinite where it parts missing values from all."""
    split, m = learner - arrays.offsets[feature], cuts.n_values[feature]
    number = np.where((arrays.kind[feature] == WITH_MISSING) & (split >= m), split - m, split)
    cutting = ~cuts.categorical[feature] & (number < m - 1)
    found = np.full(len(feature), np.inf)
    found[cutting] = cuts.edges[cuts.edge_start[feature[cutting]] + number[cutting]]
    return found


def leaf_values(path: Path, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values of the leaves of all trees."""
    values = path.values
    real = np.arange(values.shape[1]) <= lengths[:, None]
    values = np.where((path.learner >= 0).reshape(-1, *[1] * (values.ndim - 1)), values, 0.0)
    return values[real]


def leaf_weights(splits: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights of the training rows in the leaves of all trees."""
    n_trees = len(starts) - 1
    found = np.zeros(len(splits) + n_trees)
    for t in range(n_trees):
        mine = splits[starts[t] : starts[t + 1]]
        first = starts[t] + t
        for k, (q, weight) in enumerate(zip(mine["leaf"], mine["weight"], strict=True)):
            found[first + q], found[first + k + 1] = weight
    return found


def leaf_lines(
    cuts: MixedCuts, table: BinTable, splits: NDArray[Any], feature: NDArray[np.int64],
    starts: NDArray[np.int64], said: NDArray[np.float64],
) -> LeafLines:  # fmt: skip
    """The linear functions in the leaves of all trees, which say ``said``."""
    n = said.shape[1] - FIRST
    numbers = ~cuts.categorical
    found = [np.zeros((0, n), np.int64)]
    for a, b in pairwise(starts):
        features, count = features_on_the_way(splits["leaf"][a:b], feature[a:b], numbers, n)
        features[np.arange(n) >= count[:, None]] = -1
        found.append(features)
    features = np.concatenate(found)
    used = np.unique(features[features >= 0])
    edges = [cuts.edges_of(g) for g in used]
    steps = [table.z[table.start[g] :][: len(e) + 1] for g, e in zip(used, edges, strict=True)]
    place = np.searchsorted(used, features)
    return LeafLines(
        place=np.where(features >= 0, place, -1),
        slopes=np.where(features >= 0, said[:, FIRST:], 0.0),
        low=said[:, LOW].copy(),
        high=said[:, HIGH].copy(),
        features=used,
        starts=np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64),
        edges=np.concatenate([*edges, np.empty(0)]),
        steps=np.concatenate([*steps, np.empty(0)]),
    )
