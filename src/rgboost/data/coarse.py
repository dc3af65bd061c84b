"""Fewer bins, whose thresholds are some of those that there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .binning import empty_codes
from .mixed_bins import MixedCuts


def coarse_cuts(cuts: MixedCuts, max_bins: int) -> MixedCuts:
    """At most so many bins for the values of each number, about equally heavy; categories stay."""
    edges, weights = [], []
    for g in range(cuts.n_features):
        mine, weight = cuts.edges_of(g), cuts.weights_of(g)
        if not cuts.categorical[g] and len(mine) + 1 > max_bins:
            kept = spread_evenly(np.cumsum(weight[:-1]), max_bins)
            mine = mine[kept]
            first = np.concatenate([[0], kept + 1, [len(weight) - 1]])
            weight = np.add.reduceat(weight, first)
        edges.append(mine)
        weights.append(weight)
    return MixedCuts(
        cuts.categorical,
        np.concatenate([[0], np.cumsum([len(e) for e in edges])]).astype(np.int64),
        np.concatenate([*edges, np.empty(0)]),
        np.concatenate([[0], np.cumsum([len(w) for w in weights])]).astype(np.int64),
        np.concatenate([*weights, np.empty(0)]),
        cuts.total_weight,
    )


def spread_evenly(below: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The numbers of n - 1 thresholds at most, so that bins between them are about equally heavy;
    ``below`` is the weight up to and in each bin."""
    wished = below[-1] * np.arange(1, n) / n
    place = np.searchsorted(below, wished)
    nearer = place > 0
    before = np.where(nearer, wished - below[np.maximum(place - 1, 0)], np.inf)
    place = np.where(before < below[place] - wished, place - 1, place)
    return np.unique(place[place < len(below) - 1])


class BinnedRows(NamedTuple):
    """Bins, and the number of that of every feature and row (features, padded rows)."""

    cuts: MixedCuts
    codes: NDArray[np.unsignedinteger]

    def coarse(
        self, cuts: MixedCuts, features: NDArray[np.int64], n_rows: int
    ) -> NDArray[np.unsignedinteger]:
        """The rows in coarser bins of some features: a table says which one a bin is part of."""
        out = empty_codes(len(features), n_rows, cuts.code_dtype())
        for k, g in enumerate(features):
            table = bins_in_coarser(self.cuts, int(g), cuts, k)
            np.take(
                table.astype(out.dtype), self.codes[g, :n_rows], out=out[k, :n_rows], mode="clip"
            )
        return out


def bins_in_coarser(cuts: MixedCuts, g: int, coarse: MixedCuts, k: int) -> NDArray[np.int64]:
    """For each bin of feature g, the coarser one that it is part of, where the feature is number
    k."""
    if coarse.categorical[k]:
        return np.arange(cuts.n_values[g] + 1)
    # A bin is above the threshold before it; missing values have the last.
    above = np.searchsorted(coarse.edges_of(k), cuts.edges_of(g), side="right")
    return np.concatenate([[0], above, [coarse.n_values[k]]]).astype(np.int64)
