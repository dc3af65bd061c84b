"""Values of four quadrants under monotone constraints: the nearest ones that keep the order.

Quadrant q = 2 (right of g) + (right of h). With a constraint on one feature, each of the two
columns of quadrants is pooled if it is out of order; with constraints on both, the isotonic
regression on the four of them is

    v_q = max over upper sets U with q, min over lower sets L with q, of the mean over U and L

(Barlow and others, "Statistical inference under order restrictions", 1972). The weights are those
of the least squares problem: sums of weights, or of curvatures for Newton values.
"""

from __future__ import annotations

import numpy as np

from ..._core.jit import kernel

_LOWER = (1, 3, 5, 7, 15)
_UPPER = (8, 10, 12, 14, 15)
"""Sets of quadrants as bits, where both features rise."""


@kernel()
def keep_order(values, weights, sign_g, sign_h):
    """Change ``values`` so that they rise (sign 1) or fall (-1) along each feature; 0: any."""
    if sign_g != 0 and sign_h != 0:
        _both(values, weights, sign_g, sign_h)
    elif sign_g != 0:
        _pool(values, weights, 0, 2, sign_g)
        _pool(values, weights, 1, 3, sign_g)
    elif sign_h != 0:
        _pool(values, weights, 0, 1, sign_h)
        _pool(values, weights, 2, 3, sign_h)


@kernel()
def _pool(values, weights, a, b, sign):
    if sign * (values[b] - values[a]) < 0.0:
        mean = (weights[a] * values[a] + weights[b] * values[b]) / (weights[a] + weights[b])
        values[a] = mean
        values[b] = mean


@kernel()
def _both(values, weights, sign_g, sign_h):
    flip = (2 if sign_g < 0 else 0) + (1 if sign_h < 0 else 0)
    found = np.empty(4)
    for q in range(4):
        best = -np.inf
        for upper in _UPPER:
            if not upper >> q & 1:
                continue
            least = np.inf
            for lower in _LOWER:
                if not lower >> q & 1:
                    continue
                total, weight = 0.0, 0.0
                for p in range(4):
                    if upper >> p & lower >> p & 1:
                        total += weights[p ^ flip] * values[p ^ flip]
                        weight += weights[p ^ flip]
                least = min(least, total / weight)
            best = max(best, least)
        found[q ^ flip] = best
    for q in range(4):
        values[q] = found[q]
