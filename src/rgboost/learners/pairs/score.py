"""Scores of all cuts of a pair, from sums over the bins up to each of them."""

from __future__ import annotations

import numpy as np

from ..._core.jit import kernel
from .axes import WITH_MISSING
from .isotone import keep_order

EMPTY = 1e-12
"""A quadrant with less than this share of the weight is empty: the rest is rounding."""


@kernel()
def score_cuts(arrays, look, g, h, left, left_w, low_g, low_h, split_g, split_h, out):
    """Scores of the cuts at positions ``low_g``, ``low_g + 1``, ... of g, whose first split is
    ``split_g``, and likewise of h."""
    light = max(arrays.lightest, EMPTY * arrays.total_weight)
    sign_g, sign_h = arrays.sign[g], 0 if h < 0 else arrays.sign[h]
    if sign_g == 0 and sign_h == 0:
        score_all(left, left_w, low_g, low_h, light / arrays.total_weight, out)
        return
    # The cut of missing values from all others, which have no place in the order.
    free_g = look.n_values[g] - 1 - split_g if arrays.kind[g] == WITH_MISSING else -1
    free_h = -1
    if h >= 0 and arrays.kind[h] == WITH_MISSING:
        free_h = look.n_values[h] - 1 - split_h
    for s in range(out.shape[0]):
        sign = 0 if s == free_g else sign_g
        score_in_order(left[0], left_w, low_g + s, low_h, light, sign, sign_h, free_h, out[s])


@kernel()
def score_all(left, left_w, low_g, low_h, light, out):
    n_g, n_h = left_w.shape[0] - 1, left_w.shape[1] - 1
    now = slice(low_h, low_h + out.shape[1])
    for s in range(out.shape[0]):
        at = low_g + s
        for c in range(left.shape[0]):
            add_scores(
                left[c, at, now], left[c, n_g, now], left[c, at, n_h], left[c, n_g, n_h],
                left_w[at, now], left_w[n_g, now], left_w[at, n_h], left_w[n_g, n_h],
                light, c == 0, out[s],
            )  # fmt: skip


@kernel()
def add_scores(ll, below, left, total, ll_w, below_w, left_w, total_w, light, first, out):
    """sum_q S_q^2 / W_q for neighbouring cuts of h; a light quadrant stays at zero. One division
    for the two quadrants on each side of h."""
    one = 1.0 / np.float64(total_w)  # products of weights neither overflow nor vanish
    for u in range(out.shape[0]):
        a, aw = ll[u], one * ll_w[u]
        b, bw = left - a, one * left_w - aw
        c, cw = below[u] - a, one * below_w[u] - aw
        d, dw = total - left - c, 1.0 - one * left_w - cw
        a, aw = (a, aw) if aw > light else (0.0, 1.0)
        b, bw = (b, bw) if bw > light else (0.0, 1.0)
        c, cw = (c, cw) if cw > light else (0.0, 1.0)
        d, dw = (d, dw) if dw > light else (0.0, 1.0)
        score = (a * a * cw + c * c * aw) / (aw * cw) + (b * b * dw + d * d * bw) / (bw * dw)
        out[u] = one * score if first else out[u] + one * score


@kernel()
def score_in_order(left, left_w, s, low_h, light, sign_g, sign_h, free, out):
    """The same for the nearest values that keep the order; entry ``free`` has no order along h."""
    n_g, n_h = left_w.shape[0] - 1, left_w.shape[1] - 1
    sums, weights, values = np.empty(4), np.empty(4), np.empty(4)
    for i in range(out.shape[0]):
        u = low_h + i
        quadrants(left, s, u, n_g, n_h, sums)
        quadrants(left_w, s, u, n_g, n_h, weights)
        order_values(sums, weights, light, sign_g, 0 if i == free else sign_h, values)
        out[i] = 0.0
        for q in range(4):
            out[i] += weights[q] * values[q] * values[q] if weights[q] > light else 0.0


@kernel()
def quadrants(left, s, u, n_g, n_h, out):
    """The four sums of a cut."""
    out[0] = left[s, u]
    out[1] = left[s, n_h] - left[s, u]
    out[2] = left[n_g, u] - left[s, u]
    out[3] = left[n_g, n_h] - left[s, n_h] - out[2]


@kernel()
def order_values(sums, weights, light, sign_g, sign_h, values_out):
    """Values of the quadrants that keep the order; a light one follows its neighbours."""
    heavy, total = np.empty(4), 0.0
    for q in range(4):
        total += weights[q]
    for q in range(4):
        inside = weights[q] > light
        values_out[q] = sums[q] / weights[q] if inside else 0.0
        heavy[q] = weights[q] if inside else EMPTY * total
    keep_order(values_out, heavy, sign_g, sign_h)
