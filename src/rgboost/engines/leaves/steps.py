"""The step of an iteration (step 4 of Algorithm 2) for weak-learners with several leaves.

With S_q, W_q and H_q the sums of weighted residuals, weights and curvatures in leaf q:

- constant:     rho S_q / W_q, which is rho <b, r> b;
- line search:  the same direction, as far as the loss falls;
- Newton:       S_q / (H_q + l2);
- leaf-wise:    the value with the smallest loss over the rows of the leaf.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.team import Team
from ...learners.leaves import Leaves, divided
from ...losses import Loss
from ...steps import ConstantRule, LineSearch, SearchRule
from ..direct.leaf_search import LeafRule
from ..direct.newton_leaves import NewtonRule
from .rows import LeafRows

Vector = NDArray[np.float64]


@functools.singledispatch
def leaf_values(rule: Any, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    """What to add in every leaf, (leaves, outputs)."""
    raise TypeError(f"{type(rule).__name__} is no rule for weak-learners with several leaves.")


@leaf_values.register
def _(rule: ConstantRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    return rule.learning_rate * rule.rho * found.means


@leaf_values.register
def _(rule: SearchRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    if found.gradient == 0.0:
        return np.zeros_like(found.sums)
    unit = found.means / found.gradient
    step = found.gradient
    if not rows.loss.quadratic:
        along = unit[found.leaf, 0]
        step = LineSearch().find(rows.loss, rows.rows.y, rows.score, along, rows.weight)
    return rule.learning_rate * step * unit


@leaf_values.register
def _(rule: NewtonRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    below = rows.curvatures(found.leaf, len(found.weights), team) + rule.l2
    values = np.clip(divided(found.raw, below), -rule.limit, rule.limit) * found.trust
    if found.keep_order is not None:
        found.keep_order(values[:, 0], below[:, 0])
    if values.shape[1] > 1:  # which changes no probability: scores sum to 0
        values -= values.mean(axis=1, keepdims=True)
    return rule.learning_rate * values


@leaf_values.register
def _(rule: LeafRule, found: Leaves, rows: LeafRows, team: Team) -> Vector:
    if rows.loss.quadratic:
        return rule.learning_rate * found.means
    values = np.zeros_like(found.sums)
    y, score, weight = rows.rows.y, rows.score, rows.weight
    for q in range(len(values)):
        mine = np.flatnonzero(found.leaf == q)
        if len(mine):
            w = None if weight is None else weight[mine]
            values[q, 0] = best_value(rows.loss, y[mine], score[mine], w)
    values *= found.trust
    if found.keep_order is not None:
        found.keep_order(values[:, 0], found.weights)
    return rule.learning_rate * values


def best_value(loss: Loss, y: Vector, score: Vector, weight: Vector | None) -> float:
    """What to add to these scores for the smallest loss; see `LineSearch` where it falls for
    ever."""
    if loss.quantile_leaves:
        return loss.best_constant(y, weight, offset=score)
    return LineSearch().find(loss, y, score, np.ones(len(y)), weight)
