"""What ``interactions="auto"`` means, and the settings of the fit of pairs."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from ...learners import LearnerFamily
from ...losses import Loss
from ...steps import ConstantStep, LeafSearch, NewtonStep, StepRule
from . import rules
from .facts import Facts
from .rules import Case, Rule, always, decide

MOST_FEATURES = 100
"""More features have no pairs unless they are asked for: their number grows by the square."""

MOST_SCREENED = 20_000
"""Pairs that are screened: of more, so many are drawn at random."""
SCREENING_BINS = 32
"""Bins of a feature in the screening of pairs, one pass over the rows for each."""
MOST_CANDIDATES = 128
"""Pairs that take part in boosting: the strongest of the screening."""
MOST_KEPT = 100
"""Pairs that ``interactions="auto"`` keeps at the most."""
SHARE_OF_GAIN = 0.999
"""The model keeps the fewest pairs, strongest first, that have this share of what all of them take
off the loss of held-out rows."""
STANDARD_ERRORS = 2.0
"""Pairs enter if they take this many standard errors off the loss of held-out rows."""

PAIRS_IN_J = 8
"""Groups that an iteration looks at."""
BINS_OF_MANY, BINS_OF_FEW, ROWS_OF_FEW = 128, 64, 5_000
PAIR_STEPS, LONG_PAIR_STEPS, ROWS_OF_LONG_STEPS = 0.5, 1.0, 100_000
"""The learning rate: whole steps from so many rows on, which say more than their noise."""
PAIR_PATIENCE, MOST_PAIR_ROUNDS = 100, 20_000
PAIR_TOL, LONG_PAIR_TOL, ROWS_OF_LONG_ROUNDS = 1e-5, 1e-3, 50_000
"""The least relative fall of the loss of held-out rows in so many rounds that they go on for; more
from so many rows on, where rounds take long."""
SEARCH_ROWS = 50_000
"""Rows that an iteration looks for the best quadrant stump on; its values are those of all rows."""
SEARCH_CUTS = 32
"""Cuts of a feature that an iteration looks at, others every time: the cost of a search grows with
their square."""
LEAST_SHARE, LEAST_ROWS = 0.005, 50
"""Of a quadrant, a lighter one stays at zero: the share of the weight, or that of so many rows if
it is less."""


@dataclass(frozen=True)
class PairPlan:
    """How pairs are fitted. ``count``: how many are kept; None: as many as earn their place.
    ``given``: a list of pairs; None: all take part. ``asked``: whether they are kept whatever they
    gain."""

    count: int | None
    given: Any
    asked: bool
    max_bins: int
    subset_size: int
    learning_rate: float
    step: StepRule
    least_share: float
    n_iter: int
    patience: int
    tol: float
    search_rows: int
    search_cuts: int


def pair_obstacle(case: Case, judge: str, mean: bool) -> str | None:
    """What does not go together with pairs; None if nothing does."""
    if case.is_trees:
        return "features act together in trees already"
    if isinstance(case.learner, LearnerFamily):
        return "the learner is a family of weak-learners of its own, which says what is fitted"
    if case.facts.goes_on is not None:
        return case.facts.goes_on
    if not isinstance(case.max_iter, str):
        return "max_iter is a number, and pairs are fitted for as long as held-out rows gain"
    if case.feature_weights is not None:
        return "feature_weights say how features are drawn, and pairs are drawn evenly"
    if judge == rules.FEW:
        return "there are too few rows to hold some out"
    if judge == rules.FOLDS and not mean:
        return "there is one run after cross-validation, and pairs need the mean of its runs"
    if case.engine == "gram" or case.engine == "quadratic":
        return f"engine={case.engine!r} works on statistics, and pairs are fitted on the rows"
    return None


INTERACTIONS = (
    Rule("something does not go together with pairs: a number as max_iter, trees or a family "
         "object as learner, feature_weights, one run that goes on or is looked at, an engine on "
         "statistics",
         lambda c: c.obstacle is not None, 0),
    Rule("the runs of pairs would take more memory than a fit may add",
         lambda c: pair_bytes(c.case.facts) > c.case.facts.memory, 0),
    Rule(f"more than {MOST_FEATURES} features", lambda c: c.case.facts.features > MOST_FEATURES, 0),
    Rule("a single feature", lambda c: c.case.facts.features < 2, 0),
    Rule("pairs enter if held-out rows gain by more than noise", always, "auto",
         f"at most {MOST_KEPT} pairs"),
)  # fmt: skip


BYTES_OF_PAIR_ROW = 64
"""Of a row in a run: label, weight, score and residual of a class, twice."""


def pair_bytes(facts: Facts) -> int:
    """Bytes that the runs of pairs take: bins, and what is kept of a row, in every run."""
    row = facts.features + BYTES_OF_PAIR_ROW * facts.loss.outputs
    return facts.rows * row * (facts.n_folds or 1)


@dataclass(frozen=True)
class PairCase:
    """A case, and what does not go together with pairs in it."""

    case: Case
    obstacle: str | None


def plan_pairs(case: Case, judge: str, mean: bool) -> tuple[PairPlan | None, Any, str]:
    """The plan of pairs (None: there are none), the value of ``interactions``, and why."""
    given, features = case.interactions, case.facts.features
    obstacle = pair_obstacle(case, judge, mean)
    if isinstance(given, str) and given == "auto":
        choice = decide(INTERACTIONS, PairCase(case, obstacle))
        why = choice.why if obstacle is None else obstacle
        if choice.value == 0:
            return None, 0, why
        return settings(case, None, None, False), "auto", why
    count, some = check_interactions(given, features)
    if count == 0:
        return None, 0, ""
    if obstacle is not None:
        raise ValueError(
            f"interactions={given!r} cannot be had here: {obstacle}. Use interactions=0 or 'auto', "
            "or leave out what stands in the way."
        )
    return settings(case, count, some, True), given, ""


def check_interactions(given: Any, n_features: int) -> tuple[int | None, Any]:
    """(how many pairs to keep, or None; a list of pairs, or None)."""
    possible = n_features * (n_features - 1) // 2
    if isinstance(given, str):
        if given != "all":
            raise ValueError(
                f"interactions={given!r} is not known; use 'auto', 'all', a number of pairs, or a "
                "list of pairs."
            )
        return None, None
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        if not 0 <= int(given) <= possible:
            raise ValueError(
                f"interactions={given} is not a number of pairs: {n_features} features have "
                f"{possible:,}. Use 0 to {possible:,}, 'all' or 'auto'."
            )
        return int(given), None
    if isinstance(given, bool) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"interactions={given!r} is no number of pairs; use 'auto', 'all', a number, or a list "
            "of pairs such as [('age', 'income')]."
        )
    some = list(given)
    return (None, some) if some else (0, None)


def settings(case: Case, count: int | None, given: Any, asked: bool) -> PairPlan:
    rows = case.facts.rows
    return PairPlan(
        count=count,
        given=given,
        asked=asked,
        max_bins=BINS_OF_FEW if rows < ROWS_OF_FEW else BINS_OF_MANY,
        subset_size=PAIRS_IN_J,
        learning_rate=PAIR_STEPS if rows < ROWS_OF_LONG_STEPS else LONG_PAIR_STEPS,
        step=pair_step(case.facts.loss),
        least_share=min(LEAST_SHARE, (LEAST_ROWS - 0.5) / rows),
        n_iter=MOST_PAIR_ROUNDS,
        patience=PAIR_PATIENCE,
        tol=PAIR_TOL if rows < ROWS_OF_LONG_ROUNDS else LONG_PAIR_TOL,
        search_rows=SEARCH_ROWS,
        search_cuts=SEARCH_CUTS,
    )


def pair_step(loss: Loss) -> StepRule:
    """Newton values where there are any; of the squared loss the constant step is the same."""
    if loss.newton and not loss.quadratic:
        return NewtonStep()
    return ConstantStep() if loss.smoothness is not None else LeafSearch()
