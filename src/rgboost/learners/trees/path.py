"""A path of trees as a model."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.mixed_bins import MixedCuts
from ...model import Path
from ...model.trees import TreesModel
from ..pairs.axes import WITH_MISSING
from .arrays import TreeArrays
from .leaf_of import children_of
from .stored import split_type


def trees_of(
    arrays: TreeArrays, cuts: MixedCuts, path: Path, intercept: Any, set_bytes: int
) -> TreesModel:
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
        values=leaf_values(path, lengths),
        weight=leaf_weights(splits, starts),
        category_features=used.astype(np.int64),
        category_starts=np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64),
        categories=np.concatenate([*edges, np.empty(0)]),
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
