"""What ``interactions="auto"`` means, and the settings of the fit of pairs."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...learners import LearnerFamily
from ...learners.pairs.columns import Columns, check_sets, some_pairs
from ...losses import Loss
from ...steps import ConstantStep, LeafSearch, NewtonStep, StepRule
from . import rules
from .facts import Facts
from .pair_memory import PairMemory
from .rules import Case, Rule, always, decide

MOST_FEATURES = 100
"""More features have no pairs unless they are asked for: their number grows by the square."""

MOST_SCREENED = 20_000
"""Pairs that are screened: of more, so many are drawn at random."""
SCREENING_BINS = 32
"""Bins of a feature in the screening of pairs, one pass over the rows for each."""
MOST_CANDIDATES = 128
"""Pairs that take part in boosting: the strongest of the screening, or as many as are asked for;
all of them with ``interactions="all"``. Fewer where their tables would not fit into the memory."""
FAR_CANDIDATES = 32
"""The same where rows are in pieces, and more than their sample: sums in the cells of candidates
are made from all rows again and again."""
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
    gain. ``screened``, ``candidates``: how many are screened and take part in boosting, at most."""

    count: int | None
    given: Any
    asked: bool
    candidates: int
    screened: int
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
        return (
            "the learner is a family of weak-learners of its own, which says what is fitted "
            "(Pairs(pairs=...) takes a list)"
        )
    if case.facts.goes_on is not None:
        return case.facts.goes_on
    if not isinstance(case.max_iter, str):
        return "max_iter is a number, and pairs are fitted for as long as held-out rows gain"
    if case.feature_weights is not None:
        return "feature_weights say how features are drawn, and pairs are drawn evenly"
    if judge == rules.FEW:
        return "there are too few rows to hold some out"
    if judge == rules.FOLDS and not mean:
        return (
            "there is one run after cross-validation, and pairs need the mean of its runs "
            "(early_stopping=True holds rows out instead)"
        )
    if case.engine in ("gram", "quadratic") and not case.facts.in_pieces:
        return f"engine={case.engine!r} works on statistics, and pairs are fitted on the rows"
    if case.engine == "direct" and case.facts.card is not None:
        return "engine='direct' passes over rows on a card, where pairs are fitted by sums"
    return None


INTERACTIONS = (
    Rule("something does not go together with pairs: a number as max_iter, trees or a family "
         "object as learner, feature_weights, one run that goes on or is looked at, an engine on "
         "statistics of rows in memory",
         lambda c: c.obstacle is not None, 0),
    Rule(f"more than {MOST_FEATURES} features", lambda c: c.case.facts.features > MOST_FEATURES, 0),
    Rule("a single feature", lambda c: c.case.facts.features < 2, 0),
    Rule("the runs of pairs would take more memory than a fit may add",
         lambda c: c.room.candidates < 1, 0),
    Rule("pairs enter if held-out rows gain by more than noise", always, "auto",
         f"at most {MOST_KEPT} pairs"),
)  # fmt: skip


@dataclass(frozen=True)
class PairCase:
    """A case in which ``interactions="auto"``, and what does not go together with pairs in it."""

    case: Case
    obstacle: str | None
    judge: str
    mean: bool

    @cached_property
    def room(self) -> Room:
        return room_for(self.case, None, None, self.judge, self.mean)


def plan_pairs(case: Case, judge: str, mean: bool) -> tuple[PairPlan | None, Any, str]:
    """The plan of pairs (None: there are none), the value of ``interactions``, and why."""
    given = case.interactions
    check_together(case)
    count, some = check_interactions(given, case.facts)
    obstacle = pair_obstacle(case, judge, mean)
    if isinstance(given, str) and given == "auto":
        now = PairCase(case, obstacle, judge, mean)
        choice = decide(INTERACTIONS, now)
        why = choice.why if obstacle is None else obstacle
        if choice.value == 0:
            return None, 0, why
        return settings(case, None, None, False, now.room), "auto", why + now.room.told
    if count == 0:
        return None, 0, ""
    if obstacle is not None:
        raise ValueError(
            f"interactions={given!r} cannot be had here: {obstacle}. Use interactions=0 or 'auto', "
            "or leave out what stands in the way."
        )
    room = room_for(case, count, some, judge, mean)
    if room.candidates < room.needed:
        raise ValueError(
            f"interactions={given!r} takes too much memory: up to {room.bytes_needed / 1e6:,.0f} "
            f"MB, and a fit may add {case.facts.memory / 1e6:,.0f} MB, a quarter of what the "
            f"process may use. {room.remedy}"
        )
    value = given if count is None else count
    return settings(case, count, some, True, room), value, room.told.removeprefix("; ")


