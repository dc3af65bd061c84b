"""What ``"auto"`` means: over a grid of situations, as it was decided before there was a plan.

`decisions.json` was written by the code that decided where the need arose, on prepared rows: of
each situation (see `situations`) the ways to the mean of several runs, and the one run where that
is not wanted.
"""

import json
from pathlib import Path

import pytest

from rgboost.estimators import base
from rgboost.training.plan import facts, resolve
from rgboost.training.plan.costs import Bins, Work
from rgboost.training.plan.rules import HELD, LEAST_ROWS_OF_CATEGORY, MOST_CATEGORIES, VALIDATION

from .situations import make_fit

NAMES = ("n", "p", "kind", "task", "rows", "memory", "parameters")
DECISIONS = [
    (dict(zip(NAMES, situation, strict=True)), ways, one)
    for situation, ways, one in json.loads(
        Path(__file__).with_name("decisions.json").read_text(encoding="utf-8")
    )
]


def told(situation):
    """A short name."""
    shown = [f"{situation['n']}x{situation['p']}", situation["kind"], str(situation["task"])]
    more = [f"{name}={value}" for name, value in situation["parameters"].items()]
    return "-".join([*shown, *situation["rows"], *more])


@pytest.fixture
def planned(monkeypatch):
    """(plan, plan without means, facts) of a situation."""

    def find(situation):
        seen = []
        monkeypatch.setattr(facts, "memory_budget", lambda: situation["memory"])
        monkeypatch.setattr(base, "resolve", lambda *given: seen.append(given) or resolve(*given))
        estimator, rows, given = make_fit(situation)
        plan = estimator.plan(*rows, **given)
        ((parameters, found),) = seen
        return plan, resolve({**parameters, "ensemble": False}, found), found

    return find


@pytest.mark.parametrize(
    ("situation", "ways", "one"), DECISIONS, ids=[told(case[0]) for case in DECISIONS]
)
def test_the_plan_is_what_was_decided(situation, ways, one, planned):
    plan, single, known = planned(situation)
    found = plan.ways if plan.mean else ()
    assert [way.engine for way in found] == [way[0] for way in ways]
    for way, (engine, selection, rate, bins, splits, patience, n_runs, kind) in zip(
        found, ways, strict=True
    ):
        assert repr(way.selection) == selection
        assert way.learning_rate == rate
        assert way.patience == patience
        assert way.n_runs == n_runs
        assert (way.gram_type if engine == "quadratic" else way.newton) == kind
        assert way.max_bins == bins or (engine == "quadratic" and way.max_bins < bins)
        check_splits(known, way, splits)
    (way,) = single.ways
    engine, selection, rate, step, bins, splits, least, memory, n_iter, patience, cv, held = one
    assert (way.engine, repr(way.selection), way.learning_rate) == (engine, selection, rate)
    assert (repr(way.step), way.max_bins, way.patience) == (step, bins, patience)
    assert least is None or way.min_weight_fraction_leaf == least
    assert single.gram_memory == memory
    assert single.cv_engine == cv
    assert n_iter is None or way.n_iter == n_iter
    assert (single.judge in (HELD, VALIDATION)) == (held is not None)
    if held is None:
        check_splits(known, way, splits)


def check_splits(known, way, splits):
    """Numbers of splits are estimated from at most 10,000 rows."""
    bins = Bins(way.max_bins, way.min_weight_fraction_leaf, LEAST_ROWS_OF_CATEGORY, MOST_CATEGORIES)
    found = Work.of(known, bins, way.selection).layout.n_learners
    if known.rows <= facts.SAMPLE and not known.weighted:
        assert found == splits
    else:
        assert found == pytest.approx(splits, rel=0.05)
