"""The step of an iteration (step 4 of Algorithm 2), by the class of the rule.

Rules are classes, not a flag: what a fit does not use is not compiled for it. Rules that set the
values of leaves have files of their own: `newton_leaves` and `leaf_search`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..._core.jit import by_type
from ...losses import Loss
from ...steps import ConstantStep, LineSearch, NewtonGain, StepRule
from .line_search import search_step


class ConstantRule(NamedTuple):
    """learning_rate * rho <b, r>."""

    learning_rate: float
    rho: float


class SearchRule(NamedTuple):
    """learning_rate times the argmin over the line."""

    learning_rate: float


@functools.singledispatch
def make_rule(step: StepRule, loss: Loss, learning_rate: float, n_rows: int) -> Any:
    """The rule as compiled code reads it; raises if the loss does not go with it."""
    raise TypeError(f"step={step!r} is not a rule from rgboost.steps.")


@make_rule.register
def _(step: ConstantStep, loss: Loss, learning_rate: float, n_rows: int) -> ConstantRule:
    return ConstantRule(learning_rate, step.constant(loss))


@make_rule.register
def _(step: LineSearch, loss: Loss, learning_rate: float, n_rows: int) -> SearchRule:
    return SearchRule(learning_rate)


@make_rule.register
def _(step: NewtonGain, loss: Loss, learning_rate: float, n_rows: int) -> None:
    return None  # made for the rows of a problem: `few_rows_loop.few_rows_rule`


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
