"""The state of the rows with a score for every class, and how a step changes it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import kernel
from .._core.math import EXPONENT_MIN, blocked_sum, exp, log
from .._core.team import row_chunks
from ..learners.kernels import Scratch
from .rows import TILE

_SHORTEST_TILE = 1024


class ClassRows(NamedTuple):
    """Rows of a data set under the current model; see `rows.Rows`. Scores and residuals are
    (classes, rows): the rows of one class are neighbours."""

    label: NDArray[np.int64]
    weight: NDArray[np.float64]
    weighted: bool
    score: NDArray[np.float64]
    residual: NDArray[np.float64]
    chunks: NDArray[np.int64]
    loss_sums: NDArray[np.float64]
    residual_sums: NDArray[np.float64]


class ClassScratch(NamedTuple):
    """One thread's own memory: that of a search of one class; a tile of rows twice; left sums of
    all classes in one column; their scores."""

    one: Scratch
    top: NDArray[np.float64]
    total: NDArray[np.float64]
    left_sums: NDArray[np.float64]
    scores: NDArray[np.float64]


def make_class_rows(
    y: NDArray[np.float64], weight: NDArray[np.float64] | None, start: Any
) -> ClassRows:
    """Rows at the scores of the null model, one for each class: the same for all rows, or (rows,
    classes)."""
    chunks = row_chunks(len(y)) if len(y) else np.zeros(1, np.int64)
    n_chunks, n_classes = len(chunks) - 1, np.shape(start)[-1]
    return ClassRows(
        label=y.astype(np.int64),
        weight=np.empty(0) if weight is None else np.array(weight, np.float64),
        weighted=weight is not None,
        score=np.array(np.broadcast_to(start, (len(y), n_classes)).T, np.float64, order="C"),
        residual=np.empty((n_classes, len(y))),
        chunks=chunks,
        loss_sums=np.zeros(n_chunks),
        residual_sums=np.zeros((n_chunks, n_classes)),
    )


def class_tile(n_classes: int) -> int:
    """Rows that are updated at once: all classes of them fit the cache."""
    return max(_SHORTEST_TILE, TILE // n_classes // 8 * 8)


@kernel()
def start_classes(terms, rows, tile, seat):
    """Residuals and sums at the scores that rows have, each thread on its chunks of rows."""
    one = Scratch(np.empty(0), np.empty(tile), np.empty(tile))
    scratch = ClassScratch(one, np.empty(tile), np.empty(tile), np.empty((0, 0)), np.empty(0))
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        clear_sums(rows, chunk)
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], tile):
            hi = min(lo + tile, rows.chunks[chunk + 1])
            evaluate_classes(terms, rows, chunk, lo, hi, scratch)


@kernel()
def clear_sums(rows, chunk):
    rows.loss_sums[chunk] = 0.0
    for c in range(rows.residual_sums.shape[1]):
        rows.residual_sums[chunk, c] = 0.0


@kernel()
def add_values(rows, lo, hi, inside, left, right):
    """f_c += ``left[c]`` where ``inside`` is 1, and ``right[c]`` where it is 0; between them where
    a feature is missing that never was in the training rows."""
    for c in range(rows.score.shape[0]):
        score = rows.score[c, lo:hi]
        on_left, on_right = left[c], right[c]
        for i in range(score.shape[0]):
            score[i] += inside[i] * on_left + (1.0 - inside[i]) * on_right


@kernel()
def evaluate_classes(terms, rows, chunk, lo, hi, scratch):
    """Residuals of rows lo..hi at their scores; their losses and residuals added to the sums.

    One class after the other, so that each loop runs over neighbours. Exponents are taken less
    the largest score of the row: they are not positive, nothing overflows.
    """
    n_classes = rows.score.shape[0]
    ridge = terms.ridge
    values = scratch.one.values
    top, total = scratch.top[: hi - lo], scratch.total[: hi - lo]
    for i in range(hi - lo):
        top[i] = rows.score[0, lo + i]
        total[i] = 0.0
    for c in range(1, n_classes):
        score = rows.score[c, lo:hi]
        for i in range(score.shape[0]):
            top[i] = max(top[i], score[i])
    for c in range(n_classes):
        score, residual = rows.score[c, lo:hi], rows.residual[c, lo:hi]
        for i in range(score.shape[0]):
            e = exp(max(score[i] - top[i], EXPONENT_MIN))
            residual[i] = e
            total[i] += e
    label = rows.label[lo:hi]
    for i in range(label.shape[0]):  # by itself: a loop with such a look-up does not vectorise
        values[i] = rows.score[label[i], lo + i]
    for i in range(total.shape[0]):
        values[i] = log(total[i]) + (top[i] - values[i])
        total[i] = 1.0 / total[i]
    for c in range(n_classes):
        score, residual = rows.score[c, lo:hi], rows.residual[c, lo:hi]
        for i in range(score.shape[0]):
            values[i] += 0.5 * ridge * score[i] * score[i]
            residual[i] = -residual[i] * total[i] - ridge * score[i]
    for i in range(lo, hi):
        rows.residual[rows.label[i], i] += 1.0
    if rows.weighted:
        weight = rows.weight[lo:hi]
        for i in range(weight.shape[0]):
            values[i] *= weight[i]
        for c in range(n_classes):
            residual = rows.residual[c, lo:hi]
            for i in range(weight.shape[0]):
                residual[i] *= weight[i]
    rows.loss_sums[chunk] += blocked_sum(values, hi - lo)
    for c in range(n_classes):
        rows.residual_sums[chunk, c] += blocked_sum(rows.residual[c, lo:hi], hi - lo)
