"""Line search: the argmin over rho of phi(rho) = sum_i w_i l(y_i, f_i + rho b_i)."""

from __future__ import annotations

import math

import numpy as np

from ..._core.jit import by_type, kernel
from ..._core.math import blocked_sum
from ..._core.team import wait_for_all
from ...learners.kernels import direction, trust
from ...losses.exponential import ExponentialTerms
from ...losses.gamma import GammaTerms
from ...losses.huber import HuberTerms
from ...losses.kernels import evaluate
from ...losses.log_cosh import LogCoshTerms
from ...losses.logistic import LogisticTerms
from ...losses.poisson import PoissonTerms
from ...losses.quantile import PinballTerms
from ...losses.ridged import RidgedTerms
from ...losses.squared import SquaredTerms
from ...losses.tweedie import TweedieTerms
from ...statistics.rows import TILE

MOST_PASSES = 100
STEP_TOLERANCE = 1e-12
SLOPE_TOLERANCE = 1e-13
_SMALLEST_SHARE = np.finfo(np.float64).eps


@by_type
def search_step(terms, learners, pick, rows, sums, scratch, seat, goal):
    """(rho, goal): the minimiser of phi; ``sums`` is shared memory, ``goal`` the barrier's."""


@search_step.register(SquaredTerms)
def _squared(terms, learners, pick, rows, sums, scratch, seat, goal):
    return pick.gradient, goal  # phi'(rho) = rho - <b, r>


@search_step.register(HuberTerms)
@search_step.register(LogisticTerms)
@search_step.register(PoissonTerms)
@search_step.register(GammaTerms)
@search_step.register(TweedieTerms)
@search_step.register(PinballTerms)
@search_step.register(LogCoshTerms)
@search_step.register(RidgedTerms)
def _newton(terms, learners, pick, rows, sums, scratch, seat, goal):
    step, goal = newton_step(terms, learners, pick, rows, sums, scratch, seat, goal)
    return trust(learners, pick) * step, goal


@search_step.register(ExponentialTerms)
def _exponential(terms, learners, pick, rows, sums, scratch, seat, goal):
    """Signed stumps: |b_i| = c, so phi(rho) = P exp(-c rho) + N exp(c rho), with P and N the
    losses of the rows that b gets right and wrong, and rho = log(P/N) / 2c. A stump that is never
    wrong has no minimiser; N is then taken as one rounding error of P."""
    height = abs(pick.left)
    if height != abs(pick.right):
        step, goal = newton_step(terms, learners, pick, rows, sums, scratch, seat, goal)
        return trust(learners, pick) * step, goal
    right, wrong, goal = split_sums(learners, pick, rows, sums, scratch, seat, goal)
    wrong = max(wrong, right * _SMALLEST_SHARE)
    return trust(learners, pick) * 0.5 * math.log(right / wrong) / height, goal


@kernel()
def split_sums(learners, pick, rows, sums, scratch, seat, goal):
    """Sums of |b_i w_i r_i| over the rows where the product is positive, and where negative."""
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums[0, 0, chunk] = 0.0
        sums[0, 1, chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            direction(learners, pick, lo, hi, scratch.delta)
            residual = rows.residual[lo:hi]
            for i in range(residual.shape[0]):
                product = scratch.delta[i] * residual[i]
                scratch.delta[i] = max(product, 0.0)
                scratch.values[i] = max(-product, 0.0)
            sums[0, 0, chunk] += blocked_sum(scratch.delta, hi - lo)
            sums[0, 1, chunk] += blocked_sum(scratch.values, hi - lo)
    goal = wait_for_all(seat, goal)
    return sums[0, 0].sum(), sums[0, 1].sum(), goal


@kernel()
def newton_step(terms, learners, pick, rows, sums, scratch, seat, goal):
    """Newton's method on phi' inside a bracket.

    phi is convex and phi'(0) = -<b, r> < 0, so the minimiser is positive. A step that leaves the
    bracket, or is longer than half the one before it, becomes a bisection (where phi is like an
    exponential, Newton's steps are all alike; where it has a kink, there is no curvature); while
    there is no upper end, no step is longer than tenfold. If phi falls for ever (a separating
    stump without ridge), the search ends when the slope has fallen by 13 orders of magnitude.
    """
    low = 0.0
    high = np.inf
    rho = 0.0
    moved = np.inf
    for k in range(MOST_PASSES):
        slope, curvature, goal = slope_at(
            terms, learners, pick, rows, rho, sums[k % 2], scratch, seat, goal
        )
        if abs(slope) <= SLOPE_TOLERANCE * pick.gradient:
            break
        if slope < 0.0:
            low = rho
        else:
            high = rho
        new = rho - slope / curvature if curvature > 0.0 else np.inf
        if high == np.inf:
            new = min(new, 10.0 * rho if rho > 0.0 else max(pick.gradient, 1.0) * 10.0)
        elif not low < new < high or abs(new - rho) > 0.5 * moved:
            new = 0.5 * (low + high)
        moved = abs(new - rho)
        rho = new
        if moved <= STEP_TOLERANCE * rho:
            break
    return rho, goal


@kernel()
def slope_at(terms, learners, pick, rows, rho, sums, scratch, seat, goal):
    """phi'(rho) and phi''(rho). Callers alternate between two ``sums``: one barrier is enough."""
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        sums[0, chunk] = 0.0
        sums[1, chunk] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], TILE):
            hi = min(lo + TILE, rows.chunks[chunk + 1])
            direction(learners, pick, lo, hi, scratch.delta)
            y = rows.y[lo:hi]
            score = rows.score[lo:hi]
            for i in range(y.shape[0]):
                b = scratch.delta[i]
                _, residual, curvature = evaluate(terms, y[i], score[i] + rho * b)
                scratch.values[i] = -b * residual
                scratch.delta[i] = b * b * curvature
            if rows.weighted:
                weight = rows.weight[lo:hi]
                for i in range(weight.shape[0]):
                    scratch.values[i] *= weight[i]
                    scratch.delta[i] *= weight[i]
            sums[0, chunk] += blocked_sum(scratch.values, hi - lo)
            sums[1, chunk] += blocked_sum(scratch.delta, hi - lo)
    goal = wait_for_all(seat, goal)
    return sums[0].sum(), sums[1].sum(), goal
