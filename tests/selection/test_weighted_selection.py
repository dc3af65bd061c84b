"""Features that are always in J, and groups drawn with weights."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from rgboost import RGBMClassifier, RGBMRegressor, Stumps
from rgboost.selection import (
    AllLearners,
    Layout,
    RandomGroups,
    RandomLearnersAndAlways,
    WeightedGroups,
)
from rgboost.theory import chosen_distribution
from rgboost.theory.norms import norm_of_layout
from rgboost.training.plan.resolve import check_selection


def layout(counts, groups=None, names=None):
    return Layout.make(np.concatenate([[0], np.cumsum(counts)]), groups, names)


def successive_probability(subset, weights):
    """The probability that draws one after the other, without replacement, give this subset."""
    total = 0.0
    for order in permutations(subset):
        left, p = weights.sum(), 1.0
        for g in order:
            p *= weights[g] / left
            left -= weights[g]
        total += p
    return total


@pytest.mark.parametrize("t", [1, 2, 3])
def test_draws_have_the_law_of_successive_sampling(t):
    weights = np.array([1.0, 2.0, 0.5, 4.0, 1.0])
    draws = WeightedGroups(t, weights).draw(layout([1] * 5), np.random.default_rng(0), 40_000)
    subsets = list(combinations(range(5), t))
    index = {s: i for i, s in enumerate(subsets)}
    counts = np.bincount([index[tuple(row)] for row in draws], minlength=len(subsets))
    expected = [40_000 * successive_probability(s, weights) for s in subsets]
    assert chisquare(counts, expected).pvalue > 0.001


def test_some_are_always_there_and_some_never():
    lay = layout([2, 3, 1, 4, 2], names=list("abcde"))
    rule = WeightedGroups(2, {"a": 0.0, 1: 3.0}, ["d"])
    assert rule.size(lay) == (3, 5)
    draws = rule.draw(lay, np.random.default_rng(0), 500)
    assert (draws == 3).any(axis=1).all()
    assert not (draws == 0).any()
    assert (np.diff(draws, axis=1) > 0).all()
    assert {tuple(row) for row in draws} == {(1, 2, 3), (1, 3, 4), (2, 3, 4)}
    subsets = rule.subsets(lay, np.random.default_rng(0), 500)
    np.testing.assert_array_equal(subsets.columns.reshape(500, 3), draws)
    np.testing.assert_array_equal(rule.learners(lay, draws[0])[:3], [2, 3, 4])


def test_all_weak_learners_of_a_feature_and_some_of_the_others():
    lay = layout([2, 0, 1, 3], names=list("abcd"))
    rule = RandomLearnersAndAlways(2, ["a"])
    assert rule.size(lay) == (4, 6)
    draws = rule.draw(lay, np.random.default_rng(0), 30_000)
    np.testing.assert_array_equal(draws[:, :2], np.tile([0, 1], (30_000, 1)))
    pairs = list(combinations(range(2, 6), 2))
    counts = [np.sum((draws[:, 2:] == pair).all(axis=1)) for pair in pairs]
    assert sum(counts) == 30_000
    assert chisquare(counts).pvalue > 0.001
    last = RandomLearnersAndAlways(1, [3]).subsets(lay, np.random.default_rng(0), 50)
    assert last.restricted
    for m in range(50):
        now = slice(last.start[m], last.start[m + 1])
        assert last.columns[now][-1] == 3
        k = last.start[m + 1] - 1
        np.testing.assert_array_equal(last.learners[last.first[k] : last.first[k + 1]], [3, 4, 5])
    parts = np.random.default_rng(0)
    again = np.concatenate([rule.draw(lay, parts, n) for n in (1, 100, 29_899)])
    np.testing.assert_array_equal(draws, again)
    assert RandomLearnersAndAlways("all", [0, 1, 2, 3]).draw(lay, parts, 9).tolist() == [
        [*range(6)]
    ]


def test_groups_take_the_sum_of_their_weights():
    lay = layout([1, 1, 0, 1], groups=[[0, 2], [1], [3]])
    rule = WeightedGroups(1, [1.0, 2.0, 50.0, 3.0])  # feature 2 has nothing to split
    draws = rule.draw(lay, np.random.default_rng(0), 30_000)[:, 0]
    assert chisquare(np.bincount(draws), [5_000, 10_000, 15_000]).pvalue > 0.001
    assert WeightedGroups(1, always=[2]).draw(lay, np.random.default_rng(0), 5).shape == (5, 1)
    assert WeightedGroups(1, always=[0]).draw(lay, np.random.default_rng(0), 5).shape == (5, 2)


def test_the_stream_does_not_depend_on_block_lengths():
    lay, rule = layout([1] * 12), WeightedGroups(4, np.arange(12.0), [0])
    whole = rule.draw(lay, np.random.default_rng(5), 30)
    rng = np.random.default_rng(5)
    parts = np.concatenate([rule.draw(lay, rng, k) for k in (1, 7, 22)])
    np.testing.assert_array_equal(whole, parts)


def test_taking_all_needs_no_random_numbers():
    lay, rng = layout([1, 1, 1]), np.random.default_rng(0)
    before = rng.bit_generator.state
    for rule in (
        WeightedGroups("all"),
        WeightedGroups(1, [1, 1, 0], [0]),
        WeightedGroups(1, None, [0, 1, 2]),
    ):
        assert len(rule.draw(lay, rng, 9)) == 1
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (WeightedGroups(1, [1.0, -1.0, 1.0]), "feature_weights has -1; weights must be finite"),
        (WeightedGroups(1, [1.0, np.nan, 1.0]), "feature_weights has nan; weights must be finite"),
        (WeightedGroups(1, [1.0]), r"feature_weights has shape \(1,\) and there are 3 features"),
        (WeightedGroups(1, [0, 0, 0]), "feature_weights is 0 for every feature"),
        (WeightedGroups(1, {"a": 1.0}), "feature_weights names the feature 'a', but the input has"),
        (WeightedGroups(1, None, [7]), "always_features has the feature 7; expected a name or an"),
        (WeightedGroups(3, None, [0]), "subset_size=3 is impossible: there are 2 other groups"),
        (RandomLearnersAndAlways(1, ["a"]), "always_features names the feature 'a', but the input"),
        (
            RandomLearnersAndAlways(3, [0]),
            "there are 2 weak-learners of other features",
        ),
    ],
)
def test_wrong_weights(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.size(layout([1, 1, 1]))


def test_rules_by_parameters():
    assert check_selection("groups", 3) == RandomGroups(3)
    assert check_selection("groups", 3, None, ["a"]) == WeightedGroups(3, None, ("a",))
    assert check_selection("group", 3, {0: 2}) == WeightedGroups(1, {0: 2}, ())
    for selection in ("all", "learners", AllLearners()):
        with pytest.raises(ValueError, match="need selection='group' or 'groups'"):
            check_selection(selection, 3, {0: 2})
    assert check_selection("learners", 3, None, ["a"]) == RandomLearnersAndAlways(3, ("a",))
    with pytest.raises(ValueError, match="always_features need selection='learners', 'group' or"):
        check_selection("all", 3, None, ["a"])


def test_estimators():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    y = 3 * frame["a"] + rng.normal(size=300)
    model = RGBMRegressor(
        feature_weights={"e": 0}, always_features=["a"], selection="groups", subset_size=1,
        max_iter=100, random_state=0,
    ).fit(frame, y)  # fmt: skip
    assert model.subset_size_ == 2
    assert 4 not in model.trace_.feature
    assert np.mean(model.trace_.feature == 0) > 0.3
    only = RGBMClassifier(
        feature_weights=[0, 1, 0, 0, 0], selection="groups", subset_size=1, max_iter=20
    )
    assert set(only.fit(frame, y > 0).trace_.feature) == {1}
    model = RGBMRegressor(always_features=["a"], subset_size=1, max_iter=50, random_state=0)
    model.fit(frame, y)
    assert np.mean(model.trace_.feature == 0) > 0.5
    assert model.subset_size_ == 31 + 1  # all thresholds of a, and one other
    three = RGBMClassifier(always_features=[2], selection="groups", subset_size=1, max_iter=20)
    assert three.fit(frame, rng.integers(0, 3, 300)).subset_size_ == 2


def test_the_theory_is_for_uniform_draws():
    with pytest.raises(ValueError, match="is not one of the paper's rules"):
        chosen_distribution(np.ones(3), WeightedGroups(1))
    with pytest.raises(ValueError, match="is not one of the paper's rules"):
        chosen_distribution(np.ones(3), RandomLearnersAndAlways(1, [0]))
    for rule in (WeightedGroups(1), RandomLearnersAndAlways(1, [0])):
        with pytest.raises(ValueError, match="is not one of the paper's rules"):
            norm_of_layout(rule, Stumps().prepare(np.eye(3)).layout)
