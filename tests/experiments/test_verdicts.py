"""Verdicts can go either way, on the data that a claim is about."""

import numpy as np
import pytest

from rgboost.data.datasets import NAMES
from rgboost.experiments.verdicts import CLAIMS, NOT_TESTED, is_about, verdicts

from .studies import cell, falls_along, medium_is_best, study

MEDIUM = "A medium t has the smallest training error"
SAVINGS = "A smaller t saves time"
PROFILE = "With many rows for each feature"
WIDE = "The best test error is at a moderately large training error"
INTERIOR = "A t in the interior"
SATURATION = "The test loss saturates"
LOSS1_ITERATION = "Figure loss1: less progress"
LOSS1_TIME = "Figure loss1: a small t"


def judged(made, claim):
    """The verdict as if the runs were of a set that the claim is about."""
    (name,) = [c.sets[0] for c in CLAIMS if c.title.startswith(claim)]
    (found,) = [v for v in verdicts({**made, "set": name}) if v["claim"].startswith(claim)]
    return found


def sets_of(claim):
    (found,) = [c for c in CLAIMS if c.title.startswith(claim)]
    return {name for name in NAMES if is_about(found, name)}


def all_is_best():
    """t = 30 makes much more of an iteration, at little more cost."""
    kinds = {30: (0.05, 2e-4), 5: (0.002, 1.5e-4), 1: (0.001, 1e-4)}
    cells = [
        cell(t, seed, rate=rate, cost=cost, test=falls_along, n_iter=400)
        for seed in range(3)
        for t, (rate, cost) in kinds.items()
    ]
    return study(cells)


def overfits(g):
    """Best at a gap of 0.1, twice as bad at the end."""
    return 0.5 + 0.5 * abs(np.log10(max(g, 1e-2) / 0.1))


def saturates(g):
    return 0.3 + max(g, 0.01)


@pytest.mark.parametrize("claim", [MEDIUM, SAVINGS])
def test_medium_t(claim):
    assert judged(medium_is_best(), claim)["status"] == "confirmed"
    assert judged(all_is_best(), claim)["status"] == "not confirmed"


def test_figures_of_savings():
    text = judged(medium_is_best(), SAVINGS)["figures"]
    assert "To a gap of 0.001: 169 ms with t = 5, 760 ms with t = 30, 4.5 times as long." in text
    assert "Test loss there: 0.3011 against 0.301 (+0.0%)." in text


def test_savings_with_a_worse_test_loss():
    made = medium_is_best()
    for c in made["cells"]:
        if c["t"] < 30:
            c["test_loss"] = [1.2 * v for v in c["test_loss"]]
    assert judged(made, SAVINGS)["status"] == "not confirmed"


def test_savings_that_are_only_known_to_be_large():
    made = medium_is_best()
    for c in made["cells"]:
        if c["t"] == 30:
            c["reached"] = [
                {**entry, "seconds": None, "iterations": None} for entry in c["reached"]
            ]
    found = judged(made, SAVINGS)
    assert found["status"] == "confirmed"
    assert "more than 1.1 s with t = 30, at least 6.5 times as long" in found["figures"]


def test_savings_where_only_all_features_arrive():
    kinds = {30: 0.01, 5: 1e-5, 1: 1e-5}
    cells = [cell(t, 0, rate=rate, cost=1e-3, test=falls_along) for t, rate in kinds.items()]
    found = judged(study(cells), SAVINGS)
    assert found["status"] == "not confirmed"
    assert "To a gap of 0.001: no other t in the budget, 691 ms with t = 30." in found["figures"]


def test_savings_without_enough_budget():
    slow = [cell(t, 0, rate=1e-5, cost=1e-3, test=falls_along) for t in (30, 5, 1)]
    assert judged(study(slow), SAVINGS)["status"] == "undecided"


def test_similar_profile():
    assert judged(medium_is_best(), PROFILE)["status"] == "confirmed"
    assert judged(medium_is_best(overfits), PROFILE)["status"] == "not confirmed"


