"""The settings of a plan for people: each with its value, where it comes from, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..._core.one_line import brief
from ..._core.team import check_n_jobs
from ...learners import LearnerFamily
from ...selection import AllLearners, RandomThresholds
from . import rules
from .cluster import about_cluster
from .facts import SAMPLE, Facts
from .report import NO_EFFECT, Entry, Plan, Way
from .rules import Case, decide

ORDER = (
    "loss", "ridge", "init", "learner", "max_bins", "binning", "min_weight_fraction_leaf",
    "monotone_constraints", "interactions", "interaction_constraints", "selection", "subset_size",
    "groups", "feature_weights",
    "always_features", "step", "learning_rate", "max_iter", "early_stopping", "cv", "ensemble",
    "bags", "validation_fraction", "n_iter_no_change", "tol", "engine", "gram_memory", "n_jobs",
    "device", "device_memory", "random_state", "warm_start",
)  # fmt: skip
"""Parameters as a plan shows them; others say nothing about the model."""
_RULES = {
    "step": rules.STEP, "learning_rate": rules.LEARNING_RATE, "max_bins": rules.MAX_BINS,
    "min_weight_fraction_leaf": rules.LEAST_SHARE, "n_iter_no_change": rules.NO_CHANGE,
}  # fmt: skip
_IN_WAYS = {**{name: name for name in _RULES}, "n_iter_no_change": "patience"}


def make_entries(
    case: Case,
    plan: Plan,
    judged: str,
    pairs: tuple[Any, str],
    decides: Callable[[str, Any], bool],
) -> tuple[Entry, ...]:
    """An entry for each parameter that says something about the model, and ``n_runs``. ``pairs``
    are the value of ``interactions`` and why; ``decides`` tells whether the plan would be another
    one with another value of a parameter."""
    found = []
    for name in ORDER:
        given = case.parameters[name]
        auto = _is_auto(name, given)
        value, why = given, ""
        if name == "interactions":
            value, why = pairs
        elif name == "loss":
            value, why = case.facts.loss, case.facts.loss_why
        elif auto:
            value, why = _resolved(name, case, plan, judged)
        idle = no_effect(name, case, plan, decides)
        if idle is not None:
            why = NO_EFFECT + idle
        found.append(Entry(name, _plain(value), "auto" if auto else "given", why))
        if name == "learner" and plan.ways[0].leaves is not None:
            found.append(_about_leaves(case, plan))
        if name == "max_iter":
            found += _about_runs(case, plan, judged)
    return (*found, *_about_pieces(case, plan))


def _is_auto(name: str, given: Any) -> bool:
    if name in ("gram_memory", "n_jobs", "device_memory"):
        return given is None
    return isinstance(given, str) and given in ("auto", "paper")


def _about_leaves(case: Case, plan: Plan) -> Entry:
    """What the leaves of trees say."""
    held = plan.judge in (rules.VALIDATION, rules.HELD)
    why = decide(rules.LEAVES, replace(case, mean=plan.mean, held_out=held)).why
    return Entry("leaves", _either(way.leaves for way in plan.ways), "auto", why)


def _about_runs(case: Case, plan: Plan, judged: str) -> Iterator[Entry]:
    """What tells the number of iterations, and how many runs the model is the mean of."""
    by_itself = isinstance(case.max_iter, str)
    yield Entry("iterations by", plan.judge, "auto" if by_itself else "given", judged)
    why = "the mean of runs, each without a fold of the rows, predicts better than one"
    if not plan.mean:
        why = _why_one_run(case, plan)
    yield Entry("n_runs", plan.ways[0].n_runs, "auto", why)


def _about_pieces(case: Case, plan: Plan) -> Iterator[Entry]:
    """Of rows that are read piece by piece: how many were looked at one by one, and how often all
    are read."""
    facts = case.facts
    if facts.sample_rows is None:
        return
    why = "thresholds follow from so many rows, drawn by the seed"
    if facts.sample_rows >= facts.rows:
        why = "thresholds follow from all rows"
    source = "given" if facts.sample_given else "auto"
    yield Entry("sample_rows", min(facts.sample_rows, facts.rows), source, why)
    if facts.partitions is not None:
        yield from about_cluster(case, plan)
        return
    if facts.card is not None:
        return
    times = len(plan.ways) + (plan.cv_engine is not None)
    yield Entry(
        "passes over the rows", 1 + times, "auto",
        "the first for the sample, categories and labels; then one to put rows into bins, which "
        "are kept in work_dir, for every fit: what runs ask of the rows is read from there",
    )  # fmt: skip


def _why_one_run(case: Case, plan: Plan) -> str:
    if plan.judge not in (rules.FOLDS, rules.HELD):
        return "means of several runs come with cross-validation"
    if not case.ensemble:
        return "ensemble=False"
    if case.facts.goes_on is not None:
        return case.facts.goes_on
    if any(engine.n_runs > 1 for engine in plan.engines):
        return "no engine gives the mean of several runs for less than several fits"
    return "rows are held out"


def _resolved(name: str, case: Case, plan: Plan, judged: str) -> tuple[Any, str]:
    """(value, why) of a parameter that a rule sets."""
    ways = plan.ways
    if name == "max_iter":
        return ways[0].n_iter, "at most; " + judged
    if name == "selection":
        why = decide(rules.SELECTION, replace(case, mean=plan.mean)).why
        return _either(type(way.selection).__name__ for way in ways), why
    if name == "subset_size":
        values = [getattr(way.selection, "t", "all") for way in ways]
        return _either(values), reason(decide(rules.SUBSET_SIZE, _case_of(case, plan, ways[0])).why)
    if name == "engine":
        return _either(way.engine for way in ways), _why_engine(case, plan)
    if name == "gram_memory":
        return plan.gram_memory, next(r.shown for r in rules.GRAM_MEMORY if r.holds(case))
    if name == "device_memory":
        return case.facts.card_memory, "most of what was free on the card"
    if name == "n_jobs":
        return check_n_jobs(None), "as many threads as the process may use"
    if name == "early_stopping":
        return ways[0].patience is not None, judged
    whys = [decide(_RULES[name], _case_of(case, plan, way)).why for way in ways]
    values = [getattr(way, _IN_WAYS[name]) for way in ways]
    if name == "max_bins" and any(way.few_bins for way in ways):
        whys = ["so few that Gram rows fit into their memory"]
    return _either(values), "; ".join(dict.fromkeys(map(reason, whys)))


def reason(when: str) -> str:
    """What a rule says, as the reason of its value."""
    return when.removeprefix("otherwise: ")


def _case_of(case: Case, plan: Plan, way: Way) -> Case:
    thresholds = isinstance(way.selection, RandomThresholds)
    return replace(case, mean=plan.mean, thresholds=thresholds, rate=way.learning_rate)


def _why_engine(case: Case, plan: Plan) -> str:
    if case.facts.engine_before is not None:
        return "that of the run to go on with"
    if plan.mean:
        return "; ".join(dict.fromkeys(way.why for way in plan.ways))
    gram = plan.ways[0].engine == "gram"
    return reason(decide(rules.ENGINE, replace(case, gram_is_faster=gram)).why)


def _either(values: Any) -> Any:
    """The value; or two of them in words."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else " or ".join(str(_plain(v)) for v in distinct)


