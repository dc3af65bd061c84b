"""The step of an iteration (step 4 of Algorithm 2), by the class of the rule.

Rules are classes, not a flag: what a fit does not use is not compiled for it. Rules that set the
values of leaves have files of their own: `newton_leaves` and `leaf_search`.
"""

from __future__ import annotations

import functools
from typing import Any

from ..._core.jit import by_type
from ...steps import ConstantRule, SearchRule
from .line_search import search_step


@functools.singledispatch
def own_rule(rule: Any, n_rows: int) -> Any:
    """The same rule for a run of its own, beside others, on so many rows: with room of its own."""
    return rule


@by_type
def step_values(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    """(left, right, goal): what to add on the two sides of the pick; ``goal`` is the barrier's."""


@step_values.register(ConstantRule)
def _constant(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    step = rule.learning_rate * (rule.rho * pick.gradient)
    return step * pick.left, step * pick.right, goal


@step_values.register(SearchRule)
def _search(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    step, goal = search_step(terms, learners, pick, rows, sums, scratch, seat, goal)
    step *= rule.learning_rate
    return step * pick.left, step * pick.right, goal
