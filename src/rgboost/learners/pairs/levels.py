"""The order of categories in a pair.

What is left for a pair is what the curves do not say, so that the mean residual of a category is
near zero, whatever it does together with the other feature. So categories are ordered by how much
their mean residual *changes* along the other feature h:

1. h is cut where the categories differ most: at the cut with the largest
   sum_a S_aL^2 / W_aL + S_aR^2 / W_aR, with S_aL the sum of residuals of category a left of it;
2. categories are ordered by S_aR / W_aR - S_aL / W_aL, each multiplied by its credibility (see
   `rgboost.learners.credibility`): rare ones, whose means are noise, come to lie in the middle.

Where h has categories too, these are first ordered by their means in the category of g that says
most. A feature by itself has its categories ordered by mean residual, as stumps have.
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import kernel
from ..credibility import trust_of


@kernel()
def trust_levels(squares, level_weight, noise, few, trust_out):
    """Credibility of each category, by its sum of S^2 / W over sides and outputs."""
    n = level_weight.shape[0]
    between, total, weight_squares, present = 0.0, 0.0, 0.0, 0
    for a in range(n):
        if level_weight[a] > 0.0:
            present += 1
            between += squares[a]
            total += level_weight[a]
            weight_squares += level_weight[a] * level_weight[a]
    room = total - weight_squares / total if total > 0.0 else 0.0
    if present <= few or noise <= 0.0 or room <= 0.0:
        trust_out[:n] = 1.0
        return
    spread = max(0.0, between - (present - few) * noise) / room
    for a in range(n):
        trust_out[a] = trust_of(level_weight[a], spread, noise) if spread > 0.0 else 0.0


@kernel()
def order_by_change(sums, weights, n_levels, order_h, n_h, noise, few, trust_out, order_out):
    """Order the ``n_levels`` categories along the first axis of ``sums`` (outputs, bins, bins), the
    second of which is cut in the order ``order_h``."""
    n_outputs = sums.shape[0]
    cut = best_cut(sums, weights, n_levels, order_h, n_h)
    left, right = np.zeros((n_outputs, n_levels)), np.zeros((n_outputs, n_levels))
    left_w, right_w = np.zeros(n_levels), np.zeros(n_levels)
    for a in range(n_levels):
        for j in range(n_h):
            b = order_h[j]
            if j <= cut:
                left_w[a] += weights[a, b]
            else:
                right_w[a] += weights[a, b]
            for c in range(n_outputs):
                if j <= cut:
                    left[c, a] += sums[c, a, b]
                else:
                    right[c, a] += sums[c, a, b]
    squares = np.zeros(n_levels)
    change = np.zeros((n_outputs, n_levels))
    between = np.zeros(n_outputs)
    for a in range(n_levels):
        both = left_w[a] + right_w[a]
        for c in range(n_outputs):
            if both > 0.0:
                squares[a] += (left[c, a] ** 2 + right[c, a] ** 2) / both
            if n_h == 1:
                change[c, a] = left[c, a] / both if both > 0.0 else 0.0
            elif left_w[a] > 0.0 and right_w[a] > 0.0:
                change[c, a] = right[c, a] / right_w[a] - left[c, a] / left_w[a]
            between[c] += both * change[c, a] ** 2
    trust_levels(squares, left_w + right_w, noise, few, trust_out)
    order_out[:n_levels] = np.argsort(
        change[np.argmax(between)] * trust_out[:n_levels], kind="mergesort"
    )


@kernel()
def best_cut(sums, weights, n_levels, order_h, n_h):
    """The position at which the categories differ most on the two sides; -1 + n_h if there is only
    one bin."""
    if n_h == 1:
        return 0
    n_outputs = sums.shape[0]
    gain = np.zeros(n_h - 1)
    for a in range(n_levels):
        total_w = 0.0
        for j in range(n_h):
            total_w += weights[a, order_h[j]]
        for c in range(n_outputs):
            total, left, left_w = 0.0, 0.0, 0.0
            for j in range(n_h):
                total += sums[c, a, order_h[j]]
            for j in range(n_h - 1):
                left += sums[c, a, order_h[j]]
                left_w += weights[a, order_h[j]]
                if left_w > 0.0:
                    gain[j] += left * left / left_w
                if total_w - left_w > 0.0:
                    gain[j] += (total - left) ** 2 / (total_w - left_w)
    return np.argmax(gain)


@kernel()
def order_by_strongest(sums, weights, n_g, n_levels, order_out):
    """Order the categories along the second axis by their means in the bin of the first axis that
    says most."""
    n_outputs = sums.shape[0]
    strongest, most, output = 0, -1.0, 0
    for a in range(n_g):
        said = 0.0
        best_c, best_said = 0, -1.0
        for c in range(n_outputs):
            mine = 0.0
            for b in range(n_levels):
                if weights[a, b] > 0.0:
                    mine += sums[c, a, b] ** 2 / weights[a, b]
            said += mine
            if mine > best_said:
                best_c, best_said = c, mine
        if said > most:
            strongest, most, output = a, said, best_c
    means = np.zeros(n_levels)
    for b in range(n_levels):
        if weights[strongest, b] > 0.0:
            means[b] = sums[output, strongest, b] / weights[strongest, b]
    order_out[:n_levels] = np.argsort(means, kind="mergesort")