def no_effect(name: str, case: Case, plan: Plan, decides: Callable[[str, Any], bool]) -> str | None:
    """Why a setting has no effect in a plan; None if it has one, if only that of keeping another
    plan away."""
    ways, first = plan.ways, plan.ways[0]
    engines = {way.engine for way in ways}
    on_model = all(way.engine == "quadratic" or way.newton for way in ways)
    if name == "step" and on_model:
        return "steps are those of the quadratic model of the loss"
    if name == "gram_memory" and engines == {"direct"} and plan.cv_engine != "gram":
        given = case.gram_memory is not None
        return None if given and decides(name, None) else "no statistics are kept"
    if name == "validation_fraction" and plan.judge != rules.HELD:
        return "no rows are held out"
    if name in ("n_iter_no_change", "tol") and first.patience is None:
        return "nothing stops the run early"
    judged_by_folds = plan.judge in (rules.MEAN, rules.FOLDS)
    if name in ("cv", "ensemble") and not judged_by_folds:
        one = name == "ensemble" and not case.ensemble and decides(name, True)
        return None if one else "there is no cross-validation"
    if name == "ensemble" and plan.judge == rules.FOLDS:
        one = not case.ensemble and decides(name, True)
        return None if one else "there is one run in any case"
    if name == "early_stopping" and case.early_stopping != "auto" and judged_by_folds:
        return None if decides(name, "auto") else "cross-validation tells when to stop"
    if name == "min_weight_fraction_leaf" and case.is_trees:
        return "trees have min_samples_leaf"
    if name in ("max_bins", "binning", "min_weight_fraction_leaf"):
        if isinstance(case.learner, LearnerFamily):
            return "the learner has its own"
        if name == "binning" and all(_bins_are_values(case.facts, way.max_bins) for way in ways):
            return "every value has a bin of its own"
    if name == "interaction_constraints" and given_but_idle(case, plan):
        return "there are no pairs"
    if name == "ridge" and case.ridge and not isinstance(case.loss, str):
        return "the loss is given as an object"
    if name == "subset_size" and not isinstance(case.selection, str):
        return "the selection rule has its own"
    if name == "subset_size" and case.selection in ("all", "group"):
        return "the selection rule has no size"
    if name == "groups" and case.groups is not None:
        if all(way.selection.by_learner for way in ways):
            return "weak-learners are drawn one by one"
        if all(_looks_at_all(way) for way in ways):
            return "every weak-learner is looked at"
    if name == "device_memory" and case.facts.card is None:
        return "sums are made by the processor"
    if name == "random_state" and not judged_by_folds and plan.judge != rules.HELD:
        return "nothing is random" if _looks_at_all(first) and plan.pairs is None else None
    return None


def _bins_are_values(facts: Facts, max_bins: int | None) -> bool:
    """Whether no feature has more values than bins, for certain."""
    if max_bins is None:
        return True
    if facts.rows > SAMPLE:
        return False
    values = facts.values
    all_counted = values.n_rows == facts.rows and len(values.start) == facts.features + 1
    return all_counted and int(values.distinct[~facts.categorical].max(initial=0)) <= max_bins


def _looks_at_all(way: Way) -> bool:
    """Whether every iteration looks at every weak-learner."""
    return isinstance(way.selection, AllLearners)


def given_but_idle(case: Case, plan: Plan) -> bool:
    """Whether sets of features that may act together are given, and nothing acts together."""
    sets, learner = case.interaction_constraints, case.learner
    if sets is None or plan.pairs is not None or case.is_trees:
        return False
    return not isinstance(learner, LearnerFamily) or learner.acting_together(sets) is learner


def _plain(value: Any) -> Any:
    """A value that JSON knows."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return brief(value)
