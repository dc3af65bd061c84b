"""Algorithm 2 on few rows, with Newton steps: one quadratic model of the loss an iteration.

As in `engines.curvature`, with r the residual and h the curvature of a row (with
weights), and S and H their sums over a side of a split,

    score of a split = S_L^2/H_L + S_R^2/H_R,    values of its leaves = learning_rate S/H.

With the squared loss H is the weight of the rows, and the score is <b, r>^2. Sums are taken over
the rows, once for each split in J: no bins are filled, so it does not matter how many there are.
With other losses residuals and curvatures are in single precision, and so are the sums that splits
are compared by: half as long. The sums that the values of the leaves come from are in double
precision.

Losses of the rows that are held out are exact. Those of the training rows are what the quadratic
models tell: with the squared loss that is exact, with others until `set_losses` makes them so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.jit import kernel, reduction, scalar
from ..._core.math import blocked_sum
from ...learners.kernels import TIE, Pick
from ...learners.stumps.dense_stumps import left_sum, left_sums
from ...losses.kernels import evaluate, evaluate_single, sum_of_losses
from ..curvature import LIGHTEST, in_units_of_the_largest
from ..problem import Problem
from .loop import note_nothing, subset_of


class FewRowsRule(NamedTuple):
    """``limit``: no step r/h of a row is longer. ``usual``: curvature of a usual row, the unit of
    numbers in single precision. ``lightest``: the least H of a side. ``flat``: h is the weight of a
    row, wherever the model is."""

    learning_rate: float
    limit: float
    usual: float
    lightest: float
    flat: bool


def few_rows_rule(problem: Problem) -> FewRowsRule:
    """The rule of `NewtonGain` for the rows of a problem."""
    loss, y = problem.loss, problem.y
    if not loss.newton:
        raise ValueError(f"{loss!r} has no Newton step; use step='constant' or 'leaf-search'.")
    if not problem.prepared.dense_numbers or not problem.selection.by_learner:
        raise ValueError(
            f"step={problem.step!r} needs dense numbers without missing values, and a selection of "
            "single weak-learners; use step='newton'."
        )
    limit = loss.newton_limit
    assert limit is not None
    if loss.quadratic:
        return FewRowsRule(problem.learning_rate, np.inf, 1.0, 0.0, True)
    curvature = loss.model_curvature(y, np.full(len(y), problem.null_score))
    weight = in_units_of_the_largest(problem.weight)
    curvature = curvature if weight is None else curvature * weight
    usual = max(float(np.median(curvature)), 1e-30 * float(curvature.max()))  # a unit, so not 0
    return FewRowsRule(problem.learning_rate, limit, usual, LIGHTEST * usual, False)


@kernel()
def run_few_rows(learners, terms, rule, subsets, rows, held_learners, held, record, work, seat):
    """Run as many iterations as the record has room for, alone on the rows."""
    n_iter, n, n_held = record.learner.shape[0], rows.y.shape[0], held.y.shape[0]
    single = make_single(rule, rows)
    values = np.empty(max(n, n_held))
    loss, held_loss = rows.loss_sums.sum(), held.loss_sums.sum()
    for m in range(n_iter):
        record.loss[m] = loss
        record.held_loss[m] = held_loss
        evaluate_few(terms, rule, rows, single)
        pick = search_few(learners, rule, subset_of(subsets, m), rows, single)
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


class Single(NamedTuple):
    """Residuals and curvatures of the rows, with weights, in units of the rule's ``usual``, in
    single precision. Nothing if the curvature is ``flat``."""

    residual: NDArray[np.float32]
    curvature: NDArray[np.float32]


@kernel()
def make_single(rule, rows):
    n = 0 if rule.flat else rows.y.shape[0]
    return Single(np.empty(n, np.float32), np.empty(n, np.float32))


@scalar()
def evaluate_few(terms, rule, rows, single):
    """Residuals at the scores, and curvatures unless these are flat."""
    if rule.flat:
        evaluate_flat(terms, rows)
    else:
        evaluate_curved(terms, rule, rows, single)


@scalar()
def evaluate_flat(terms, rows):
    y, score, residual, weight = rows.y, rows.score, rows.residual, rows.weight
    for i in range(y.shape[0]):
        _, residual[i], _ = evaluate(terms, y[i], score[i])
    if rows.weighted:
        for i in range(weight.shape[0]):
            residual[i] *= weight[i]


@scalar()
def evaluate_curved(terms, rule, rows, single):
    y, score, weight = rows.y, rows.score, rows.weight
    scale, shortest = 1.0 / rule.usual, np.float32(1.0 / rule.limit)
    residual, curvature = single.residual, single.curvature
    if rows.weighted:
        for i in range(y.shape[0]):
            r, h = evaluate_single(terms, y[i], score[i], scale * weight[i])
            residual[i], curvature[i] = r, max(h, shortest * abs(r))
    else:
        for i in range(y.shape[0]):
            r, h = evaluate_single(terms, y[i], score[i], scale)
            residual[i], curvature[i] = r, max(h, shortest * abs(r))


@scalar()
def search_few(learners, rule, subset, rows, single):
    """The best split in J: <b, r>, and S/H of its sides."""
    splits, residual, usual = learners.splits, rows.residual, rule.usual
    offsets, left_weight, gain = splits.offsets, splits.left_weight, splits.gain
    rough_residual, rough_curvature = single.residual, single.curvature
    if rule.flat:
        total, mass = blocked_sum(residual, residual.shape[0]), splits.total_weight
    else:
        total, mass = usual * rough_sum(rough_residual), usual * rough_sum(rough_curvature)
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
                left, below = left_sum(codes, split, residual), left_weight[j]
            else:
                left, below = left_sums(codes, split, rough_residual, rough_curvature)
                left, below = usual * left, usual * below
            score = score_of(left, below, total, mass, rule.lightest)
            if score > to_beat:
                to_beat = score * (1.0 + TIE)
                learner, column = j, c
    if learner < 0:
        return Pick(-1, 0, 0.0, 0.0, 0.0)
    codes = learners.codes[column]
    split = codes.dtype.type(learner - offsets[column])
    if rule.flat:
        left, below = left_sum(codes, split, residual), left_weight[learner]
    else:
        left, below, total, mass = exact_sums(codes, split, rough_residual, rough_curvature)
        left, below, total, mass = usual * left, usual * below, usual * total, usual * mass
    score = score_of(left, below, total, mass, rule.lightest)
    if score < 0.0:  # in single precision it was not
        return Pick(-1, 0, 0.0, 0.0, 0.0)
    return Pick(learner, column, np.sqrt(score), left / below, (total - left) / (mass - below))


@scalar()
def score_of(left, below, total, mass, lightest):
    """S^2/H of both sides; -1 if one of them is too light."""
    right, above = total - left, mass - below
    if min(below, above) < lightest:
        return -1.0
    return left * left / below + right * right / above


@reduction()
def rough_sum(values):
    total = values.dtype.type(0)
    for i in range(values.shape[0]):
        total += values[i]
    return total


@reduction()
def exact_sums(codes, split, values, others):
    """Sums of both on the left of a split, and of all rows, in double precision."""
    left = left_other = total = other = 0.0
    nothing = values.dtype.type(0)
    for i in range(values.shape[0]):
        left += values[i] if codes[i] <= split else nothing
        left_other += others[i] if codes[i] <= split else nothing
        total += values[i]
        other += others[i]
    return left, left_other, total, other


@scalar()
def losses_of_few(terms, rows, values):
    """The sum of losses."""
    y, score, weight = rows.y, rows.score, rows.weight
    if not rows.weighted:
        return sum_of_losses(terms, y, score, values)
    for i in range(y.shape[0]):
        value, _, _ = evaluate(terms, y[i], score[i])
        values[i] = weight[i] * value
    return blocked_sum(values, y.shape[0])


@scalar()
def move(codes, split, left, right, score):
    """Add the values of the leaves."""
    for i in range(score.shape[0]):
        score[i] += left if codes[i] <= split else right
