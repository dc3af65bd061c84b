"""The best split of a feature from the sums of residuals in its bins.

Let S be the sum of residuals left of a split, T the sum over all rows, W_L and W the weights.

- free leaves:   <b, r>^2 = S^2/W_L + (T-S)^2/W_R = T^2/W + (S - T W_L/W)^2 W/(W_L W_R)
- signed leaves: <b, r>^2 = (2S - T)^2/W         =         (S - T/2)^2 4/W

Both are a constant plus (S - expected)^2 * gain, with gain known before the first iteration and
expected = slope * W_L + shift, where slope and shift are the same for all splits. So a split costs
an addition, three multiplications and a comparison, and two numbers of memory.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, scalar
from ..._core.math import largest
from ...data.cuts import Cuts
from ..kernels import TIE, Pick


class Splits(NamedTuple):
    """What scoring a split needs. ``offsets[g]`` is the first split of feature g."""

    offsets: NDArray[np.int64]
    left_weight: NDArray[np.float64]
    gain: NDArray[np.float64]
    total_weight: float
    signed: bool
    most_bins: int


def split_type(n_classes: int | None, set_bytes: int = 0) -> np.dtype[Any]:
    """The dtype of the choice of a split: ``left`` and ``right`` are what was added on its sides,
    with several classes for each of them. Where it splits categories, bit b % 8 of ``sets[b // 8]``
    tells that bin b is on the left; there are no ``sets`` if no feature is categorical."""
    shape = () if n_classes is None else (n_classes,)
    fields: list[Any] = [("learner", np.int64)]
    fields += [("left", np.float64, shape), ("right", np.float64, shape)]
    fields += [("gradient_norm", np.float64)]
    return np.dtype([*fields, ("sets", np.uint8, (set_bytes,))] if set_bytes else fields)


def make_splits(cuts: Cuts, total_weight: float, signed: bool) -> Splits:
    most_bins = int(np.diff(cuts.offsets).max(initial=0)) + 1
    none = np.empty(0)
    splits = Splits(cuts.offsets, none, none, total_weight, signed, most_bins)
    return weighted_splits(splits, cuts.left_weight, total_weight)


def weighted_splits(
    splits: Splits, left_weight: NDArray[np.float64], total_weight: float
) -> Splits:
    """The same splits under other weights of the rows. Splits with an empty side never win."""
    if splits.signed:
        gain = np.full(len(left_weight), 4.0 / total_weight)
    else:
        gain = total_weight - left_weight
        gain *= left_weight
        np.divide(total_weight, gain, out=gain, where=gain > 0)
    return splits._replace(left_weight=left_weight, gain=gain, total_weight=total_weight)


@scalar()
def scan_splits(bins, left_weight, gain, first, stop, slope, shift, base, to_reach):
    """(score, learner, left sum) of the best of the splits first..stop of a column.

    ``base`` is the part of <b, r>^2 that all splits share (`shared_score`): it counts for ties, not
    for the order. ``slope`` and ``shift`` are those of `expected_sum`. A column that does not reach
    ``to_reach`` cannot win: which split is its best is not looked up (-1). ``bins`` become left
    sums; scores are kept behind them.
    """
    n = stop - first
    if n == 0:
        return -1.0, -1, 0.0
    if n == 1:
        off = bins[0] - (slope * left_weight[first] + shift)
        return off * off * gain[first] + base, first, bins[0]
    to_left_sums(bins, n)
    scores = bins[n : 2 * n]
    score_splits(bins[:n], left_weight[first:stop], gain[first:stop], slope, shift, scores)
    best = largest(scores, n)
    if best + base < to_reach:
        return best + base, -1, 0.0
    i = first_of_ties(scores, best, base)
    return scores[i] + base, first + i, bins[i]


@scalar()
def score_splits(sums, left_weight, gain, slope, shift, out):
    """(S - expected)^2 * gain for each left sum."""
    for j in range(sums.shape[0]):
        off = sums[j] - (slope * left_weight[j] + shift)
        out[j] = off * off * gain[j]


@kernel()
def first_of_ties(scores, best, base):
    """The first score that ties with the best, when ``base`` is added to all."""
    bar = best - TIE * (best + base)
    i = 0
    while scores[i] < bar:
        i += 1
    return i


@scalar()
def best_allowed(scores, n, subset, k, first, base):
    """(score, split) of the best of the n splits of column k of J, from their scores.

    -inf bars a split; (-1, -1) if all of them are barred. ``first`` is the number of the column's
    first weak-learner. One that is in J several times (`RandomThresholds`) is looked at as often.
    """
    if not subset.restricted:
        best = largest(scores, n)
        if best < 0.0:
            return -1.0, -1
        i = first_of_ties(scores, best, base)
        return scores[i] + base, i
    chosen = subset.learners[subset.first[k] : subset.first[k + 1]]
    best = -1.0
    for j in chosen:
        best = max(best, scores[j - first])
    if best < 0.0:
        return -1.0, -1
    i = 0
    while scores[chosen[i] - first] < best - TIE * (best + base):
        i += 1
    return scores[chosen[i] - first] + base, chosen[i] - first


@scalar()
def to_left_sums(bins, n):
    """Running sums of ``bins[:n]`` in place, four at a time: a processor waits for an addition
    that depends on the one before it, here only once in four."""
    left = 0.0
    whole = n - n % 4
    for s in range(0, whole, 4):
        two = bins[s] + bins[s + 1]
        three = two + bins[s + 2]
        four = two + (bins[s + 2] + bins[s + 3])
        bins[s] += left
        bins[s + 1] = left + two
        bins[s + 2] = left + three
        left += four
        bins[s + 3] = left
    for s in range(whole, n):
        left += bins[s]
        bins[s] = left


@kernel()
def scan_candidates(sums, left_weight, gain, first, candidates, slope, shift, base):
    """`scan_splits` for some of the splits only, from left sums: at least of those."""
    best = -1.0 - base
    to_beat = -1.0
    best_learner = -1
    best_sum = 0.0
    for j in candidates:
        left = sums[j - first]
        off = left - (slope * left_weight[j] + shift)
        score = off * off * gain[j]
        if score > to_beat:
            best = score
            to_beat = score + TIE * (score + base)
            best_learner = j
            best_sum = left
    return best + base, best_learner, best_sum


@kernel()
def shared_score(splits, total):
    """The part of <b, r>^2 that all splits share: T^2/W with free leaves, nothing with signed."""
    return 0.0 if splits.signed else total * total / splits.total_weight


@kernel()
def expected_sum(splits, total):
    """(slope, shift): the left sum that scores nothing is slope * W_L + shift."""
    return (0.0, 0.5 * total) if splits.signed else (total / splits.total_weight, 0.0)


@kernel()
def pick_split(splits, column, learner, left_sum, total):
    """The unit vector b of a split: constant on each side, with <b, r> >= 0."""
    if splits.gain[learner] == 0.0:  # an empty side, in one of several folds
        return Pick(learner, column, 0.0, 0.0, 0.0)
    right_sum = total - left_sum
    if splits.signed:
        height = 1.0 / math.sqrt(splits.total_weight)
        if left_sum < right_sum:
            height = -height
        return Pick(learner, column, height * (left_sum - right_sum), height, -height)
    left_weight = splits.left_weight[learner]
    left = left_sum / left_weight
    right = right_sum / (splits.total_weight - left_weight)
    gradient = math.sqrt(left * left_sum + right * right_sum)
    if gradient == 0.0:
        return Pick(learner, column, 0.0, 0.0, 0.0)
    return Pick(learner, column, gradient, left / gradient, right / gradient)