class Room(NamedTuple):
    """How many pairs a fit has memory for: ``candidates`` of those that are wished for,
    ``screened`` before; ``needed`` are those that there have to be."""

    candidates: int
    screened: int
    wished: int
    needed: int
    bytes_needed: int
    listed: bool

    @property
    def told(self) -> str:
        """What the plan says of candidates that do not fit; empty if all do."""
        if self.candidates >= self.wished:
            return ""
        return f"; {self.candidates:,} candidates, tables of more would not fit into the memory"

    @property
    def remedy(self) -> str:
        """What to do if those that have to be there do not fit."""
        if self.candidates < 1:
            return "Use interactions=0, or give the process more memory."
        fewer = "Give fewer pairs" if self.listed else f"Ask for at most {self.candidates:,} pairs"
        return f"{fewer}, or give the process more memory."


def room_for(case: Case, count: int | None, given: Any, judge: str, mean: bool) -> Room:
    """The memory for pairs: ``count`` of them, those that are ``given``, or as many as there are;
    of "auto" the strongest of the screening."""
    facts = case.facts
    max_bins = pair_bins(facts)
    if isinstance(case.max_bins, numbers.Integral):  # the bins of pairs are some of the curves'
        max_bins = min(max_bins, int(case.max_bins))
    memory = PairMemory.of(facts, SCREENING_BINS, max_bins, mean, judge == rules.HELD)
    if given is not None:
        needed = memory.of_list(given)
        fits = len(given) if needed <= facts.memory else memory.most_candidates(len(given) - 1)
        return Room(fits, len(given), len(given), len(given), needed, True)
    possible = facts.features * (facts.features - 1) // 2
    screened = memory.most_screened(min(possible, MOST_SCREENED))
    most = MOST_CANDIDATES if facts.rows_shown == facts.rows else FAR_CANDIDATES
    wished = min(possible, MOST_SCREENED, max(most, count or 0))
    if case.interactions == "all":
        wished = min(possible, MOST_SCREENED)
    candidates = min(memory.most_candidates(wished), screened)
    needed = count or 1
    return Room(candidates, screened, wished, needed, memory.of_candidates(needed), False)


def check_together(case: Case) -> None:
    """Raise if the sets of features that may act together are wrong, or the learner has none."""
    sets, facts = case.interaction_constraints, case.facts
    if sets is None:
        return
    check_sets(sets, facts.features, facts.names)
    if isinstance(case.learner, LearnerFamily):
        case.learner.acting_together(sets)


def check_interactions(given: Any, facts: Facts) -> tuple[int | None, Any]:
    """(how many pairs to keep, or None; a list of pairs by index, or None)."""
    n_features = facts.features
    possible = n_features * (n_features - 1) // 2
    if isinstance(given, str):
        if given not in ("auto", "all"):
            raise ValueError(
                f"interactions={given!r} is not known; use 'auto', 'all', a number of pairs, or a "
                "list of pairs."
            )
        return None, None
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        if MOST_SCREENED < int(given) <= possible:
            raise ValueError(
                f"interactions={given} is more than the {MOST_SCREENED:,} pairs that are looked at "
                "where there are more. Ask for fewer, or give a list."
            )
        if not 0 <= int(given) <= possible:
            stored = "" if facts.empty_columns == 0 else " that store something"
            raise ValueError(
                f"interactions={given} is not a number of pairs: {n_features} features{stored} "
                f"have {possible:,}. Use 0 to {possible:,}, 'all' or 'auto'."
            )
        return int(given), None
    if isinstance(given, bool) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"interactions={given!r} is no number of pairs; use 'auto', 'all', a number, or a list "
            "of pairs such as [('age', 'income')]."
        )
    some = list(given)
    if not some:
        return 0, None
    pairs = some_pairs(some, n_features, facts.names, "interactions")
    check_several_values(pairs, facts)
    return None, pairs


def check_several_values(pairs: Columns, facts: Facts) -> None:
    """Raise if a feature of a pair has a single value, where all values are counted."""
    values = facts.values
    if values.n_rows < facts.rows or len(values.start) - 1 < facts.features:
        return
    n_bins = values.distinct + facts.missing * (values.distinct > 0)
    for g in np.unique(pairs):
        if n_bins[g] < 2:
            raise ValueError(one_value(facts.names, g))


def one_value(names: Any, g: int) -> str:
    """What an error says of a feature that cannot act with another one."""
    name = int(g) if names is None else str(names[g])
    return (
        f"interactions has a pair of the feature {name!r}, which has one value only; leave that "
        "pair out."
    )


def pair_bins(facts: Facts) -> int:
    """Bins of a feature in the fit of pairs."""
    return BINS_OF_FEW if facts.rows < ROWS_OF_FEW else BINS_OF_MANY


def settings(case: Case, count: int | None, given: Any, asked: bool, room: Room) -> PairPlan:
    rows = case.facts.rows
    return PairPlan(
        count=count,
        given=given,
        asked=asked,
        candidates=room.candidates,
        screened=room.screened,
        max_bins=pair_bins(case.facts),
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
