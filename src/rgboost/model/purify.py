"""What of a table of two features is interaction, and what is an effect of one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STEPS = 4
"""The first one solves, the others take away what rounding left."""

_RIDGE = 1e-13
"""Effects that weights of this share of the rows would decide are left as they are: what they do to
a mean is below rounding."""


class Pure(NamedTuple):
    """table = table_pure + rows[:, None] + columns[None] + constant, where there is weight.

    ``constant`` has the axis of several classes, or none.
    """

    table: Array
    rows: Array
    columns: Array
    constant: Array


def purify(table: Array, weights: Array) -> Pure:
    """The functional ANOVA of a table F (a, b) or (a, b, classes) under weights W (a, b):

        F_ij = P_ij + r_i + c_j + m,    sum_j W_ij P_ij = 0,    sum_i W_ij P_ij = 0,

    m the weighted mean of F, r and c of weighted mean zero (Lengerich et al. 2020). A row or column
    without weight has P = 0 and no effect: what the other rows have on average. Where the weights
    fall into blocks without a common row or column, the mean of a block is shared by r and c in
    halves.

    The effects solve the normal equations of the weighted regression of F on rows and columns, the
    longer of both eliminated: with B_ij = W_ij / sqrt(W_i W_j) that is (I - B'B) c = right side,
    c scaled by the root of the weights of its columns.
    """
    if table.shape[0] < table.shape[1]:
        found = purify(table.swapaxes(0, 1), weights.T)
        return Pure(found.table.swapaxes(0, 1), found.columns, found.rows, found.constant)
    i, j = weights.sum(axis=1) > 0, weights.sum(axis=0) > 0
    scale = float(np.abs(table).max(initial=0.0)) or 1.0
    flat = table.reshape(*weights.shape, -1) / scale
    pure, rows, columns = np.zeros_like(flat), np.zeros_like(flat[:, 0]), np.zeros_like(flat[0])
    mean = np.zeros(flat.shape[2])
    if i.any():
        inside = np.ix_(i, j)
        rows[i], columns[j], mean = _effects(flat[inside], weights[inside] / weights.max())
        pure[inside] = flat[inside] - rows[i, None] - columns[j] - mean
    tail = table.shape[2:]
    return Pure(
        scale * pure.reshape(table.shape),
        scale * rows.reshape(-1, *tail),
        scale * columns.reshape(-1, *tail),
        scale * mean.reshape(tail),
    )


def _effects(table: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Effects of rows and columns and the mean of a table (a, b, outputs) with weight in every row
    and column."""
    by_row, by_column = weights.sum(axis=1), weights.sum(axis=0)
    rows, columns = np.zeros_like(table[:, 0]), np.zeros_like(table[0])
    total = weights.sum()
    mean = np.einsum("ij,ijc->c", weights, table) / total
    solve, blocks = _solver(weights, by_row, by_column)
    for _ in range(_STEPS):
        rest = table - rows[:, None] - columns - mean
        of_rows = np.einsum("ij,ijc->ic", weights, rest) / by_row[:, None]
        left = np.einsum("ij,ijc->jc", weights, rest - of_rows[:, None])
        of_columns = solve(left)
        columns += of_columns
        rows += of_rows - weights @ of_columns / by_row[:, None]
    _share_blocks(rows, columns, weights, blocks)
    for effects, own in ((rows, by_row), (columns, by_column)):
        off = own @ effects / total
        effects -= off
        mean = mean + off
    return rows, columns, mean


def _solver(
    weights: Array, by_row: Array, by_column: Array
) -> tuple[Callable[[Array], Array], NDArray[np.int64]]:
    """The inverse of W_j c_j - sum_i W_ij (sum_k W_ik c_k) / W_i on what has mean zero in each
    block of columns, and the block of each column."""
    root = np.sqrt(by_column)
    B = weights / np.sqrt(by_row)[:, None] / root
    normal = B.T @ B
    blocks = _blocks(normal > 0)
    # A constant on a block counts as an effect of its rows: for columns it has the eigenvalue 1.
    constant = root / np.sqrt(np.bincount(blocks, by_column))[blocks]
    same = blocks[:, None] == blocks
    matrix = np.eye(len(root)) * (1.0 + _RIDGE) - normal + np.outer(constant, constant) * same
    factor = scipy.linalg.cho_factor(matrix, check_finite=False)

    def solve(left: Array) -> Array:
        return scipy.linalg.cho_solve(factor, left / root[:, None]) / root[:, None]

    return solve, blocks


def _blocks(meets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The block of each column, from which columns have a row in common."""
    if meets.all(axis=0).any():  # one of them meets all: they are one block
        return np.zeros(len(meets), np.int64)
    return scipy.sparse.csgraph.connected_components(meets, directed=False)[1]


def _share_blocks(rows: Array, columns: Array, weights: Array, blocks: NDArray[np.int64]) -> None:
    """Half of the mean of each block for its rows, half for its columns."""
    of_row = blocks[np.argmax(weights > 0, axis=1)]
    total = np.bincount(blocks, weights.sum(axis=0))
    for c in range(rows.shape[1]):
        of_rows = np.bincount(of_row, weights.sum(axis=1) * rows[:, c])
        of_columns = np.bincount(blocks, weights.sum(axis=0) * columns[:, c])
        half = 0.5 * (of_rows - of_columns) / total
        rows[:, c] -= half[of_row]
        columns[:, c] += half[blocks]
