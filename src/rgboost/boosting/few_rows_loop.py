"""Algorithm 2 on few rows, with Newton steps: one quadratic model of the loss an iteration.

As in `rgboost.boosting.curved_rows`, with r the residual and h the curvature of a row (with
weights), and S and H their sums over a side of a split,

    score of a split = S_L^2/H_L + S_R^2/H_R,    values of its leaves = learning_rate S/H.

With the squared loss H is the weight of the rows, and the score is <b, r>^2. Sums are taken over
the rows, once for each split in J: no bins are filled, so it does not matter how many there are.
With other losses splits are compared by sums in single precision, which take half as long; the
values of the leaves are in double precision.

Losses of the rows that are held out are exact. Those of the training rows are what the quadratic
models tell: with the squared loss that is exact, with others until `set_losses` makes them so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import kernel, scalar
from .._math import blocked_sum
from ..learners.dense_stumps import left_sum
from ..learners.kernels import TIE, Pick
from ..losses.kernels import evaluate
from .gram_loop import note_nothing
from .loop import subset_of


class FewRowsRule(NamedTuple):
    """``limit``: no step r/h of a row is longer. ``usual``: curvature of a usual row, the unit of
    numbers in single precision. ``lightest``: the least H of a side. ``flat``: h is the weight of a
    row, wherever the model is."""

    learning_rate: float
    limit: float
    usual: float
    lightest: float
    flat: bool


@kernel()
def run_few_rows(learners, terms, rule, subsets, rows, held_learners, held, record, work, seat):
    """Run as many iterations as the record has room for, alone on the rows."""
    n_iter, n, n_held = record.learner.shape[0], rows.y.shape[0], held.y.shape[0]
    sums = make_sums(rule, rows)
    values = np.empty(max(n, n_held))
    loss, held_loss = rows.loss_sums.sum(), held.loss_sums.sum()
    for m in range(n_iter):
        record.loss[m] = loss
        record.held_loss[m] = held_loss
        evaluate_few(terms, rule, rows, sums)
        pick = search_few(learners, rule, subset_of(subsets, m), rows.residual, sums)
        if pick.learner < 0:
            note_nothing(record, m)
            continue
        rate = rule.learning_rate
        loss -= rate * (1.0 - 0.5 * rate) * pick.gradient**2
        record.learner[m] = pick.learner
        record.left[m] = rate * pick.left
        record.right[m] = rate * pick.right
        record.gradient[m] = pick.gradient
        split = pick.learner - learners.splits.offsets[pick.column]
        move(learners.codes[pick.column], split, record.left[m], record.right[m], rows.score)
        move(held_learners.codes[pick.column], split, record.left[m], record.right[m], held.score)
        held_loss = losses_of_few(terms, held, values)
    set_sum(rows.loss_sums, loss)
    set_sum(held.loss_sums, held_loss)


@kernel()
def set_losses(terms, rows):
    """The sum of losses at the scores, exactly."""
    set_sum(rows.loss_sums, losses_of_few(terms, rows, np.empty(rows.y.shape[0])))


@kernel()
def set_sum(parts, total):
    """What chunks of rows sum up to."""
    parts[:] = 0.0
    parts[0] = total


class Sums(NamedTuple):
    """Curvatures of the rows, and what splits are compared by: residuals and curvatures in single
    precision. Nothing if the curvature is ``flat``."""

    curvature: NDArray[np.float64]
    rough_residual: NDArray[np.float32]
    rough_curvature: NDArray[np.float32]


@kernel()
def make_sums(rule, rows):
    n = 0 if rule.flat else rows.y.shape[0]
    return Sums(np.empty(n), np.empty(n, np.float32), np.empty(n, np.float32))


@scalar()
def search_few(learners, rule, subset, residual, sums):
    """The best split in J: <b, r>, and S/H of its sides."""
    splits, n = learners.splits, residual.shape[0]
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    total, mass = blocked_sum(residual, n), splits.total_weight
    if not rule.flat:
        mass = blocked_sum(sums.curvature, n)
    learner, column, to_beat = -1, 0, -1.0
    for k in range(subset.columns.shape[0]):
        c = subset.columns[k]
        codes = learners.codes[c]
        for i in range(subset.first[k], subset.first[k + 1]):
            j = subset.learners[i]
            if gain[j] == 0.0:  # an empty side
                continue
            split = codes.dtype.type(j - offsets[c])  # compared in a byte: more rows a register
            if rule.flat:
                below = left_weight[j]
                left = left_sum(codes, split, residual)
            else:
                below = rule.usual * left_sum(codes, split, sums.rough_curvature)
                left = rule.usual * left_sum(codes, split, sums.rough_residual)
            above, right = mass - below, total - left
            if min(below, above) < rule.lightest:
                continue
            score = left * left / below + right * right / above
            if score > to_beat:
                to_beat = score * (1.0 + TIE)
                learner, column = j, c
    if learner < 0:
        return Pick(-1, 0, 0.0, 0.0, 0.0)
    codes, split = learners.codes[column], learner - offsets[column]
    below, left = left_weight[learner], left_sum(codes, split, residual)
    if not rule.flat:
        below = left_sum(codes, split, sums.curvature)
    above, right = mass - below, total - left
    if min(below, above) < rule.lightest:  # in single precision it was not
        return Pick(-1, 0, 0.0, 0.0, 0.0)
    score = left * left / below + right * right / above
    return Pick(learner, column, np.sqrt(score), left / below, right / above)


@scalar()
def evaluate_few(terms, rule, rows, sums):
    """Residuals and curvatures, with weights, at the scores."""
    y, score, residual, curvature = rows.y, rows.score, rows.residual, sums.curvature
    if rule.flat:
        for i in range(y.shape[0]):
            _, residual[i], _ = evaluate(terms, y[i], score[i])
    else:
        shortest = 1.0 / rule.limit
        for i in range(y.shape[0]):
            _, r, h = evaluate(terms, y[i], score[i])
            residual[i] = r
            curvature[i] = max(h, shortest * abs(r))
    if rows.weighted:
        weight = rows.weight
        for i in range(weight.shape[0]):
            residual[i] *= weight[i]
        if not rule.flat:
            for i in range(weight.shape[0]):
                curvature[i] *= weight[i]
    if not rule.flat:
        to_single(residual, 1.0 / rule.usual, sums.rough_residual)
        to_single(curvature, 1.0 / rule.usual, sums.rough_curvature)


@scalar()
def to_single(values, scale, out):
    for i in range(values.shape[0]):  # as a slice it would take four times as long
        out[i] = scale * values[i]


@scalar()
def losses_of_few(terms, rows, values):
    """The sum of losses."""
    y, score = rows.y, rows.score
    for i in range(y.shape[0]):
        values[i], _, _ = evaluate(terms, y[i], score[i])
    if rows.weighted:
        weight = rows.weight
        for i in range(weight.shape[0]):
            values[i] *= weight[i]
    return blocked_sum(values, y.shape[0])


@scalar()
def move(codes, split, left, right, score):
    """Add the values of the leaves."""
    for i in range(score.shape[0]):
        score[i] += left if codes[i] <= split else right
