"""The values of a stump's leaves for several classes, by the class of the rule."""

from __future__ import annotations

from ..._core.jit import by_type, kernel, reduction
from ..._core.team import wait_for_all
from ...learners.kernels import direction
from ...steps import ConstantRule
from .newton_leaves import NewtonRule, newton_value


@by_type
def class_values(
    rule, terms, learners, side, inner, totals, rows, sums, scratch, seat, goal, left, right
):
    """Write what to add on the two sides for each class to ``left`` and ``right``; returns the
    barrier's goal. ``inner`` are the left sums of the residuals, ``side`` is the pick with
    b = 1 on the left and 0 on the right."""


@class_values.register(ConstantRule)
def _constant(
    rule, terms, learners, side, inner, totals, rows, sums, scratch, seat, goal, left, right
):
    rate = rule.learning_rate * rule.rho
    below = learners.splits.left_weight[side.learner]
    above = learners.splits.total_weight - below
    for c in range(totals.shape[0]):
        left[c] = rate * inner[c] / below
        right[c] = rate * (totals[c] - inner[c]) / above
    return goal


@class_values.register(NewtonRule)
def _newton(
    rule, terms, learners, side, inner, totals, rows, sums, scratch, seat, goal, left, right
):
    """Each class by itself: sum of residuals over twice the sum of w p_c (1 - p_c), the diagonal of
    the Hessian H, as XGBoost does; then less their mean, which changes no probability, so that
    scores sum to 0 as with constant steps.

    Twice, because all classes move at once: 2 diag(H) - H has a non-negative diagonal and is
    diagonally dominant, so H <= 2 diag(H). With the diagonal itself two classes that a leaf is
    about overshoot by a factor of two, and go back and forth.
    """
    curvature_sums(terms, learners, side, rows, sums, scratch, seat)
    goal = wait_for_all(seat, goal)
    for c in range(totals.shape[0]):
        left[c] = newton_value(rule, inner[c], 2.0 * sums[:, 0, c].sum())
        right[c] = newton_value(rule, totals[c] - inner[c], 2.0 * sums[:, 1, c].sum())
    center(left)
    center(right)
    return goal


@kernel()
def center(values):
    mean = values.sum() / values.shape[0]
    for c in range(values.shape[0]):
        values[c] -= mean


@kernel()
def curvature_sums(terms, learners, side, rows, sums, scratch, seat):
    """Sums of curvatures over the two sides, for this thread's chunks of rows."""
    tile, weight = scratch.top.shape[0], rows.weight
    for chunk in range(seat.rank, rows.chunks.shape[0] - 1, seat.size):
        for c in range(rows.score.shape[0]):
            sums[chunk, 0, c] = 0.0
            sums[chunk, 1, c] = 0.0
        for lo in range(rows.chunks[chunk], rows.chunks[chunk + 1], tile):
            hi = min(lo + tile, rows.chunks[chunk + 1])
            inside = scratch.one.delta[: hi - lo]
            direction(learners, side, lo, hi, inside)
            for c in range(rows.score.shape[0]):
                label, score = rows.label[lo:hi], rows.score[c, lo:hi]
                residual = rows.residual[c, lo:hi]
                if rows.weighted:
                    left, right = weighted_curvatures(
                        c, label, score, residual, weight[lo:hi], inside, terms.ridge
                    )
                else:
                    left, right = curvatures(c, label, score, residual, inside, terms.ridge)
                sums[chunk, 0, c] += left
                sums[chunk, 1, c] += right


@reduction()
def curvatures(c, label, score, residual, inside, ridge):
    """Sums of p_c (1 - p_c) + ridge on both sides.

    Probabilities come from the residuals: r_c = [y = c] - p_c - ridge f_c.
    """
    left = right = 0.0
    for i in range(label.shape[0]):
        p = (1.0 if label[i] == c else 0.0) - residual[i] - ridge * score[i]
        h = p * (1.0 - p) + ridge
        left += inside[i] * h
        right += (1.0 - inside[i]) * h
    return left, right


@reduction()
def weighted_curvatures(c, label, score, residual, weight, inside, ridge):
    """The same with weights; residuals are w r_c."""
    left = right = 0.0
    for i in range(label.shape[0]):
        own = 1.0 if label[i] == c else 0.0
        p = own - residual[i] / weight[i] - ridge * score[i]
        h = weight[i] * (p * (1.0 - p) + ridge)
        left += inside[i] * h
        right += (1.0 - inside[i]) * h
    return left, right
