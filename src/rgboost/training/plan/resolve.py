"""From parameters and facts to a plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._core.validation import (
    check_count,
    check_not_negative,
    check_option,
    check_positive,
    check_real,
)
from ...learners import NAMED, LearnerFamily
from ...selection import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    RandomLearnersAndAlways,
    RandomThresholds,
    SelectionRule,
    SubsetSize,
    WeightedGroups,
)
from ...steps import check_step
from . import rules
from .costs import Bins
from .engines import Mean, bins_of_one_run, engines_of_mean, engines_of_one_run
from .entries import make_entries
from .facts import Facts
from .pair_rules import plan_pairs
from .report import Considered, Plan, Way
from .rules import Case, Choice, decide


def resolve(parameters: Mapping[str, Any], facts: Facts) -> Plan:
    """The plan of a fit with these parameters of an estimator, to data of which these are the
    facts. Nothing is left to decide in it; nothing is looked at but its arguments."""
    case = Case(check_parameters(parameters), facts, facts.rows)
    case = replace(case, step=_step(case).value)
    judge = decide(rules.JUDGE, case)
    if facts.held_rows is not None and case.max_iter == "cv":
        raise ValueError(
            "max_iter='cv' chooses the number of iterations without validation rows; "
            "leave out X_val and y_val, or give max_iter as a number."
        )
    if judge.value == rules.FOLDS and not case.knows_folds:
        raise ValueError(
            f"max_iter='cv' needs folds, and learner={case.learner!r} knows none; use "
            "early_stopping=True, or give max_iter as a number."
        )
    memory = case.gram_memory
    if memory is None:
        memory = decide(rules.GRAM_MEMORY, case).value
    considered: list[Considered] = []
    ways: list[Way] = []
    cv_engine = None
    if judge.value in (rules.FOLDS, rules.MEAN_OR_HELD) and _wants_mean(case):
        ways = list(_ways_to_a_mean(replace(case, mean=True), judge.value, memory, considered))
    if judge.value == rules.MEAN_OR_HELD:
        judge = Choice(rules.MEAN if ways else rules.HELD, judge.why)
    elif ways:
        judge = Choice(rules.MEAN, judge.why)
    if not ways:
        ways, cv_engine = _one_run(case, judge.value, memory, considered)
    plan = Plan(judge.value, (), tuple(considered), [], tuple(ways), cv_engine, int(memory))
    plan.pairs, interactions, why = plan_pairs(case, plan.judge, plan.mean)
    plan.entries = make_entries(
        case, plan, judge.why, (interactions, why),
        lambda name, usual: resolve({**parameters, name: usual}, facts).ways != plan.ways,
    )  # fmt: skip
    return plan


def wants_folds(parameters: Mapping[str, Any], facts: Facts) -> bool:
    """Whether a plan needs to know how rows are shared out among folds (`Facts.with_folds`)."""
    case = Case(check_parameters(parameters), facts, facts.rows)
    judge = decide(rules.JUDGE, case).value
    return judge == rules.FOLDS or (judge == rules.MEAN_OR_HELD and _wants_mean(case))


def _wants_mean(case: Case) -> bool:
    return case.facts.goes_on is None and case.ensemble is True


def n_folds(case: Case) -> int:
    if case.facts.n_folds is not None:
        return case.facts.n_folds
    return check_count(case.cv, "cv", at_least=2)


def _step(case: Case) -> Choice:
    if isinstance(case.parameters["step"], str) and case.parameters["step"] == "auto":
        return decide(rules.STEP, case)
    return Choice(check_step(case.parameters["step"]), "")


def selections(case: Case) -> Iterator[SelectionRule]:
    """The rules to be tried."""
    given = case.selection
    by_rule = isinstance(given, str) and given == "auto" and case.feature_weights is None
    for name in decide(rules.SELECTION, case).value if by_rule else (given,):
        size = case.subset_size
        if isinstance(size, str) and size == "auto":
            size = decide(rules.SUBSET_SIZE, replace(case, thresholds=name == "thresholds")).value
        yield check_selection(name, size, case.feature_weights, case.always_features)


def _bins(case: Case) -> Bins:
    """Bins of the rows of a case."""
    learner = case.learner
    if isinstance(learner, LearnerFamily):
        return Bins.of(learner)
    max_bins, least = case.max_bins, case.min_weight_fraction_leaf
    if isinstance(max_bins, str) and max_bins in ("auto", "paper"):
        max_bins = decide(rules.MAX_BINS, case).value
    elif max_bins is not None:
        check_count(max_bins, "max_bins", at_least=2)
    if isinstance(least, str):
        least = decide(rules.LEAST_SHARE, case).value
    return Bins(max_bins, least, rules.LEAST_ROWS_OF_CATEGORY, rules.MOST_CATEGORIES)


def _with_rate(case: Case, selection: SelectionRule) -> Case:
    case = replace(case, thresholds=isinstance(selection, RandomThresholds))
    rate = case.learning_rate
    return replace(case, rate=decide(rules.LEARNING_RATE, case).value if rate == "auto" else rate)


def _patience(case: Case) -> int:
    if isinstance(case.n_iter_no_change, str):
        return int(decide(rules.NO_CHANGE, case).value)
    return int(case.n_iter_no_change)


def _ways_to_a_mean(
    case: Case, judge: str, memory: int, considered: list[Considered]
) -> Iterator[Way]:
    """Settings of the means of several runs that can be had. Whether few random thresholds are
    better differs much between sets with categories or missing values: there both are tried; so are
    leaves of both kinds."""
    facts, k = case.facts, n_folds(case)
    for selection in selections(case):
        now = _with_rate(case, selection)
        bins = _bins(now)
        mean = Mean(now, selection, k, memory, facts.largest_fold or math.ceil(facts.rows / k))
        needed = judge == rules.FOLDS  # k runs will be needed anyway
        found = engines_of_mean(mean, bins, needed)
        considered += found.considered
        if found.engine is None:
            continue
        for leaves in decide(rules.LEAVES, case).value:
            yield Way(
                engine=found.engine, n_runs=k, selection=selection, step=case.step,
                learning_rate=now.rate, max_bins=found.bins.max_bins,
                min_weight_fraction_leaf=bins.least, n_iter=rules.MOST_ROUNDS,
                patience=_patience(now), gram_type=found.gram_type, newton=found.newton,
                why=found.why, leaves=leaves, few_bins=found.bins != bins,
            )  # fmt: skip


def _one_run(
    case: Case, judge: str, memory: int, considered: list[Considered]
) -> tuple[list[Way], Any]:
    """The settings of a single run, with leaves of one kind or of two, and the engine of the
    cross-validation before it."""
    limit = case.max_iter
    if isinstance(limit, str):
        limit = rules.FEW_ITERATIONS if judge == rules.FEW else rules.MOST_ITERATIONS
    if judge == rules.HELD:
        case = replace(case, rows=case.facts.rows - rows_to_hold_out(case))
    (selection,) = selections(case)
    case = _with_rate(case, selection)
    stops = judge == rules.FOLDS or (
        judge in (rules.VALIDATION, rules.HELD) and case.early_stopping is not False
    )
    usual = _bins(case)
    bins = bins_of_one_run(case, selection, usual, memory, limit)
    folds = n_folds(case) if judge == rules.FOLDS else 1
    engine, cv_engine, found = engines_of_one_run(
        case, selection, bins, memory, limit, stops, folds
    )
    considered += found
    way = Way(
        engine=engine, n_runs=1, selection=selection, step=case.step, learning_rate=case.rate,
        max_bins=bins.max_bins, min_weight_fraction_leaf=bins.least, n_iter=limit,
        patience=_patience(case) if stops else None, few_bins=bins != usual,
    )  # fmt: skip
    case = replace(case, held_out=judge in (rules.VALIDATION, rules.HELD))
    kinds = decide(rules.LEAVES, case).value
    return [replace(way, leaves=leaves) for leaves in kinds], cv_engine


def rows_to_hold_out(case: Case) -> int:
    """How many rows are held out: a share of those of the classes that have enough."""
    facts, share = case.facts, case.validation_fraction
    rows = facts.rows
    if facts.class_rows is not None and facts.n_groups is None and case.can_share:
        rows = sum(n for n in facts.class_rows if n * share >= 1.0 and n > 1)
    return math.ceil(share * rows)


def check_selection(
    selection: str | SelectionRule,
    subset_size: SubsetSize,
    feature_weights: Any = None,
    always_features: Sequence[int | str] | None = None,
) -> SelectionRule:
    """A rule from its name ("all", "learners", "group", "groups", "thresholds") and t, or the rule
    itself.

    With weights, or features that are always in J, "group" and "groups" are `WeightedGroups`; with
    such features "learners" is `RandomLearnersAndAlways`.
    """
    if feature_weights is not None and selection not in ("group", "groups"):
        raise ValueError(
            f"feature_weights need selection='group' or 'groups', got selection={selection!r}; "
            "a rule object has its own (see WeightedGroups)."
        )
    if always_features is not None and selection not in ("learners", "group", "groups"):
        raise ValueError(
            "always_features need selection='learners', 'group' or 'groups', got "
            f"selection={selection!r}; a rule object has its own (see RandomLearnersAndAlways)."
        )
    if isinstance(selection, SelectionRule):
        return selection
    always, t = tuple(always_features or ()), subset_size
    if always and selection == "learners":
        return RandomLearnersAndAlways(t, always)
    if always or feature_weights is not None:
        return WeightedGroups(1 if selection == "group" else t, feature_weights, always)
    if selection == "all":
        return AllLearners()
    if selection == "learners":
        return RandomLearners(t)
    if selection == "group":
        return RandomGroup()
    if selection == "groups":
        return RandomGroups(t)
    if selection == "thresholds":
        return RandomThresholds(t)
    raise ValueError(
        f"selection={selection!r} is not known; use 'auto', 'all', 'learners', 'group', 'groups' "
        "(Types 0 to 3), 'thresholds' or a rule from rgboost.selection."
    )


def check_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same parameters; an error names the first that is wrong."""
    p = dict(given)
    check_option(p["init"], "init", ["zero", "best"])
    check_option(p["engine"], "engine", ["auto", "direct", "gram", "quadratic"])
    check_option(p["ensemble"], "ensemble", [True, False])
    check_option(p["early_stopping"], "early_stopping", ["auto", True, False])
    if not isinstance(p["learner"], LearnerFamily):
        check_option(p["learner"], "learner", list(NAMED))
    if not 0.0 < check_real(p["validation_fraction"], "validation_fraction") < 1.0:
        raise ValueError(
            f"validation_fraction={p['validation_fraction']} must lie between 0 and 1: "
            "it is the share of the training rows that is held out."
        )
    check_not_negative(p["tol"], "tol")
    if type(p["n_iter_no_change"]) is str:
        check_option(p["n_iter_no_change"], "n_iter_no_change", ["auto"])
    else:
        check_count(p["n_iter_no_change"], "n_iter_no_change", at_least=1)
    _check_word(p, "learning_rate", "a number above 0 or 'auto'", ("auto",))
    if type(p["learning_rate"]) is not str:
        p["learning_rate"] = check_positive(p["learning_rate"], "learning_rate")
    _check_word(p, "min_weight_fraction_leaf", "a share from 0 to 0.5 or 'auto'", ("auto",))
    _check_word(p, "max_iter", "a number, 'auto' or 'cv'", ("auto", "cv"))
    if type(p["max_iter"]) is not str:
        p["max_iter"] = check_count(p["max_iter"], "max_iter", at_least=1)
    if p["gram_memory"] is not None:
        check_count(p["gram_memory"], "gram_memory")
    return p


def _check_word(p: Mapping[str, Any], name: str, remedy: str, known: tuple[str, ...]) -> None:
    if type(p[name]) is str and p[name] not in known:
        raise ValueError(f"{name}={p[name]!r} is not known; use {remedy}.")
