"""The best split of a leaf on one feature, from the sums in its bins.

With S and W the sums of weighted residuals and of weights in a leaf, a split into two parts gains

    S_L^2 / W_L + S_R^2 / W_R - S^2 / W = (S_L - S W_L / W)^2 W / (W_L W_R)

(of several classes the sum of that over them), which is what it adds to <b, r>^2 of the tree.
With ``l2`` it is added to all W. Under monotone constraints the two values lie within the bounds of
the leaf, in the order that the feature asks for; a value v of a part is worth 2 v S - v^2 W.

Splits are numbered as in `rgboost.learners.pairs.axes`. Categories lie in the order of their mean
residuals, smoothed by `rgboost.learners.credibility` (several classes: along the direction in which
they differ most, `rgboost.learners.stumps.class_sums`). Those that the leaf does not have, and
missing values where it has none, go with its heavier part.
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import kernel, scalar
from ...data.sorting import sort_again
from ..credibility import FEW_CATEGORIES, SHARE_OF_ROWS, smooth_sums
from ..kernels import TIE
from ..pairs.axes import CATEGORY, NUMBER, WITH_MISSING, arrange, left_side, n_arrangements
from ..stumps.class_sums import projections
from .arrays import MOST_BINS


@scalar()
def search_column(arrays, looked, j, histogram, total, low, high, noise):
    """(gain, split): the best split in J of a leaf on the feature of place j. ``total`` are S and W
    of the leaf, low and high the bounds of its value. A gain of 0: there is none."""
    size = total.shape[0]
    g = looked.columns[j]
    bins = histogram[size * looked.start[j] : size * looked.start[j + 1]]
    plain = low == -np.inf and high == np.inf and arrays.sign[g] == 0 and arrays.l2 == 0.0
    if plain and size == 2 and arrays.kind[g] == NUMBER and looked.allowed.shape[0] == 0:
        return best_threshold(bins, total, arrays.lightest)
    return best_split(arrays, looked.allowed, g, bins, total, low, high, noise)


@kernel()
def best_threshold(bins, total, lightest):
    """(gain, split) for a number that is never missing, without constraints."""
    sum_all, weight = total[0], total[1]
    slope, heaviest = sum_all / weight, weight - lightest
    left, left_w, best, split = 0.0, 0.0, 0.0, -1
    for s in range(bins.shape[0] // 2 - 1):
        left += bins[2 * s]
        left_w += bins[2 * s + 1]
        if left_w < lightest:
            continue
        if left_w > heaviest:
            break
        off = left - slope * left_w
        score = off * off / (left_w * (weight - left_w))
        if score > best * (1.0 + TIE):
            best, split = score, s
    return best * weight, split


@kernel()
def best_split(arrays, allowed, g, bins, total, low, high, noise):
    """The same for any feature."""
    size = total.shape[0]
    m, kind, n_levels = arrays.n_values[g], arrays.kind[g], arrays.n_levels[g]
    levels, order = np.zeros(MOST_BINS, np.int64), np.empty(MOST_BINS, np.int64)
    if kind == CATEGORY:
        bins = bins.copy()
        n_levels = order_levels(arrays, bins, total, noise, levels)
    left, best, split = np.empty(size), 0.0, -1
    for v in range(n_arrangements(kind)):
        _, begin, end, number = arrange(kind, m, v, n_levels, levels, order)
        left[:] = 0.0
        for place in range(end + 1):
            for c in range(size):
                left[c] += bins[size * order[place] + c]
            if place < begin:
                continue
            now = number + place - begin
            if allowed.shape[0] > 0 and not allowed[arrays.offsets[g] + now]:
                continue
            if min(left[size - 1], total[size - 1] - left[size - 1]) < arrays.lightest:
                continue
            score = gain_of(left, total, arrays.l2, sign_of(arrays, g, now), low, high)
            if score > best * (1.0 + TIE):
                best, split = score, now
    return best, split


@scalar()
def sign_of(arrays, g, split):
    """The constraint on a split; that of missing values from all values has none."""
    if arrays.kind[g] == WITH_MISSING and split == arrays.n_values[g] - 1:
        return 0
    return arrays.sign[g]


@scalar()
def gain_of(left, total, l2, sign, low, high):
    """What a split gains; -1 if it is against the constraint."""
    last = left.shape[0] - 1
    left_w, weight = left[last], total[last]
    right_w, gain = weight - left_w, 0.0
    if sign != 0 or low > -np.inf or high < np.inf:
        first = value_of(left[0], left_w + l2, low, high)
        second = value_of(total[0] - left[0], right_w + l2, low, high)
        if sign * (second - first) < 0.0:
            return -1.0
        before = value_of(total[0], weight + l2, low, high)
        gain = worth(first, left[0], left_w + l2)
        gain += worth(second, total[0] - left[0], right_w + l2)
        return gain - worth(before, total[0], weight + l2)
    for c in range(last):
        if l2 == 0.0:
            off = left[c] - total[c] * left_w / weight
            gain += off * off * (weight / (left_w * right_w))
        else:
            right = total[c] - left[c]
            gain += left[c] ** 2 / (left_w + l2) + right**2 / (right_w + l2)
            gain -= total[c] ** 2 / (weight + l2)
    return gain


@scalar()
def value_of(total, weight, low, high):
    """The best value of a leaf within bounds."""
    return min(max(total / weight, low), high)


@scalar()
def worth(value, total, weight):
    return 2.0 * value * total - value * value * weight


@kernel()
def order_levels(arrays, bins, total, noise, levels_out):
    """Smooth the sums of categories in place, and write those that the leaf has by their means;
    returns their number."""
    size = total.shape[0]
    n = bins.shape[0] // size
    weights, sums = np.empty(n), np.empty((n, size - 1))
    for b in range(n):
        weights[b] = bins[size * b + size - 1]
        for c in range(size - 1):
            sums[b, c] = bins[size * b + c]
    if arrays.row_weight > 0.0:
        few = FEW_CATEGORIES + SHARE_OF_ROWS * total[size - 1] / arrays.row_weight
        smooth_sums(sums, weights, total[: size - 1], total[size - 1], noise, few)
        for b in range(n):
            for c in range(size - 1):
                bins[size * b + c] = sums[b, c]
    means = np.empty(n)
    if size == 2:
        for b in range(n):
            means[b] = sums[b, 0] / weights[b] if weights[b] > 0.0 else 0.0
    else:
        means[:] = projections(sums, weights, total[: size - 1], total[size - 1])
    order, present = np.arange(n), 0
    sort_again(means, order)
    for b in order:
        if weights[b] > 0.0:
            levels_out[present] = b
            present += 1
    return present


@kernel()
def write_side(arrays, g, split, bins, total, noise, left_out):
    """Mark the bins on the left of a split of a leaf, and return the sums on the left."""
    size, m, kind = total.shape[0], arrays.n_values[g], arrays.kind[g]
    levels = np.zeros(MOST_BINS, np.int64)
    if kind == CATEGORY:
        order_levels(arrays, bins.copy(), total, noise, levels)
    left_side(kind, m, split, levels, left_out)
    left = np.zeros(size)
    for b in range(arrays.n_levels[g]):
        if left_out[b] == 1:
            for c in range(size):
                left[c] += bins[size * b + c]
    heavier = 1 if 2.0 * left[size - 1] >= total[size - 1] else 0
    for b in range(0 if kind == CATEGORY else m, m + 1):
        there = b < arrays.n_levels[g] and bins[size * b + size - 1] > 0.0
        if not there:
            left_out[b] = heavier
    return left
