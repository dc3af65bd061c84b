"""A path over mixed features (numbers, missing values, categories) as a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..data.mixed_bins import MixedCuts
from .category_tables import CategoryTables
from .path import Path, bits_of
from .stump_model import StumpModel, collapse_steps

_MOST_ENTRIES = 1 << 20
"""Entries of tables (a step, a category) that are made at a time."""


def collapse_mixed(
    cuts: MixedCuts, offsets: NDArray[np.int64], path: Path, intercept: float
) -> StumpModel:
    """Add up the stumps of a path that starts from a constant score.

    ``offsets[g]`` is the first weak-learner of feature g; their order is that of
    `rgboost.learners.stumps.mixed_splits`.
    """
    chosen = path.learner >= 0
    feature = np.where(chosen, np.searchsorted(offsets, path.learner, side="right") - 1, -1)
    split = path.learner - offsets[feature]
    m = cuts.n_values[feature]
    by_set = chosen & cuts.categorical[feature]
    on_left = split >= m  # missing values
    threshold = np.where(on_left, split - m, split)
    cut = np.where(threshold < m - 1, cuts.edge_start[feature] + threshold, -1)
    when_missing = np.where(on_left, path.left, path.right)
    average = chosen & ~by_set & ~cuts.has_missing[feature]
    share = np.zeros(len(path))
    for g in np.unique(feature[average]):
        mine = average & (feature == g)
        share[mine] = np.cumsum(cuts.weights_of(g))[split[mine]] / cuts.total_weight
    mean = share * path.left + (1.0 - share) * path.right
    when_missing = np.where(average, mean, when_missing)
    numeric = np.where(by_set, -1, feature)
    model = collapse_steps(
        cuts.n_features, intercept, cuts.edges, cut, numeric, path.left, path.right, when_missing
    )
    if not by_set.any():
        return model
    tables, missing_steps = _category_tables(cuts, path, feature, np.flatnonzero(by_set))
    when_missing[by_set] = missing_steps
    assert model.threshold is not None
    threshold = np.where(by_set, np.nan, model.threshold)
    return replace(
        model, feature=feature, threshold=threshold, when_missing=when_missing, categories=tables
    )


def _category_tables(
    cuts: MixedCuts, path: Path, feature: NDArray[np.int64], steps: NDArray[np.int64]
) -> tuple[CategoryTables, NDArray[np.float64]]:
    """Tables of the categorical features, and what each step adds to missing values."""
    if not path.has("sets"):
        raise ValueError("the path splits categories, but has no sets; keep Path.sets.")
    sets, left, right = path.sets, path.left, path.right
    features = np.unique(feature[steps])
    sizes = cuts.n_values[features]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tables, missing = np.zeros(starts[-1]), np.zeros(len(features))
    missing_steps = np.zeros(len(steps))
    for k, g in enumerate(features):
        mine = np.flatnonzero(feature[steps] == g)
        weights = cuts.weights_of(g)
        for some in np.array_split(mine, 1 + len(mine) * len(weights) // _MOST_ENTRIES):
            now = steps[some]
            bits = bits_of(sets[now], len(weights))
            added = np.where(bits, left[now, None], right[now, None])
            if weights[-1] == 0:  # nothing was missing: the mean over the training rows
                added[:, -1] = added[:, :-1] @ weights[:-1] / cuts.total_weight
            tables[starts[k] : starts[k + 1]] += added[:, :-1].sum(axis=0)
            missing_steps[some] = added[:, -1]
        missing[k] = missing_steps[mine].sum()
    found = CategoryTables(
        features=features,
        starts=starts,
        values=np.concatenate([cuts.edges_of(g) for g in features]),
        tables=tables,
        missing=missing,
        iteration=steps,
        sets=sets[steps],
        feature=feature[steps],
    )
    return found, missing_steps
