"""The step of an iteration (step 4 of Algorithm 2), by the class of the rule.

Rules are classes, not a flag: what a fit does not use is not compiled for it.
"""

from __future__ import annotations

from typing import NamedTuple

from .._jit import by_type
from .line_search import search_step


class ConstantRule(NamedTuple):
    """learning_rate * rho <b, r>."""

    learning_rate: float
    rho: float


class SearchRule(NamedTuple):
    """learning_rate times the argmin over the line."""

    learning_rate: float


@by_type
def step_length(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    """(step, goal): how far to go along the pick's b; ``goal`` is the barrier's."""


@step_length.register(ConstantRule)
def _constant(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    return rule.learning_rate * (rule.rho * pick.gradient), goal


@step_length.register(SearchRule)
def _search(rule, terms, learners, pick, rows, sums, scratch, seat, goal):
    step, goal = search_step(terms, learners, pick, rows, sums, scratch, seat, goal)
    return rule.learning_rate * step, goal
