"""The leaf of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel
from .arrays import bin_of
from .grow import Tree

Children = NDArray[np.int64]
"""(splits, 2): the next split on the left and on the right; ~q for leaf q."""


def children_of(leaf: NDArray[np.int64]) -> Children:
    """What comes after each split, from the leaves that they part."""
    n = len(leaf)
    found = np.empty((n, 2), np.int64)
    at = ~np.arange(n + 1)
    for k in range(n - 1, -1, -1):
        found[k] = at[leaf[k]], at[k + 1]
        at[leaf[k]] = k
    return found


@kernel()
def find_leaves(arrays, tree, children, leaf_out, seat):
    """The leaf of every row; a tree has a split."""
    n = leaf_out.shape[0]
    for i in range(n * seat.rank // seat.size, n * (seat.rank + 1) // seat.size):
        k = 0
        while k >= 0:
            side = tree.left[k, bin_of(arrays, tree.column[k], i)]
            k = children[k, 1 - np.int64(side)]
        leaf_out[i] = ~k


@kernel()
def sum_leaves(residual, weight, leaf, chunks, sums_out, seat):
    """Sums of residuals (outputs, rows) and of weights in the leaves, for each chunk of rows:
    (chunks, leaves, outputs + 1)."""
    n_outputs = residual.shape[0]
    weighted = weight.shape[0] > 0
    for chunk in range(seat.rank, chunks.shape[0] - 1, seat.size):
        sums = sums_out[chunk]
        sums[:] = 0.0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            q = leaf[i]
            for c in range(n_outputs):
                sums[q, c] += residual[c, i]
            sums[q, n_outputs] += weight[i] if weighted else 1.0


def keep_order(
    tree: Tree, signs: NDArray[np.int8], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    """Change the values of leaves so that at every split with a sign the values on the right are
    all above those on the left (1), or below (-1).

    From the first split on, the mean values of both sides have a number half-way between them (or
    their common mean, if they are out of order) that neither side may cross.
    """
    n = len(tree.leaf)
    weight, total = weights.astype(np.float64), weights * values
    below = np.empty((n, 4))
    for k in range(n - 1, -1, -1):
        q = int(tree.leaf[k])
        below[k] = total[q], weight[q], total[k + 1], weight[k + 1]
        total[q] += total[k + 1]
        weight[q] += weight[k + 1]
    low, high = np.full(n + 1, -np.inf), np.full(n + 1, np.inf)
    for k in range(n):
        q, sign = int(tree.leaf[k]), int(signs[k])
        low[k + 1], high[k + 1] = low[q], high[q]
        if sign == 0:
            continue
        left_s, left_w, right_s, right_w = below[k]
        left, right = left_s / left_w, right_s / right_w
        middle = 0.5 * (left + right)
        if sign * (right - left) < 0.0:
            middle = (left_s + right_s) / (left_w + right_w)
        middle = min(max(middle, low[q]), high[q])
        under, over = (q, k + 1) if sign > 0 else (k + 1, q)
        high[under], low[over] = middle, middle
    np.clip(values, low, high, out=values)
