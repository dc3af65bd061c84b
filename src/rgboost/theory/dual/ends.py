"""Rows that Newton's step takes out of the domain of the conjugate loss are put at its end.

There the derivative of the loss does not change any more with the score (or, beyond the end, by a
ridge alone): such a row has left the quadratic model that the step minimises.
"""

from __future__ import annotations

from ..._core.jit import kernel

_CLOSE = 0.3
"""Share of the way to the end of the domain that makes a row close to it."""


@kernel()
def put_at_ends(v, low, high, beyond, gradient, metric, fixed, leaving_out):
    """Rows that v takes outside, or close to it, get the end as their gradient.

    Their curvature becomes ``beyond``; by how much it falls is in ``leaving_out``. Rows that are
    ``fixed`` already stay as they are.
    """
    for i in range(v.shape[0]):
        room = min(gradient[i] - low[i], high[i] - gradient[i])
        left = min(v[i] - low[i], high[i] - v[i])
        leaving_out[i] = 0.0
        if left < _CLOSE * room and not fixed[i]:
            gradient[i] = low[i] if v[i] - low[i] < high[i] - v[i] else high[i]
            leaving_out[i] = metric[i] - beyond
            metric[i] = beyond
            fixed[i] = True


@kernel()
def square_outside(weight, v, low, high):
    """The sum of w_i x_i^2, x_i the distance of v_i from the domain."""
    total = 0.0
    for i in range(v.shape[0]):
        x = max(low[i] - v[i], v[i] - high[i], 0.0)
        total += weight[i] * x * x
    return total
