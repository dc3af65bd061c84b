"""The state of the rows: labels, scores, residuals; and how a step changes it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.jit import by_type, kernel
from .._core.math import blocked_sum
from .._core.team import row_chunks
from ..learners.kernels import direction
from ..losses.exponential import ExponentialTerms
from ..losses.gamma import GammaTerms
from ..losses.huber import HuberTerms
from ..losses.kernels import evaluate
from ..losses.log_cosh import LogCoshTerms
from ..losses.logistic import LogisticTerms
from ..losses.poisson import PoissonTerms
from ..losses.quantile import PinballTerms
from ..losses.ridged import RidgedTerms
from ..losses.squared import SquaredTerms
from ..losses.tweedie import TweedieTerms

TILE = 24_576
"""Rows that are updated at once: their residuals (192 KiB) are still in cache when the columns of
J are summed over them."""


class Rows(NamedTuple):
    """Rows of a data set under the current model f.

    ``residual`` is weighted: w_i r_i. ``score`` is f, but for the squared loss, whose residual
    says it all, it stays as it was at the start. ``chunks`` are the boundaries of the pieces
    that partial sums are taken over.
    """

    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    weighted: bool
    score: NDArray[np.float64]
    residual: NDArray[np.float64]
    chunks: NDArray[np.int64]
    loss_sums: NDArray[np.float64]
    residual_sums: NDArray[np.float64]


def make_rows(
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    start_score: Any,
    score: NDArray[np.float64] | None = None,
) -> Rows:
    """Rows at a start score, the same for all or one for each, or at given scores."""
    chunks = row_chunks(len(y)) if len(y) else np.zeros(1, np.int64)
    n_chunks = len(chunks) - 1
    return Rows(
        y=np.array(y, dtype=np.float64),
        weight=np.empty(0) if weight is None else np.array(weight, np.float64),
        weighted=weight is not None,
        score=np.full(len(y), start_score) if score is None else np.array(score, np.float64),
        residual=np.empty(len(y)),
        chunks=chunks,
        loss_sums=np.zeros(n_chunks),
        residual_sums=np.zeros(n_chunks),
    )


@kernel()
def start_rows(terms, rows):
    """Residuals and sums of the null model."""
    values = np.empty(TILE)
    for chunk in range(rows.chunks.shape[0] - 1):
        rows.loss_sums[chunk] = 0.0
        rows.residual_sums[chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            evaluate_tile(terms, rows, lo, hi, values)
            add_sums(rows, chunk, lo, hi, values)


@kernel()
def advance(learners, terms, move, rows, chunk, lo, hi, scratch):
    """f += step b on rows lo..hi of a chunk, and their residuals and sums anew.

    ``move`` is the pick with its b multiplied by the step.
    """
    direction(learners, move, lo, hi, scratch.delta)
    add_step(terms, rows, lo, hi, scratch.delta, scratch.values)
    add_sums(rows, chunk, lo, hi, scratch.values)


@kernel()
def add_sums(rows, chunk, lo, hi, values):
    rows.loss_sums[chunk] += blocked_sum(values, hi - lo)
    rows.residual_sums[chunk] += blocked_sum(rows.residual[lo:hi], hi - lo)


@by_type
def add_step(terms, rows, lo, hi, delta, values_out):
    """Scores plus delta, residuals, and the weighted losses, on rows lo..hi."""


# Loops below run over slices from 0: with an index that the compiler cannot prove to be positive
# (lo..hi), or with more arrays in one loop, it would not vectorise.


@kernel()
def evaluate_tile(terms, rows, lo, hi, values_out):
    y = rows.y[lo:hi]
    score = rows.score[lo:hi]
    residual = rows.residual[lo:hi]
    for i in range(y.shape[0]):
        value, r, _ = evaluate(terms, y[i], score[i])
        values_out[i] = value
        residual[i] = r
    if rows.weighted:
        weight = rows.weight[lo:hi]
        for i in range(weight.shape[0]):
            values_out[i] *= weight[i]
            residual[i] *= weight[i]


@add_step.register(HuberTerms)
@add_step.register(LogisticTerms)
@add_step.register(ExponentialTerms)
@add_step.register(PoissonTerms)
@add_step.register(GammaTerms)
@add_step.register(TweedieTerms)
@add_step.register(PinballTerms)
@add_step.register(LogCoshTerms)
@add_step.register(RidgedTerms)
def _add_step(terms, rows, lo, hi, delta, values_out):
    score = rows.score[lo:hi]
    for i in range(score.shape[0]):
        score[i] += delta[i]
    evaluate_tile(terms, rows, lo, hi, values_out)


@add_step.register(SquaredTerms)
def _add_step_squared(terms, rows, lo, hi, delta, values_out):
    # The residual is all there is to keep: half the memory traffic.
    residual = rows.residual[lo:hi]
    if rows.weighted:
        weight = rows.weight[lo:hi]
        for i in range(residual.shape[0]):
            r = residual[i] - weight[i] * delta[i]
            residual[i] = r
            values_out[i] = terms.half * r * r / weight[i]
    else:
        for i in range(residual.shape[0]):
            r = residual[i] - delta[i]
            residual[i] = r
            values_out[i] = terms.half * r * r