def test_claims_are_judged_on_the_data_that_they_are_about():
    """As the section says: "for all datasets", "n >> p", "the colon-cancer dataset", "in many
    examples", "the third and fourth rows"; and Figure loss1 is of a9a."""
    every = {"a9a", "colon-cancer", "rcv1", "year", "rcv1-subsets", "year-test"}
    assert sets_of(MEDIUM) == sets_of(SAVINGS) == sets_of(INTERIOR) == every
    assert sets_of(PROFILE) == {"a9a", "year", "year-test"}
    assert sets_of(WIDE) == {"colon-cancer"}
    assert sets_of(SATURATION) == {"rcv1", "year", "rcv1-subsets", "year-test"}
    assert sets_of(LOSS1_ITERATION) == sets_of(LOSS1_TIME) == {"a9a"}


@pytest.mark.parametrize("name", ["embedded", "embedded-digits", "year-sample"])
def test_other_data_are_not_judged(name):
    found = verdicts(medium_is_best(name=name))
    assert len(found) == len(CLAIMS)
    assert {v["status"] for v in found} == {NOT_TESTED}
    assert {v["figures"] for v in found} == {""}
    assert found[0]["about"] == "a9a, colon-cancer, rcv1 and YearPredictionMSD"


def test_no_t_is_compared_with_itself():
    """t = 1 and t = p can be the best; then the figures name the others."""
    kinds = {30: (0.05, 1e-3), 5: (0.02, 2e-4), 1: (0.01, 1e-6)}
    cells = [cell(t, 0, rate=r, cost=c, test=falls_along) for t, (r, c) in kinds.items()]
    text = judged(study(cells), MEDIUM)["figures"]
    assert "t = 1 has the smallest gap" in text
    assert " for t = 30. A medium t leads" in text
    text = judged(all_is_best(), MEDIUM)["figures"]
    assert "t = 30 has the smallest gap" in text
    assert " for t = 1. A medium t leads" in text
    assert judged(all_is_best(), INTERIOR)["figures"].endswith("(best t: 30, 30, 30).")
    made = medium_is_best()
    for c in made["cells"]:
        if (c["t"], c["seed"]) == (5, 0):
            c["test_loss"] = [0.9 * v for v in c["test_loss"]]
    text = judged(made, INTERIOR)["figures"]
    assert text.endswith(
        "(best t: 5, 30, 30). Where it is not t = 30, it is better by 9.98% (median)."
    )


def test_wide_data():
    found = judged(medium_is_best(overfits), WIDE)
    assert found["status"] == "confirmed"
    assert "Best test loss at a gap of 0.1" in found["figures"]
    assert judged(medium_is_best(), WIDE)["status"] == "not confirmed"


def test_interior_t():
    made = medium_is_best()
    assert judged(made, INTERIOR)["status"] == "not confirmed"  # t = 30 gets furthest
    for c in made["cells"]:
        if c["t"] == 5:
            c["test_loss"] = [0.9 * v for v in c["test_loss"]]
    found = judged(made, INTERIOR)
    assert found["status"] == "confirmed"
    assert "in 3 of 3 seeds (best t: 5, 5, 5)" in found["figures"]


def test_saturation():
    made = medium_is_best(saturates)
    made["cells"] = [c for c in made["cells"] if c["t"] > 1]
    made["grid"] = [30, 5]
    assert judged(made, SATURATION)["status"] == "confirmed"
    still_falling = [cell(t, 0, rate=0.002, cost=1e-3, test=falls_along) for t in (30, 5, 1)]
    assert judged(study(still_falling), SATURATION)["status"] == "not confirmed"
    assert judged(medium_is_best(overfits), SATURATION)["status"] == "not confirmed"


def test_loss1():
    made = medium_is_best()
    assert judged(made, LOSS1_TIME)["status"] == "confirmed"
    assert judged(all_is_best(), LOSS1_TIME)["status"] == "not confirmed"
    # t = 5 is next to 24 here: 256 iterations against 231
    assert judged(made, LOSS1_ITERATION)["status"] == "confirmed"
    far = [
        cell(t, 0, rate=rate, cost=1e-3, test=falls_along)
        for t, rate in ((30, 0.02), (5, 0.01), (1, 0.005))
    ]
    assert judged(study(far), LOSS1_ITERATION)["status"] == "not confirmed"


def test_every_step_rule_is_judged():
    made = medium_is_best()
    made["cells"] += [{**c, "step": "line-search"} for c in made["cells"]]
    made["steps"] = ["constant", "line-search"]
    found = verdicts(made)
    assert [v["step"] for v in found].count("constant") == len(found) / 2
