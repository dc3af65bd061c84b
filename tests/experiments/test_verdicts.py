"""Verdicts can go either way."""

import numpy as np
import pytest

from rgboost.experiments.verdicts import verdicts

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
    (found,) = [v for v in verdicts(made) if v["claim"].startswith(claim)]
    return found


def all_is_best(**options):
    """t = 30 makes much more of an iteration, at little more cost."""
    kinds = {30: (0.05, 2e-4), 5: (0.002, 1.5e-4), 1: (0.001, 1e-4)}
    cells = [
        cell(t, seed, rate=rate, cost=cost, test=falls_along, n_iter=400)
        for seed in range(3)
        for t, (rate, cost) in kinds.items()
    ]
    return study(cells, **options)


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


def test_similar_profile_is_about_many_rows():
    made = medium_is_best(n_train=100)
    assert not [v for v in verdicts(made) if v["claim"].startswith(PROFILE)]


def test_wide_data():
    wide = {"n_train": 50, "n_features": 2000}
    found = judged(medium_is_best(overfits, **wide), WIDE)
    assert found["status"] == "confirmed"
    assert "Best test loss at a gap of 0.1" in found["figures"]
    assert judged(medium_is_best(**wide), WIDE)["status"] == "not confirmed"
    assert not [v for v in verdicts(medium_is_best()) if v["claim"] == WIDE]


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
    made = medium_is_best(name="a9a")
    assert judged(made, LOSS1_TIME)["status"] == "confirmed"
    assert judged(all_is_best(name="a9a"), LOSS1_TIME)["status"] == "not confirmed"
    # t = 5 is next to 24 here: 256 iterations against 231
    assert judged(made, LOSS1_ITERATION)["status"] == "confirmed"
    far = [
        cell(t, 0, rate=rate, cost=1e-3, test=falls_along)
        for t, rate in ((30, 0.02), (5, 0.01), (1, 0.005))
    ]
    assert judged(study(far, name="a9a"), LOSS1_ITERATION)["status"] == "not confirmed"


def test_every_step_rule_is_judged():
    made = medium_is_best()
    made["cells"] += [{**c, "step": "line-search"} for c in made["cells"]]
    made["steps"] = ["constant", "line-search"]
    found = verdicts(made)
    assert [v["step"] for v in found].count("constant") == len(found) / 2
